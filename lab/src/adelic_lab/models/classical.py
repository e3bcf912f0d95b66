"""Models outside the Transformer: majority class, look-up, logistic regression, multi-layer perceptron, boosted trees.

All but look-up are scikit-learn's. A model reads an example as one vector, made of the example's integers in one of
several forms, and which form is one of the options that a search decides. Every training example counts once: the
class-balanced sampling of the recipes is not applied, as searches are judged by plain accuracy.

The search is random: Optuna's `RandomSampler` draws the options of trial i, with a seed of its own, and a search that
was killed goes on after its last trial. All models have equally many trials. All seeds of a model share one search, on
the split of seed 0; each is fitted, and judged, on its own split.

Whatever is drawn, models are fitted to the training split, and the validation split chooses the perceptron's epoch.
They never see the test split, which `TrainValidation` does not have.
"""

import json
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from adelic.data import LookUp, training_rows
from adelic.errors import ConfigurationError, Interrupted, RunFolderError, needs_extra
from adelic.numbers.describe import describe
from adelic.storage.files import atomic_write, read_bytes, sole_user
from adelic.storage.provenance import versions
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.models import CLASSICAL_MODELS
from adelic_lab.models import Answered, Fitted, RunContext, device_name
from adelic_lab.results import metrics
from adelic_lab.results.result import Result
from adelic_lab.train.data import TrainValidation, training_subset
from adelic_lab.train.objectives import OneClass, OneNumber
from adelic_lab.train.sampler import stream_seed
from adelic_lab.train.signals import Stopped, cause, deferred_signals

Rows = npt.NDArray[np.integer[Any]]
Array = npt.NDArray[Any]
Options = Mapping[str, Any]
Between = Callable[[], None]
"""What is called between two fits, and between two epochs; it may raise to stop."""

EPOCHS = 200
"""Epochs of the perceptron; of them the one with the best validation accuracy counts, as for the Transformers."""
ITERATIONS = 1000
"""Most iterations of the logistic regression's solver."""
LEAST_PROBABILITY = 1e-7
"""Lower probabilities count as this one in the loss: in float32, what is nearer to certainty is certainty."""
SEARCH_SEED = 0
"""Seed of the options that are drawn, and of the fits of all trials: one for all, as for `adelic tune`."""
TREES = 500
"""Most boosted trees on digits; they stop before, when a part of the training examples is told no better."""
MOST_TREE_ROWS = 200_000
FEWEST_STOPPED = 100
"""With fewer training examples, a tenth of them says nothing: there are a fifth of the trees."""
MOST_PROBED, FEWEST_PROBED = 20_000, 100
"""Training examples that `adelic.probe` reads for these trees; of fewer it confirms too little."""
_BLOCK = 1 << 16
_MOST_CATEGORIES = 255  # of a feature, for scikit-learn's trees


class Estimate(NamedTuple):
    """A model that is fitted with some options.

    Attributes:
        probabilities: from examples, (rows, length), to the probability of each class, (rows, n_classes); or to
            numbers, (rows,).
        parameters: how many numbers were fitted: coefficients and intercepts, class frequencies, nodes of trees, or
            examples that are remembered.
        flops: operations that one example takes: two a coefficient; for trees the comparisons on the way to a leaf, a
            mean over the training examples, and one addition a tree.
        converged: whether the solver reached its tolerance; None for models without a solver.
        history: learning curves, as of `adelic_lab.results.metrics.history`; empty for models without epochs.
    """

    probabilities: Callable[[Rows], Array]
    parameters: int
    flops: int
    converged: bool | None = None
    history: dict[str, list[float]] = metrics.history([])


