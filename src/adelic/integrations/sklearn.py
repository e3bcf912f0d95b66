"""scikit-learn: `AdelicEncoder`, a transformer that gives number columns their residues and p-adic digits.

>>> import numpy as np
>>> from adelic.integrations.sklearn import AdelicEncoder
>>> encoder = AdelicEncoder(primes=(2, 7), precision=2)
>>> encoder.fit_transform(np.array([[9], [16]]))
array([[ 9.,  1.,  0.,  2.,  1.],
       [16.,  0.,  0.,  2.,  2.]])
>>> encoder.get_feature_names_out()
array(['x0_real', 'x0_p2_d0', 'x0_p2_d1', 'x0_p7_d0', 'x0_p7_d1'],
      dtype=object)
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from adelic.errors import ConfigurationError, DecodingError, EncodingError, RangeError, UnknownNameError, needs_extra
from adelic.integrations.columns import (
    ColumnFeatures,
    Coordinates,
    column_values,
    decode_column,
    encode_column,
    join_columns,
    mantissa_bits,
    naming,
)
from adelic.numbers import AdeleSpace
from adelic.numbers.columns.choice import NO_GAPS, choose_for_column
from adelic.numbers.columns.lossy import check_lossy
from adelic.numbers.columns.reading import Column, columns_of, is_frame, matrix_of, read_column
from adelic.numbers.coordinates import check_float32
from adelic.numbers.features import ONE_HOT_KINDS, WITHOUT_COMBINED, one_hot_positions
from adelic.numbers.rationals import Rationals
from adelic.numbers.window import DEFAULT_PRECISION, DEFAULT_PRIMES
from adelic.probing import Findings, probe

with needs_extra("adelic.integrations.sklearn", "sklearn"):
    from scipy import sparse
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import check_array
    from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

__all__ = ["AdelicEncoder"]

HANDLE_MISSING = ("error", "propagate", "zero", "indicator")
DENOMINATORS = ("truncate", "error")
_OPERATIONS = {"digits": 0.5, "standardized": 1} | dict.fromkeys(WITHOUT_COMBINED[2:], 8)
"""How many roundings a real value suffers, logarithms and exponentials counted as several."""


class AdelicEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Encode number columns by their size and their digits at some primes.

    The lowest digit at p is the number modulo p; the lowest k digits are the number modulo p^k. Models that only
    compare and add real values do not see these residues. Only the scale of "standardized" is learned from the data.

    Input is a matrix, or a pandas or polars data frame, of integers of any size, floats, `Fraction`, `Decimal`, dates
    and text such as "7/5". Floats that are integers, as in columns of integers with gaps, are read as integers. A date
    is its number of days since 1 January 1970. A whole number in a column of dates is read as such a number, too.

    Args:
        primes: the primes of the adele space.
        precision: the number of digits at each prime, or numbers by prime, as {2: 6, 3: 4, 97: 1}. These also name the
            primes if `primes` has its default.
        fractional_digits: how many of them come after the point, for denominators that p divides.
        features: "digits" (the real value and the digits), "standardized" (the same, each with mean 0 and variance 1
            over the training data), "characters" (cos and sin of 2πx/p^k, and sign(q)·ln(1 + |q|) as the real one),
            "one-hot-digits" (each digit one-hot, and the same real one), "residues" (the number modulo the greatest
            p^k ≤ 343 one-hot, higher digits as before), "valuation-unit" (of p^v·u: v one-hot, and u
            modulo p, 8 at p = 2, and the same real one) or "multiplicative-characters" (the same, but of u the values
            of the Dirichlet characters); the last two have no inverse.
        floats: the meaning of a float that is not an integer: "shortest", the shortest decimal with this float (0.1 is
            1/10); "exact", its binary value; "limit:D", the nearest fraction with a denominator of at most D; "error"
            refuses it. The same holds for integers from 2^53 on (2^24 in float32), which floats may not hold.
        lossy: the treatment of floats that have probably lost digits (integers from 2^53 on, decimals of more than 15
            digits) and of text with leading zeros ("00501"): "warn" of the first one (LossyFloatWarning,
            LeadingZerosWarning), "error" or "ignore".
        denominators: if a prime divides a denominator more than fractional_digits times, as 2 and 5 do with decimals,
            "truncate" leaves out the digits below the window, at this prime only; "error" raises an error.
        handle_missing: "error" refuses NaN, None and NA; "propagate" makes all features of the number NaN, as
            scikit-learn's scalers do; "zero" makes them 0 (after standardizing: their mean); "indicator" makes them 0
            and adds a feature `x0_missing` for every column, which is then 1. An infinity is always an error.
        sparse_output: return a `scipy.sparse.csr_array`; for "one-hot-digits" and "residues".
        dtype: of the features, numpy.float64 or numpy.float32.

    Attributes:
        space_: the `AdeleSpace`.
        n_features_in_: number of columns.
        feature_names_in_: their names, if the training data had names that are text.
        mean_, scale_: of every feature but indicators, (columns, features of a column), for "standardized".

    Source: the features are those of `adelic.nn.AdelicEmbedding` (`adelic.numbers.features`).

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> days = np.arange(1000)[:, None]
    >>> model = make_pipeline(AdelicEncoder(primes=(7,), precision=1, features="one-hot-digits"), LogisticRegression())
    >>> model.fit(days, days[:, 0] % 7 < 5).score([[10**6], [10**6 + 1]], [10**6 % 7 < 5, (10**6 + 1) % 7 < 5])
    1.0
    """

    def __init__(
        self,
        primes: Sequence[int] = DEFAULT_PRIMES,
        *,
        precision: int | Mapping[int, int] = DEFAULT_PRECISION,
        fractional_digits: int = 0,
        features: str = "digits",
        floats: str = "shortest",
        lossy: str = "warn",
        denominators: str = "truncate",
        handle_missing: str = "error",
        sparse_output: bool = False,
        dtype: Any = np.float64,
    ) -> None:
        self.primes = primes
        self.precision = precision
        self.fractional_digits = fractional_digits
        self.features = features
        self.floats = floats
        self.lossy = lossy
        self.denominators = denominators
        self.handle_missing = handle_missing
        self.sparse_output = sparse_output
        self.dtype = dtype

    @classmethod
    def for_column(
        cls, column: Any, *, floats: str = "shortest", lossy: str = "warn", show: bool = True, **options: Any
    ) -> Self:
        """Return an encoder, not fitted, for the numbers of a column, and print the choices.

        It chooses the primes, digits and digits after the point that the column needs. If entries are missing,
        handle_missing is "indicator"; set this option if gaps come later. Whole numbers among dates are days, too.

        Args:
            column: a pandas or polars series, an array or a list: integers, fractions, prices, dates, with gaps.
            floats: the meaning of a float such as 0.1, see the class.
            lossy: "warn", "error" or "ignore" numbers that have probably lost digits, see the class.
            show: whether to print the choices, an `adelic.numbers.columns.choice.ColumnChoice`.
            options: of the encoder, which replace choices.

        Raises:
            EncodingError: a value is not a number, or there is none; with lossy="error" a number was lost.
            ConfigurationError: these are measurements, whose digits are noise.

        >>> encoder = AdelicEncoder.for_column([19, None, 250])
        3 rows, 2 different integers from 19 to 250, 1 missing
        space: primes 2, 3, 5, 7, 11, 13, 17 with up to 9 digits
        form: digits
        missing: a feature of its own
        >>> encoder.handle_missing, encoder.precision
        ('indicator', 9)
        """
        choice = choose_for_column(column, floats=floats)
        if choice.coordinates == "real":
            raise ConfigurationError(
                "the column has measurements, whose digits are noise; leave it, scale it (StandardScaler) or round it"
            )
        check_lossy(column, floats=floats, lossy=lossy)
        of_space = ("primes", "precision", "fractional_digits")
        chosen = {name: getattr(choice.space, name) for name in of_space}
        chosen |= {"handle_missing": "indicator" if choice.missing else "error", "floats": floats, "lossy": lossy}
        made = cls(**chosen | options)
        if show:
            names = dict.fromkeys(of_space, "space") | {"features": "form", "handle_missing": "missing"}
            used = AdeleSpace(made.primes, made.precision, made.fractional_digits)  # type: ignore[arg-type]
            gaps = {"indicator": "a feature of its own", "error": NO_GAPS}
            missing = gaps.get(made.handle_missing, made.handle_missing)
            given = [names.get(name, name) for name in options]
            choice = replace(choice, space=used)
            print(choice.text(form=made.features, missing=missing, given=given))  # noqa: T201  # as the caller asks
        return made

    @staticmethod
    def probe(X: Any, y: Any, **options: Any) -> Findings:
        """Return which arithmetic of columns tells a target, `adelic.probe`; its `transformer` goes into a pipeline.

        >>> AdelicEncoder.probe(np.arange(500), np.arange(500) % 9 == 2)[0].modulus
        9
        """
        return probe(X, y, **options)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the options and the numbers; learn the scale of `features="standardized"`.

        Args:
            X: numbers, (rows, columns).
            y: ignored.

        Raises:
            AdelicError: an option or a number will not do; a ValueError too, or a TypeError or ArithmeticError.

        >>> AdelicEncoder(features="standardized", primes=(2,), precision=1).fit([[1], [2], [6]]).mean_.round(2)
        array([[3.  , 0.33]])
        """
        # A copy of the default primes, as a clone or a file may bring, is the default, too.
        primes = DEFAULT_PRIMES if isinstance(self.primes, tuple) and self.primes == DEFAULT_PRIMES else self.primes
        self.space_ = AdeleSpace(primes, self.precision, self.fractional_digits)  # type: ignore[arg-type]
        self._check_options()
        self._told: tuple[str | None, ...] = ()  # so that fit_transform says it once
        columns = self._read(X, reset=True)
        self._kinds = [(column.dtype, column.numbers.is_integral) for _, column in columns]
        is_standardized = self.features == "standardized"
        means, scales = (np.full((len(columns), self._layout.size), start) for start in (0.0, 1.0))
        for j, (name, column) in enumerate(columns):
            with naming(name):
                coordinates = self._encode(column)
            if is_standardized and not column.is_missing.all():
                found = self._layout.compute(coordinates)[~column.is_missing]
                with np.errstate(over="ignore", invalid="ignore"):
                    mean, deviation = found.mean(axis=0), found.std(axis=0)
                if not np.isfinite(deviation).all():
                    raise RangeError(f"the variance of column {name} is beyond float64; scale the numbers")
                means[j], scales[j] = mean, np.where(deviation == 0, 1, deviation)
        if is_standardized:
            self.mean_, self.scale_ = means, scales
        return self

    def transform(self, X: Any) -> Any:
        """Return the features, (rows, columns · features of a column), in the order of `get_feature_names_out`.

        Raises:
            AdelicError: a number will not do.

        >>> AdelicEncoder(primes=(3,), precision=2).fit_transform([["5"], ["1/2"]])
        array([[5. , 2. , 1. ],
               [0.5, 2. , 1. ]])
        """
        check_is_fitted(self, "space_")
        columns = self._read(X, reset=False)
        rows, width = len(columns[0][1].is_missing), self._width
        parts: list[Any] = []
        dense = None if self.sparse_output else np.empty((rows, width * len(columns)), dtype=self.dtype)
        for j, (name, column) in enumerate(columns):
            with naming(name):
                coordinates = self._encode(column)
            if dense is None:
                parts.append(self._sparse_block(column, coordinates))
            else:
                dense[:, j * width : (j + 1) * width] = self._block(j, column, coordinates)
        return sparse.hstack(parts, format="csr", dtype=self.dtype) if dense is None else dense

    def inverse_transform(self, X: Any) -> npt.NDArray[Any]:
        """Return the numbers that have these features, exactly, or raise.

        A number is returned only if its digits and its real value are these. Columns that held integers alone when
        fitted come back whatever the space, as long as the dtype holds them ("digits" in numpy.float64: below 2^53); so
        do floats with `features="digits"`. All else does where the space decodes it (`AdeleArray.decode`), from primes
        without truncated digits. A float is returned as the number that it was read as.

        Args:
            X: features, (rows, columns · features of a column), dense or sparse.

        Returns:
            (rows, columns): integers where the training data's columns were, floats if some were, objects (int and
            `Fraction`) if some were text or objects or where float64 would round. NaN if a number was missing,
            as far as the features say so: with `handle_missing="zero"` digits of 0 are the number 0, and standardized
            features of 0 the number whose features are the mean's, if there is one.

        Raises:
            DecodingError: no number, or more than one, has these features.

        >>> encoder = AdelicEncoder(features="characters", precision=4, dtype=np.float32)
        >>> encoder.inverse_transform(encoder.fit_transform([["22/19", "-5"]]))
        array([[Fraction(22, 19), -5]], dtype=object)
        """
        check_is_fitted(self, "space_")
        matrix = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        names = self.get_feature_names_out()
        if matrix.shape[1] != len(names):
            raise DecodingError(
                f"X has {matrix.shape[1]} features; {len(names)} can be turned back, {names[0]} … {names[-1]}"
            )
        width = self._width
        found = []
        for j, name in enumerate(self._names_in()):
            block = matrix[:, j * width : (j + 1) * width]
            block = (block.toarray() if sparse.issparse(block) else block).astype(np.float64)
            with naming(name):
                found.append(self._values(j, block))
        return join_columns(found)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the features.

        `x0_real` is the real value; with one-hot digits and characters it is sign(q)·ln(1 + |q|). `x0_p7_d2` is the
        digit of 7^2, and `x0_p7_d2_5` is 1 if this digit is 5. `x0_p7_cos2` is cos(2πx/7^2). `x0_p7_v2` is 1 for 7^2·u,
        and `x0_p7_u5` is 1 if u is 5 modulo 7. `x0_missing` is 1 for a missing number.

        Args:
            input_features: names of the columns, where the training data had none.

        >>> AdelicEncoder(primes=(7,), precision=1, features="characters").fit([[1]]).get_feature_names_out(["day"])
        array(['day_real', 'day_p7_cos1', 'day_p7_sin1'], dtype=object)
        """
        check_is_fitted(self, "space_")
        columns = _check_feature_names_in(self, input_features)
        extra = ["missing"] if self.handle_missing == "indicator" else []
        names = [
            name for c in columns for name in [*self._layout.names(str(c)), *(f"{c}_{suffix}" for suffix in extra)]
        ]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know of the estimator."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.handle_missing != "error"
        tags.transformer_tags.preserves_dtype = []  # features have the dtype that the user says
        return tags

    @property
    def _layout(self) -> ColumnFeatures:
        return ColumnFeatures(self.features, self.space_)

    @property
    def _width(self) -> int:
        """Return the number of features of a column, with its indicator."""
        return self._layout.size + (self.handle_missing == "indicator")

    def _check_options(self) -> None:
        if self.features not in WITHOUT_COMBINED:
            raise UnknownNameError.of("features", self.features, WITHOUT_COMBINED, listed="features")
        for name, known in (("handle_missing", HANDLE_MISSING), ("denominators", DENOMINATORS)):
            value = getattr(self, name)
            if value not in known:
                raise ConfigurationError(f"{name}={value!r} is unknown; use one of {', '.join(known)}")
        try:
            is_known = np.dtype(self.dtype) in (np.float32, np.float64)
        except TypeError:
            is_known = False
        if not is_known:
            raise ConfigurationError(f"dtype={self.dtype!r} is unknown; use numpy.float64 or numpy.float32")
        if self.features in ("digits", "standardized") and np.dtype(self.dtype) == np.float32:
            check_float32(self.space_.primes)
        if self.sparse_output and self.features not in ONE_HOT_KINDS:
            raise ConfigurationError(
                f"sparse_output=True is for 'one-hot-digits' and 'residues', not for features={self.features!r}"
            )
        if self.sparse_output and self.handle_missing == "propagate":
            raise ConfigurationError(
                "handle_missing='propagate' fills rows with NaN; use 'zero' or 'indicator' with sparse_output=True"
            )

    def _names_in(self) -> list[str]:
        return [repr(str(name)) for name in _check_feature_names_in(self)]

    def _read(self, X: Any, *, reset: bool) -> list[tuple[str, Column]]:
        """Return the columns with their names."""
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if not X.shape[0] or not X.shape[1]:
                raise EncodingError(f"a data frame of shape {X.shape} has no numbers; it needs a row and a column")
        else:
            X = validate_data(self, matrix_of(X), reset=reset, dtype=None, ensure_all_finite=False)
        columns, told = [], self._told
        for name, values in zip(self._names_in(), columns_of(X), strict=True):
            with naming(name):
                column = read_column(values, floats=self.floats)
            if self.handle_missing == "error" and column.is_missing.any():
                row = int(np.flatnonzero(column.is_missing)[0])
                raise EncodingError(
                    f"column {name} contains NaN at position [{row}]; handle_missing='propagate', 'zero' or "
                    "'indicator' would take it"
                )
            of = f"column {name}"
            told += (check_lossy(values, floats=self.floats, lossy=self.lossy, column=of, told=told),)
            columns.append((name, column))
        self._told = told if reset else self._told
        return columns

    def _encode(self, column: Column) -> Coordinates:
        """Return the coordinates of a column; raise RangeError unless the features' type holds the real feature."""
        truncate = self.denominators == "truncate"
        coordinates = encode_column(column.numbers, self.space_, truncate=truncate, real=column.real)
        feature = self._layout.real_feature(coordinates.real)
        beyond = np.flatnonzero(~(np.abs(feature) <= np.finfo(np.dtype(self.dtype)).max))
        if len(beyond):
            is_infinite = np.isinf(coordinates.real[beyond[0]])  # to any dtype and features
            remedy = "" if is_infinite else "use dtype=numpy.float64, features='characters' or "
            raise RangeError(
                f"the real value at position [{beyond[0]}] is beyond "
                f"{np.dtype(np.float64 if is_infinite else self.dtype)}; {remedy}scale the numbers"
            )
        return coordinates

    def _block(self, j: int, column: Column, coordinates: Coordinates) -> npt.NDArray[np.float64]:
        """Return the features of a column."""
        found = self._layout.compute(coordinates)
        if self.features == "standardized":
            found = (found - self.mean_[j]) / self.scale_[j]
        if column.is_missing.any():
            found[column.is_missing] = np.nan if self.handle_missing == "propagate" else 0
        return np.column_stack([found, column.is_missing]) if self.handle_missing == "indicator" else found

    def _sparse_block(self, column: Column, coordinates: Coordinates) -> Any:
        """Return the one-hot features of a column without making them dense: one of each digit's is 1."""
        rows = len(coordinates.digits)
        places = [
            section.start + one_hot_positions(self.features, coordinates.digits[:, j, :precision], p)
            for j, p, precision, section in self._layout.places()
        ]
        hot = np.concatenate(places, axis=1)
        # 32 bits where they do, as OneHotEncoder has them: not every estimator takes others.
        width = 1 + hot.shape[1]
        is_short = max(self._width, rows * (width + 1)) < 2**31
        indices = np.zeros((rows, width), dtype=np.int32 if is_short else np.int64)
        indices[:, 1:] = hot
        values = np.ones(indices.shape, dtype=self.dtype)
        values[:, 0] = self._layout.real_feature(coordinates.real)
        values[column.is_missing] = 0
        if self.handle_missing == "indicator":
            indices = np.column_stack([indices, np.full(rows, self._layout.size, dtype=indices.dtype)])
            values = np.column_stack([values, column.is_missing]).astype(self.dtype)
        pointers = np.arange(rows + 1, dtype=indices.dtype) * indices.shape[1]
        block = sparse.csr_array((values.ravel(), indices.ravel(), pointers), shape=(rows, self._width))
        block.eliminate_zeros()
        return block

    def _values(self, j: int, block: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Return the numbers of a column from its features."""
        is_missing = np.asarray(np.isnan(block).all(axis=1), dtype=np.bool_)
        if self.handle_missing == "indicator":
            is_missing |= block[:, -1] > 0.5
            block = block[:, :-1]
        elif self.handle_missing == "zero" and self.features != "digits":
            is_blank = ~block.any(axis=1)
            if is_blank.any() and not (self.features == "standardized" and self._is_mean_a_number(j)):
                is_missing |= is_blank
        block = block[~is_missing]
        if np.isnan(block).any():
            raise DecodingError("some features of a number are NaN, and not all")
        return column_values(self._decode(j, block, np.flatnonzero(~is_missing)), is_missing, self._kinds[j][0])

    def _is_mean_a_number(self, j: int) -> bool:
        """Return whether the mean of a column's standardized features, which is 0, is that of a number."""
        try:
            self._decode(j, np.zeros((1, self._layout.size)), np.arange(1))
        except DecodingError:
            return False
        return True

    def _decode(self, j: int, block: npt.NDArray[np.float64], rows: npt.NDArray[np.int64]) -> Rationals:
        """Return the numbers with these features, of the rows that errors name."""
        dtype, integral = self._kinds[j]
        error = float(np.finfo(np.dtype(self.dtype)).eps)  # of rounding to the type, and of a few operations in float64
        # How far the real value may be off decides which integer or float is the only one near: too small a radius
        # would refuse right numbers, too large a one would find two.
        offsets = np.zeros(len(block))
        if self.features == "standardized":
            offsets = 2 * error * np.abs(block[:, 0] * self.scale_[j, 0])
            block = block * self.scale_[j] + self.mean_[j]
        coordinates, radius = self._layout.read(block, error * _OPERATIONS[self.features])
        return decode_column(
            coordinates,
            radius + offsets,
            self.space_,
            integral=integral,
            floats=(dtype, self.floats) if dtype.kind == "f" else None,
            exact=self.features == "digits" and np.finfo(np.dtype(self.dtype)).nmant >= mantissa_bits(dtype),
            truncate=self.denominators == "truncate",
            rows=rows,
        )
