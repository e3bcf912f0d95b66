"""Text with numbers, written token by token: each number that the head says is read by the model afterwards."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from adelic.errors import ConfigurationError, DecodingError
from adelic.integrations.transformers.layers import NumberLayers, NumberSettings, unknown_numbers
from adelic.integrations.transformers.models import EquippedModel
from adelic.nn import adelic_targets, exact_numbers, fractions_of
from adelic.nn.heads.adelic import UNKNOWN_DIGIT
from adelic.numbers import AdeleSpace
from adelic.numbers.describe import describe


class EquippedGenerator(EquippedModel):
    """An equipped model that generates text with numbers.

    >>> from transformers import LlamaForCausalLM
    >>> from adelic.integrations.transformers import equipped_class
    >>> issubclass(equipped_class(LlamaForCausalLM), EquippedGenerator)
    True
    """

    @torch.no_grad()
    def generate(
        self,
        inputs: torch.Tensor | None = None,
        *,
        number_reals: torch.Tensor | None = None,
        number_digits: torch.Tensor | None = None,
        number_limbs: torch.Tensor | None = None,
        **options: Any,
    ) -> Any:
        """Return the tokens and numbers that the model writes; it reads each written number afterwards.

        Args:
            inputs: token ids of the prompts, (batch, length); also as `input_ids`.
            number_reals: the prompts' numbers, (batch, length), as `NumberTokenizer` makes them, NaN if none is.
            number_digits: likewise, (batch, length, n_primes, max_precision).
            number_limbs: likewise, (batch, length, 2, limbs), if the model has operations.
            options: of `GenerationMixin.generate`: sampling, several sequences per prompt, beams, streamers and so on,
                but not another model's guesses. Beams are scored by their tokens alone; each follows its own numbers.

        Returns:
            A `ModelOutput` with `sequences`, token ids (rows, total length), and `numbers`, an object array of the same
            shape: the `Fraction` at each number token. It is None at other tokens, if the head's answer is not a number
            up to max_numerator and max_denominator, and if a prompt's digits do not determine its number. A model with
            operations writes numbers of up to 78,913 digits. It adds `derivations`, an object array of texts: the
            computation of each written number, such as "12.5 × 8", and None elsewhere. The most probable number is
            written, also if tokens are sampled. `probabilities`, floats of the same shape, sum the probabilities of all
            derivations of this number, NaN elsewhere. With return_dict_in_generate=True, the library's other entries
            are there, too.

        Raises:
            ConfigurationError: an option does not go with numbers, or there are no prompts, or no tensors of their
                numbers, as where Transformers' own `pipeline` made the inputs.
        """
        inputs = options.pop("input_ids", None) if inputs is None else inputs
        if inputs is None:
            raise ConfigurationError("generate needs input_ids, the prompts' tokens")
        self._refuse(options)
        numbers = self._checked(inputs, number_reals, number_digits)
        if numbers is None:
            raise ConfigurationError(
                "generate needs number_reals and number_digits with input_ids, or the model would read no number: "
                "NumberTokenizer makes them, also for texts without numbers; pipelines do not pass them on"
            )
        if self.numbers.operations is not None and number_limbs is None:
            raise ConfigurationError(
                "a model with operations needs number_limbs to generate; NumberTokenizer makes them"
            )
        memory = NumberMemory(
            self.numbers,
            numbers,
            inputs,
            limbs=number_limbs,
            is_kept=self._option("num_beams", options) not in (None, 1),
        )
        result = super().generate(inputs, number_memory=memory, **options)  # type: ignore[misc]
        sequences = result if isinstance(result, torch.Tensor) else result.sequences
        if isinstance(result, torch.Tensor):
            from transformers.generation import GenerateDecoderOnlyOutput

            result = GenerateDecoderOnlyOutput(sequences=sequences)
        result["numbers"], derivations, probabilities = memory.written(sequences)
        if self.numbers.operations is not None:
            result["derivations"], result["probabilities"] = derivations, probabilities
        return result

    def prepare_inputs_for_generation(
        self, input_ids: torch.Tensor, number_memory: "NumberMemory | None" = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Return what `forward` is given next: the numbers of the tokens that are not in the cache, too."""
        inputs: dict[str, Any] = super().prepare_inputs_for_generation(input_ids, **kwargs)  # type: ignore[misc]
        if number_memory is not None:
            number_memory.record(input_ids)
            length = inputs["input_ids"].shape[1]
            inputs["number_reals"] = number_memory.reals[:, -length:]
            inputs["number_digits"] = number_memory.digits[:, -length:]
        return inputs

    def _update_model_kwargs_for_generation(
        self, outputs: Any, model_kwargs: dict[str, Any], **kwargs: Any
    ) -> dict[str, Any]:
        """Keep the states that say which number comes next, if it is to be one."""
        if model_kwargs.get("number_memory") is not None:
            model_kwargs["number_memory"].note(outputs.number_states)
        updated: dict[str, Any] = super()._update_model_kwargs_for_generation(  # type: ignore[misc]
            outputs, model_kwargs, **kwargs
        )
        return updated

    def _refuse(self, options: dict[str, Any]) -> None:
        """Raise `ConfigurationError` for ways of generating in which a sequence's numbers could not be followed."""
        for name, harmless in _LIMITS.items():
            given = self._option(name, options)
            if given not in harmless:
                raise ConfigurationError(f"{name}={describe(given)} does not go with numbers; leave it out")

    def _option(self, name: str, options: dict[str, Any]) -> Any:
        """Return an option of `generate`, from wherever it comes."""
        given = options.get(name)
        for config in (options.get("generation_config"), self.generation_config):  # type: ignore[attr-defined]
            given = getattr(config, name, None) if given is None else given
        return given


