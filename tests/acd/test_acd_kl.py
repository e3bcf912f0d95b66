"""Against the definition in the Hecke algebra, Sage, and polynomials that others have printed."""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest

from adelic.acd import kl, mheight
from adelic.acd.permutations import bruhat_below, length


def times_simple(element, s):
    """Element times T_s in the Hecke algebra; an element is {(w, power of q): coefficient}."""
    product = Counter()
    for (w, power), coefficient in element.items():
        ws = (*w[:s], w[s + 1], w[s], *w[s + 2 :])
        if w[s] < w[s + 1]:
            product[ws, power] += coefficient
        else:  # T_w T_s = (q - 1) T_w + q T_ws
            product[w, power + 1] += coefficient
            product[w, power] -= coefficient
            product[ws, power + 1] += coefficient
    return product


def times_inverse_of_simple(element, s):
    """Element times T_s^-1 = q^-1 T_s - (1 - q^-1)."""
    product = Counter({(w, power - 1): coefficient for (w, power), coefficient in times_simple(element, s).items()})
    for (w, power), coefficient in element.items():
        product[w, power] -= coefficient
        product[w, power - 1] += coefficient
    return product


def reduced_word(w):
    """Positions s_1, ..., s_k whose exchanges, in this order, lead from the identity to w, as few as possible."""
    word, w = [], list(w)
    while True:
        s = next((s for s in range(len(w) - 1) if w[s] > w[s + 1]), None)
        if s is None:
            return word[::-1]
        w[s], w[s + 1] = w[s + 1], w[s]
        word.append(s)


def bar_of_basis(w):
    """The bar involution of T_w = T_s1 ... T_sk: the inverse of T_(w^-1) = T_sk ... T_s1."""
    element = Counter({(tuple(range(len(w))), 0): 1})
    for s in reduced_word(w):
        element = times_inverse_of_simple(element, s)
    return element


def polynomial(coefficients):
    """Coefficients as the reference gives them: without zeros at the end."""
    stripped = list(coefficients)
    while len(stripped) > 1 and not stripped[-1]:
        stripped.pop()
    return tuple(stripped)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_definition_in_the_hecke_algebra(n):
    """q^ℓ(w) times the bar of Σ P_(x,w) T_x is the same sum, degrees are small, and P_(w,w) = 1."""
    group = list(permutations(range(n)))
    bars = {x: bar_of_basis(x) for x in group}
    table = kl.kl_polynomials(n).tolist()
    for j, w in enumerate(group):
        element, bar = Counter(), Counter()
        for i, x in enumerate(group):
            for degree, coefficient in enumerate(table[i][j]):
                element[x, degree] += coefficient
                for (y, power), other in bars[x].items():
                    bar[y, power - degree + length(w)] += coefficient * other
                if coefficient and x != w:
                    assert 2 * degree <= length(w) - length(x) - 1
        assert {key: c for key, c in bar.items() if c} == {key: c for key, c in element.items() if c}
        assert polynomial(table[j][j]) == (1,)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, pytest.param(7, marks=pytest.mark.long)])
def test_table_and_reference_agree(n):
    """On all pairs, or, from n = 6 on, on some whose polynomials have a power above the first."""
    group = list(permutations(range(n)))
    table = kl.kl_polynomials(n)
    places = np.argwhere(table[:, :, 2:].any(axis=2) | (n < 6))
    for i, j in (places if n < 6 else np.random.default_rng(n).choice(places, 20)).tolist():
        assert kl.kazhdan_lusztig(group[i], group[j]) == polynomial(table[i, j].tolist())


def test_oracle(oracle):
    table, rank = kl.kl_polynomials(5), {w: i for i, w in enumerate(permutations(range(5)))}
    for x, w, coefficients in oracle("kl_5"):
        assert kl.kazhdan_lusztig(x, w) == polynomial(coefficients)
        assert table[rank[tuple(x)], rank[tuple(w)]].tolist() == coefficients[:4]


