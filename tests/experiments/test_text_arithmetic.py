"""Models of arithmetic in words: tiny runs, the table against brute force, predictions counted again."""

import functools
import importlib
import itertools
import json
from contextlib import suppress
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("transformers")

from adelic.nn.heads.exact import BINARY
from adelic.storage.records import parse_object

SCRIPT = "text_arithmetic"
MODULES = {"made__sum", "made__less", "made__tenth", "made__terms"}
MODELS = ("operations", "operations-seen", "rewrite", "characters", "abacus", "fone", "xval", "adelic-head")
pytestmark = [
    pytest.mark.filterwarnings("ignore:a text's number"),  # what AdelicHead cannot write is not asked
    pytest.mark.filterwarnings("ignore:only .* numbers to be written"),
]


@pytest.fixture
def models(script):
    return importlib.import_module("text_models")


@pytest.fixture
def template(script):
    return importlib.import_module("text_table")


def questions(n, low, high, seed):
    rng = np.random.default_rng(seed)
    for a, b in rng.integers(low, high, (n, 2)).tolist():
        yield "made__sum", f"What is {a} plus {b}?", str(a + b)
        yield "made__less", f"Is {a} less than {b}?", str(a < b)
        yield "made__tenth", f"Divide {a} by 10.", str(a / 10)
        yield "made__terms", f"Calculate {a} - ({b} - 2).", str(a - b + 2)


@pytest.fixture
def file(tmp_path):
    """A small file of questions, one of whose training questions is in a test, too."""
    train = [(module, "train", *row) for module, *row in questions(60, -50, 50, 0)]
    tests = [(module, "interpolate", *row) for module, *row in questions(12, -50, 50, 1)]
    tests += [(f"{module}_big", "extrapolate", *row) for module, *row in questions(6, 500, 999, 2)]
    tests += [("made__sum", "interpolate", *train[0][2:])]
    names = ("module", "regime", "question", "answer")
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in train + tests])
    pq.write_table(table, tmp_path / "made.parquet")
    return tmp_path / "made.parquet"


@pytest.fixture
def run(script, file):
    """Make a short run on the file; return the folder of the results."""

    def call(model, **options):
        folder = file.parent / "results"
        sizes = {"modules": "all", "seconds": 0.3, "train": 160, "rate": 3e-3}
        script.run(model=model, questions=file, folder=folder, **sizes | options)
        return folder

    return call


@pytest.mark.parametrize("model", [*MODELS, "table", "table-in-steps"])
def test_a_run_writes_what_anybody_can_count_again(script, run, file, model, monkeypatch):
    monkeypatch.setattr(script, "SHARES", (1 / 2,))
    folder = run(model)
    found = parse_object((folder / f"made-all-{model}-0.json").read_bytes())
    tests = script.read(file, "all")[1]
    table = pq.read_table(folder / f"made-all-{model}-0.parquet").to_pylist()
    assert len(table) == sum(map(len, tests.values())) == 4 * 18 + 1
    counted = {regime: {module: [0, 0] for module in modules} for regime, modules in found["right"].items()}
    for row in table:
        right = script.is_right(row["predicted"], tests[row["regime"], row["module"]][row["index"]][1])
        counted[row["regime"]][row["module"]][0] += right
        counted[row["regime"]][row["module"]][1] += 1
    assert counted == found["right"]
    assert set(counted) == {"interpolate", "extrapolate"}
    assert found["train"] == 160
    assert (found["parameters"] > 0) == (found["steps"] > 0) == (model not in script.TABLES)
    assert model in script.TABLES or found["seconds"] >= 0.3
    written = (folder / f"made-all-{model}-0.json").read_bytes()
    run(model)  # is there
    assert (folder / f"made-all-{model}-0.json").read_bytes() == written


@pytest.fixture
def steps(script, monkeypatch):
    """A clock whose seconds are steps of training."""
    clock = itertools.count()
    monkeypatch.setattr(script, "time", SimpleNamespace(process_time=lambda: next(clock)))
    monkeypatch.setattr(script, "SHARES", ())


@pytest.mark.slow
@pytest.mark.usefixtures("steps")
def test_a_model_learns_from_answers_what_is_asked(run):
    folder = run("operations", modules="made__sum", seconds=150)
    right = parse_object((folder / "made-made__sum-operations-0.json").read_bytes())["right"]
    assert right["interpolate"]["made__sum"][0] >= 12
    assert right["extrapolate"]["made__sum"][0] >= 5
    derived = pq.read_table(folder / "made-made__sum-operations-0.parquet")["derivation"].to_pylist()
    assert all(" + " in text for text in derived)


