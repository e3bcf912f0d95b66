"""`adelic warm`: what is compiled at first use is compiled."""

import re
import sys

import numpy as np
import pytest

from adelic import AdeleSpace, nn

event = pytest.importorskip("numba.core.event")


class Compiled(event.Listener):
    """The functions of this package that are compiled."""

    def __init__(self):
        self.names = []

    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("adelic."):
            self.names.append(function.__qualname__)

    def on_end(self, event):
        pass


@pytest.mark.long
def test_nothing_usual_is_compiled_afterwards(works):
    assert re.fullmatch(r"arithmetic \.\.\. [\d.]+ s\nnetworks \.\.\. [\d.]+ s\n", works("warm"))
    rng = np.random.default_rng(0)
    prices = np.round(1000 * rng.random((5000, 2)), 2)
    with event.install_listener("numba:compile", Compiled()) as compiled:
        space = AdeleSpace()
        a = space.encode(rng.integers(-(10**9), 10**9, 10**5))
        b = space.encode((rng.integers(-(10**9), 10**9, 10**5), np.full(10**5, 23)))
        space.tensor(a[:10].decode())
        assert (((a + b) * a - b)[:500].decode() == ((a * a + a * b) - b)[:500].decode()).all()
        embedding = nn.AdelicEmbedding.for_column(prices.ravel(), d_model=16, show=False)
        model = nn.SequenceClassifier(embedding, n_classes=2, max_length=2, n_layers=1, n_heads=2)
        model(prices[:64]).sum().backward()
    assert not compiled.names


def test_numba_is_named_where_it_is_missing(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert "pip install 'adelic[fast]'" in refused("warm")