@pytest.mark.parametrize(
    ("x", "w", "coefficients"),
    [  # printed in READMEs of the data set, and rows of its published files
        ("012345", "345012", (1, 4, 4, 1)),
        ("0213546978", "2305967814", (1, 6, 13, 12, 4)),
        ("1360254", "5260341", (1, 1)),
        ("143025", "534012", (1, 1)),
        ("301245", "540132", (1,)),
        ("312045", "134502", (0,)),
        ("5421603", "4125306", (0,)),
    ],
)
def test_published_polynomials(x, w, coefficients):
    assert kl.kazhdan_lusztig(map(int, x), map(int, w)) == coefficients


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_rows_are_all_pairs_in_order(n, generated):
    rows = generated("kl", n)
    group = list(permutations(range(n)))
    assert rows.X.tolist() == [[*x, *w] for x in group for w in group]
    for row, coefficients in zip(rows.X.tolist(), rows.y.tolist(), strict=True):
        assert kl.kazhdan_lusztig(row[:n], row[n:]) == polynomial(coefficients)


@pytest.mark.parametrize("n", [5, 6])
def test_polynomials_of_the_identity(n):
    """P_(1,w) = 1 exactly if w avoids 3412 and 4231; the least positive power is mHeight + 1, where there is one."""
    for w, coefficients in zip(permutations(range(n)), kl.kl_polynomials(n)[0].tolist(), strict=True):
        powers = [degree for degree, coefficient in enumerate(coefficients) if coefficient]
        patterns = {tuple(np.argsort(np.argsort(four)).tolist()) for four in combinations(w, 4)}
        contains = not patterns.isdisjoint({(2, 3, 0, 1), (3, 1, 2, 0)})
        assert (powers == [0]) != contains
        if mheight.mheight(w) is not None:
            assert powers[1] == mheight.mheight(w) + 1


@pytest.mark.parametrize("n", [255, 256, 600])
def test_bruhat_order_of_long_permutations(n):
    least, greatest = np.arange(n), np.arange(n)[::-1]
    lower, upper = np.array([least, greatest, greatest]), np.array([greatest, least, greatest])
    assert bruhat_below(lower, upper).tolist() == [True, False, True]


def test_symmetries_are_those_of_their_names(generated):
    n = 4
    rows = generated("kl", n)
    inverses, conjugates = (kl.TASK.symmetries[name](rows.X, rows.y)[0] for name in ("inverses", "conjugates by w0"))
    for row, inverse, conjugate in zip(rows.X.tolist(), inverses.tolist(), conjugates.tolist(), strict=True):
        for start in (0, n):
            w, w_inverse, w_conjugate = (each[start : start + n] for each in (row, inverse, conjugate))
            assert all(w_inverse[w[i]] == i for i in range(n))
            assert all(w_conjugate[n - 1 - i] == n - 1 - w[i] for i in range(n))


def test_cues(generated):
    n = 4
    rows = generated("kl", n)
    cues = {name: cue(rows.X).tolist() for name, cue in kl.TASK.cues.items()}
    for i, row in enumerate(rows.X.tolist()):
        x, w = tuple(row[:n]), tuple(row[n:])
        assert cues["length difference"][i] == length(w) - length(x) + 6 >= 0
        assert cues["Bruhat order"][i] == rows.y[i, 0]  # P_(x,w) begins with 1 exactly if x <= w
        assert cues["equal"][i] == (x == w)


def test_polynomials_that_do_not_fit_are_noticed(monkeypatch):
    """The greatest coefficient of S_6 is 4, so three bits for each would be enough, two are not."""
    for spare, fits in ((0xFFFF_F8F8_F8F8_F8F8, True), (0xFFFF_FCFC_FCFC_FCFC, False)):
        monkeypatch.setattr(kl, "ROOM", np.uint64(spare))
        if fits:
            kl.packed_polynomials(6)
        else:
            with pytest.raises(AssertionError):
                kl.packed_polynomials(6)