_LIMITS: dict[str, tuple[Any, ...]] = {
    "assistant_model": (None,),
    "prompt_lookup_num_tokens": (None,),
    "prefill_chunk_size": (None,),
    "guidance_scale": (None, 1),
    "custom_generate": (None,),
}


class NumberMemory:
    """The numbers of sequences that grow, whatever order beams bring them into.

    What is written is a tree: a node for each token behind each other that some sequence had, with its number if it is
    a number token. So a sequence is followed by its tokens alone, a beam that goes on behind another one, too.

    Args:
        layers: whose head says the numbers.
        numbers: real values (prompts, length) and digits (prompts, length, n_primes, max_precision) of the prompts.
        input_ids: the prompts.
        limbs: the prompts' numbers themselves, for layers with operations.
        is_kept: whether what the head reads is kept of all tokens, not of the last ones alone: a beam that ends leaves
            the sequences that go on, and comes back when all is written. Layers with operations keep it anyway, since
            they choose among numbers by the states at them.

    Attributes:
        reals, digits: of all tokens so far, for the sequences that were recorded last.

    >>> from adelic import AdeleSpace
    >>> from adelic.integrations.transformers import NumberSettings
    >>> space = AdeleSpace(primes=(2, 3, 5))
    >>> layers = NumberLayers(NumberSettings(space=space, token_id=7), hidden_size=4)
    >>> memory = NumberMemory(layers, unknown_numbers(space, (1, 2)), torch.tensor([[1, 2]]))
    >>> memory.note(torch.zeros(1, 2, 4))
    >>> memory.record(torch.tensor([[1, 2, 3]]))
    >>> memory.written(torch.tensor([[1, 2, 3]]))[0]
    array([[None, None, None]], dtype=object)
    """

    def __init__(
        self,
        layers: NumberLayers,
        numbers: tuple[torch.Tensor, torch.Tensor],
        input_ids: torch.Tensor,
        *,
        limbs: torch.Tensor | None = None,
        is_kept: bool = False,
    ) -> None:
        self._layers, self._is_kept = layers, is_kept or layers.operations is not None
        self.reals, self.digits = numbers
        self._prompts: npt.NDArray[np.object_] = (
            prompt_numbers(layers.settings, input_ids, *numbers) if limbs is None else fractions_of(limbs)
        )
        self._prompts[(input_ids != layers.settings.token_id).cpu().numpy()] = None
        self._prompt_states: torch.Tensor | None = None  # (prompts, length, hidden_size)
        self._next: dict[tuple[int, int], int] = {}  # from a node and a token to a node
        self._nodes_of: list[_Node] = [_Node(None) for _ in range(len(input_ids))]  # the first ones are the prompts
        self._states: dict[int, torch.Tensor] = {}  # (hidden_size,), what the head reads behind a node
        self._ids = input_ids  # the sequences that were recorded last
        self._nodes = list(range(len(input_ids)))  # where they end

    def note(self, states: torch.Tensor) -> None:
        """Keep what says which number comes next, if it is to be one: (rows, length, hidden_size), as recorded last."""
        if self._prompt_states is None and self._layers.operations is not None:
            self._prompt_states = states[:: len(states) // len(self._prompts)]
        if len(states) != len(self._nodes):  # several sequences per prompt, which nothing has told apart yet
            self._align([node for node in self._nodes for _ in range(len(states) // len(self._nodes))])
        noted = dict(zip(self._nodes, states[:, -1], strict=True))
        self._states = self._states | noted if self._is_kept else noted

    def record(self, input_ids: torch.Tensor) -> None:
        """Take note of sequences, each one token longer than one before; a number token gets what the head says."""
        length = self.reals.shape[1]
        before = input_ids[:, :length]
        # Transformers reorders its own cache without saying how, so beams are found again by their tokens.
        if not torch.equal(before, self._ids):  # beams have changed places
            self._align([path[-1] for path in self._paths(before)])
        self._ids = input_ids
        if input_ids.shape[1] == length:
            return
        assert input_ids.shape[1] == length + 1, "one token at a time"
        nodes = self._behind(self._nodes, input_ids[:, length].tolist())
        self._nodes = [node for node in nodes if node is not None]
        assert len(self._nodes) == len(nodes)
        reals, digits = unknown_numbers(self._layers.settings.space, (len(input_ids), 1), device=input_ids.device)
        values = [self._nodes_of[node].value for node in self._nodes]
        if known := [row for row, value in enumerate(values) if value is not None]:
            real, places = adelic_targets(self._layers.settings.space, [values[row] for row in known])
            reals[known, 0], digits[known, 0] = real.to(reals), places.to(digits)
        self.reals = torch.cat([self.reals, reals.to(self.reals)], dim=1)
        self.digits = torch.cat([self.digits, digits.to(self.digits)], dim=1)

    def written(
        self, sequences: torch.Tensor
    ) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.object_], npt.NDArray[np.float64]]:
        """Return the numbers of sequences that were recorded, or are one token longer, and how they came about, (*).

        The numbers are `Fraction` or None; if one was written there are its derivation, a text, and its probability,
        else None and NaN.
        """
        start = self._prompts.shape[1]
        values, texts = (np.full(tuple(sequences.shape), None, dtype=object) for _ in range(2))
        probabilities = np.full(tuple(sequences.shape), np.nan)
        copies = len(sequences) // len(self._prompts)
        for row, path in enumerate(self._paths(sequences)):
            values[row, :start] = self._prompts[row // copies]
            for at, node in enumerate(path[1:], start):
                _, values[row, at], texts[row, at], probabilities[row, at] = self._nodes_of[node]
        return values, texts, probabilities

    def _paths(self, sequences: torch.Tensor) -> list[list[int]]:
        """Return the nodes of each sequence, those of one prompt one after the other; the first stands for the prompt.

        A path stops before the first token that has no node: padding after the end of a sequence, or one that follows
        a token whose state is not known.
        """
        start, copies = self._prompts.shape[1], len(sequences) // len(self._prompts)
        paths = [[row // copies] for row in range(len(sequences))]
        going = list(range(len(sequences)))
        for tokens in sequences[:, start:].T.tolist():  # of all sequences at once
            nodes = self._behind([paths[row][-1] for row in going], [tokens[row] for row in going])
            found = [(row, node) for row, node in zip(going, nodes, strict=True) if node is not None]
            for row, node in found:
                paths[row].append(node)
            going = [row for row, _ in found]
        return paths

    def _behind(self, nodes: list[int], tokens: list[int]) -> list[int | None]:
        """Return the node of each token after a node; None if it is new and what the head reads is not known."""
        pairs = list(zip(nodes, tokens, strict=True))
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._next and pair[0] in self._states]
        numbers = [node for node, token in new if token == self._layers.settings.token_id]
        said = dict(zip(numbers, self._say(numbers), strict=True))
        for node, token in new:
            self._next[node, token] = len(self._nodes_of)
            self._nodes_of.append(_Node(node, *(said[node] if token == self._layers.settings.token_id else ())))
        return [self._next.get(pair) for pair in pairs]

    def _say(self, nodes: list[int]) -> list[tuple[Any, ...]]:
        """Return the numbers that the head says behind nodes, how they come about, and how probable they are."""
        if not nodes:
            return []
        states = torch.stack([self._states[node] for node in nodes])
        if self._layers.operations is None:
            return [(value,) for value in self._layers.decode(states)]
        contexts = [self._context(node) for node in nodes]
        memory = torch.nn.utils.rnn.pad_sequence([memory for memory, _ in contexts], batch_first=True)
        numbers = exact_numbers([values + [None] * (memory.shape[1] - len(values)) for _, values in contexts])
        written = self._layers.write(states, memory, numbers.to(states.device))
        return list(zip(written.values, written.derivations, written.probabilities, strict=True))

    def _context(self, node: int) -> tuple[torch.Tensor, list[Fraction]]:
        """Return the n numbers that were read until a node, and the memory of them, (n, 2 · hidden_size)."""
        path = []
        at: int | None = node
        while at is not None and self._nodes_of[at].parent is not None:
            path.append(at)
            at = self._nodes_of[at].parent
        assert at is not None
        assert self._prompt_states is not None
        path.reverse()
        values = [*self._prompts[at], *(self._nodes_of[one].value for one in path)]
        states = torch.stack([*self._prompt_states[at], *(self._states[one] for one in path)])
        places = torch.tensor([i for i, value in enumerate(values) if value is not None], dtype=torch.long)
        behind = (places + 1).clamp(max=len(values) - 1)
        return torch.cat([states[places], states[behind]], dim=-1), [v for v in values if v is not None]

    def _align(self, nodes: list[int]) -> None:
        """Bring the tensors into the order of sequences with these last nodes."""
        if nodes != self._nodes:
            rows = {node: row for row, node in enumerate(self._nodes)}
            order = torch.tensor([rows[node] for node in nodes], device=self.reals.device)
            self.reals, self.digits, self._nodes = self.reals[order], self.digits[order], nodes


class _Node(NamedTuple):
    """A token that was written: behind which, and, of a number token, what was said, how, and how probably."""

    parent: int | None
    value: Fraction | None = None
    derivation: str | None = None
    probability: float = float("nan")


def prompt_numbers(
    settings: NumberSettings, input_ids: torch.Tensor, reals: torch.Tensor, digits: torch.Tensor
) -> npt.NDArray[np.object_]:
    """Return the numbers of prompts, as far as digits and real value say which they are: `Fraction` or None, (*).

    >>> from adelic import AdeleSpace
    >>> settings = NumberSettings(space=AdeleSpace(primes=(2, 5, 7, 11), precision=2), token_id=9)
    >>> prompt_numbers(settings, torch.tensor([9, 4]), *adelic_targets(settings.space, ["-3/4", 5]))
    array([Fraction(-3, 4), None], dtype=object)
    """
    found = np.full(tuple(input_ids.shape), None, dtype=object)
    is_number = (input_ids == settings.token_id) & reals.isfinite()
    for position in torch.nonzero(is_number).tolist():
        at = tuple(position)
        found[at] = _number(settings.space, float(reals[at]), digits[at].cpu().numpy())
    return found


def _number(space: AdeleSpace, real: float, digits: npt.NDArray[Any]) -> Fraction | None:
    """Return the number with these digits at the primes that have some, and near a real value; None if none is sure."""
    known = np.flatnonzero((digits != UNKNOWN_DIGIT).all(axis=-1))
    if not len(known):
        return None
    part = space.part(known.tolist())
    radius = abs(real) * float(np.finfo(np.float32).eps)
    try:
        value: Fraction = part.from_digits(digits[known, -part.max_precision :], real, radius=radius).decode()
    except DecodingError:
        return None
    return value
