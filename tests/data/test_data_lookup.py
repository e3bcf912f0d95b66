"""Rows found by their content, and memory, against dictionaries."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adelic.data import LookUp, RowIndex, lookup
from adelic.data.rules import accuracy_of_rule


def tables(least=0, length=2):
    return arrays(np.int8, st.tuples(st.integers(least, 40), st.just(length)), elements=st.integers(-2, 2))


@pytest.fixture(params=["keys", "no keys", "blocks"])
def keys(request, monkeypatch):
    """Keys as they are; one key for all rows: then contents alone decide; and blocks of a few rows."""
    if request.param == "no keys":
        monkeypatch.setattr(lookup, "content_keys", lambda X: np.zeros(len(X), np.uint64))
    elif request.param == "blocks":
        monkeypatch.setattr(lookup, "_BLOCK", 3)


@pytest.mark.usefixtures("keys")
def test_an_index_is_a_dictionary():
    @given(known=tables(), asked=tables(), dtype=st.sampled_from([np.int8, np.int16, np.int64]))
    @settings(deadline=None)
    def holds(known, asked, dtype):
        first = {}
        for number, row in enumerate(known.tolist()):
            first.setdefault(tuple(row), number)
        found = RowIndex(known).find(asked.astype(dtype))
        assert found.tolist() == [first.get(tuple(row), -1) for row in asked.tolist()]

    holds()


@pytest.mark.usefixtures("keys")
def test_memory_is_a_dictionary():
    @given(known=tables(least=1), asked=tables(), labels=st.data())
    @settings(deadline=None)
    def holds(known, asked, labels):
        y = np.array(labels.draw(st.lists(st.integers(0, 3), min_size=len(known), max_size=len(known))))
        seen = {}
        for row, label in zip(known.tolist(), y.tolist(), strict=True):
            seen.setdefault(tuple(row), Counter())[label] += 1
        # The most frequent label of a row, of several the least; the majority class counts different rows once.
        answers = {row: min(counts, key=lambda label: (-counts[label], label)) for row, counts in seen.items()}
        of_table = Counter(answers.values())
        majority = min(of_table, key=lambda label: (-of_table[label], label))
        memory = LookUp(known, y)
        assert memory.majority == majority
        assert memory.counts.tolist() == [of_table[label] for label in range(max(of_table) + 1)]
        assert memory.find(asked).tolist() == [answers.get(tuple(row), -1) for row in asked.tolist()]
        assert memory.predict(asked).tolist() == [answers.get(tuple(row), majority) for row in asked.tolist()]

    holds()


@pytest.mark.parametrize("size", [lookup._SMALL_TABLE, 0])  # a table of all pairs; sorted pairs, where rows are few
@given(data=st.data(), wide=st.booleans(), dtype=st.sampled_from([np.int8, np.int64]))
@settings(deadline=None)
def test_the_most_frequent_label_by_counting(size, data, wide, dtype):
    groups = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=30))
    labels = st.integers(-(2**62), 2**62) if wide and dtype is np.int64 else st.integers(-3, 3)
    y = data.draw(st.lists(labels, min_size=len(groups), max_size=len(groups)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "_SMALL_TABLE", size)
        found = lookup.most_frequent_labels(np.array(groups), np.array(y, dtype), 6)
    for group in set(groups):
        counts = Counter(label for g, label in zip(groups, y, strict=True) if g == group)
        assert found[group] == min(counts, key=lambda label: (-counts[label], label))


@given(tables(least=1), tables(least=1), st.data())
@settings(deadline=None)
def test_a_rule_by_counting(known, asked, data):
    """Several targets, and values that only the questions have."""
    targets = st.lists(st.tuples(st.integers(0, 2), st.integers(-9, -8)), min_size=40, max_size=40)
    y, y_asked = (np.array(data.draw(targets))[: len(rows)] for rows in (known, asked))
    cue, cue_asked = known[:, 0], asked[:, 0]
    scores = []
    for target in range(2):
        right = 0
        for value, wanted in zip(cue_asked.tolist(), y_asked[:, target].tolist(), strict=True):
            rows = y[cue == value, target] if (cue == value).any() else y[:, target]
            counts = Counter(rows.tolist())
            right += min(counts, key=lambda label: (-counts[label], label)) == wanted
        scores.append(right / len(asked))
    assert accuracy_of_rule(cue, y, cue_asked, y_asked) == pytest.approx(np.mean(scores))
