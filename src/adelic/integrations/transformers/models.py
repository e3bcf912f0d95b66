"""The base class of equipped models, which adds numbers to embeddings and their loss to the loss; its outputs."""

import copy
import functools
import warnings
from collections.abc import Callable
from dataclasses import fields, make_dataclass
from inspect import isclass
from typing import Any, get_args, get_type_hints

import torch

from adelic.errors import ConfigurationError
from adelic.integrations.transformers.layers import NumberLayers, NumberSettings, contexts
from adelic.nn.checks import as_digits, is_traced
from adelic.nn.heads.adelic import UNKNOWN_DIGIT
from adelic.nn.kernels.lifting import digit_counts

NUMBER_INPUTS = ("number_reals", "number_digits", "number_limbs")
"""What an equipped model takes next to the inputs of its class; the last for models with operations."""


class EquippedModel:
    """The base class that is before an equipped model's own class; `equip` makes such a model.

    Attributes:
        numbers: the `NumberLayers`.
        equipped_from: the model's own class.
        blank: model class -> an empty object of its equipped class, for unpickling.

    >>> from transformers import BertModel
    >>> from adelic.integrations.transformers import equipped_class
    >>> issubclass(equipped_class(BertModel), EquippedModel)
    True
    """

    numbers: NumberLayers
    config: Any
    equipped_from: type
    blank: Callable[[type], Any]
    accepts_loss_kwargs = False  # so that Trainer averages over accumulated batches: the loss is a mean already

    def __init__(self, config: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(config, *args, **kwargs)  # type: ignore[call-arg]
        data = {key: value for key, value in config.adelic.items() if key != "model"}
        embedding_size = self.get_input_embeddings().embedding_dim  # type: ignore[attr-defined]
        hidden_size = hidden_size_of(config, embedding_size)
        settings = NumberSettings.from_dict(data)
        self._check_vocabulary(self.get_input_embeddings().num_embeddings, settings)  # type: ignore[attr-defined]
        # Another class than the one that was saved, as a classifier made of a language model, is saved as what it is.
        config.adelic = {"model": self.equipped_from.__name__, **data}
        self.numbers = NumberLayers(settings, hidden_size, embedding_size=embedding_size)
        self.init_weights()  # type: ignore[attr-defined]  # of the numbers; the model's own class has its own by now

    @functools.cached_property
    def objective(self) -> str | None:
        """Return "causal" or "masked" for language models, None for others, which learn to read numbers alone."""
        from transformers.models.auto import modeling_auto as auto

        name = self.equipped_from.__name__
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
        number_limbs: torch.Tensor | None = None,
        **inputs: Any,
    ) -> Any:
        """Return the model's outputs; `forward` calls it with that of the model's own class, and see `equip`.

        Returns:
            The outputs of the model's class with `number_states`, (batch, length, hidden_size), what the head reads;
            if there are labels of a language model and numbers, `loss` includes `number_loss`. With operations
            `number_derivable` is the share of the numbers to be written that some derivation gives.

        Raises:
            ConfigurationError: only one of the numbers' tensors is given, its shape or its digits do not fit, or
                `inputs_embeds` is given beside `input_ids`.

        Warns:
            UserWarning: there are `input_ids` and no numbers' tensors, as where another tokenizer made the inputs.
        """
        numbers = self._checked(input_ids, number_reals, number_digits)
        if input_ids is not None:
            if inputs.get("inputs_embeds") is not None:
                raise ConfigurationError("input_ids and inputs_embeds say the same; give one of them")
            if numbers is None and not is_traced():
                warnings.warn(
                    f"{type(self).__name__} was given no number_reals and number_digits, so it reads no number; "
                    "NumberTokenizer makes them, also for texts without numbers",
                    stacklevel=4,
                )
            embeddings = self.get_input_embeddings()(input_ids)  # type: ignore[attr-defined]
            inputs["inputs_embeds"] = self._with_numbers(embeddings, input_ids, numbers)
        return_dict = inputs.pop("return_dict", None)
        is_asked = inputs.pop("output_hidden_states", None)
        is_asked = self.config.output_hidden_states if is_asked is None else is_asked
        # The last hidden states are what a head reads, in every class of models.
        outputs = base_forward(self, **inputs, output_hidden_states=True, return_dict=True)
        states = outputs.hidden_states[-1]
        found = dict(outputs) | {"hidden_states": selected(outputs.hidden_states, is_asked), "number_states": states}
        labels = inputs.get("labels")
        if labels is not None and self.objective and numbers is not None:
            if self.numbers.operations is None:
                found["number_loss"] = self._number_loss(states, labels, *numbers)
            else:
                found["number_loss"], found["number_derivable"] = self._operation_loss(
                    states, labels, numbers, input_ids, number_limbs
                )
            found["loss"] = found["loss"] + self.numbers.settings.loss_weight * found["number_loss"]
        is_dict = self.config.return_dict if return_dict is None else return_dict
        result = output_class(type(outputs))(**found)
        return result if is_dict else result.to_tuple()

    @torch.no_grad()
    def number_context(
        self, input_ids: torch.Tensor, *, number_limbs: torch.Tensor, attention_mask: torch.Tensor, **inputs: Any
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return what the head with operations reads behind each text, for `numbers.choose` and `numbers.write`.

        Args:
            input_ids: of `NumberTokenizer`, padded on either side, (batch, length).
            number_limbs: likewise, (batch, length, 2, limbs).
            attention_mask: likewise, (batch, length).
            **inputs: what else it makes, and of `forward`.

        Returns:
            states (batch, hidden_size), memory (batch, n, 2 · hidden_size) and numbers (batch, n, 2, limbs).
        """
        outputs = self(input_ids, attention_mask=attention_mask, number_limbs=number_limbs, **inputs)  # type: ignore[operator]
        states = outputs.number_states
        rows, at = (torch.arange(n, device=states.device) for n in states.shape[:2])
        ends = (at * attention_mask).argmax(dim=1)
        is_number = (input_ids == self.numbers.settings.token_id) & (number_limbs[..., 1, :] != 0).any(dim=-1)
        return states[rows, ends], *contexts(states, number_limbs, rows, is_number, ends)

    def _init_weights(self, module: torch.nn.Module) -> None:
        """Give a module its first weights, the numbers' layers their own; a file that is loaded may lack some."""
        # The model's own __init__ calls this before there are numbers.
        numbers = self._modules.get("numbers")  # type: ignore[attr-defined]
        if module is numbers:
            self.numbers.initialize()
        elif numbers is None or all(module is not part for part in numbers.modules()):
            super()._init_weights(module)  # type: ignore[misc]

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: Any, *args: Any, **options: Any) -> Any:
        """Return a model of this class as `PreTrainedModel.from_pretrained` does, and make its constant tables."""
        loaded = super().from_pretrained(pretrained_model_name_or_path, *args, **options)  # type: ignore[misc]
        model = loaded[0] if isinstance(loaded, tuple) else loaded
        model.numbers.restore_tables()
        return loaded

    def resize_token_embeddings(
        self, new_num_tokens: int | None = None, pad_to_multiple_of: int | None = None, **options: Any
    ) -> Any:
        """Return the embeddings after resizing them, as `PreTrainedModel.resize_token_embeddings` does.

        Raises:
            ConfigurationError: the number token would lose its embedding.
        """
        if new_num_tokens is not None:
            multiple = pad_to_multiple_of or 1
            self._check_vocabulary(-(-new_num_tokens // multiple) * multiple, self.numbers.settings)
        return super().resize_token_embeddings(new_num_tokens, pad_to_multiple_of, **options)  # type: ignore[misc]

    def _check_vocabulary(self, size: int, settings: NumberSettings) -> None:
        """Raise `ConfigurationError` unless the number token has an embedding among this many."""
        if settings.token_id >= size:
            raise ConfigurationError(
                f"the number token has the id {settings.token_id}, so {type(self).__name__} needs at least "
                f"{settings.token_id + 1} token embeddings, not {size}"
            )

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return how to copy or pickle the model: by its own class, since the equipped one is made when needed."""
        _drop_captures(self)
        reduced: Any = super().__reduce_ex__(protocol)
        made, arguments, *state = reduced
        if type(self) is arguments[0] and (base := vars(type(self)).get("equipped_from")) is not None:
            return (type(self).blank, (base,), *state)
        return (made, arguments, *state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what a copy or a pickle holds."""
        super().__setstate__(state)  # type: ignore[misc]
        _introduce(self.equipped_from, self.config)

    def _checked(
        self, input_ids: torch.Tensor | None, reals: torch.Tensor | None, digits: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Return the numbers' tensors if there are any, or raise `ConfigurationError`."""
        if reals is None and digits is None:
            return None
        if reals is None or digits is None:
            raise ConfigurationError("number_reals and number_digits go together; NumberTokenizer makes both")
        space = self.numbers.settings.space
        expected = (*reals.shape, space.n_primes, space.max_precision)
        if digits.shape != expected or (input_ids is not None and reals.shape != input_ids.shape):
            raise ConfigurationError(
                f"number_reals of shape {tuple(reals.shape)} and number_digits of shape {tuple(digits.shape)} do not "
                f"fit {'' if input_ids is None else f'input_ids of shape {tuple(input_ids.shape)} and '}{space}"
            )
        token_id, is_checked = self.numbers.settings.token_id, self.objective == "causal" and not is_traced()
        if input_ids is not None and is_checked and bool(((input_ids != token_id) & ~reals.isnan()).any()):
            raise ConfigurationError(
                f"there are numbers at tokens other than {token_id}, which is the number token of this "
                f"{type(self).__name__}; the texts went through the tokenizer of another model"
            )
        counts = digit_counts(digits.device, space.primes, space.precisions)
        return reals, as_digits(digits, counts, unknown=UNKNOWN_DIGIT)

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
        """Return the head's loss where the labels have the number token and the number is known; 0 if none is."""
        if self.objective == "causal":  # the state at a token says what the next one is
            states, labels, reals, digits = states[:, :-1], labels[:, 1:], reals[:, 1:], digits[:, 1:]
        at = (labels == self.numbers.settings.token_id) & ~reals.isnan()
        return self.numbers.number_loss(states[at], reals[at], digits[at])

    def _operation_loss(
        self,
        states: torch.Tensor,
        labels: torch.Tensor,
        numbers: tuple[torch.Tensor, torch.Tensor],
        input_ids: torch.Tensor | None,
        limbs: torch.Tensor | None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the loss of the head with operations where the labels have the number token, and what it reports."""
        if input_ids is None or limbs is None:
            raise ConfigurationError(
                "a model with operations learns from input_ids and number_limbs; NumberTokenizer makes both, and "
                "NumberCollator the labels"
            )
        if limbs.shape[:-1] != (*input_ids.shape, 2):
            raise ConfigurationError(
                f"number_limbs of shape {tuple(limbs.shape)} do not fit input_ids of shape {tuple(input_ids.shape)}; "
                "they are (batch, length, 2, limbs)"
            )
        exists, token = (limbs[..., 1, :] != 0).any(dim=-1), self.numbers.settings.token_id
        targets = (labels == token) & exists
        is_causal = self.objective == "causal"
        if is_causal:
            targets[:, 0] = False  # nothing says the first token
        is_number = (input_ids == token) & exists
        return self.numbers.operation_loss(states, (*numbers, limbs), is_number, targets, is_causal=is_causal)


def _drop_captures(model: Any) -> None:
    """Remove the hooks by which Transformers collects hidden states: no pickle holds them, and it makes them anew."""
    for module in model.modules():
        if vars(module).pop(_CAPTURES, False):
            for part in module.modules():
                for key, hook in list(part._forward_hooks.items()):
                    if getattr(hook, "__module__", None) == "transformers.utils.output_capturing":
                        del part._forward_hooks[key]


_CAPTURES = "_output_capturing_hooks_installed"
"""Where Transformers notes that a model has them."""


def _introduce(base: type, config: Any) -> None:
    """Build a model without weights, once a process: by that Transformers learns what it can collect of its class."""
    if base not in _introduced:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            base(copy.deepcopy(config))
        _introduced.add(base)


_introduced: set[type] = set()


def hidden_size_of(config: Any, embedding_size: int) -> int:
    """Return the width of a model's hidden states, which its configuration may leave to that of its embeddings.

    >>> from transformers import AlbertConfig
    >>> hidden_size_of(AlbertConfig(hidden_size=4096), 128)
    4096
    """
    return int(getattr(config.get_text_config(), "hidden_size", embedding_size))


NUMBER_OUTPUTS = ("number_loss", "number_states", "number_derivable")
"""What an equipped model adds: the loss of numbers, what their heads read, the share of targets with a derivation."""

_made: dict[type, Any] = {}


def output_class(base: type) -> Any:
    """Return the subclass of a class of outputs that has `NUMBER_OUTPUTS`, too.

    >>> from transformers.modeling_outputs import CausalLMOutput
    >>> made = output_class(CausalLMOutput)(logits=torch.zeros(1), number_states=torch.ones(1))
    >>> isinstance(made, CausalLMOutput), list(made)
    (True, ['logits', 'number_states'])
    """
    if base not in _made:
        added = [(name, torch.Tensor | None, None) for name in NUMBER_OUTPUTS]
        namespace = {"__module__": __name__, "__doc__": base.__doc__, "__reduce__": _reduce, "equipped_from": base}
        _made[base] = make_dataclass(f"Adelic{base.__name__}", added, bases=(base,), namespace=namespace)
    return _made[base]


def make_output_classes(forward: Callable[..., Any]) -> None:
    """Make the classes of what a `forward` says that it returns: a compiler cannot, nor a process that loads an export.

    >>> from transformers import LlamaForCausalLM
    >>> make_output_classes(LlamaForCausalLM.forward)
    >>> "CausalLMOutputWithPast" in [base.__name__ for base in _made]
    True
    """
    from transformers.utils import ModelOutput

    try:
        returned = get_type_hints(forward).get("return")
    except (NameError, TypeError):  # names of another module, or none that there are
        return
    for found in (returned, *get_args(returned)):
        if isclass(found) and issubclass(found, ModelOutput):
            output_class(found)


def selected(states: tuple[Any, ...], asked: Any) -> tuple[Any, ...] | None:
    """Return the hidden states that `output_hidden_states` asks for, None in the places of others.

    >>> selected(("a", "b", "c"), [0, -1]), selected(("a", "b"), True), selected(("a", "b"), False)
    (('a', None, 'c'), ('a', 'b'), None)
    """
    if not asked or asked is True:
        return states if asked else None
    n = len(states)
    wanted = {index % n for index in ([asked] if isinstance(asked, int) else asked) if -n <= index < n}
    return tuple(state if index in wanted else None for index, state in enumerate(states))


def _reduce(self: Any) -> Any:
    return _rebuilt, (self.equipped_from, {field.name: getattr(self, field.name) for field in fields(self)})


def _rebuilt(base: type, values: dict[str, Any]) -> Any:
    """Return outputs again, for unpickling."""
    return output_class(base)(**values)
