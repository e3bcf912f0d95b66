"""From texts to the tensors of an equipped model, and back: what finds numbers, a tokenizer, and a collator."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import torch

from adelic.errors import ConfigurationError
from adelic.integrations.transformers.layers import NUMBER_TOKEN, check_tokenizer, noted_settings, unknown_numbers
from adelic.nn import adelic_targets, exact_numbers
from adelic.numbers import AdeleSpace
from adelic.numbers.describe import describe, number_text
from adelic.numbers.rationals import read

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedTokenizerBase

Span = tuple[int, int, Fraction | None]
"""Where a number or a number token is in a text, (start, end, number or None)."""

_IGNORED = -100
"""The label of tokens that are not learned, as everywhere in Transformers."""

_NOT_A_ROW_A_TEXT = (
    "text_pair",
    "text_target",
    "text_pair_target",
    "return_overflowing_tokens",
    "is_split_into_words",
)
"""Options of tokenizers with which a row of tokens is not one text, whose numbers would go to another's or nowhere."""

# What is written without a break: words, numbers, and both joined by a dot, a hyphen or a slash; between two digits by
# a comma or a colon; the sign of an exponent.
_RUN = re.compile(r"(?:(?<=\d)[eE][+-](?=\d)|\w|(?<=\w)[./-](?=\w)|(?<=\d)[,:](?=\d))+")
_PLAIN = r"(?:0|[1-9][0-9]*)"
_WHOLE = rf"(?:[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+|{_PLAIN})"
_REAL = rf"{_WHOLE}(?:\.[0-9]+)?"
_EXPONENT = r"(?:[eE][+-]?[0-9]{1,3})?"
_NUMBER = re.compile(rf"{_REAL}{_EXPONENT}|{_PLAIN}/[1-9][0-9]*")
_AFTER_POINT = re.compile(rf"[0-9]+{_EXPONENT}")
_TIME = re.compile(r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?")
_LIST = re.compile(rf"{_PLAIN}(?:\.[0-9]+)?(?:,{_PLAIN}(?:\.[0-9]+)?)+")
_PAIR = re.compile(rf"({_REAL})[/:-]({_REAL})")
_DATE = re.compile(r"[0-9.,:/-]+")
_PLAIN_PART = re.compile(rf"(?<![0-9]){_PLAIN}(?![0-9])")
_REAL_PART = re.compile(rf"(?<![0-9]){_REAL}(?![0-9])")
_BEFORE = r"(?:^|[\s(\[{<>=≤≥≈~+*/^|,;:$€£¥±\"'])"
_SIGN = re.compile(rf"{_BEFORE}[-\u2212]\Z")
_ANNOTATION = re.compile(r"<<[^<>=]*=[^<>]*>>")
_SAID_BEFORE = re.compile(r"\s*[$€£]?\s*=[-\u2212\s0-9.,+*/()$€£%xX×÷]*")  # reversed
_BETWEEN = re.compile(r"(?<=[0-9)%])\s*(?:[-\u2212/]|[xX](?=[$€£]?[0-9.]))")
_POINT = re.compile(rf"(?:{_BEFORE}|{_BEFORE}[-\u2212])\.\Z")


@dataclass(frozen=True)
class FoundNumber:
    """A number in a text: text[start:end] says value.

    >>> find_numbers("about 2.50 each")
    [FoundNumber(start=6, end=10, value=Fraction(5, 2))]
    """

    start: int
    end: int
    value: Fraction


def find_numbers(text: str, *, words: bool = False, dates: bool = False) -> list[FoundNumber]:
    """Return the numbers of a text, from left to right.

    A number has an integer ("12", "1,234,567"), perhaps decimals (".5", "3.14"), perhaps an exponent of up to three
    digits ("6.02e23"), or is a fraction of integers ("22/7"). A minus directly before it is its sign, unless it follows
    a word, a number or a closing bracket: "-5" and "x=-5" have −5, "3 - 5" and "3-5" have 3 and 5. No numbers are

    - digits in words: "x2", "2nd", "5km", "v1.2", "COVID-19";
    - dates, times, versions, network addresses: "2024-05-06", "12/05/2024", "10:30", "1.2.3";
    - digits after a leading zero, "007" or "05/06": the zeros would be lost. ("5/6" is always a fraction.)

    In the calculator's annotations of GSM8K, "48/2 = <<48/2=24>>24", and in the expression directly before one, a slash
    or a hyphen after a number is an operator: 48, 2, 48, 2, 24, 24. A model that writes such a solution copies 48 and 2
    and writes 24 as 48 / 2; a fraction 48/2 would already be the result.

    Args:
        text: any text.
        words: whether digits in words are numbers, too.
        dates: whether the parts of dates, times and so on are numbers, too.

    >>> [str(found.value) for found in find_numbers("from -1,200.5 to 3/4, x2 on 2024-05-06 at 10:30, 1e-3")]
    ['-2401/2', '3/4', '1/1000']
    >>> [str(found.value) for found in find_numbers("x2 on 12/11/2024", words=True, dates=True)]
    ['2', '12', '11', '2024']
    """
    text = _with_operators(text)
    found = []
    for run in _RUN.finditer(text):
        first, last = run.span()
        spans = [(first + start, first + end) for start, end in _spans(run[0], words=words, dates=dates)]
        # Searched from a place on, ^ still is the beginning of the text; \Z is the place where the search ends.
        if _POINT.search(text, max(0, first - 3), first) and _AFTER_POINT.fullmatch(run[0]):
            spans = [(first - 1, last)]
        for start, end in spans:
            value = read(text[start:end].replace(",", "")).fraction(0)
            is_negative = start <= first and _SIGN.search(text, max(0, start - 2), start) is not None
            found.append(FoundNumber(start - is_negative, end, -value if is_negative else value))
    return found


def _with_operators(text: str) -> str:
    """Return a text of the same length in which the operators of annotations join no numbers."""
    parts, end = [], 0
    for annotation in _ANNOTATION.finditer(text):
        before = text[end : annotation.start()]
        said = _SAID_BEFORE.match(before[::-1])
        start = annotation.start() - (said.end() if said else 0)
        apart = _BETWEEN.sub(lambda match: f"{'|':>{len(match[0])}}", text[start : annotation.end()])
        parts += [text[end:start], apart]
        end = annotation.end()
    return "".join([*parts, text[end:]])


def _spans(run: str, *, words: bool, dates: bool) -> list[tuple[int, int]]:
    """Return where the numbers of one run are in it."""
    if _NUMBER.fullmatch(run):
        return [(0, len(run))]
    if _TIME.fullmatch(run) and not dates:  # before pairs, whose parts may be joined by a colon
        return []
    if pair := _PAIR.fullmatch(run):
        return [pair.span(1), pair.span(2)]
    if _LIST.fullmatch(run):
        return [part.span() for part in _REAL_PART.finditer(run.replace(",", " "))]
    if words and re.search(r"[^\W\d]", run):
        return [part.span() for part in _REAL_PART.finditer(run)]
    if dates and _DATE.fullmatch(run):
        return [part.span() for part in _PLAIN_PART.finditer(run)]
    return []


class NumberTokenizer:
    """A tokenizer that puts the number token where a text has a number, and the numbers next to the tokens.

    `number_reals`, float32 (batch, length), and `number_digits`, int32 (batch, length, n_primes, max_precision), have
    NaN and `UNKNOWN_DIGIT` at tokens that are not numbers. The digits are integers, so no change of floating-point type
    on the way to a device can harm them; they are the number exactly, up to `space.decoding_bound`. A prime that
    divides a denominator more often than the space's window holds has no digits; that is not an error. Of a model with
    operations `number_limbs`, int32 (batch, length, 2, limbs), has the numbers themselves, see `nn.exact_numbers`. How
    a number was written ("1,000" or "1000", "1/2" or "0.5") is not kept.

    Args:
        tokenizer: of a model that went through `equip`.
        space: the model's; `equip` noted it in the tokenizer, so it may be left out.
        find: what finds numbers; `functools.partial(find_numbers, dates=True)` changes what counts as one.

    Raises:
        ConfigurationError: the tokenizer lacks the number token, its model has another space, or none is known.

    >>> from adelic.integrations.transformers.patching import add_number_token
    >>> from tokenizers import Tokenizer, models, pre_tokenizers
    >>> from transformers import PreTrainedTokenizerFast
    >>> words = Tokenizer(models.WordLevel({"[UNK]": 0, "[PAD]": 1, "plus": 2}, unk_token="[UNK]"))
    >>> words.pre_tokenizer = pre_tokenizers.Whitespace()
    >>> plain = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]")
    >>> add_number_token(plain)
    3
    >>> tokenizer = NumberTokenizer(plain, AdeleSpace(primes=(2, 5), precision=1))
    >>> batch = tokenizer(["1,007 plus x2", "-3/4"])
    >>> batch["input_ids"], batch["number_reals"]
    (tensor([[3, 2, 0],
            [3, 1, 1]]), tensor([[ 1.0070e+03,         nan,         nan],
            [-7.5000e-01,         nan,         nan]]))
    >>> batch["number_digits"][:, 0, :, 0]  # 1007 is 1 modulo 2 and 2 modulo 5; 4 is not a unit modulo 2
    tensor([[   1,    2],
            [-100,    3]], dtype=torch.int32)
    >>> tokenizer.decode(batch["input_ids"], [[1007, None, None], [Fraction(-3, 4), None, None]])
    ['1007 plus', '-3/4']
    """

    def __init__(
        self,
        tokenizer: "PreTrainedTokenizerBase",
        space: AdeleSpace | None = None,
        *,
        find: Callable[[str], Sequence[FoundNumber]] = find_numbers,
    ) -> None:
        check_tokenizer(tokenizer)
        if NUMBER_TOKEN not in tokenizer.get_vocab():
            raise ConfigurationError(f"the tokenizer has no token {NUMBER_TOKEN}; equip adds it")
        settings = noted_settings(tokenizer)
        if space is None:
            if settings is None:
                raise ConfigurationError("the tokenizer has no space of a model; give it as space")
            space = settings.space
        elif settings is not None and space != settings.space:
            raise ConfigurationError(f"the tokenizer goes with a model of {settings.space}, not of {space}")
        self.tokenizer, self.space, self.settings, self.find = tokenizer, space, settings, find
        self.token_id = int(tokenizer.convert_tokens_to_ids(NUMBER_TOKEN))

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError, which says where the plain tokenizer's attributes are: pipelines look for them here."""
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        if hasattr(self.__dict__.get("tokenizer"), name):
            message += f"; its `tokenizer` has. Pipelines cannot use a {type(self).__name__}: generate can"
        raise AttributeError(message)

    def __call__(self, texts: str | Sequence[str], **options: Any) -> "BatchEncoding":
        """Return the tokens and the numbers of texts, as tensors.

        Args:
            texts: one or more.
            options: of the tokenizer, such as `truncation`, `max_length`, `padding` (by default to the longest), but
                not `text_pair`, `return_overflowing_tokens` and others that do not give one sequence per text.

        Raises:
            ConfigurationError: there is no text, an option does not go with numbers, or the tokenizer did not keep a
                number token for each number.
        """
        return self.place(texts, **options)[0]

    def place(
        self, texts: str | Sequence[str], **options: Any
    ) -> tuple["BatchEncoding", list[tuple[int, int, Fraction]], list[list[Span]]]:
        """Return what a call returns, the numbers themselves, (row, column, number) each, and the `spans` of texts."""
        for name in _NOT_A_ROW_A_TEXT:
            if options.get(name):
                raise ConfigurationError(
                    f"{name}={describe(options[name])} does not go with numbers, since each text is one sequence; "
                    "leave it out, and join or cut texts before"
                )
        listed = [texts] if isinstance(texts, str) else list(texts)
        strange = [text for text in listed if not isinstance(text, str)]
        if strange or not listed:
            what = f"{describe(strange[0])} is not a text" if strange else "there is no text"
            raise ConfigurationError(f"{what}; give one or more, each a str")
        spans = [self.spans(text) for text in listed]
        options = {"padding": True} | options | {"return_tensors": "pt"}
        batch: BatchEncoding = self.tokenizer(list(map(_marked, listed, spans)), **options)
        if batch["input_ids"].numel() == 0:
            raise ConfigurationError(f"the text {describe(listed[0])} has no token; give a text that is not empty")
        is_number = batch["input_ids"] == self.token_id
        is_truncated = bool(options.get("truncation"))
        reals, digits = unknown_numbers(self.space, tuple(is_number.shape))
        placed = []
        for row, numbers in enumerate(spans):
            at = torch.nonzero(is_number[row])[:, 0].tolist()
            if len(at) != len(numbers) and not (is_truncated and len(at) < len(numbers)):
                raise ConfigurationError(
                    f"the tokenizer made {len(at)} number tokens of {len(numbers)} numbers in text {row}; is "
                    f"{NUMBER_TOKEN} a token of its own?"
                )
            kept = numbers[len(numbers) - len(at) :] if self.tokenizer.truncation_side == "left" else numbers
            for column, (_, _, value) in zip(at, kept, strict=False):
                if value is not None:
                    placed.append((row, column, value))
        if placed:
            rows, columns, values = zip(*placed, strict=True)
            known_reals, known_digits = adelic_targets(self.space, list(values))
            reals[rows, columns], digits[rows, columns] = known_reals.to(reals), known_digits.to(digits)
        batch["number_reals"], batch["number_digits"] = reals, digits
        if self.settings is not None and self.settings.operations:
            known = exact_numbers([value for *_, value in placed])
            limbs = torch.zeros((*is_number.shape, *known.shape[1:]), dtype=known.dtype)
            if placed:
                limbs[rows, columns] = known
            batch["number_limbs"] = limbs
        return batch, placed, spans

    def spans(self, text: str) -> list[Span]:
        """Return where numbers and number tokens are in a text, in order, (start, end, number or None) each.

        >>> from transformers import PreTrainedTokenizerFast
        >>> from tokenizers import Tokenizer, models
        >>> plain = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"[NUM]": 0})))
        >>> NumberTokenizer(plain, AdeleSpace()).spans("[NUM] of 7")
        [(0, 5, None), (9, 10, Fraction(7, 1))]
        """
        found: list[Span] = [(n.start, n.end, n.value) for n in self.find(text)]
        found += [(*match.span(), None) for match in re.finditer(re.escape(NUMBER_TOKEN), text)]
        return sorted(found, key=lambda number: number[0])

    def decode(self, token_ids: Any, numbers: Any, **options: Any) -> list[str]:
        """Return texts with their numbers, "7/5" or "-3"; the number token stays if a number is None.

        Args:
            token_ids: (texts, length), such as `sequences` of `generate`.
            numbers: of the tokens, (texts, length), such as `numbers` of `generate`.
            options: of the tokenizer's `decode`.
        """
        texts = []
        for ids, row in zip(torch.as_tensor(token_ids).tolist(), numbers, strict=True):
            values = [value for token, value in zip(ids, row, strict=True) if token == self.token_id]
            first, *rest = self.tokenizer.decode(ids, **{"skip_special_tokens": True} | options).split(NUMBER_TOKEN)
            shown = [NUMBER_TOKEN if value is None else number_text(Fraction(value)) for value in values]
            texts.append(first + "".join(number + part for number, part in zip(shown, rest, strict=True)))
        return texts


class NumberCollator:
    """Batches of texts for `Trainer`: tokens, numbers and labels.

    An example is a text, or a dictionary with "text", or for causal models with "prompt" and "completion", of which
    the completion alone is learned: every token that reaches into it, also the number of "x = -" and "6". Its other
    entries, the same in all examples, become tensors; "label" is renamed "labels". Say
    `TrainingArguments(remove_unused_columns=False)`, or `Trainer` takes the texts away.

    Args:
        tokenizer: makes tokens and numbers.
        objective: `model.objective`: "causal" labels all tokens, "masked" masks some and labels these, None adds no
            labels. Of a masked number only the head's target is left, since the model reads numbers at number tokens.
        max_length: texts are cut there.
        mask_probability: how many of the tokens are masked; of these 10 % stay as they are and 10 % become others.
        hidden: of so many examples the model reads where numbers are, but not which: a share from 0 to 1, for models
            with operations, whose operations stay exact. A model that sees sizes may learn to say that the number that
            looks greater is the answer, instead of the maximum, which fails where two are near; half is a good choice.
        seed: of the masks and of what is hidden; torch's generator if None, which differs between worker processes.

    Raises:
        ConfigurationError: there is no such objective; `hidden` is no share, or the model has no operations.

    >>> from transformers import PreTrainedTokenizerFast
    >>> from tokenizers import Tokenizer, models, pre_tokenizers
    >>> words = Tokenizer(models.WordLevel({"[NUM]": 0, "=": 1, "[PAD]": 2}))
    >>> words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    >>> plain = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]")
    >>> collator = NumberCollator(NumberTokenizer(plain, AdeleSpace()), "causal")
    >>> batch = collator([{"prompt": "7/5 =", "completion": " 1.4"}, "3 ="])
    >>> batch["input_ids"], batch["labels"]
    (tensor([[0, 1, 0],
            [0, 1, 2]]), tensor([[-100, -100,    0],
            [   0,    1, -100]]))
    """

    def __init__(
        self,
        tokenizer: NumberTokenizer,
        objective: str | None,
        *,
        max_length: int | None = None,
        mask_probability: float = 0.15,
        hidden: float = 0.0,
        seed: int | None = None,
    ) -> None:
        if objective not in ("causal", "masked", None):
            raise ConfigurationError(f"objective={objective!r} must be 'causal', 'masked' or None; see model.objective")
        if not isinstance(tokenizer, NumberTokenizer):
            raise ConfigurationError(f"{describe(tokenizer)} is not a NumberTokenizer, which makes one of a tokenizer")
        if isinstance(hidden, bool) or not isinstance(hidden, int | float) or not 0 <= hidden <= 1:
            raise ConfigurationError(f"hidden={describe(hidden)} is no share of examples; use 0 to 1, such as 0.5")
        if hidden and not (tokenizer.settings is not None and tokenizer.settings.operations):
            raise ConfigurationError(
                f"hidden={hidden} is for models with operations; equip(…, operations=…) gives some"
            )
        self.number_tokenizer, self.objective, self.max_length = tokenizer, objective, max_length
        self.tokenizer = tokenizer.tokenizer  # where Trainer looks for what it saves beside the model
        self.hidden, self._mask = hidden, None
        self._generator = None if seed is None else torch.Generator().manual_seed(seed)
        self._warned: set[str] = set()
        if objective == "masked":
            from transformers import DataCollatorForLanguageModeling

            self._mask = DataCollatorForLanguageModeling(tokenizer.tokenizer, mlm_probability=mask_probability)
            if seed is not None:
                self._mask.generator = self._generator

    def __call__(self, examples: Sequence[str | Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Return a batch.

        Raises:
            ConfigurationError: there is no example, one has no text, or not the entries that others have.

        Warns:
            UserWarning: a number is to be learned that is beyond those that the model writes, or nothing is learned of
                an example, whose completion is empty, cut off, or within the first token; once each.
        """
        rows = [{"text": example} if isinstance(example, str) else dict(example) for example in examples]
        prompts = [row.pop("prompt", "") for row in rows]
        texts = [prompt + _text_of(row) for prompt, row in zip(prompts, rows, strict=True)]
        cut: dict[str, Any] = {} if self.max_length is None else {"truncation": True, "max_length": self.max_length}
        if self.objective == "causal":
            # Padding on the left, as prompts need it, would move the positions of models that count them from there.
            cut["padding_side"] = "right"
        batch, placed, spans = self.number_tokenizer.place(texts, return_offsets_mapping=any(prompts), **cut)
        offsets = batch.pop("offset_mapping", None)
        tensors: dict[str, torch.Tensor] = dict(batch)
        if self.hidden:
            # NaN is a number that is not known: the model reads that one is there, and operations compute with it.
            is_hidden = torch.rand(len(rows), generator=self._generator) < self.hidden
            tensors["number_reals"] = tensors["number_reals"].masked_fill(is_hidden[:, None], torch.nan)
        if self.objective == "causal":
            labels = tensors["input_ids"].masked_fill(tensors["attention_mask"] == 0, _IGNORED)
            for row, prompt in enumerate(prompts):
                if prompt:
                    is_completion = offsets[row, :, 1] > _start_of_completion(spans[row], len(prompt))
                    # Up to the first token of the completion: special tokens after it have the offset 0, and are
                    # learned.
                    labels[row, is_completion.cumsum(0) == 0] = _IGNORED
                    if (labels[row, 1:] == _IGNORED).all():
                        self._warn(
                            "nothing",
                            f"nothing is learned of the prompt {describe(prompt)} with the completion "
                            f"{describe(texts[row][len(prompt) :])}: that is empty, cut off, or within the first token",
                        )
            tensors["labels"] = labels
        elif self._mask is not None:
            tensors["input_ids"], tensors["labels"] = self._mask.torch_mask_tokens(tensors["input_ids"])
        if self.objective is not None and "beyond" not in self._warned:
            # The first token of a row is never a target of a causal model.
            first = 1 if self.objective == "causal" else 0
            is_target = tensors["labels"] == self.number_tokenizer.token_id
            targets = [value for row, column, value in placed if column >= first and is_target[row, column]]
            self._warn("beyond", self._check_targets(targets))
        for key in dict.fromkeys(key for row in rows for key in row):
            without = next((i for i, row in enumerate(rows) if key not in row), None)
            if without is not None:
                raise ConfigurationError(
                    f"example {without} of a batch has no {key!r}, and others have; give it to all"
                )
            tensors["labels" if key == "label" else key] = torch.as_tensor([row[key] for row in rows])
        return tensors

    def _warn(self, kind: str, message: str | None) -> None:
        """Warn once of each kind, if there is something to say."""
        if message is not None and kind not in self._warned:
            self._warned.add(kind)
            warnings.warn(message, stacklevel=3)

    def _check_targets(self, targets: list[Fraction]) -> str | None:
        """Return what is to be said of a number that is to be learned and that the model can never write, if any."""
        settings = self.number_tokenizer.settings
        if settings is not None and settings.operations:  # these write numbers of any size
            return None
        beyond = [] if settings is None else [value for value in targets if not settings.holds(value)]
        if settings is None or not beyond:
            return None
        return (
            f"a text's number {describe(beyond[0])} is to be learned, and the model writes n/m with |n| up to "
            f"{settings.max_numerator} and m up to {settings.max_denominator} alone; equip takes max_numerator and "
            "max_denominator"
        )


def _text_of(row: dict[str, Any]) -> str:
    """Take the text, or the completion, out of an example."""
    for key in ("text", "completion"):
        if isinstance(row.get(key), str):
            text: str = row.pop(key)
            return text
        if key in row:
            raise ConfigurationError(f"the {key!r} of an example is {describe(row[key])}, which is no text; give a str")
    raise ConfigurationError(
        f"an example with {', '.join(map(str, row)) or 'nothing'} has no 'text', and no 'completion' of a 'prompt'; "
        "Trainer removes columns that forward does not read, unless TrainingArguments has remove_unused_columns=False"
    )


def _marked(text: str, spans: Sequence[Span]) -> str:
    """Return a text with number tokens instead of its numbers."""
    parts, end = [], 0
    for start, after, _ in spans:
        parts += [text[end:start], NUMBER_TOKEN]
        end = after
    return "".join([*parts, text[end:]])


def _start_of_completion(spans: Sequence[Span], start: int) -> int:
    """Return where in the marked text the completion starts that starts at `start` of the text with these spans.

    Within a number token that is where this starts: the number is the completion's.
    """
    before = [(first, end) for first, end, _ in spans if first < start]
    shift = sum(len(NUMBER_TOKEN) - (end - first) for first, end in before if end <= start)
    return shift + min([start, *(first for first, end in before if end > start)])
