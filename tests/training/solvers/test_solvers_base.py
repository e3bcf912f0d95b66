import itertools

import pytest

from adelic.training.solvers.base import rates


def test_the_learning_rate_rises_and_falls():
    found = list(rates(1e-3, steps=100, warm_up=5))
    assert found[:5] == pytest.approx([0.2e-3, 0.4e-3, 0.6e-3, 0.8e-3, 1e-3], rel=0.01)
    assert all(b < a for a, b in itertools.pairwise(found[5:]))
    assert 0 < found[-1] < 1e-6
    assert len(list(rates(1e-3, steps=1, warm_up=1))) == 1