def test_no_test_question_is_trained_on_and_modules_have_equal_parts(script, file):
    pool, tests = script.read(file, "all")
    assert not {row for rows in pool.values() for row in rows} & {row for rows in tests.values() for row in rows}
    assert {module for _, module in tests} == set(pool) == MODULES
    train, rest = script.drawn(pool, 41, seed=3)
    assert (len(train), len(set(train) & {row for rows in rest.values() for row in rows})) == (41, 0)
    assert [sum(row in pool[module] for row in train) for module in sorted(pool)] == [11, 10, 10, 10]
    assert train != script.drawn(pool, 41, seed=4)[0]
    with pytest.raises(SystemExit, match="has no module made__product"):
        script.read(file, "made__product")


@pytest.mark.long
@pytest.mark.usefixtures("steps")
def test_a_model_learns_to_rewrite(run):
    folder = run("rewrite", modules="made__terms", seconds=200)
    right = parse_object((folder / "made-made__terms-rewrite-0.json").read_bytes())["right"]
    assert right["interpolate"]["made__terms"][0] >= 11
    assert right["extrapolate"]["made__terms"][0] >= 5
    derived = pq.read_table(folder / "made-made__terms-rewrite-0.parquet")["derivation"].to_pylist()
    assert sum(text.count(" − ") == 2 for text in derived) >= 16


def test_the_table_in_steps_knows_what_is_next_by_the_words_around(script, template, file):
    pool, tests = script.read(file, "made__terms")
    table = template.TableInSteps(pool["made__terms"])
    for rows in tests.values():
        written = table.write([question for question, _ in rows])
        assert [text for text, _ in written] == [answer for _, answer in rows]
        assert all(derivation.count(" − ") == 2 for _, derivation in written)
    assert table.write(["Who?", "Calculate 5 - (7 - 3)."]) == [("", None), ("1", "7 − 3; 5 − 4")]


def test_rewriting_learns_steps_where_they_give_the_answer(models):
    model = models.NETWORKS["rewrite"](
        [("What is 5 + 2 * 3?", "11"), ("In base 6, what is 5 + 2?", "11"), ("Who?", "me")]
    )
    assert [one["completion"] for one in model.examples] == [" 6", " 11", " 11", " 11 [END]", " me [END]"]


def test_the_rate_is_the_one_that_validation_chose(script, tmp_path):
    assert script.chosen_rate(tmp_path, "characters") == script.RATES[1]
    for model, rate, n in (
        *(("characters", 1e-3, 5), ("characters", 3e-3, 5), ("characters", 1e-2, 4)),
        ("abacus", 1e-2, 9),
    ):
        found = {"rate": rate, "right": {"validation": {"sum": [n, 10]}}}
        (tmp_path / f"made-single-{model}-0-{rate:g}-validation.json").write_text(json.dumps(found))
    assert script.chosen_rate(tmp_path, "characters") == 1e-3
    assert script.chosen_rate(tmp_path, "abacus") == 1e-2


def test_validation_answers_training_questions_that_were_not_drawn(script, run):
    folder = run("xval", validation=True, train=90)
    found = parse_object((folder / "made-all-xval-0-0.003-validation.json").read_bytes())
    assert set(found["right"]) == {"validation"}
    assert not list(folder.glob("*.parquet"))
    assert script.tables_of([found]) == []


@pytest.mark.parametrize(
    ("predicted", "answer", "right"),
    [
        ("0.50", "1/2", True),
        ("-3/6", "-0.5", True),
        ("1", "True", True),
        ("True", "True", True),
        ("0", "True", False),
        ("1", "1", True),
        ("True", "1", False),
        ("2 , 3 , 1/2", "2, 3, 0.5", True),
        ("3 , 2", "2, 3", False),
        ("2", "2, 2", False),
        ("$ \\ dfrac { 7 } { 3 } $", "$\\dfrac{7}{3}$", True),
        ("b", "b", True),
        ("", "0", False),
        ("7/0", "7", False),
        ("1e999999999", "1", False),
        ("--5", "5", False),
    ],
)
def test_an_answer_is_right_by_its_value(script, predicted, answer, right):
    assert script.is_right(predicted, answer) is right