def fit(experiment: Experiment, data: TrainValidation, context: RunContext) -> Fitted:
    """Search the options of a model, or continue the search, and fit the model once more with the best.

    The search has a folder next to the run folder, with its trials, one per line. Signals, and `stop`, are handled
    between two fits, and between two epochs. A ConfigurationError means that examples have several targets or a number,
    or only one class in training; a LeakError that an example of validation or test is among those to train on; a
    RunFolderError that the search's file is damaged, and a RunBusyError that another process is at work in it, perhaps
    with another seed: seeds share a search.
    """
    assert context.folder is not None
    rows = _with_images(experiment, data)
    if len(np.unique(rows.y_train)) < 2:
        raise ConfigurationError(f"{experiment.data.label} has training examples of one class only")
    searched = rows
    if experiment.seed != SEARCH_SEED:
        found = experiment.data.load(SEARCH_SEED)
        searched = _with_images(experiment, TrainValidation.of(found, max_rows=experiment.recipe.max_rows))
    path = experiment.search_path(context.folder.parent)
    with ExitStack() as held, deferred_signals() as request:
        held.enter_context(sole_user(path.parent))
        context.begin()

        def between() -> None:
            if request.signum is not None:
                where = f"{experiment.parts_done(path.parent.parent)[0]} of {experiment.search.trials} trials"
                words = f"{cause(request.signum)} after {where}; saved in {path.parent}"
                raise Interrupted(request.signum, f"{words}; the same command goes on from there")
            if context.stop is not None and context.stop():
                raise Stopped(f"stopped in the search {experiment.search_label}")

        trials = _search(experiment, searched, path, between, context)
        # By validation accuracy, then validation loss; of equal trials the first counts.
        chosen = max(trials, key=lambda trial: (trial["accuracy"], -trial["loss"]))["options"]
        start = time.perf_counter()
        model = estimate(experiment.model.name, chosen, rows, experiment.seed, between)
        seconds = time.perf_counter() - start
        between()  # a signal during this fit, which most models do not hear, would be lost with `request`
    if context.progress is not None:
        context.progress(experiment.search.trials + 1, experiment.search.trials + 1, "chosen and fitted")
    validation, _ = _evaluate(model, data, data.X_validation, data.y_validation)
    return Fitted(
        evaluate=lambda X, y: _evaluate(model, data, X, y),
        predict=lambda X: _predict(model, X),
        facts={
            "features": chosen.get("inputs"),
            "parameters": model.parameters,
            "flops": model.flops,
            "seconds": round(seconds, 3),
            "device": device_name(torch.device("cpu")),
            "versions": versions("scikit-learn", "numpy", *(["optuna"] if chosen else [])),
            "validation": {"accuracy": validation["accuracy"], "loss": validation["loss"]},
            "history": model.history,
            "converged": model.converged,
            "search": {
                "seed": SEARCH_SEED,
                "chosen": chosen,
                "seconds": round(sum(trial["seconds"] for trial in trials), 3),
                "trials": trials,
            },
        },
    )


def read(
    experiment: Experiment, data: TrainValidation, folder: Path, result: Result
) -> Callable[[Rows, Sequence[Fraction]], Answered]:
    """Return the predictions of a finished run's model, which is fitted once more with the options that were chosen.

    The run is on a table, whose examples have no images. Chosen inputs that know no new numbers are a
    ConfigurationError. With new numbers the same model is fitted again, to read them.
    """
    chosen = (result.search or {})["chosen"]

    @lru_cache(maxsize=1)
    def fitted(new: Sequence[Fraction]) -> Estimate:
        coded = replace(
            data,
            X_train=data.ids(data.X_train),
            X_validation=data.ids(data.X_validation),
            vocabulary=(*data.numbers, *new),
            is_coded=True,
        )
        return estimate(experiment.model.name, chosen, coded, experiment.seed, lambda: None)

    def answer(X: Rows, new: Sequence[Fraction]) -> Answered:
        if new and not reads_any_number(chosen, len(data.numbers)):
            raise ConfigurationError(
                f"{describe(new[0])} does not occur in the table of the run, and its search has chosen "
                f"inputs={chosen['inputs']}, which know no others; a network with --embedding adelic reads any number"
            )
        return _predict(fitted(new), X)

    return answer


def _with_images(experiment: Experiment, data: TrainValidation) -> TrainValidation:
    """Return the data with all images of the training examples where they are wanted.

    If an example of validation or test is among them, it is a LeakError.
    """
    X, y = training_rows(data, symmetries=experiment.recipe.symmetries)
    return replace(data, X_train=np.concatenate(X), y_train=np.concatenate(y))


def _predict(model: Estimate, X: Rows) -> tuple[Array, Array | None]:
    """Return the class of each example, of equally probable ones the first, and its probability; both are (rows,).

    Of numbers, return them, and None.
    """
    probabilities = model.probabilities(X)
    if probabilities.ndim == 1:
        return probabilities, None
    return probabilities.argmax(axis=1), probabilities.max(axis=1).astype(np.float64)


