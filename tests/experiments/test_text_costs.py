"""Costs of numbers in language models: what is measured, of prose without numbers, and perplexities by hand."""

import json
import math

import pytest

pytest.importorskip("transformers")

import torch

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


def test_perplexities_by_hand(script):
    logits = torch.tensor([[0.0, 0.0, 0.0], [math.log(6), math.log(3), 0.0]])
    found = script.scores([(logits[:1], torch.tensor([0])), (logits[1:], torch.tensor([1]))], 2)
    assert found["perplexity"] == pytest.approx(math.sqrt(3 * 10 / 3))
    assert found["perplexity_without_the_number_token"] == pytest.approx(math.sqrt(2 * 9 / 3))
    assert found["probability_of_the_number_token"] == pytest.approx((1 / 3 + 1 / 10) / 2)


def test_answers_alone_are_learned_and_all_of_prose_with_and_without_equip(script):
    _, tokenizer = script.learned(["the names of the answer is here and there"] * 9, 1)
    question = {"prompt": "The sum of 5 and 7 is", "completion": " 12"}
    batch = script.labelled(tokenizer, ["the names of", question])
    assert tokenizer.decode(batch["labels"][1][batch["labels"][1] != -100]) == " 12"
    assert tokenizer.decode(batch["labels"][0][batch["labels"][0] != -100]) == "the names of"


def test_equipping_changes_no_logit_of_prose(script, tmp_path):
    script.perplexity(sentences=40, prose_steps=2, steps=1, seeds=(0,), output=tmp_path / "found.json")
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert found["sentences"] == [36, 4]
    assert found["bit_for_bit_equal"]
    plain, equipped, *tuned = found["rows"]
    key = "perplexity_without_the_number_token"
    assert plain["perplexity"] == plain[key] == equipped[key] < equipped["perplexity"]
    assert [row["model"] for row in tuned] == [
        f"{kind}, {name}" for name in ("arithmetic alone", "half prose") for kind in ("plain", "equipped")
    ]
    assert all(("arithmetic" in row) == ("equipped" in row["model"]) for row in tuned)
