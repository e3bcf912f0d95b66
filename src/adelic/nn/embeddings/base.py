"""The interface of every embedding of numbers, and what checks that their vectors stay numbers."""

import itertools
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError, RangeError
from adelic.nn.base_digits import count_digits
from adelic.nn.checks import as_ids, check_plain, check_positive
from adelic.nn.fingerprint import Fingerprinted, of_vocabulary
from adelic.nn.positional import PositionalEncoding, SinusoidalPositionalEncoding
from adelic.nn.vocabulary import Numbers, Vocabulary
from adelic.numbers.describe import describe

_BLOCK = 256  # rows: of 1,000 features a megabyte, which stays in cache


class NumberEmbedding(Fingerprinted):
    """A map from numbers to vectors; the interface of every embedding.

    Shape: ids (*, length), of any integer type, or numbers (*, length) without a vocabulary -> (*, length, d_model).

    Args:
        vocabulary: the numbers that can occur: a `Vocabulary`, a list or range, or n for 0 … n − 1; or None.
        d_model: length of a vector.

    Attributes:
        name: in `adelic.nn.EMBEDDINGS`, on the command line and in recipes; a class without one is in none of them.
        needs_vocabulary: whether it cannot do without a vocabulary, as it has a vector, or the like, for each number.
        reads_missing: whether it has vectors for the ids of missing and unknown numbers.
        digits_option: the option that says how many digits it has, if it has some.
        vocabulary: the numbers that can occur; None for open-ended numbers.
        d_model: length of a vector.
        tokens_per_number: how many vectors a number becomes; 1 for most embeddings.

    >>> class Halves(NumberEmbedding):
    ...     def forward(self, ids):
    ...         return ids[..., None].expand(*ids.shape, self.d_model) / 2
    >>> Halves(Vocabulary(range(8)), d_model=2)(torch.tensor([[3, 5]]))
    tensor([[[1.5000, 1.5000],
             [2.5000, 2.5000]]])
    """

    name: ClassVar[str]
    needs_vocabulary: ClassVar[bool] = False
    reads_missing: ClassVar[bool] = False
    digits_option: ClassVar[str | None] = None
    tokens_per_number = 1

    def __init__(self, vocabulary: Numbers | None, d_model: int) -> None:
        super().__init__()
        check_positive(d_model=d_model)
        if vocabulary is None and self.needs_vocabulary:
            raise ConfigurationError(f"{self._called} needs a vocabulary: name the numbers that can occur")
        self.vocabulary = None if vocabulary is None else Vocabulary.of(vocabulary)
        if self.vocabulary is not None and not self.reads_missing:
            self.vocabulary.check_all_known(self._called)
        self.d_model = d_model
        # As a hook, it checks the input of every subclass, those of users among them.
        self.register_forward_pre_hook(_checked)

    @classmethod
    def from_options(
        cls, vocabulary: Vocabulary | None, d_model: int, options: Mapping[str, Any], *, reach: int | None = None
    ) -> Self:
        """Return the embedding that the values of all options, as the experiment has them, describe.

        Args:
            vocabulary: the numbers that can occur, or None.
            d_model: length of a vector.
            options: by name.
            reach: without a vocabulary, the greatest size of a number, which decides how many digits an embedding has.
        """
        digits = {}
        if cls.digits_option and reach is not None:
            digits[cls.digits_option] = count_digits(reach, options.get("base", 10))
        return cls(vocabulary, d_model=d_model, **options, **digits)

    @property
    def n_ids(self) -> int | None:
        """Return the number of ids; None without a vocabulary."""
        return None if self.vocabulary is None else self.vocabulary.n_ids

    @abstractmethod
    def forward(self, ids_or_numbers: Any) -> torch.Tensor:
        """Return the vectors, float32 (*, length, d_model)."""

    def fingerprint(self) -> dict[str, Any]:
        """Return the vocabulary, and in subclasses whatever else is frozen and no tensor of the state dict."""
        return of_vocabulary(self.vocabulary)

    @property
    def frozen(self) -> torch.Tensor | None:
        """Return the vectors of the vocabulary, (numbers, d_model), where neither training nor loading changes them."""
        return None

    def extend(self, numbers: Sequence[Any]) -> None:
        """Add numbers after those of the vocabulary; their vectors are what the weights make of them.

        Args:
            numbers: different ones, none of them in the vocabulary; at least one.

        Raises:
            ConfigurationError: the embedding has a vector of its own for each number; or it has no vocabulary, or one
                with ids for missing or unknown numbers.
            VocabularyError: numbers are no list, or none, or one of them is known.
            AdelicError: a number has no such features, as for `forward` without a vocabulary.

        >>> from adelic import nn
        >>> embedding = nn.AdelicEmbedding([5, 7], d_model=16)
        >>> embedding.extend([9])
        >>> embedding.vocabulary, embedding(torch.tensor([2])).shape
        (Vocabulary([5, 7, 9]), torch.Size([1, 16]))
        >>> nn.LearnedEmbedding([5, 7], d_model=16).extend([8])
        Traceback (most recent call last):
        adelic.errors.ConfigurationError: 8 is not in the vocabulary, and learned has a vector for each number of it...
        """
        first = describe(Vocabulary(numbers).numbers[0])
        raise ConfigurationError(
            f"{first} is not in the vocabulary, and {self._called} has a vector for each number of it; "
            "an embedding that reads any number, as adelic, takes others, too"
        )

    def _of_each(self, ids: torch.Tensor, vectors_of: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        """Return vectors_of(ids); where ids are more than the numbers of the vocabulary, each number's is made once."""
        n = len(self.vocabulary or ())
        if not torch.compiler.is_compiling() and ids.numel() > n:  # in a graph, sizes are to stay open
            return functional.embedding(ids, vectors_of(torch.arange(n, device=ids.device)))
        return vectors_of(ids)

    @property
    def _called(self) -> str:
        return getattr(self, "name", type(self).__name__)

    def positional_encoding(self, max_length: int) -> PositionalEncoding:
        """Return the positional encoding that goes with this embedding."""
        return SinusoidalPositionalEncoding(self.d_model, max_length=max_length)


def _checked(embedding: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return ids, which stay on their device, as int64; numbers, read on the CPU, as they are.

    Tensors that cannot be so are an `EncodingError`, and so are ids that are no tensor of integers.
    """
    is_open = getattr(embedding, "vocabulary", None) is None
    held = None if is_open else next(itertools.chain(embedding.parameters(), embedding.buffers()), None)
    device = () if held is None else (held.device,)
    for values in inputs:
        check_plain(values, *device)
    return inputs if is_open or not inputs else (as_ids(inputs[0], *device), *inputs[1:])


def longer(vocabulary: Vocabulary | None, numbers: Sequence[Any]) -> Vocabulary:
    """Return a vocabulary with more numbers after its own.

    >>> longer(Vocabulary([5, 7]), ["1/2"]).ids(["1/2", 7])
    tensor([2, 1])
    """
    if vocabulary is None or vocabulary.n_ids > len(vocabulary):
        raise ConfigurationError("numbers are added to a vocabulary without ids for missing and unknown ones")
    return Vocabulary([*vocabulary.numbers, *Vocabulary(numbers).numbers])


def greatest_of(features: torch.Tensor) -> float:
    """Return the greatest size of a feature, 0 if there is none.

    >>> greatest_of(torch.tensor([[1.0, -3.0]])), greatest_of(torch.empty(0, 2))
    (3.0, 0.0)
    """
    if not features.numel():
        return 0.0
    least, greatest = features.aminmax()  # |x| would be a copy
    return max(-float(least), float(greatest))


def rows_differ(table: torch.Tensor) -> bool:
    """Return whether no two rows of a table (rows, columns) are equal.

    Rows are compared by a sum of their bits first, a block at a time: comparing them whole takes seconds where there
    are 10^5 of them.

    >>> rows_differ(torch.tensor([[1.0, 0.0], [1.0, 2.0]])), rows_differ(torch.tensor([[1.0, 0.0], [1.0, -0.0]]))
    (True, False)
    """
    if table.numel() == 0:
        return len(table) < 2
    pairs = (table.shape[1] + 1) // 2  # two float32 are one int64
    # Odd weights are units modulo 2^64: rows that differ in one pair alone never have equal sums.
    weights = torch.randint(2**62, (pairs,), generator=torch.Generator().manual_seed(0)) | 1
    sums = []
    rows = table.detach().cpu()
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK].float() + 0.0  # 0 instead of −0
        if table.shape[1] % 2:
            block = functional.pad(block, (0, 1))
        sums.append((block.contiguous().view(torch.int64) * weights).sum(dim=1))  # modulo 2^64
    if len(torch.unique(torch.cat(sums))) == len(table):
        return True
    return len(torch.unique(table, dim=0)) == len(table)


def check_range(greatest: float, dtype: torch.dtype) -> None:
    """Raise `RangeError` if a floating-point type does not hold features of a size; none holds NaN.

    >>> check_range(1e6, torch.bfloat16)
    >>> check_range(1e6, torch.float16)
    Traceback (most recent call last):
    adelic.errors.RangeError: the feature 1e+06 is beyond float16 (6.6e+04), so it would be infinite; use bfloat16 or...
    """
    if not greatest <= torch.finfo(dtype).max:
        name = str(dtype).removeprefix("torch.")
        raise RangeError(
            f"the feature {greatest:.6g} is beyond {name} ({torch.finfo(dtype).max:.2g}), so it would be infinite; use "
            "bfloat16 or float32, features='characters' or 'standardized', or scale the numbers"
        )


def check_autocast(greatest: float, device_type: str) -> None:
    """Raise `RangeError` if autocasting would make features of a size infinite in the next product.

    >>> with torch.autocast("cpu", torch.bfloat16):
    ...     check_autocast(1e6, "cpu")
    """
    if greatest <= torch.finfo(torch.float16).max or not torch.amp.is_autocast_available(device_type):
        return  # every dtype of autocasting holds them, or this device has none
    if torch.is_autocast_enabled(device_type):
        check_range(greatest, torch.get_autocast_dtype(device_type))
