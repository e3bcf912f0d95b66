"""Give a model of Hugging Face Transformers numbers; load one that has them."""

import functools
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from adelic.errors import AdelicError, ConfigurationError, StorageError, needs_extra
from adelic.integrations.transformers.generating import EquippedGenerator
from adelic.integrations.transformers.layers import (
    NUMBER_TOKEN,
    NumberLayers,
    NumberSettings,
    check_tokenizer,
    note_settings,
)
from adelic.integrations.transformers.models import (
    NUMBER_INPUTS,
    NUMBER_OUTPUTS,
    EquippedModel,
    hidden_size_of,
    make_output_classes,
)
from adelic.nn.heads.exact import check_constants, check_operations
from adelic.numbers import AdeleSpace
from adelic.numbers.describe import describe, one_line

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def equip(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    space: AdeleSpace,
    *,
    features: str = "characters",
    real_scale: float = 1.0,
    max_numerator: int | None = None,
    max_denominator: int = 1,
    loss_weight: float = 1.0,
    operations: Sequence[str] = (),
    constants: Sequence[Any] = (),
    recent: int | None = None,
    steps: int = 1,
) -> "PreTrainedModel":
    """Give a model and its tokenizer a token for numbers, and return the model, which is changed in place.

    The token's vector is the model's own plus a projection of the number's adelic features. A head predicts the number
    when the language model writes the token. The model stays an instance of its class, and its outputs for texts
    without numbers do not change. `NumberTokenizer` and `NumberCollator` make the inputs:

    - `forward` also takes `number_reals`, floats (batch, length), and `number_digits`, integers (batch, length,
      n_primes, max_precision): the numbers of the text's tokens, NaN and `UNKNOWN_DIGIT` at other tokens. They are read
      where `input_ids` has the token, and are the head's targets where `labels` has it (of the next token in causal
      models); so a masked number may stay there. The head's loss, times `loss_weight`, is added to the model's, and is
      `outputs.number_loss`.
    - `generate` feeds each predicted number back into the model; see `EquippedModel.generate`.
    - With `operations` an `OperationHead` writes numbers: a copy of a number of the text, the exact result of an
      operation, or a number that the other head predicts. `outputs.number_derivable` is the share of numbers to be
      learned that have any derivation. `forward` also takes `number_limbs`, integers (batch, length, 2,
      limbs), the numbers themselves, whatever their size.

    Args:
        model: a causal or masked language model, or an encoder, with or without a head for another task.
        tokenizer: the model's; the token is added, and the model's embeddings are resized if need be.
        space: the primes and digits. One digit at many primes is a good choice for a head.
        features: one of `adelic.numbers.features.PLACE_FEATURES`.
        real_scale: the usual size of the numbers.
        max_numerator: numbers n/m that are written have |n| up to it; the default leaves half of the digits to correct
            errors.
        max_denominator: and m up to it; 1 for integers.
        loss_weight: of the number head's loss.
        operations: names such as "+", "-", "*", "/", "gcd", "lcm", "%"; see `adelic.nn.OperationHead`. None by default.
        constants: numbers that operations may take although the text does not contain them, such as 60 and 100.
        recent: choose only among the last numbers before the one that is written, this many.
        steps: 2 allows a second operation on the result of the first: "(3 + 5) × 2" makes one number.

    Raises:
        ConfigurationError: the model is an encoder-decoder, equipped already, spread over devices already or takes no
            `inputs_embeds`; an option is wrong.
        SpaceError: the space has too few digits to distinguish the numbers that are to be written.

    >>> from tokenizers import Tokenizer, models
    >>> from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast
    >>> words = Tokenizer(models.WordLevel({"[UNK]": 0, "[PAD]": 1, "and": 2}, unk_token="[UNK]"))
    >>> tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]")
    >>> config = BertConfig(vocab_size=3, hidden_size=32, num_hidden_layers=1, num_attention_heads=2)
    >>> space = AdeleSpace(primes=(2, 3, 5, 7, 11, 13, 17), precision=1)
    >>> model = equip(BertForMaskedLM(config), tokenizer, space)
    >>> type(model).__name__, isinstance(model, BertForMaskedLM), tokenizer.convert_tokens_to_ids("[NUM]")
    ('AdelicBertForMaskedLM', True, 3)
    """
    check_tokenizer(tokenizer)
    if not hasattr(model, "get_input_embeddings"):
        raise ConfigurationError(f"{describe(model)} is not a model of Transformers, to which numbers can be given")
    if isinstance(model, EquippedModel):
        raise ConfigurationError(
            f"this {type(model).__name__} is equipped already; build or load it anew for other options"
        )
    _check_class(type(model), model.config)
    if "forward" in vars(model):
        raise ConfigurationError(
            f"the forward of this {type(model).__name__} was replaced, as device_map and compilers do; equip it before"
        )
    if model.device.type == "meta":
        raise ConfigurationError(f"this {type(model).__name__} is on the device meta; equip it when it has weights")
    # The tokenizer and the model are changed in place, so all options are checked before either is.
    settings = NumberSettings(
        space=space,
        token_id=0,
        features=features,
        real_scale=real_scale,
        max_numerator=max_numerator,
        max_denominator=max_denominator,
        loss_weight=loss_weight,
        operations=check_operations(operations),
        constants=tuple(check_constants(constants)),
        recent=recent,
        steps=steps,
    )
    token_id = add_number_token(tokenizer)
    settings = replace(settings, token_id=token_id)
    note_settings(tokenizer, settings)
    if token_id >= model.get_input_embeddings().num_embeddings:
        model.resize_token_embeddings(len(tokenizer))
    embeddings = model.get_input_embeddings().weight
    embedding_size = embeddings.shape[1]
    layers = NumberLayers(
        settings,
        hidden_size_of(model.config, embedding_size),
        embedding_size=embedding_size,
        embedding_std=float(embeddings.detach().float().std()),
    )
    ignored = getattr(model.config, "keys_to_ignore_at_inference", ["past_key_values"])
    model.config.keys_to_ignore_at_inference = [*ignored, *NUMBER_OUTPUTS]  # Trainer collects the rest
    model.config.adelic = {"model": type(model).__name__, **settings.to_dict()}
    base: Any = type(model)
    model.__class__ = equipped_class(base)
    model.numbers = layers.to(embeddings.device, embeddings.dtype).train(model.training)
    return model


