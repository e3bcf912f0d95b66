"""scikit-learn: `AdelicEncoder`, a transformer that gives number columns their residues and p-adic digits.

>>> import numpy as np
>>> from adelic.integrations.sklearn import AdelicEncoder
>>> encoder = AdelicEncoder(primes=(2, 7), precision=2)
>>> encoder.fit_transform(np.array([[9], [16]]))
array([[ 9.,  1.,  0.,  2.,  1.],
       [16.,  0.,  0.,  2.,  2.]], dtype=float32)
>>> encoder.get_feature_names_out()
array(['x0_real', 'x0_p2_d0', 'x0_p2_d1', 'x0_p7_d0', 'x0_p7_d1'],
      dtype=object)
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from adelic.errors import (
    ConfigurationError,
    DecodingError,
    EncodingError,
    LossyFloatWarning,
    RangeError,
    UnknownNameError,
    needs_extra,
)
from adelic.integrations.columns import (
    Code,
    ColumnFeatures,
    Coordinates,
    as_arithmetic,
    codes_for,
    column_values,
    decode_column,
    encode_column,
    join_columns,
    mantissa_bits,
    naming,
    read_codes,
)
from adelic.numbers import AdeleSpace
from adelic.numbers.columns.lossy import check_lossy
from adelic.numbers.columns.reading import Column, columns_of, is_frame, matrix_of, read_column
from adelic.numbers.coordinates import check_float32
from adelic.numbers.features import ONE_HOT_KINDS, WITHOUT_COMBINED, one_hot_positions
from adelic.numbers.rationals import Rationals
from adelic.numbers.window import DEFAULT_PRIMES
from adelic.probing import Finding, Findings, ProbeWarning, probe
from adelic.probing.readings import CALENDAR, residue, split_times

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
_TIMES = frozenset(("hour", "minute", "second"))
PRIMES = (2, 3, 5, 7)
"""The default: with two digits at each, 9 features of a column."""
AUTO = "auto"
_ROWS = 1 << 16
"""Rows whose features are computed together: all at once would take several times the memory of the result."""


def _listed(names: Any) -> list[Any]:
    return [names] if isinstance(names, str | int) else list(names)


class AdelicEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Encode number columns by their size, and by digits and residues in bases that size does not show.

    The lowest digit at p is the number modulo p; the lowest k digits are the number modulo p^k. Models that only
    compare and add real values do not see these residues. Learned from the data are how many decimal digits there are,
    which columns are dates, the scale of "standardized" and what "auto" finds.

    Input is a matrix, or a pandas or polars data frame, of integers of any size, floats, `Fraction`, `Decimal`, dates
    and text such as "7/5". Floats that are integers, as in columns of integers with gaps, are read as integers. A date
    is its number of days since 1 January 1970. A whole number in a column of dates is read as such a number, too.

    Args:
        primes: whose digits are features; () for none.
        precision: the number of digits at each prime, or numbers by prime, as {2: 6, 3: 4, 97: 1}. These also name the
            primes if `primes` has its default.
        bases: bases in which |n| is written digit by digit, as (10,): as many digits as the longest number of the
            training data has. Longer numbers lose their first digits.
        moduli: whole numbers m, also composite ones, for n modulo m, as (10, 12, 365).
        calendar: parts of dates and times: "weekday" (0 is Monday), "month", "day", "leap-year", "hour", "minute" and
            "second"; True for all that a column has. A date with a time is the number of its day, and its real value
            has the time as a part of a day.
        columns: names or indices of the columns that are encoded; others pass through unchanged, after the features.
            None for all.
        fractional_digits: how many digits come after the point. At a prime p these are digits of p^-1, p^-2 …, for
            denominators that p divides; bases and moduli read multiples of 10^-fractional_digits, as cents, without
            the digits below.
        features: "digits" (the real value and the digits), "standardized" (the same, each with mean 0 and variance 1
            over the training data), "characters" (cos and sin of 2πx/p^k, and sign(q)·ln(1 + |q|) as the real one),
            "one-hot-digits" (each digit one-hot, and the same real one), "residues" (the number modulo the greatest
            p^k ≤ 343 one-hot, higher digits as before), "valuation-unit" (of p^v·u: v one-hot, and u
            modulo p, 8 at p = 2, and the same real one) or "multiplicative-characters" (the same, but of u the values
            of the Dirichlet characters); the last two have no inverse. Residues, digits in bases and calendar parts are
            numbers, cos and sin, or else one-hot. "auto" is the real value and what `adelic.probe` finds to tell y.
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
        dtype: of the features, numpy.float32 or numpy.float64. Digits are exact in both; float32 rounds real values
            from 2^24 on.

    Attributes:
        space_: the `AdeleSpace`; None without primes.
        findings_: with "auto" what was found, `adelic.probing.Findings`.
        n_features_in_: number of columns.
        feature_names_in_: their names, if the training data had names that are text.
        mean_, scale_: of every feature but indicators, (features,), for "standardized".

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
        primes: Sequence[int] = PRIMES,
        *,
        precision: int | Mapping[int, int] = 2,
        bases: Sequence[int] = (),
        moduli: Sequence[int] = (),
        calendar: bool | Sequence[str] = (),
        columns: Sequence[str | int] | None = None,
        fractional_digits: int = 0,
        features: str = "digits",
        floats: str = "shortest",
        lossy: str = "warn",
        denominators: str = "truncate",
        handle_missing: str = "error",
        sparse_output: bool = False,
        dtype: Any = np.float32,
    ) -> None:
        self.primes = primes
        self.precision = precision
        self.bases = bases
        self.moduli = moduli
        self.calendar = calendar
        self.columns = columns
        self.fractional_digits = fractional_digits
        self.features = features
        self.floats = floats
        self.lossy = lossy
        self.denominators = denominators
        self.handle_missing = handle_missing
        self.sparse_output = sparse_output
        self.dtype = dtype

    @staticmethod
    def probe(X: Any, y: Any, **options: Any) -> Findings:
        """Return which arithmetic of columns tells a target, `adelic.probe`; its `transformer` goes into a pipeline.

        >>> AdelicEncoder.probe(np.arange(500), np.arange(500) % 9 == 2)[0].modulus
        9
        """
        return probe(X, y, **options)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the options and the numbers; learn what features="auto" and "standardized" need.

        Args:
            X: numbers, (rows, columns).
            y: the target, (rows,), for features="auto"; else ignored.

        Raises:
            AdelicError: an option or a number will not do; a ValueError too, or a TypeError or ArithmeticError.

        Warns:
            ProbeWarning: features="auto" found nothing.

        >>> AdelicEncoder(features="standardized", primes=(2,), precision=1).fit([[1], [2], [6]]).mean_.round(2)
        array([3.  , 0.33])
        """
        # A copy of the default primes, as a clone or a file may bring, is the default, too.
        is_default = isinstance(self.primes, tuple) and self.primes in (PRIMES, DEFAULT_PRIMES)
        primes = DEFAULT_PRIMES if is_default and isinstance(self.precision, Mapping) else self.primes
        has_space = self.features != AUTO and not (isinstance(primes, tuple | list) and not primes)
        self.space_ = AdeleSpace(primes, self.precision, self.fractional_digits) if has_space else None  # type: ignore[arg-type]
        self._check_options()
        self._told: tuple[str | None, ...] = ()  # so that fit_transform says it once
        table = self._table(X, reset=True)
        columns = columns_of(table)
        self._chosen = self._choose(len(columns))
        found = self._found([columns[j] for j in self._chosen], y) if self.features == AUTO else Findings()
        self._is_timed = [False] * len(columns)
        self._kinds, self._layouts, scales, has_dates = {}, [], [], False
        for j in self._chosen:
            name = self._names_in()[j]
            with naming(repr(name)):
                column, is_date = self._read(j, columns[j], reset=True)
                has_dates |= is_date
                layout = self._layout_for(j, column, is_date, [one for one in found if one.column == name])
                self._kinds[j] = (column.dtype, column.numbers.is_integral)
                self._layouts.append(layout)
                scales.append(self._scale(layout, self._encode(layout, column), column.is_missing))
        if self.calendar and not has_dates:
            raise ConfigurationError(
                "calendar= reads dates, and no column has any; make dates of them, as pandas.to_datetime does"
            )
        if self.features == "standardized":
            self._scales = scales
            self.mean_, self.scale_ = (np.concatenate(parts) for parts in zip(*scales, strict=True))
        return self

    def transform(self, X: Any) -> Any:
        """Return the features, (rows, features), in the order of `get_feature_names_out`.

        Columns that `columns` leaves out come last, unchanged: beside a data frame's in such a frame, else in a matrix,
        of objects if they are no numbers.

        Raises:
            AdelicError: a number will not do.

        >>> AdelicEncoder(primes=(3,), precision=2).fit_transform([["5"], ["1/2"]])
        array([[5. , 2. , 1. ],
               [0.5, 2. , 1. ]], dtype=float32)
        """
        check_is_fitted(self, "space_")
        table = self._table(X, reset=False)
        columns = columns_of(table)
        parts: list[Any] = []
        dense = None if self.sparse_output else np.empty((len(columns[0]), self._sections[-1].stop), dtype=self.dtype)
        for i, (j, layout, section) in enumerate(zip(self._chosen, self._layouts, self._sections, strict=True)):
            with naming(repr(self._names_in()[j])):
                column, _ = self._read(j, columns[j], reset=False)
                coordinates = self._encode(layout, column)
                if dense is None:
                    parts.append(self._sparse_block(layout, column, coordinates))
                    continue
                for start in range(0, len(dense), _ROWS):
                    rows = slice(start, start + _ROWS)
                    dense[rows, section] = self._block(i, column.is_missing[rows], coordinates[rows])
        features = sparse.hstack(parts, format="csr", dtype=self.dtype) if dense is None else dense
        return features if self.columns is None else self._beside(features, table, columns)

    def _beside(self, features: Any, table: Any, columns: list[npt.NDArray[Any]]) -> Any:
        """Return features and the columns that are not encoded."""
        others = [j for j in range(len(columns)) if j not in self._chosen]
        if not others:
            return features
        names = self.get_feature_names_out()[: features.shape[1]]
        if hasattr(table, "iloc"):
            return type(table)(features, columns=names, index=table.index).join(table.iloc[:, others])
        if hasattr(table, "hstack"):
            return type(table)(features, schema=names.tolist()).hstack(table[:, others])
        rest = np.column_stack([columns[j] for j in others])
        return np.column_stack([features, rest if rest.dtype.kind in "biuf" else rest.astype(object)])

    def inverse_transform(self, X: Any) -> npt.NDArray[Any]:
        """Return the numbers that have these features, exactly, or raise.

        A number is returned only if its digits, codes and real value are these. Columns that held integers alone when
        fitted come back whatever the space, as long as the dtype holds them ("digits" in numpy.float32: below 2^24, in
        numpy.float64: below 2^53); so do floats that the dtype holds with `features="digits"`. All else does where the
        space decodes it (`AdeleArray.decode`), from primes without truncated digits. A float is returned as the number
        that it was read as. Dates with a time of day never come back.

        Args:
            X: features, (rows, features), dense or sparse; columns that passed through may follow.

        Returns:
            (rows, columns that are encoded): integers where the training data's columns were, floats if some were,
            objects (int and `Fraction`) if some were text or where float64 would round. NaN if a number was missing,
            as far as the features say so: with `handle_missing="zero"` digits of 0 are the number 0, and standardized
            features of 0 the number whose features are the mean's, if there is one.

        Raises:
            DecodingError: no number, or more than one, has these features.

        >>> encoder = AdelicEncoder(features="characters", precision=4)
        >>> encoder.inverse_transform(encoder.fit_transform([["22/19", "-5"]]))
        array([[Fraction(22, 19), -5]], dtype=object)
        """
        check_is_fitted(self, "space_")
        width = self._sections[-1].stop
        names = self.get_feature_names_out()[:width]
        given = getattr(X, "iloc", X)[:, :width] if self.columns is not None else X
        matrix = check_array(given, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        if matrix.shape[1] != width:
            raise DecodingError(
                f"X has {matrix.shape[1]} features; {len(names)} can be turned back, {names[0]} … {names[-1]}"
            )
        found = []
        for i, (j, section) in enumerate(zip(self._chosen, self._sections, strict=True)):
            block = matrix[:, section]
            block = (block.toarray() if sparse.issparse(block) else block).astype(np.float64)
            with naming(repr(self._names_in()[j])):
                found.append(self._values(i, block))
        return join_columns(found)

    def to_onnx(self) -> Any:
        """Return `transform` of integers as an ONNX model, whose results are the same bit for bit.

        It takes int64 (rows, columns), |n| < 2^63 − 1, days of dates, and gives (rows, features) of this dtype, in
        operations of opset 17. `onnx.compose.merge_models` puts it before a model.

        Raises:
            ConfigurationError: features are not "digits" or "auto", a column is none of integers or passes through, or
                a feature is no residue or digit that int64 holds.
            MissingExtraError: there is no onnx.

        >>> model = AdelicEncoder((7,), precision=1, moduli=(12,)).fit([[5]]).to_onnx()
        >>> [node.op_type for node in model.graph.node][:6]
        ['Abs', 'Concat', 'Gather', 'Add', 'Mod', 'Div']
        """
        check_is_fitted(self, "space_")
        with needs_extra("AdelicEncoder.to_onnx", "onnx"):
            from onnx import TensorProto, checker, helper, numpy_helper
        if self.features not in ("digits", AUTO) or self.fractional_digits:
            raise ConfigurationError("an ONNX model is of features='digits' or 'auto', without fractional digits")
        names, columns, order = self.get_feature_names_out(), self.n_features_in_, []
        rows: list[tuple[int, int, int, int]] = []  # column or, after the columns, its absolute value; shift, a, b
        for j, layout in zip(self._chosen, self._layouts, strict=True):
            codes = [Code("", p, partial(residue, m=p, unit=p**k)) for p, n in layout.primes for k in range(n)]
            order.append(j)
            for code in (*codes, *layout.codes):
                found = as_arithmetic(code)
                if found is None:
                    raise ConfigurationError(f"feature {names[len(order)]!r} is no residue or digit within int64")
                order.append(columns + len(rows))
                rows.append((j + columns * found[0], *found[1:]))
        if len(order) < len(names) or not all(integral for _, integral in self._kinds.values()):
            raise ConfigurationError(
                "an ONNX model takes integers alone, none missing; fit the encoder on such columns, and no others"
            )
        index, shift, a, b = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        constants = {"index": index, "shift": shift, "a": a, "b": b, "order": np.array(order)}
        to = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        steps: list[tuple[str, list[str], str, dict[str, Any]]] = [
            ("Abs", ["X"], "size", {}),
            ("Concat", ["X", "size"], "both", {"axis": 1}),
            ("Gather", ["both", "index"], "n", {"axis": 1}),
            ("Add", ["n", "shift"], "shifted", {}),
            ("Mod", ["shifted", "a"], "residue", {}),
            ("Div", ["residue", "b"], "code", {}),
            ("Cast", ["code"], "codes", {"to": to}),
            ("Cast", ["X"], "double", {"to": TensorProto.DOUBLE}),  # first, as transform rounds
            ("Cast", ["double"], "real", {"to": to}),
            ("Concat", ["real", "codes"], "all", {"axis": 1}),
            ("Gather", ["all", "order"], "features", {"axis": 1}),
        ]
        graph = helper.make_graph(
            [helper.make_node(kind, given, [made], **options) for kind, given, made, options in steps],
            "AdelicEncoder",
            [helper.make_tensor_value_info("X", TensorProto.INT64, [None, columns])],
            [helper.make_tensor_value_info("features", to, [None, len(names)])],
            [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        checker.check_model(model, full_check=True)
        return model

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the features.

        `x0_real` is the real value; with one-hot digits and characters it is sign(q)·ln(1 + |q|). `x0_p7_d2` is the
        digit of 7^2, and `x0_p7_d2_5` is 1 if this digit is 5. `x0_p7_cos2` is cos(2πx/7^2). `x0_p7_v2` is 1 for 7^2·u,
        and `x0_p7_u5` is 1 if u is 5 modulo 7. `x0_b10_d2` is the digit of 10^2, `x0_mod12` the number modulo 12,
        `x0_weekday` a part of a date. `x0_missing` is 1 for a missing number.

        Args:
            input_features: names of the columns, where the training data had none.

        >>> AdelicEncoder(primes=(7,), precision=1, features="characters").fit([[1]]).get_feature_names_out(["day"])
        array(['day_real', 'day_p7_cos1', 'day_p7_sin1'], dtype=object)
        """
        check_is_fitted(self, "space_")
        columns = [str(name) for name in _check_feature_names_in(self, input_features)]
        extra = ["_missing"] if self.handle_missing == "indicator" else []
        names = [
            name
            for j, layout in zip(self._chosen, self._layouts, strict=True)
            for name in [*layout.names(columns[j]), *(columns[j] + suffix for suffix in extra)]
        ]
        names += [name for j, name in enumerate(columns) if j not in self._chosen]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know of the estimator."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.handle_missing != "error"
        tags.transformer_tags.preserves_dtype = []  # features have the dtype that the user says
        tags.target_tags.required = self.features == AUTO
        return tags

    @property
    def _sections(self) -> list[slice]:
        """Return where the features of each column are, with its indicator."""
        ends = np.cumsum([0, *(one.size + (self.handle_missing == "indicator") for one in self._layouts)]).tolist()
        return list(map(slice, ends, ends[1:]))

    def _check_options(self) -> None:
        if self.features not in (*WITHOUT_COMBINED, AUTO):
            raise UnknownNameError.of("features", self.features, (*WITHOUT_COMBINED, AUTO), listed="features")
        for part in () if isinstance(self.calendar, bool) else _listed(self.calendar):
            if part not in CALENDAR:
                raise UnknownNameError.of("calendar", part, CALENDAR, listed="parts of dates")
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
        primes = () if self.space_ is None else self.space_.primes
        if self.features in ("digits", "standardized") and np.dtype(self.dtype) == np.float32 and primes:
            check_float32(primes)
        for name in ("bases", "moduli"):
            values = getattr(self, name)
            if isinstance(values, str | int) or not all(
                isinstance(value, int | np.integer) and 2 <= value <= 2**24 for value in values
            ):
                raise ConfigurationError(
                    f"{name}={values!r}: it takes a list of whole numbers from 2 to 2^24, as (10,)"
                )
        if self.sparse_output and self.features not in ONE_HOT_KINDS:
            raise ConfigurationError(
                f"sparse_output=True is for 'one-hot-digits' and 'residues', not for features={self.features!r}"
            )
        if self.sparse_output and self.columns is not None:
            raise ConfigurationError(
                "sparse_output=True passes no columns through; use a ColumnTransformer with columns=None"
            )
        if self.sparse_output and self.handle_missing == "propagate":
            raise ConfigurationError(
                "handle_missing='propagate' fills rows with NaN; use 'zero' or 'indicator' with sparse_output=True"
            )

    def _names_in(self) -> list[str]:
        return [str(name) for name in _check_feature_names_in(self)]

    def _table(self, X: Any, *, reset: bool) -> Any:
        """Return a data frame, or a matrix."""
        if not is_frame(X):
            return validate_data(self, matrix_of(X), reset=reset, dtype=None, ensure_all_finite=False)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if not X.shape[0] or not X.shape[1]:
            raise EncodingError(f"a data frame of shape {X.shape} has no numbers; it needs a row and a column")
        return X

    def _choose(self, n_columns: int) -> list[int]:
        """Return which columns are encoded."""
        if self.columns is None:
            return list(range(n_columns))
        names = self._names_in()
        known = dict(zip(names, range(n_columns), strict=True)) | {j: j for j in range(n_columns)}
        chosen = _listed(self.columns)
        for one in chosen:
            if one not in known:
                raise ConfigurationError(f"X has no column {one!r}; it has {', '.join(names)}")
        if not chosen or len({known[one] for one in chosen}) < len(chosen):
            raise ConfigurationError(f"columns={self.columns!r} names no column, or one twice")
        return [known[one] for one in chosen]

    def _found(self, columns: list[npt.NDArray[Any]], y: Any) -> Findings:
        """Return what the columns' arithmetic tells of the target, apart from size."""
        if y is None:
            raise ConfigurationError(
                "features='auto' requires y to be passed, but the target y is None; give fit a target, or name moduli"
            )
        names = [self._names_in()[j] for j in self._chosen]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LossyFloatWarning)  # `lossy` says what becomes of them
            self.findings_ = probe(dict(zip(names, columns, strict=True)), y)
        found = Findings(one for one in self.findings_ if one.kind != "size")
        if not found:
            listed = ", ".join(names)
            warnings.warn(f"no arithmetic of {listed} tells the target; only the sizes are passed on", ProbeWarning, 3)
        return found

    def _read(self, j: int, values: npt.NDArray[Any], *, reset: bool) -> tuple[Column, bool]:
        """Return a column, and whether it has dates that may have times."""
        seconds, is_date = None, False
        if self._is_timed[j] or (reset and (self.calendar or self.features == AUTO)):
            dates, is_date, seconds = split_times(values)
            values = dates if is_date else values
        try:
            column = read_column(values, floats=self.floats)
        except EncodingError as error:
            is_text = self.columns is None and any(isinstance(value, str) for value in values[:1].tolist())
            raise (type(error)(f"{error}; or name the number columns, columns=[…]") if is_text else error) from None
        if seconds is not None:
            column = replace(column, real=column.numbers.numerators + seconds / 86_400, seconds=seconds)
        if reset:
            self._is_timed[j] = seconds is not None
        if self.handle_missing == "error" and column.is_missing.any():
            row = int(np.flatnonzero(column.is_missing)[0])
            raise EncodingError(
                f"it contains NaN at position [{row}]; handle_missing='propagate', 'zero' or 'indicator' would take it"
            )
        of = f"column {self._names_in()[j]!r}"
        told = check_lossy(values, floats=self.floats, lossy=self.lossy, column=of, told=self._told)
        if reset:
            self._told += (told,)
        return column, is_date

    def _layout_for(self, j: int, column: Column, is_date: bool, found: list[Finding]) -> ColumnFeatures:
        """Return the features of a column."""
        parts: Sequence[str] = ()
        if is_date and self.calendar:
            every = [part for part in CALENDAR if column.seconds is not None or part not in _TIMES]
            parts = every if isinstance(self.calendar, bool) else _listed(self.calendar)
            self._is_timed[j] |= not _TIMES.isdisjoint(parts)
        codes = codes_for(column.numbers, self.bases, self.moduli, parts, self.fractional_digits)
        for one in found:
            codes += (Code(one.reading.key, 2**24, one.reading.codes, decimals=one.decimals or 0, is_found=True),)
        return ColumnFeatures("digits" if self.features == AUTO else self.features, self.space_, codes)

    def _scale(
        self, layout: ColumnFeatures, coordinates: Coordinates, is_missing: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return mean and deviation of each feature, for features="standardized"."""
        mean, deviation = np.zeros(layout.size), np.ones(layout.size)
        if self.features == "standardized" and not is_missing.all():
            found = layout.compute(coordinates)[~is_missing]
            with np.errstate(over="ignore", invalid="ignore"):
                mean, deviation = found.mean(axis=0), found.std(axis=0)
            if not np.isfinite(deviation).all():
                raise RangeError("the variance is beyond float64; scale the numbers")
        return mean, np.where(deviation == 0, 1, deviation)

    def _encode(self, layout: ColumnFeatures, column: Column) -> Coordinates:
        """Return the coordinates of a column; RangeError unless the features' type holds the real feature."""
        truncate = self.denominators == "truncate"
        coordinates = encode_column(column.numbers, self.space_, truncate=truncate, real=column.real)
        feature = layout.real_feature(coordinates.real)
        beyond = np.flatnonzero(~(np.abs(feature) <= np.finfo(np.dtype(self.dtype)).max))
        if len(beyond):
            is_infinite = np.isinf(coordinates.real[beyond[0]])  # to any dtype and features
            remedy = "" if is_infinite else "use dtype=numpy.float64, features='characters' or "
            raise RangeError(
                f"the real value at position [{beyond[0]}] is beyond "
                f"{np.dtype(np.float64 if is_infinite else self.dtype)}; {remedy}scale the numbers"
            )
        if layout.codes:
            codes = read_codes(column.numbers, layout.codes, coordinates.real, column.seconds)
            coordinates = replace(coordinates, codes=codes)
        return coordinates

    def _block(self, i: int, is_missing: npt.NDArray[np.bool_], coordinates: Coordinates) -> npt.NDArray[np.float64]:
        """Return the features of some rows of the i-th column that is encoded."""
        found = self._layouts[i].compute(coordinates)
        if self.features == "standardized":
            mean, scale = self._scales[i]
            found = (found - mean) / scale
        found[is_missing] = np.nan if self.handle_missing == "propagate" else 0
        return np.column_stack([found, is_missing]) if self.handle_missing == "indicator" else found

    def _sparse_block(self, layout: ColumnFeatures, column: Column, coordinates: Coordinates) -> Any:
        """Return the one-hot features of a column without making them dense: one of each digit's is 1."""
        rows = len(coordinates.digits)
        places = [
            section.start + one_hot_positions(kind, digits, base)
            for (kind, base, _, section), digits in zip(layout.parts(), layout.digits(coordinates), strict=True)
        ]
        hot = np.concatenate(places, axis=1)
        # 32 bits where they do, as OneHotEncoder has them: not every estimator takes others.
        width, columns = 1 + hot.shape[1], layout.size + (self.handle_missing == "indicator")
        is_short = max(columns, rows * (width + 1)) < 2**31
        indices = np.zeros((rows, width), dtype=np.int32 if is_short else np.int64)
        indices[:, 1:] = hot
        values = np.ones(indices.shape, dtype=self.dtype)
        values[:, 0] = layout.real_feature(coordinates.real)
        values[column.is_missing] = 0
        if self.handle_missing == "indicator":
            indices = np.column_stack([indices, np.full(rows, layout.size, dtype=indices.dtype)])
            values = np.column_stack([values, column.is_missing]).astype(self.dtype)
        pointers = np.arange(rows + 1, dtype=indices.dtype) * indices.shape[1]
        block = sparse.csr_array((values.ravel(), indices.ravel(), pointers), shape=(rows, columns))
        block.eliminate_zeros()
        return block

    def _values(self, i: int, block: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Return the numbers of the i-th column that is encoded from its features."""
        if self._is_timed[self._chosen[i]]:
            raise DecodingError("the features of dates with a time of day do not give them back")
        is_missing = np.asarray(np.isnan(block).all(axis=1), dtype=np.bool_)
        if self.handle_missing == "indicator":
            is_missing |= block[:, -1] > 0.5
            block = block[:, :-1]
        elif self.handle_missing == "zero" and self.features not in ("digits", AUTO):
            is_blank = ~block.any(axis=1)
            if is_blank.any() and not (self.features == "standardized" and self._is_mean_a_number(i)):
                is_missing |= is_blank
        block = block[~is_missing]
        if np.isnan(block).any():
            raise DecodingError("some features of a number are NaN, and not all")
        dtype, _ = self._kinds[self._chosen[i]]
        return column_values(self._decode(i, block, np.flatnonzero(~is_missing)), is_missing, dtype)

    def _is_mean_a_number(self, i: int) -> bool:
        """Return whether the mean of a column's standardized features, which is 0, is that of a number."""
        try:
            self._decode(i, np.zeros((1, self._layouts[i].size)), np.arange(1))
        except DecodingError:
            return False
        return True

    def _decode(self, i: int, block: npt.NDArray[np.float64], rows: npt.NDArray[np.int64]) -> Rationals:
        """Return the numbers with these features, of the rows that errors name."""
        layout = self._layouts[i]
        dtype, integral = self._kinds[self._chosen[i]]
        error = float(np.finfo(np.dtype(self.dtype)).eps)  # of rounding to the type, and of a few operations in float64
        # How far the real value may be off decides which integer or float is the only one near: too small a radius
        # would refuse right numbers, too large a one would find two.
        offsets = np.zeros(len(block))
        if self.features == "standardized":
            mean, scale = self._scales[i]
            offsets = 2 * error * np.abs(block[:, 0] * scale[0])
            block = block * scale + mean
        coordinates, radius = layout.read(block, error * _OPERATIONS[layout.kind])
        numbers = decode_column(
            coordinates,
            radius + offsets,
            self.space_,
            integral=integral,
            floats=(dtype, self.floats) if dtype.kind == "f" else None,
            exact=layout.kind == "digits" and np.finfo(np.dtype(self.dtype)).nmant >= mantissa_bits(dtype),
            truncate=self.denominators == "truncate",
            rows=rows,
        )
        if coordinates.codes is not None:
            wrong = (read_codes(numbers, layout.codes, coordinates.real) != coordinates.codes).any(axis=1)
            if wrong.any():
                row = rows[np.flatnonzero(wrong)[0]]
                raise DecodingError(f"at position [{row}]: no number has these residues, digits or parts of a date")
        return numbers
