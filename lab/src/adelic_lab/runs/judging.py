"""What a run trains on, and how what was fitted is judged by the test split.

Both are made at once, of stored examples or of questions that are drawn: `prepare` returns the examples that training
    may see,
and a function that judges. Here, and nowhere else in this package, test examples are read: once, for the model that was
chosen; and of drawn tasks further questions, to confirm a model that has all of them right.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from adelic.data import LookUp
from adelic.data.protocol import Progress
from adelic.data.rules import best_question_rule, best_rule
from adelic.data.sources import DrawnData, TableData
from adelic.data.symmetries import images
from adelic.errors import ConfigurationError
from adelic.storage.checks import check_text
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.recipes import TrainConfig
from adelic_lab.models import Fitted
from adelic_lab.models.classical import compared
from adelic_lab.results.metrics import counted, counted_by_class, most_frequent
from adelic_lab.results.predictions import digest, pack_answers, pack_wrong
from adelic_lab.train.data import TrainValidation, training_subset
from adelic_lab.train.objectives import OneClass, RealNumber

Judge = Callable[[Fitted], dict[str, Any]]
"""From a fitted model to the fields of its result that the test split decides."""


def prepare(experiment: Experiment, progress: Progress | None = None) -> tuple[TrainValidation, Judge]:
    """Return what the training of an experiment may see of its data, and what judges by the rest.

    Raises:
        ConfigurationError: there are no validation or no test examples.
        LeakError: a test question is among those to train on.
        RangeError: a number is beyond the floats that the model reads.
    """
    if isinstance(experiment.data, DrawnData):
        return _questions(experiment)
    return _rows(experiment, progress if isinstance(experiment.data, TableData) else None)  # which may be large


def _rows(experiment: Experiment, progress: Progress | None) -> tuple[TrainValidation, Judge]:
    """Prepare stored examples."""
    if progress is not None:
        progress(0, 1, f"reading {experiment.data.row}")
    data = experiment.data.load(experiment.seed)
    experiment.check_numbers(data.vocabulary)
    if not len(data.y_validation) or not len(data.y_test):
        raise ConfigurationError(f"{experiment.data.label} is too small: it has no validation or no test examples")
    if progress is not None:
        progress(0, 1, f"encoding {len(data.vocabulary):,} numbers, and building the model")
    for name in data.class_names or ():
        check_text("the class", name)
    max_rows = experiment.recipe.max_rows
    seen = TrainValidation.of(data, max_rows=max_rows, view=experiment.view)
    experiment.model.check_classes(experiment.row, isinstance(seen.objective, OneClass))

    def judge(fitted: Fitted) -> dict[str, Any]:
        figures, answers = fitted.evaluate(data.X_test, data.y_test)
        part = training_subset(data, max_rows, experiment.seed)
        found = seen.objective.result(part.y_train, part.y_test, answers)
        is_real = isinstance(seen.objective, RealNumber)
        kept = {} if is_real else pack_answers(part.y_test, answers, *seen.objective.answer_range)
        if part.class_names is None:
            found["lookup"] = found["majority"]
        else:
            # The guard ensures that no test example is among the training examples: look-up answers with the
            # most frequent class of its table, in which equal examples, and equal images of examples, count once.
            X, y = images(seen.X_train, seen.y_train, seen.symmetries if experiment.recipe.symmetries else {})
            known = LookUp(X.reshape(-1, X.shape[-1]), y.reshape(-1)).predict(part.X_test)
            found |= {"lookup": float(np.mean(known == part.y_test)), "class_names": list(part.class_names)}
            kept = {name: kept[name] for name in ("labels", "predictions") if name in kept}
        if not is_real:
            rule = best_rule(part)
            found |= {"rule": rule.accuracy, "rule_name": rule.name}
        if isinstance(experiment.recipe, TrainConfig) and experiment.recipe.trees:
            followed, _ = fitted.evaluate(seen.X_validation, seen.y_validation)
            found["trees"] = {"network": followed} | compared(seen, experiment.seed, data.X_test, data.y_test)
        return {
            "test": figures,
            **found,
            **kept,
            "columns": data.provenance.get("readings"),
            "rows": {"train": len(part.y_train), "validation": len(part.y_validation), "test": len(part.y_test)},
            "data_sha256": data.provenance["sha256"],
        }

    return seen, judge


def _questions(experiment: Experiment) -> tuple[TrainValidation, Judge]:
    """Prepare the questions of a drawn task."""
    source, seed, task = experiment.questions, experiment.seed, experiment.questions.drawn
    operands, answers = source.questions(seed)
    tests, never_seen_in = source.tests(seed, operands), list(source.never_seen(seed, operands))
    first = next(tests)
    for asked in (first[0], *(asked for _, asked, _ in never_seen_in)):
        task.check_unseen(operands, asked)  # before anything is trained
    seen = TrainValidation.of_questions(experiment, (operands, answers), first[0], is_followed=experiment.is_network)

    def judge(fitted: Fitted) -> dict[str, Any]:
        start = time.perf_counter()
        tested, wanted, given = *first, fitted.predict(first[0])[0]
        if (given == wanted).all():
            for asked, truth in tests:
                task.check_unseen(operands, asked)
                tested = np.concatenate([tested, asked])
                wanted, given = np.append(wanted, truth), np.append(given, fitted.predict(asked)[0])
        asked_of = {"test": (wanted, given)}
        asked_of |= {split: (truth, fitted.predict(asked)[0]) for split, asked, truth in never_seen_in}
        # No test question is among those that were trained on: look-up knows no more than the most frequent answer.
        trivial = float(np.mean(wanted == most_frequent(answers)))
        figures = {split: counted(*pair) for split, pair in asked_of.items()}
        found: dict[str, Any] = {
            "test": figures.pop("test"),
            "majority": trivial,
            "lookup": trivial,
            "predicts_one_class": len(set(given.tolist())) == 1,
            "never_seen": figures,
            "wrong": {split: pack_wrong(*pair) for split, pair in asked_of.items()},
            "asked_sha256": digest([(tested, wanted), *((asked, truth) for _, asked, truth in never_seen_in)]),
            "rows": {"train": len(answers), "validation": len(seen.y_validation), "test": len(wanted)},
            "evaluation_seconds": round(time.perf_counter() - start, 3),
        }
        if task.class_names is None:
            return found
        rule, n_classes = best_question_rule(task, operands, answers), len(task.class_names)
        return found | {
            "rule": rule.accuracy(tested, wanted),
            "rule_name": rule.name,
            "class_names": list(task.class_names),
            "by_class": {split: counted_by_class(*pair, n_classes) for split, pair in asked_of.items()},
        }

    return seen, judge


def development(experiment: Experiment) -> TrainValidation:
    """Return what a search, or a network's training, may see of an experiment's data: all but the test's answers.

    A ConfigurationError means that there are no validation examples; a RangeError that a number is beyond the floats
    that the model reads.

    >>> from adelic_lab.config.embedding import EmbeddingConfig
    >>> from adelic_lab.config.recipes import load_recipe
    >>> data = DrawnData("gcd", 100, test_cases=10)
    >>> config = Experiment(data=data, model=EmbeddingConfig.of("adelic"), recipe=load_recipe("fresh", data.row))
    >>> found = development(config)
    >>> found.X_train.shape, found.X_validation.shape, found.holdout.test.shape
    ((100, 2), (10, 2), (10, 2))
    """
    source, seed = experiment.data, experiment.seed
    if isinstance(source, DrawnData):
        trained_on = source.questions(seed)
        asked, _ = next(source.tests(seed, trained_on[0]))
        return TrainValidation.of_questions(experiment, trained_on, asked)
    data = source.load(seed)
    experiment.check_numbers(data.vocabulary)
    return TrainValidation.of(data, max_rows=experiment.recipe.max_rows, view=experiment.view)