def _check_class(model_class: type, config: Any) -> None:
    """Raise `ConfigurationError` unless models of a class, with a configuration, can be given numbers."""
    name = model_class.__name__
    expected = getattr(model_class, "config_class", None)
    if expected is None or not isinstance(config, expected):
        takes = "no configuration" if expected is None else f"a {expected.__name__}"
        raise ConfigurationError(f"{name} takes {takes}, not a {type(config).__name__}; name the class of the model")
    if config.is_encoder_decoder:
        raise ConfigurationError(f"{name} is an encoder-decoder; causal, masked and encoder models do")
    if "inputs_embeds" not in inspect.signature(model_class.forward).parameters:  # type: ignore[attr-defined]
        raise ConfigurationError(f"{name}.forward takes no inputs_embeds, so nothing can be added there")


def add_number_token(tokenizer: "PreTrainedTokenizerBase") -> int:
    """Add `NUMBER_TOKEN` to a tokenizer that lacks it, and return its id.

    It is not a special token, so `decode(…, skip_special_tokens=True)` keeps it, and masked language models learn
    it.

    >>> from tokenizers import Tokenizer, models
    >>> from transformers import PreTrainedTokenizerFast
    >>> tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"and": 0})))
    >>> add_number_token(tokenizer) == add_number_token(tokenizer) == len(tokenizer) - 1
    True
    """
    from transformers import AddedToken

    if NUMBER_TOKEN not in tokenizer.get_vocab():
        tokenizer.add_tokens([AddedToken(NUMBER_TOKEN, normalized=False, special=False)])
    return int(tokenizer.convert_tokens_to_ids(NUMBER_TOKEN))