def test_batches_have_each_question_once_an_epoch_and_like_lengths(script):
    lengths = np.random.default_rng(0).integers(1, 99, 1000).tolist()
    found = list(itertools.islice(script.batches(lengths, 5), 16))
    assert sorted(itertools.chain(*found[:8])) == sorted(itertools.chain(*found[8:])) == list(range(1000))
    spreads = [max(lengths[i] for i in one) - min(lengths[i] for i in one) for one in found]
    assert np.mean(spreads) < 25
    assert found == list(itertools.islice(script.batches(lengths, 5), 16))


@pytest.mark.parametrize("text", ["is -12.50 more", "7/3 of -0.007", "1,234 , 5 , -6", "a b", "-1/20"])
def test_what_abacus_spells_is_read_again(models, text):
    tokens = [token for token, _ in models.Abacus.split(None, text)]
    back = models.unspelled(tokens)
    assert models.words_and_numbers(back) == models.words_and_numbers(text.replace(",234", "234"))


def test_abacus_gives_digits_the_places_of_their_powers_of_ten(models):
    for number in ("-12.5", "300", "0.07", "22/7", "5"):
        for part in number.split("/"):
            size = sum(int(token) * Fraction(10) ** place for token, place in models.spelled(part) if token.isdigit())
            assert size == abs(Fraction(part))


def test_fone_reads_and_says_numbers_of_its_digits(models):
    rows = [("What is 12.25 plus 1?", "13.25"), ("What is 1/3 plus 1?", "4/3")]
    model = models.FoNE(rows)
    assert (model.whole, model.decimals) == (3, 3)
    exact = [Fraction(q) for q in ("12.25", "-999.125", "0")]
    assert [model.readable(q) for q in exact] == exact
    assert model.readable(Fraction(-1, 3)) == Fraction(-333, 1000)
    assert model.readable(Fraction(12345)) == 345
    digits, negative = model.targets(exact)
    assert digits[1].tolist() == [5, 2, 1, 9, 9, 9]
    assert negative.tolist() == [0, 1, 0]


def test_the_table_has_the_derivation_that_explains_most_answers(template, script):
    rows = [(question, answer) for _, question, answer in questions(40, -50, 50, 0)]
    rows += [(f"How much is {a} without {b}?", str(a - b)) for a, b in ((9, 4), (7, 5), (6, 3))]
    rows += [("How much is 9 without 5?", "13"), ("Who?", "me")]
    table = template.Table(rows)
    for words, best in table.best.items():
        mine = [(template.parted(q)[1], script.TRUTH.get(a, a)) for q, a in rows if template.parted(q)[0] == words]
        counts = {}
        for i, j in itertools.permutations(range(len(mine[0][0])), 2):
            for name, operation in BINARY.items():
                if name in template.OPERATIONS:
                    counts[name, i, j] = 0
                    for numbers, answer in mine:
                        whole = numbers[i].denominator == numbers[j].denominator == 1
                        if name in template.WHOLE and not whole:
                            continue
                        with suppress(ZeroDivisionError):
                            counts[name, i, j] += operation.exact(numbers[i], numbers[j]) == Fraction(answer)
        if counts and isinstance(best, tuple) and best[0] != "copy":
            assert counts[best] == max(counts.values())
    assert table.best["What is # plus # ?"] in [("+", 0, 1), ("+", 1, 0)]
    assert table.best["How much is # without # ?"] == ("-", 0, 1)
    assert table.best["Who ?"] == "me"
    asked_now = ["What is 1/2 plus 0.25?", "Is 3 less than 3?", "Is 2 less than 3?", "Who?", "what is 7 plus 8 ?!"]
    assert table.write(asked_now) == [
        ("3/4", "0.5 + 0.25"),
        ("0", "3 < 3"),
        ("1", "2 < 3"),
        ("me", None),
        ("15", "7 + 8"),  # other words: by naive Bayes
    ]