def _evaluate(model: Estimate, data: TrainValidation, X: Rows, y: Array) -> tuple[dict[str, float], Array]:
    """Return a model's figures on a split, and the class of each example."""
    probabilities = model.probabilities(X)
    if probabilities.ndim == 1:
        figures = metrics.number_metrics(y, probabilities)
        return figures | {"loss": figures["mean_squared_error"]}, probabilities
    predictions = np.stack([probabilities.argmax(axis=1), probabilities.max(axis=1)], axis=1, dtype=np.float64)
    figures = data.objective.figures(y, predictions, cross_entropy(probabilities, y))
    return figures, data.objective.answers(predictions)


def _search(
    experiment: Experiment, data: TrainValidation, path: Path, between: Between, context: RunContext
) -> list[dict[str, Any]]:
    """Return all trials: those that are stored, and those that were left to make, each stored as soon as it is made."""
    name, wanted = experiment.model.name, experiment.search.trials
    trials = _stored(experiment, path)
    for number in range(len(trials), wanted):
        between()
        options = _draw(name, number)
        start = time.perf_counter()
        model = estimate(name, options, data, SEARCH_SEED, between)
        figures, _ = _evaluate(model, data, data.X_validation, data.y_validation)
        trial = {"options": options, "accuracy": figures["accuracy"], "loss": figures["loss"]}
        trial |= {"converged": model.converged, "seconds": round(time.perf_counter() - start, 3)}
        trials.append(trial)
        atomic_write(path, "".join(json.dumps(trial) + "\n" for trial in trials))
        if context.progress is not None:
            best = max(trial["accuracy"] for trial in trials)
            context.progress(len(trials), wanted + 1, f"trial {len(trials)}/{wanted}, best {100 * best:.2f} %")
    return trials


def _draw(name: str, number: int) -> dict[str, Any]:
    """Return the options of a trial, from 0."""
    space = CLASSICAL_MODELS[name].space
    if not space:
        return {}
    with needs_extra(f"the search of {name}", "tune", "./lab"):
        from adelic_lab.search.studies import draw
    return draw(space, stream_seed(SEARCH_SEED, "trial", number) % 2**32)


def _stored(experiment: Experiment, path: Path) -> list[dict[str, Any]]:
    """Return the trials that are stored.

    If they are damaged, or another program's, it is a RunFolderError.
    """
    try:
        lines = [json.loads(line) for line in (read_bytes(path) or b"").decode().splitlines()]
        for number, line in enumerate(lines):
            # A trial's options follow from its number: those of another program, or of other bounds, are others.
            is_ours = line["options"] == _draw(experiment.model.name, number)
            if not (is_ours and all(type(line[key]) is float for key in ("accuracy", "loss", "seconds"))):
                raise ValueError(f"line {number + 1}")
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise RunFolderError(f"{path} is damaged ({error}); delete it to begin the search anew") from None
    return lines[: experiment.search.trials]


def estimate(name: str, options: Options, data: TrainValidation, seed: int, between: Between) -> Estimate:
    """Fit a model with some options; its seed becomes one that NumPy's older generators take."""
    return FITS[name](options, data, stream_seed(seed, "initialisation") % 2**32, between)


def make_inputs(form: str, data: TrainValidation) -> Callable[[Rows], Array]:
    """Return the map from examples, (rows, length), to a model's features.

    Forms are "digits" (size and digits of `AdelicEncoder`, NaN for words, and which word it is, NaN for numbers),
    "standardized" (the integers, each position with mean 0 and variance 1 over the training examples),
    "one-hot" (an indicator of each position's number, (rows, length · numbers)), "integers" (as they are) and
    "categories" (the numbers' places in the vocabulary).

    >>> from adelic import acd
    >>> data = TrainValidation.of(acd.load("schubert", n=3))
    >>> row = data.X_train[:1]
    >>> data.vocabulary, row[0, :2].tolist(), make_inputs("one-hot", data)(row)[0, :10].astype(int).tolist()
    ((1, 2, 3, 4, 5), [1, 2], [1, 0, 0, 0, 0, 0, 1, 0, 0, 0])
    """
    if form == "one-hot":
        units = np.eye(data.n_words + len(data.numbers), dtype=np.float32)
        return lambda X: units[data.ids(X)].reshape(len(X), -1)
    if form == "categories":
        return data.ids
    if form == "digits":
        table = _digit_table(data)
        return lambda X: table[data.ids(X)].reshape(len(X), -1)
    values = np.array([*range(data.n_words), *map(float, data.numbers)])  # words have no other order
    numbers: Callable[[Array], Array] = (lambda X: values[X]) if data.is_coded else lambda X: X
    if form == "standardized":
        train = numbers(data.X_train)
        mean, deviation = train.mean(axis=0), train.std(axis=0)
        scale = np.where(deviation > 0, deviation, 1.0)
        return lambda X: (numbers(X) - mean) / scale
    assert form == "integers"
    return numbers


