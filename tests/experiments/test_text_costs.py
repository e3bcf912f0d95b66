"""Costs of numbers in language models: what is measured."""

import pytest

pytest.importorskip("transformers")

SCRIPT = "text_costs"


def test_texts_have_so_many_numbers_and_an_answer_that_two_of_them_give(script):
    for n, below in ((0, 1000), (2, 1000), (40, 10**25)):
        for text in script.examples(n, below):
            numbers = [int(word) for word in text["prompt"].split() if word.isdigit()]
            assert len(numbers) == n
            assert len(text["prompt"].split()) == script.LENGTH - 1
            sums = {a + b for i, a in enumerate(numbers) for b in numbers[:i]}
            assert int(text["completion"]) in sums if n else text["completion"] == " and"
            assert all(below // 2 <= number < below for number in numbers)


def test_a_row_has_the_ratios_of_its_seconds(script, monkeypatch):
    monkeypatch.setattr(script, "BATCH", 2)
    row = script.measured((1, 16), 2, 1)
    assert set(row["ratios"]) == set(script.VARIANTS)
    assert set(row["seconds"]) == {"plain step", "plain written"} | {
        f"{name} {part}" for name in script.VARIANTS for part in ("step", "collator", "written")
    }
    for name, found in row["ratios"].items():
        assert found["step"] == row["seconds"][f"{name} step"] / row["plain_step"]
        own, collator = row["seconds"][f"{name} step"], row["seconds"][f"{name} collator"]
        assert found["share_of_collator"] == pytest.approx(collator / (own + collator))