def test_tables_have_means_deviations_and_what_is_missed(script, tmp_path):
    def result(model, seed, n, **more):
        right = {"interpolate": {"gcd": [n, 100], "sum": [100, 100]}, "extrapolate": {"sum": [n, 100]}}
        about = {"told": "a|b", "parameters": 1000, "seconds": 12.4, "steps": 77, "train": 500, "curve": []}
        return (
            {"questions": "mathematics_dataset", "modules": "single", "model": model, "seed": seed, "right": right}
            | about
            | more
        )

    curve = [{"seconds": 3.0, "right": {"interpolate": {"gcd": [1, 2]}, "extrapolate": {"sum": [0, 2]}}}]
    results = [
        result("xval", 0, 0),
        result("operations", 0, 100, curve=curve),
        result("operations", 1, 90, curve=curve),
    ]
    results.append(result("table", 0, 100, parameters=0))
    shown, about = script.tables_of(results)
    assert shown.columns == ("modules: single", "operations", "table", "xval")
    both = ("95.00 ± 7.07", "100.00", "0.00")
    assert shown.rows == (
        ("gcd", *both),
        ("sum", *(f"100.00{more} / {other}" for more, other in zip((" ± 0.00", "", ""), both, strict=True))),
    )
    assert shown.notes[1] == "Under 99.9 % with `operations`: `gcd`, `sum`."
    assert about.rows[0] == ("mathematics_dataset, single", "operations", "a|b", "1,000", "12", "77", "500", "2")
    for k, one in enumerate(results):
        (tmp_path / f"{k}.json").write_text(json.dumps(one))
    (tmp_path / "page.md").write_text(
        "# Page\n<!-- table: experiments/results/text_arithmetic -->\nold\n<!-- end of table -->\n"
    )
    options = {"folder": tmp_path, "picture": tmp_path / "p.svg", "page": tmp_path / "page.md"}
    script.tables(**options)
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert page.endswith("<!-- end of table -->\n")
    assert "| gcd | 95.00 ± 7.07 | 100.00 | 0.00 |" in page
    assert "\nold\n" not in page
    picture = (tmp_path / "p.svg").read_bytes()
    assert b"operations" in picture
    script.tables(**options)
    assert (tmp_path / "p.svg").read_bytes() == picture


def test_the_page_and_the_picture_are_those_of_the_results(script, shown):
    results = script.common.read(script.FOLDER)
    assert shown("exact-details.md", script.MARK) == script.to_markdown(script.tables_of(results)).strip()
    assert script.PICTURE.read_bytes() == script.drawn_curves(results)


@pytest.mark.long
def test_committed_predictions_count_to_the_committed_results(script):
    for path in script.FOLDER.glob("*.parquet"):
        found = parse_object(path.with_suffix(".json").read_bytes())
        questions = script.QUESTIONS.with_stem(found["questions"])
        if script.sha256(questions.read_bytes()) != found["sha256"]:
            pytest.fail(f"{path.name} was made with other questions")
        if found["seed"] == 0:
            tests = script.read(questions, found["modules"])[1]
            counted = {}
            for row in pq.read_table(path).to_pylist():
                answer = tests[row["regime"], row["module"]][row["index"]][1]
                of = counted.setdefault(row["regime"], {}).setdefault(row["module"], [0, 0])
                of[0] += script.is_right(row["predicted"], answer)
                of[1] += 1
            assert counted == found["right"]


def test_reasoning_gyms_own_scorer_gives_no_less_than_is_counted_right(script):
    judged = parse_object((script.common.RESULTS / "text_reasoning_gym.json").read_bytes())["scores"]
    for model, scores in judged.items():
        right = parse_object((script.FOLDER / f"reasoning_gym-all-{model}-0.json").read_bytes())["right"]
        for module, (n, of) in right["interpolate"].items():
            assert n / of - 1e-9 <= scores[module] <= 1


@pytest.mark.long
def test_wrong_numbers_have_a_derivation_and_wrong_rewritings_are_those_of_the_page(script, section):
    wrong = []
    tests = functools.cache(lambda name, modules: script.read(script.QUESTIONS.with_stem(name), modules)[1])
    for path in (*script.FOLDER.glob("*-operations-?.parquet"), *script.FOLDER.glob("*-rewrite-?.parquet")):
        name, modules, *_ = path.stem.split("-")
        for row in pq.read_table(path).to_pylist():
            question, answer = tests(name, modules)[row["regime"], row["module"]][row["index"]]
            if not script.is_right(row["predicted"], answer):
                assert row["derivation"] or not isinstance(script.value(row["predicted"]), Fraction)
                if "rewrite" in path.stem:
                    wrong.append((name, row["module"], row["predicted"], "-(" in question))
    steps = [said for name, _, said, _ in wrong if name == "mathematics_dataset"]
    brackets = [has for _, module, _, has in wrong if module == "basic_arithmetic"]
    page = section("exact-details.md")
    assert f"Of its {len(steps)} wrong answers, of all five seeds, {steps.count('')} are no number" in page
    assert f"{sum(brackets)} of its {len(brackets)} wrong answers there have a minus before a bracket" in page