def from_pretrained(pretrained_model_name_or_path: str | Path, **options: Any) -> "PreTrainedModel":
    """Return an equipped model that `save_pretrained` wrote; nothing in its folder is executed.

    Args:
        pretrained_model_name_or_path: a folder, or the name of a repository on the hub.
        options: of `PreTrainedModel.from_pretrained`, such as `dtype` or `device_map`.

    Raises:
        ConfigurationError: the model was not equipped, is not of a class of the library's own, or its numbers' settings
            are damaged, or not those that its weights were trained with.
        MissingExtraError: Transformers is not installed.

    >>> import tempfile
    >>> import torch
    >>> from transformers import BertConfig, BertModel, PreTrainedTokenizerFast
    >>> from tokenizers import Tokenizer, models
    >>> words = Tokenizer(models.WordLevel({"[UNK]": 0, "[PAD]": 1, "and": 2}, unk_token="[UNK]"))
    >>> tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]")
    >>> config = BertConfig(vocab_size=3, hidden_size=32, num_hidden_layers=1, num_attention_heads=2)
    >>> model = equip(BertModel(config), tokenizer, AdeleSpace(primes=(2, 3, 5), precision=2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save_pretrained(folder)
    ...     again = from_pretrained(folder)
    >>> type(again).__name__, torch.equal(again.numbers.projection.weight, model.numbers.projection.weight)
    ('AdelicBertModel', True)
    """
    with needs_extra("from_pretrained()", "hf"):
        from transformers import AutoConfig

    path = pretrained_model_name_or_path
    hub = {key: options[key] for key in _OF_THE_HUB if key in options}
    with _errors_of(f"the config.json of {path}"):
        config = options.pop("config", None) or AutoConfig.from_pretrained(path, trust_remote_code=False, **hub)
    if not isinstance(getattr(config, "adelic", None), dict):
        raise ConfigurationError(f"{path} holds no equipped model: its config.json lacks 'adelic'; see equip")
    with _errors_of(f"the entry 'adelic' of the config.json of {path}"):
        base = named_class(config.adelic.get("model"))
        _check_class(base, config)
        NumberSettings.from_dict({key: value for key, value in config.adelic.items() if key != "model"})
    with _errors_of(f"the model of {path}"):
        model_class: Any = equipped_class(base)
        return model_class.from_pretrained(path, config=config, **options | {"use_safetensors": True})


@contextmanager
def _errors_of(what: str) -> Iterator[None]:
    """Turn what a file can cause in Transformers into errors of one line that name the file; memory's pass."""
    try:
        yield
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except AdelicError as error:
        raise type(error)(f"{what}: {error}") from error
    except OSError as error:
        raise StorageError(f"{what} cannot be read: {one_line(str(error))}") from error
    except Exception as error:
        reason = one_line(f"{type(error).__name__}: {error}")
        raise ConfigurationError(f"{what} cannot be loaded: {reason}; save it anew with save_pretrained") from error


_OF_THE_HUB = ("cache_dir", "force_download", "local_files_only", "revision", "subfolder", "token")
"""Options that say where a file is, both for the configuration and the weights."""


def named_class(name: Any) -> type:
    """Return the model class of Transformers with a name.

    >>> named_class("BertModel").__name__
    'BertModel'
    """
    import transformers

    try:
        found = getattr(transformers, name, None) if isinstance(name, str) else None
    except (ImportError, RuntimeError):  # of a class that needs another library
        found = None
    if not (inspect.isclass(found) and issubclass(found, transformers.PreTrainedModel)):
        raise ConfigurationError(f"{describe(name)} is not a model class of Transformers {transformers.__version__}")
    return found


@functools.cache
def equipped_class(base: type) -> type:
    """Return the subclass of a model class that reads and writes numbers.

    It keeps the signature of `forward`, by which `Trainer`, `generate` and tracers know what a model takes.

    >>> from transformers import GPT2LMHeadModel
    >>> equipped_class(GPT2LMHeadModel).__mro__[1:4]
    (<class '...EquippedGenerator'>, <class '...EquippedModel'>, <class '...GPT2LMHeadModel'>)
    """
    make_output_classes(base.forward)  # type: ignore[attr-defined]
    signature = inspect.signature(base.forward)  # type: ignore[attr-defined]
    by_position = inspect.Parameter.POSITIONAL_OR_KEYWORD
    added = [inspect.Parameter(name, by_position, default=None) for name in NUMBER_INPUTS]
    parameters = list(signature.parameters.values())
    at = sum(parameter.kind <= by_position for parameter in parameters)
    # Behind all that may be given by position, so these keep their places.
    parameters[at:at] = added
    names = [parameter.name for parameter in parameters[1 : at + len(added)]]

    @functools.wraps(base.forward)  # type: ignore[attr-defined]
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        named = dict(zip(names[: len(args)], args, strict=True))
        return self.forward_numbers(base.forward, **named, **kwargs)  # type: ignore[attr-defined]

    forward.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    kind = EquippedGenerator if base.can_generate() else EquippedModel  # type: ignore[attr-defined]
    # Transformers keeps what it knows of a class, such as how to collect hidden states, under str(class).
    alike = {"__module__": base.__module__, "__qualname__": base.__qualname__, "equipped_from": base}
    alike["blank"] = staticmethod(blank)
    return type(f"Adelic{base.__name__}", (kind, base), {"forward": forward, **alike})


def blank(base: type) -> Any:
    """Return an empty object of an equipped class, for unpickling.

    >>> from transformers import GPT2LMHeadModel
    >>> type(blank(GPT2LMHeadModel)).__name__
    'AdelicGPT2LMHeadModel'
    """
    made: Any = equipped_class(base)
    return made.__new__(made)