def _digit_table(data: TrainValidation) -> Array:
    """Return the features of each word and number, float32 (ids, features): each is encoded once."""
    from adelic.integrations.sklearn import AdelicEncoder

    numbers, seen = np.fromiter(data.numbers, dtype=object), np.unique(data.ids(data.X_train)) - data.n_words
    known = numbers[seen[seen >= 0]] if seen[-1] >= 0 else numbers  # others, as of new rows, change nothing
    is_short = all(abs(number) < 10**18 for number in known)
    encoder = AdelicEncoder(
        primes=(2, 3, 5, 7, 11, 13), bases=(10,) if is_short else (), dtype=np.float64, lossy="ignore"
    )
    digits = encoder.fit(known[:, None]).transform(numbers[:, None]).astype(np.float32)
    table = np.full((data.n_words + len(digits), digits.shape[1] + 1), np.nan, np.float32)
    table[data.n_words :, 1:] = digits
    table[: data.n_words, 0] = np.arange(data.n_words)
    return table


def _found_codes(data: TrainValidation) -> Callable[[Rows], Array]:
    """Return the map from examples to the codes that `adelic.probe` finds in training examples, NaN for no code."""
    from adelic.probing import Findings, ProbeWarning, probe

    numbers = np.array([*(None,) * data.n_words, *data.numbers], dtype=object)

    def columns(rows: Rows) -> dict[str, Array]:
        return {str(j): column for j, column in enumerate(numbers[data.ids(rows)].T)}

    found = Findings()
    if len(data.y_train) >= FEWEST_PROBED and np.ptp(data.y_train) > 0:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProbeWarning)  # of columns of words
            found = probe(columns(data.X_train), data.y_train)

    def codes(rows: Rows) -> Array:
        if not found:
            return np.empty((len(rows), 0), np.float32)
        read = found.features(columns(rows)).astype(np.float32)
        return np.where(read < 0, np.nan, read)

    return codes


def reads_any_number(options: Options, n_numbers: int) -> bool:
    """Return whether a fitted model reads numbers that its training data lack.

    >>> reads_any_number({"inputs": "standardized"}, 9), reads_any_number({"inputs": "one-hot"}, 9)
    (True, False)
    """
    form = options.get("inputs")
    return form != "one-hot" and (form != "categories" or n_numbers > _MOST_CATEGORIES)


def cross_entropy(probabilities: Array, labels: Array) -> float:
    """Return the mean of −log of the true class's probability, which is at least `LEAST_PROBABILITY`.

    >>> cross_entropy(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0, 0])) == math.log(2) / 2
    True
    """
    right = probabilities[np.arange(len(labels)), labels].astype(np.float64)
    return float(-np.log(np.maximum(right, LEAST_PROBABILITY)).mean())


def _probabilities(estimator: Any, inputs: Callable[[Rows], Array], data: TrainValidation) -> Callable[[Rows], Array]:
    """Return the map from examples to the probabilities of all classes; a class without training examples gets 0."""
    n_classes = data.objective.model_options()["n_classes"]

    def probabilities(X: Rows) -> Array:
        found = estimator.predict_proba(inputs(X))
        whole = np.zeros((len(found), n_classes), dtype=found.dtype)
        whole[:, estimator.classes_] = found
        return whole

    return probabilities


