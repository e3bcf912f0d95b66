"""What an equipped model does before its own class: it adds numbers to embeddings, and a loss to the loss."""

import functools
from collections.abc import Callable
from typing import Any

import torch

from adelic.errors import ConfigurationError
from adelic.integrations.transformers.layers import NumberLayers
from adelic.integrations.transformers.settings import NumberSettings


class EquippedModel:
    """What an equipped model has before its own class; `equip` makes one.

    Attributes:
        numbers: the `NumberLayers`.

    >>> from transformers import BertModel
    >>> from adelic.integrations.transformers import equipped_class
    >>> issubclass(equipped_class(BertModel), EquippedModel)
    True
    """

    numbers: NumberLayers
    config: Any
    accepts_loss_kwargs = False  # so that Trainer averages over accumulated batches: the loss is a mean already

    def __init__(self, config: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(config, *args, **kwargs)  # type: ignore[call-arg]
        data = {key: value for key, value in config.adelic.items() if key != "model"}
        embedding_size = self.get_input_embeddings().embedding_dim  # type: ignore[attr-defined]
        hidden_size = hidden_size_of(config, embedding_size)
        self.numbers = NumberLayers(NumberSettings.from_dict(data), hidden_size, embedding_size=embedding_size)

    @functools.cached_property
    def objective(self) -> str | None:
        """Return "causal" or "masked" for language models, None for others, which learn to read numbers alone."""
        from transformers.models.auto import modeling_auto as auto

        name = self.config.adelic["model"]
        if name in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values():
            return "causal"
        return "masked" if name in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.values() else None

    def forward_numbers(
        self,
        base_forward: Callable[..., Any],
        input_ids: torch.Tensor | None = None,
        *,
        number_reals: torch.Tensor | None = None,
        number_digits: torch.Tensor | None = None,
        **inputs: Any,
    ) -> Any:
        """Return the model's outputs; `forward` calls it with that of the model's own class, and see `equip`.

        Returns:
            The outputs of the model's class with `number_states`, (batch, length, hidden_size), what the head reads;
            if there are labels of a language model and numbers, `loss` includes `number_loss`.

        Raises:
            ConfigurationError: only one of the numbers' tensors is given, its shape does not fit, or `inputs_embeds` is
                given beside `input_ids`.
        """
        numbers = self._checked(input_ids, number_reals, number_digits)
        if input_ids is not None:
            if inputs.get("inputs_embeds") is not None:
                raise ConfigurationError("input_ids and inputs_embeds say the same; give one of them")
            embeddings = self.get_input_embeddings()(input_ids)  # type: ignore[attr-defined]
            inputs["inputs_embeds"] = self._with_numbers(embeddings, input_ids, numbers)
        return_dict = inputs.pop("return_dict", None)
        is_asked = inputs.pop("output_hidden_states", None)
        is_asked = self.config.output_hidden_states if is_asked is None else is_asked
        outputs = base_forward(self, **inputs, output_hidden_states=True, return_dict=True)
        states = outputs.hidden_states[-1]
        if not is_asked:
            outputs = type(outputs)(**{key: value for key, value in outputs.items() if key != "hidden_states"})
        labels = inputs.get("labels")
        if labels is not None and self.objective and numbers is not None:
            outputs["number_loss"] = self._number_loss(states, labels, *numbers)
            outputs["loss"] = outputs["loss"] + self.numbers.settings.loss_weight * outputs["number_loss"]
        outputs["number_states"] = states
        is_dict = self.config.return_dict if return_dict is None else return_dict
        return outputs if is_dict else outputs.to_tuple()

    @classmethod
    def from_pretrained(cls, path: Any, *args: Any, **options: Any) -> Any:
        """Return a model of this class as `PreTrainedModel.from_pretrained` does, and make its constant tables."""
        loaded = super().from_pretrained(path, *args, **options)  # type: ignore[misc]
        model = loaded[0] if isinstance(loaded, tuple) else loaded
        model.numbers.restore_tables()
        return loaded

    def _checked(
        self, input_ids: torch.Tensor | None, reals: torch.Tensor | None, digits: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Return the numbers' tensors if there are any, or raise `ConfigurationError`."""
        if reals is None and digits is None:
            return None
        if reals is None or digits is None:
            raise ConfigurationError("number_reals and number_digits go together; NumberTokenizer makes both")
        space = self.numbers.settings.space
        expected = (*reals.shape, space.n_primes, space.precision)
        if digits.shape != expected or (input_ids is not None and reals.shape != input_ids.shape):
            raise ConfigurationError(
                f"number_reals of shape {tuple(reals.shape)} and number_digits of shape {tuple(digits.shape)} do not "
                f"fit {'' if input_ids is None else f'input_ids of shape {tuple(input_ids.shape)} and '}{space}"
            )
        return reals, digits

    def _with_numbers(
        self, embeddings: torch.Tensor, input_ids: torch.Tensor, numbers: tuple[torch.Tensor, torch.Tensor] | None
    ) -> torch.Tensor:
        """Return embeddings with the numbers' vectors added at the number tokens."""
        if numbers is None:
            return embeddings
        at = torch.nonzero(input_ids == self.numbers.settings.token_id, as_tuple=True)
        vectors = self.numbers.embed(numbers[0][at], numbers[1][at])
        return embeddings.index_put(at, vectors.to(embeddings.dtype), accumulate=True)

    def _number_loss(
        self, states: torch.Tensor, labels: torch.Tensor, reals: torch.Tensor, digits: torch.Tensor
    ) -> torch.Tensor:
        """Return the head's loss where the labels have the number token and the number is known; 0 where none is."""
        if self.objective == "causal":  # the state at a token says what the next one is
            states, labels, reals, digits = states[:, :-1], labels[:, 1:], reals[:, 1:], digits[:, 1:]
        at = (labels == self.numbers.settings.token_id) & ~reals.isnan()
        return self.numbers.number_loss(states[at], reals[at], digits[at])


def hidden_size_of(config: Any, embedding_size: int) -> int:
    """Return the width of a model's hidden states, which its configuration may leave to that of its embeddings.

    >>> from transformers import AlbertConfig
    >>> hidden_size_of(AlbertConfig(hidden_size=4096), 128)
    4096
    """
    return int(getattr(config.get_text_config(), "hidden_size", embedding_size))
