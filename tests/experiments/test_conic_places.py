"""What the page says of the network at each place of a conic: from the committed file, by its script."""

import json

import numpy as np
import pytest
import torch

from adelic.data import drawn_task
from adelic.nn import LocalGlobalClassifier, Vocabulary
from adelic.number_theory.symbols import REAL, hilbert_symbol

SCRIPT = "conic_places"


@pytest.fixture
def committed(script):
    return json.loads(script.FILE.read_text(encoding="utf-8"))


@pytest.fixture
def network(script):
    """A network of this shape that has learned nothing."""
    torch.manual_seed(0)
    numbers = drawn_task("conic").vocabulary
    space = script.the_experiment().embedding.space()
    about = {"n_classes": 2, "length": 2, "features": "valuation-unit", "width": 8, "tied": True}
    return LocalGlobalClassifier(space, vocabulary=Vocabulary(numbers), **about).eval()


def test_the_picture_and_the_table_are_made_from_the_committed_file(script, committed, shown):
    assert script.PICTURE.read_bytes() == script.drawn(committed)
    assert shown("number-theory/conic.md", f"table: {script.MARK}") == script.table(committed).to_markdown().rstrip()
    assert script.to_json(committed) == script.FILE.read_text(encoding="utf-8")


def test_the_committed_file_says_how_it_was_made(script, committed):
    about = committed["about"]
    assert about["command"] == script.the_experiment().command()
    assert not about["commit"].endswith("+")
    assert set(about) == {"command", "seed", "commit", "device", "versions"}


def test_what_the_page_says_of_the_places(script, committed):
    rows = {row[0]: row[1:] for row in script.table(committed).rows}
    for place in ("real", "2", "3", "5", "7", "11", "13", "19"):  # exactly
        assert rows[place][1:] == (rows[place][0], "0", "0")
    silent, loud = (sum(int(row[i].replace(",", "")) for row in rows.values()) for i in (2, 3))
    assert loud < silent / 20  # nearly all that is missing is silence
    for row in rows.values():  # most of it
        assert int(row[1].replace(",", "")) > 0.8 * int(row[0].replace(",", ""))


def test_one_number_of_a_class_says_what_all_do(script, network):
    numbers = np.array(drawn_task("conic").vocabulary)
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, len(numbers), (500, 2))
    said = network.local(torch.from_numpy(pairs))
    found = {about["place"]: about for about in script.asked(network)}
    assert set(found) == {REAL, *network.space.primes}
    for place in network.space.primes:
        index = {script.class_of(a, place): i for i, a in enumerate(found[place]["numbers"])}
        assert len(index) == (8 if place == 2 else 2 * (place - 1))
        expected = [
            found[place]["objections"][index[script.class_of(a, place)]][index[script.class_of(b, place)]]
            for a, b in numbers[pairs].tolist()
        ]
        assert np.allclose(said[str(place)], expected, atol=0.006)


def test_what_is_right_is_the_hilbert_symbol(script, network):
    (about,) = (one for one in script.asked(network) if one["place"] == 7)
    symbols = [[int(hilbert_symbol(np.array([a]), b, 7)[0]) for b in about["numbers"]] for a in about["numbers"]]
    wrong = [[9.0 if s == 1 else 0.0 for s in row] for row in symbols]
    right = [[0.0 if s == 1 else 9.0 for s in row] for row in symbols]
    cases, no = len(symbols) ** 2, str(np.sum(np.array(symbols) == -1))
    for objections, expected in ((right, (f"{cases}", "0", "0")), (wrong, ("0", no, f"{cases - int(no)}"))):
        found = {"bias": 1.0, "places": [{"place": 7, "numbers": about["numbers"], "objections": objections}]}
        assert script.table(found).rows == (("7", f"{cases}", *expected),)
