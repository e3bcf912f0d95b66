"""The states of torch's generators, which a checkpoint inside an epoch must hold: dropout draws from them."""

import torch


def generator_states(device: torch.device) -> dict[str, str]:
    """Return the states of the generators that training on a device draws from, in hexadecimal.

    >>> list(generator_states(torch.device("cpu")))
    ['cpu']
    """
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return {name: state.numpy().tobytes().hex() for name, state in states.items()}


def set_generator_states(states: dict[str, str], device: torch.device) -> None:
    """Put the generators into the states that `generator_states` gave; one without a state here is left alone.

    A damaged state is a ValueError, RuntimeError or TypeError.

    >>> states = generator_states(torch.device("cpu"))
    >>> first = torch.rand(2)
    >>> set_generator_states(states, torch.device("cpu"))
    >>> torch.equal(torch.rand(2), first)
    True
    """
    found = {name: torch.frombuffer(bytearray.fromhex(text), dtype=torch.uint8) for name, text in states.items()}
    if "cpu" in found:
        torch.set_rng_state(found["cpu"])
    if "cuda" in found and device.type == "cuda":
        torch.cuda.set_rng_state(found["cuda"], device)
