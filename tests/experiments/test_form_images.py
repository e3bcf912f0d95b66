"""What memory of images gets on conics and ternary forms: images have one answer, the page has the file's figures."""

import math

import numpy as np
import pytest

from adelic.data import DrawnData, drawn_task

SCRIPT = "form_images"


def test_the_page_has_the_figures_of_the_file(figures, section):
    for task in ("conic", "ternary-form"):
        text = section(f"number-theory/{task}.md")
        test, new = (figures["tasks"][task][split] for split in ("test", "new combinations"))
        assert f"In `test` {100 * test['with_image']:.1f} % of the questions have an image" in text
        assert f"that knew this would score {100 * test['memory_of_images']:.2f} %" in text
        assert f"Among new combinations it is {100 * new['with_image']:.1f} %" in text
        assert f"such a table would score {100 * new['memory_of_images']:.2f} %" in text
    conic, page = figures["tasks"]["conic"]["test"], section("number-theory/conic.md")
    assert f"With seed 0 few questions are left for `test`: {conic['different']:,}." in page
    assert f"Of its draws, {100 * conic['in_validation']:.1f} % are in validation too." in page


@pytest.mark.parametrize("name", ["conic", "ternary-form"])
def test_images_have_one_answer(name, script):
    """The first images of random forms, as numbers again, by the task's own answers."""
    task = drawn_task(name)
    forms, answers = task.sample(30, np.random.default_rng(0))
    seen = 0
    for form, answer in zip(script.images(script.classes(forms)).tolist(), answers.tolist(), strict=True):
        bits = [image for image in form if all(1 <= (a >> 1).bit_count() <= 3 for a in image)][:20]
        numbers = [
            [math.prod(p for k, p in enumerate(script.PRIMES, 1) if a >> k & 1) * (-1) ** (a & 1) for a in image]
            for image in bits
        ]
        assert set(task.solve(np.array(numbers)).tolist()) == {answer}
        seen += len(numbers) - 1
    assert seen > 10


def test_counts_of_few_questions(script):
    found = script.counted(DrawnData("conic", 300, test_cases=60, confirmation_cases=60, never_seen_cases=40))
    assert [split["questions"] for split in found.values()] == [60, 40]
    for split in found.values():
        assert 0 <= split["with_image"] < 0.2
        assert split["memory_of_images"] >= split["most_frequent"]  # what is remembered is right


def test_who_is_remembered(script):
    """All of a task's own questions are; with the images of a few, more than these."""
    forms = script.classes(np.array([[2, 5], [2, -10], [3, 7]]))
    seen = script.keys(script.classes(np.array([[5, 2]])))
    found = script.remembered(forms, np.array([0, 0, 1]), seen, np.array([0]))
    assert (found["with_image"], found["memory_of_images"]) == (2 / 3, 2 / 3)
    assert script.keys(forms)[0] == seen[0]  # whatever the order
    with pytest.raises(AssertionError, match="different answers"):
        script.remembered(forms, np.array([1, 0, 1]), seen, np.array([0]))