def _fit_majority(options: Options, data: TrainValidation, seed: int, between: Between) -> Estimate:
    """Fit the classes' frequencies in the training split, which are every example's probabilities."""
    from sklearn.dummy import DummyClassifier

    inputs = make_inputs("integers", data)
    estimator = DummyClassifier(strategy="prior").fit(inputs(data.X_train), data.y_train)
    return Estimate(_probabilities(estimator, inputs, data), parameters=len(estimator.classes_), flops=0)


def _fit_lookup(options: Options, data: TrainValidation, seed: int, between: Between) -> Estimate:
    """Remember the training examples: the label of an equal example, else the classes' frequencies in the table."""
    memory = LookUp(data.X_train, data.y_train)
    n_classes = data.objective.model_options()["n_classes"]
    frequencies = np.zeros(n_classes)
    frequencies[: len(memory.counts)] = memory.counts / memory.counts.sum()

    def probabilities(X: Rows) -> Array:
        found = memory.find(X)
        # −1 takes the last unit vector, which `where` leaves out.
        return np.where((found >= 0)[:, None], np.eye(n_classes)[found], frequencies)

    return Estimate(probabilities, parameters=int(memory.counts.sum()), flops=0)


def _fit_logistic(options: Options, data: TrainValidation, seed: int, between: Between) -> Estimate:
    """Fit multinomial logistic regression with an L2 penalty, which has one optimum: seeds do not matter."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    inputs = make_inputs(options["inputs"], data)
    estimator = LogisticRegression(C=options["C"], max_iter=ITERATIONS)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always", ConvergenceWarning)
        estimator.fit(inputs(data.X_train).astype(np.float64), data.y_train)
    others = [warning for warning in shown if not issubclass(warning.category, ConvergenceWarning)]
    for warning in others:  # as if nothing had been recorded
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return Estimate(
        _probabilities(estimator, inputs, data),
        parameters=estimator.coef_.size + estimator.intercept_.size,
        flops=2 * estimator.coef_.size,
        converged=len(others) == len(shown),
    )


def _fit_mlp(options: Options, data: TrainValidation, seed: int, between: Between) -> Estimate:
    """Fit fully connected ReLU layers by Adam, and keep the weights of the epoch with the best validation accuracy."""
    from sklearn.neural_network import MLPClassifier

    inputs = make_inputs(options["inputs"], data)
    estimator = MLPClassifier(
        hidden_layer_sizes=[options["width"]] * options["layers"],
        learning_rate_init=options["learning_rate"],
        alpha=options["alpha"],
        batch_size=min(options["batch_size"], len(data.y_train)),
        random_state=np.random.RandomState(seed),  # a number would give every epoch the same order of examples
    )
    X_train = inputs(data.X_train).astype(np.float32)
    probabilities, classes = _probabilities(estimator, inputs, data), np.unique(data.y_train)
    best, lines = (-math.inf, -math.inf), []
    weights: tuple[list[Array], list[Array]] = [], []
    for epoch in range(EPOCHS):
        between()
        estimator.partial_fit(X_train, data.y_train, classes=classes)
        found = probabilities(data.X_validation)
        figures = {
            "accuracy": float(np.mean(found.argmax(axis=1) == data.y_validation)),
            "loss": cross_entropy(found, data.y_validation),
        }
        lines.append({"epoch": epoch + 1, "train_loss": float(estimator.loss_), "validation": figures})
        score = (figures["accuracy"], -figures["loss"])
        if score > best:
            best = score
            # Copies, since partial_fit changes both in place.
            weights = [w.copy() for w in estimator.coefs_], [b.copy() for b in estimator.intercepts_]
    estimator.coefs_, estimator.intercepts_ = weights
    size = sum(w.size for w in estimator.coefs_)
    return Estimate(
        probabilities,
        parameters=size + sum(b.size for b in estimator.intercepts_),
        flops=2 * size,
        history=metrics.history(lines),
    )


def _fit_digit_trees(options: Options, data: TrainValidation, seed: int, between: Between) -> Estimate:
    """Fit gradient-boosted trees on size, digits, categories and what `adelic.probe` finds; a tenth of it stops them.

    Of more than `MOST_TREE_ROWS` training examples as many are drawn at random: more take minutes, and change little.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    part = training_subset(data, MOST_TREE_ROWS, seed)
    y, is_class = part.y_train, isinstance(data.objective, OneClass)
    digits_of, codes_of = make_inputs("digits", data), _found_codes(training_subset(data, MOST_PROBED, seed))

    def inputs(rows: Rows) -> Array:
        return np.concatenate([digits_of(rows), codes_of(rows)], axis=1)

    X, n_digits = inputs(part.X_train), digits_of(part.X_train[:1]).shape[1]
    used, place = ~np.isnan(X).all(axis=0), np.arange(X.shape[1])
    is_word = (place % (n_digits // part.X_train.shape[1]) == 0) | (place >= n_digits)
    codes = OrdinalEncoder(
        dtype=np.float32, handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=_MOST_CATEGORIES - 1
    )
    stops = len(y) >= FEWEST_STOPPED and (not is_class or np.unique(y, return_counts=True)[1].min() > 1)
    trees = (HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor)(
        max_iter=TREES if stops else TREES // 5,
        early_stopping=bool(stops),
        categorical_features=np.arange(np.sum(used & is_word)) if np.any(used & is_word) else None,
        random_state=seed,
    )
    words, digits = (np.flatnonzero(used & which) for which in (is_word, ~is_word))
    columns = ColumnTransformer([("words", codes, words), ("digits", "passthrough", digits)])
    estimator = make_pipeline(columns, trees).fit(X, y)

    def numbers(rows: Rows) -> Array:
        found: Array = estimator.predict(inputs(rows))
        bounds = data.objective.answer_range
        return np.rint(found).clip(*bounds).astype(np.int64) if isinstance(data.objective, OneNumber) else found

    answer = _probabilities(estimator, inputs, data) if is_class else numbers
    nodes = [tree.nodes for group in trees._predictors for tree in group]
    return Estimate(
        lambda rows: np.concatenate([answer(rows[i : i + _BLOCK]) for i in range(0, max(1, len(rows)), _BLOCK)]),
        parameters=sum(map(len, nodes)),
        flops=sum(int(each["depth"].max()) for each in nodes) + len(nodes),
    )


def compared(data: TrainValidation, seed: int, X_test: Rows, y_test: Array) -> dict[str, dict[str, float]]:
    """Return the figures of boosted trees on digits on validation, and on test, of which nothing is chosen."""
    trees = estimate("digit-trees", {}, data, seed, lambda: None)
    splits = {"validation": (data.X_validation, data.y_validation), "test": (X_test, y_test)}
    return {split: _evaluate(trees, data, *rows)[0] for split, rows in splits.items()}


def _fit_trees(options: Options, data: TrainValidation, seed: int, between: Between) -> Estimate:
    """Fit gradient-boosted trees on binned features; the seed chooses the features that each split may use."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    # More numbers than a categorical feature may have are read as ordered ones.
    is_categorical = options["inputs"] == "categories" and not reads_any_number(options, len(data.numbers))
    inputs = make_inputs("categories" if is_categorical else "integers", data)
    estimator = HistGradientBoostingClassifier(
        learning_rate=options["learning_rate"],
        max_iter=options["iterations"],
        max_leaf_nodes=options["leaves"],
        min_samples_leaf=options["rows_a_leaf"],
        l2_regularization=options["l2"],
        max_features=options["features"],
        categorical_features=[True] * data.X_train.shape[1] if is_categorical else None,
        early_stopping=False,  # it would take examples for its own validation split
        random_state=seed,
    )
    estimator.fit(inputs(data.X_train), data.y_train)
    # scikit-learn shows its trees in no other way.
    trees = [tree.nodes for group in estimator._predictors for tree in group]
    leaves = [nodes[nodes["is_leaf"] == 1] for nodes in trees]
    comparisons = sum(float(np.average(nodes["depth"], weights=nodes["count"])) for nodes in leaves)
    return Estimate(
        _probabilities(estimator, inputs, data),
        parameters=sum(map(len, trees)),
        flops=round(comparisons) + len(trees),
    )


FITS: dict[str, Callable[[Options, TrainValidation, int, Between], Estimate]] = {
    "majority": _fit_majority,
    "lookup": _fit_lookup,
    "logistic": _fit_logistic,
    "mlp": _fit_mlp,
    "trees": _fit_trees,
    "digit-trees": _fit_digit_trees,
}
"""What fits each of `CLASSICAL_MODELS`, from options, data, a seed below 2^32, and what to call between epochs."""
