"""The encoder as an ONNX model: the same features, bit for bit."""

import numpy as np
import onnxruntime
import pytest

from adelic.errors import ConfigurationError
from adelic.integrations.sklearn import AdelicEncoder

EDGES = [0, 1, -1, 96, 97, -98, 2**24 + 1, -(2**31), 2**53 + 1, 2**62 + 2**33 + 1, 2**63 - 2, 2 - 2**63]


def run(model, X):
    """Return the output of an ONNX model."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": X})[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"primes": (2, 97), "precision": 8},
        {"primes": (), "bases": (10, 16), "moduli": (12, 365, 97)},
    ],
    ids=["defaults", "many digits", "bases and moduli"],
)
def test_onnx_gives_the_features_of_transform_bit_for_bit(options, dtype):
    rng = np.random.default_rng(0)
    X = np.stack([np.r_[EDGES, rng.integers(-(10**12), 10**12, 200)] for _ in range(2)], axis=1)
    encoder = AdelicEncoder(dtype=dtype, **options).fit(X)
    found, expected = run(encoder.to_onnx(), X[::-1]), encoder.transform(X[::-1])
    assert found.dtype == expected.dtype == dtype
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


def test_what_was_found_and_weekdays_are_features_of_onnx():
    n = np.random.default_rng(1).integers(0, 10**6, (1000, 2))
    encoder = AdelicEncoder(features="auto").fit(n, n[:, 0] % 23 / 3 + n[:, 1] // 100 % 10)
    assert {one.kind for one in encoder.findings_} == {"modulus", "digit"}
    assert np.array_equal(run(encoder.to_onnx(), n), encoder.transform(n))
    days = np.arange("1969-12-01", "1970-02-01", dtype="datetime64[D]")[:, None]
    encoder = AdelicEncoder(calendar=["weekday"]).fit(days)
    assert np.array_equal(run(encoder.to_onnx(), days.astype(np.int64)), encoder.transform(days))


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"features": "characters"}, [[1]], "features='digits' or 'auto'"),
        ({"primes": (2, 5), "precision": 4, "fractional_digits": 2}, [[1]], "without fractional digits"),
        ({}, [[0.5]], "takes integers alone"),
        ({"columns": [0]}, [[1, 2]], "takes integers alone"),
        ({"handle_missing": "indicator"}, [[1]], "takes integers alone, none missing"),
        ({"primes": (2,), "precision": 64}, [[1]], "'x0_p2_d62' is no residue or digit within int64"),
        ({"calendar": ["month"], "primes": ()}, np.array([["2024-02-29"]], dtype="M8[D]"), "'x0_month' is no residue"),
    ],
)  # fmt: skip
def test_what_onnx_does_not_say_is_an_error(options, X, message):
    with pytest.raises(ConfigurationError, match=message):
        AdelicEncoder(**options).fit(X).to_onnx()
