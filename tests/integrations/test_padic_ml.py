"""Disks of padic-ml as p-adic numbers of which some digits are known, and back."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.errors import DomainError, EncodingError, PrecisionError, SpaceError
from adelic.integrations.padic_ml import from_padic_ml, to_padic_ml
from adelic.numbers import padic

ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "padic_disks.json").read_text(encoding="utf-8"))
PRECISION = 24


def disks(fields, p):
    """Return a record with the fields of a PArray that padic-ml itself made."""
    radius = [-np.inf if r is None else r for r in fields["log_radius"]]
    return SimpleNamespace(
        unit=np.array(fields["unit"], dtype=np.int32),
        valuation=np.array(fields["valuation"], dtype=np.int32),
        log_radius=np.array(radius, dtype=np.float32),
        p=p,
    )


@pytest.mark.parametrize("group", ORACLE["groups"], ids=lambda group: f"p={group['p']}")
def test_products_and_sums_are_those_of_padic_ml(group):
    """Also in precision: the radius of padic-ml's product is the precision law of p-adic arithmetic."""
    names = ("x", "y", "z", "point", "product", "sum")
    records = {name: disks(group[name], group["p"]) for name in names}
    x, y, z, point, product, total = (from_padic_ml(records[name], PRECISION) for name in names)
    for found, wanted, record in ((x * y, product, records["product"]), (z + point, total, records["sum"])):
        assert (found == wanted).all()
        whole = record.log_radius == np.round(record.log_radius)  # with parts, padic-ml's disks are no balls of Q_p
        finite = np.isfinite(record.log_radius) & whole
        absolute = found.known - found.fractional_digits
        assert finite.sum() > 10
        assert (absolute[finite] == -record.log_radius[finite]).all()
    seen = x.norm() != 0
    assert [float(norm) for norm in x.norm()[seen]] == pytest.approx(np.array(group["norm"])[seen])


@pytest.mark.parametrize("group", ORACLE["groups"], ids=lambda group: f"p={group['p']}")
def test_fields_come_back(group):
    record = disks(group["x"], group["p"])
    x = from_padic_ml(record, PRECISION)
    arguments = to_padic_ml(x, dtype=np.int64)
    assert arguments["p"] == record.p
    radius = np.maximum(np.floor(record.log_radius), x.fractional_digits - PRECISION)  # of a point, the window's
    assert (arguments["log_radius"] == radius).all()
    norm = np.where(record.unit == 0, -np.inf, -record.valuation)
    seen = norm > record.log_radius + 3  # a centre far from 0 is the same number, if not the same integer
    again = from_padic_ml(SimpleNamespace(**arguments), PRECISION)
    assert (again == x).all()
    assert (again.known == x.known).all()
    assert (arguments["valuation"][seen] == record.valuation[seen]).all()


@given(
    st.sampled_from([2, 3, 5, 7, 101]),
    st.lists(st.tuples(st.integers(-200, 200), st.integers(-3, 3)), min_size=1, max_size=8),
)
def test_exact_numbers_survive(p, parts):
    numbers = [n * p ** max(k, 0) for n, k in parts], [p ** max(-k, 0) for _, k in parts]
    x = padic(numbers, p, precision=20)
    exact = SimpleNamespace(**to_padic_ml(x, exact=True, dtype=np.int64))
    assert np.isneginf(exact.log_radius).all()
    assert all(
        u * float(p) ** v == pytest.approx(n / m)
        for u, v, n, m in zip(exact.unit.tolist(), exact.valuation.tolist(), *numbers, strict=True)
    )
    assert not (exact.unit % p == 0)[exact.unit != 0].any()
    assert (from_padic_ml(exact, 20) == x).all()


def test_shapes_and_edges():
    x = padic([[5, 0, "1/7"]], 7, precision=4)
    arguments = to_padic_ml(x)
    assert arguments["unit"].shape == arguments["log_radius"].shape == (1, 3)
    assert from_padic_ml(SimpleNamespace(**to_padic_ml(x[0, 0]))).shape == ()
    assert from_padic_ml(SimpleNamespace(**to_padic_ml(x[:0]))).shape == (0, 3)
    whole = SimpleNamespace(unit=[5], valuation=[0], log_radius=[2.0], p=3)  # nothing is known but that v >= -2
    assert from_padic_ml(whole).series().tolist() == ["O(3^-2)"]
    rounded = SimpleNamespace(unit=[5], valuation=[0], log_radius=[-2.0000002], p=3)
    assert from_padic_ml(rounded).series().tolist() == ["2 + 3 + O(3^2)"]


def test_wrong_arguments():
    with pytest.raises(DomainError, match="is undefined"):
        to_padic_ml(padic([2, 3], 7).sqrt(errors="mask"))
    with pytest.raises(PrecisionError, match=r"the unit part -?\d+ at position \[1\] does not fit int32; fewer digits"):
        to_padic_ml(padic([1, "1/3"], 7, precision=12))
    with pytest.raises(EncodingError, match="NaN"):
        from_padic_ml(SimpleNamespace(unit=[1], valuation=[0], log_radius=[np.nan], p=3))
    with pytest.raises(SpaceError, match="4 is not a prime"):
        from_padic_ml(SimpleNamespace(unit=[1], valuation=[0], log_radius=[-1.0], p=4))
    with pytest.raises(SpaceError, match="fractional_digits"):
        from_padic_ml(SimpleNamespace(unit=[1], valuation=[-9], log_radius=[-1.0], p=3), precision=4)


def test_with_padic_ml_itself():
    padic_ml = pytest.importorskip("padic_ml")
    x = padic([18, -1, 4, 0], 3, precision=8)
    array = padic_ml.array(**to_padic_ml(x))
    assert (from_padic_ml(array, 8) == x).all()
    assert (from_padic_ml(array * array, 8) == x * x).all()
    assert (array.abs() == np.array([float(norm) for norm in x.norm()], dtype=np.float32)).all()
