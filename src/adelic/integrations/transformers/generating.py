"""Text with numbers, written token by token: each number that the head says is read by the model afterwards."""

from typing import Any

import numpy as np
import torch

from adelic.errors import ConfigurationError
from adelic.integrations.transformers.layers import NumberLayers, unknown_numbers
from adelic.integrations.transformers.models import EquippedModel
from adelic.nn import adelic_targets


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
        **options: Any,
    ) -> Any:
        """Return what the model writes; each number that it writes is what the head says, and is read by it afterwards.

        Args:
            inputs: token ids of the prompts, (batch, length); also as `input_ids`.
            number_reals: the prompts' numbers, (batch, length).
            number_digits: likewise, (batch, length, n_primes, precision).
            options: of `GenerationMixin.generate`: sampling, several sequences a prompt, streamers and so on, but
                neither beams nor another model's guesses.

        Returns:
            A `ModelOutput` with `sequences`, token ids (rows, total length), and `numbers`, an object array of the same
            shape: the `Fraction` at each written number token, None elsewhere, and where what the head says is no
            number up to max_numerator and max_denominator. With return_dict_in_generate=True also the library's other
            entries.

        Raises:
            ConfigurationError: an option does not go with numbers, or there are no prompts.
        """
        inputs = options.pop("input_ids", None) if inputs is None else inputs
        if inputs is None:
            raise ConfigurationError("generate needs input_ids, the prompts' tokens")
        self._refuse(options)
        memory = NumberMemory(self.numbers, self._checked(inputs, number_reals, number_digits), inputs)
        result = super().generate(inputs, number_memory=memory, **options)  # type: ignore[misc]
        sequences = result if isinstance(result, torch.Tensor) else result.sequences
        memory.record(sequences)
        if isinstance(result, torch.Tensor):
            from transformers.generation import GenerateDecoderOnlyOutput

            result = GenerateDecoderOnlyOutput(sequences=sequences)
        result["numbers"] = memory.values[:, : sequences.shape[1]]
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
            model_kwargs["number_memory"].states = outputs.number_states[:, -1]
        updated: dict[str, Any] = super()._update_model_kwargs_for_generation(  # type: ignore[misc]
            outputs, model_kwargs, **kwargs
        )
        return updated

    def _refuse(self, options: dict[str, Any]) -> None:
        """Raise `ConfigurationError` for ways of generating in which a sequence's numbers could not be followed."""
        for name, harmless in _LIMITS.items():
            given = options.get(name)
            for config in (options.get("generation_config"), self.generation_config):  # type: ignore[attr-defined]
                given = getattr(config, name, None) if given is None else given
            if given not in harmless:
                raise ConfigurationError(f"{name}={given!r} does not go with numbers; leave it out")


_LIMITS: dict[str, tuple[Any, ...]] = {
    "num_beams": (None, 1),
    "assistant_model": (None,),
    "prompt_lookup_num_tokens": (None,),
    "prefill_chunk_size": (None,),
    "guidance_scale": (None, 1),
    "custom_generate": (None,),
}


class NumberMemory:
    """The numbers of sequences that grow.

    Args:
        layers: whose head says the numbers.
        numbers: real values (rows, length) and digits (rows, length, n_primes, precision) of the prompts, or None.
        input_ids: the prompts.

    Attributes:
        reals, digits: of all tokens so far.
        values: object (rows, length), `Fraction` at the tokens that were written and are numbers.
        states: (rows, hidden_size), what the head reads to say the next token's number.

    >>> from adelic import AdeleSpace
    >>> from adelic.integrations.transformers import NumberSettings
    >>> layers = NumberLayers(NumberSettings(space=AdeleSpace(primes=(2, 3, 5)), token_id=7), hidden_size=4)
    >>> memory = NumberMemory(layers, None, torch.tensor([[1, 2]]))
    >>> memory.states = torch.zeros(1, 4)
    >>> memory.record(torch.tensor([[1, 2, 3]]))
    >>> memory.values
    array([[None, None, None]], dtype=object)
    """

    def __init__(
        self, layers: NumberLayers, numbers: tuple[torch.Tensor, torch.Tensor] | None, input_ids: torch.Tensor
    ) -> None:
        self._layers = layers
        self.reals, self.digits = numbers or self._unknown(input_ids)
        self.values = np.full(tuple(input_ids.shape), None, dtype=object)
        self.states: torch.Tensor | None = None

    def record(self, input_ids: torch.Tensor) -> None:
        """Take note of a token that was written, if there is one; it gets the number that the head says."""
        copies = len(input_ids) // len(self.reals)
        if copies > 1:  # several sequences a prompt
            self.reals, self.digits = (x.repeat_interleave(copies, dim=0) for x in (self.reals, self.digits))
            self.values = self.values.repeat(copies, axis=0)
        new = input_ids[:, self.reals.shape[1] :]
        if not new.shape[1]:
            return
        assert new.shape[1] == 1, "one token at a time"
        assert self.states is not None
        reals, digits = self._unknown(new)
        values = np.full(tuple(new.shape), None, dtype=object)
        for row in torch.nonzero(new[:, 0] == self._layers.settings.token_id)[:, 0].tolist():
            value = self._layers.decode(self.states[row]).item()
            if value is not None:
                values[row, 0] = value
                real, places = adelic_targets(self._layers.settings.space, value)
                reals[row, 0], digits[row, 0] = real, places
        self.reals = torch.cat([self.reals, reals.to(self.reals)], dim=1)
        self.digits = torch.cat([self.digits, digits.to(self.digits)], dim=1)
        self.values = np.concatenate([self.values, values], axis=1)

    def _unknown(self, input_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the tensors of tokens without numbers."""
        return unknown_numbers(self._layers.settings.space, tuple(input_ids.shape), device=input_ids.device)
