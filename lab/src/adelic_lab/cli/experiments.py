"""`adelic train`, and the options of an experiment."""

import os
import shlex
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from inspect import Parameter as Keyword
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from adelic.cli.options import File, Flag, field_options, integers, name_option, reader, takes
from adelic.cli.progress import progress_bar
from adelic.data.protocol import Progress
from adelic.data.sources import DrawnData, Seeded, TableData, TaskData, row_of, source
from adelic.errors import ConfigurationError
from adelic.storage.options import options
from adelic_lab.config.embedding import EmbeddingConfig
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.models import CLASSICAL_MODELS, Classical, RandomSearch, SolverConfig, Steps
from adelic_lab.config.names import DEFAULT_SOLVER, EMBEDDINGS, solvers_in_words
from adelic_lab.config.recipes import TABLE, TrainConfig, default_recipe, recipes_in_words
from adelic_lab.results.result import Result
from adelic_lab.runs.machine import check_processes, keep_freed_memory

# Sections of the help.
_TRAINING, OTHERS, _EMBEDDING = "Training (defaults: the recipe's)", "Other models", "Embedding"
_OF_TASKS = options(TaskData).keys()
RECIPE = name_option(TrainConfig, "recipe", recipes_in_words(), group=_TRAINING)
MODEL = partial(name_option, Classical, known=", ".join(CLASSICAL_MODELS), group=OTHERS)
TRIALS = field_options(RandomSearch, only=("trials",), group=OTHERS)
TRAINING = [RECIPE, *field_options(TrainConfig, default="", group=_TRAINING)]
EXPERIMENT: list[Keyword] = [
    *field_options(TaskData, TableData, DrawnData, only=_OF_TASKS, group="Data"),
    *field_options(TableData, only=options(TableData).keys() - _OF_TASKS, group="Data: your table"),
    *field_options(DrawnData, only=options(DrawnData).keys() - _OF_TASKS, group="Data: a drawn task"),
    name_option(EmbeddingConfig, "embedding", ", ".join(EMBEDDINGS), group=_EMBEDDING),
    *field_options(EmbeddingConfig, group=_EMBEDDING),
    RECIPE,
    *field_options(TrainConfig, Steps, only=options(TrainConfig), default="", group=_TRAINING),
    name_option(SolverConfig, "solver", solvers_in_words(), group=OTHERS),
    *field_options(Steps, only=("steps",), group=OTHERS),
]
SEED = field_options(Seeded, is_filled=True)
_SEEDS = partial(integers, each=replace(options(Seeded)["seed"], name="seeds"))
Seeds = Annotated[tuple[int, ...], Parameter(converter=reader(_SEEDS), n_tokens=1, metavar="INTEGERS")]
Device = Annotated[str, Parameter(help="Where to compute: cpu, cuda, cuda:1, …, or auto (a GPU if there is one).")]
TensorBoard = Annotated[
    Flag,
    Parameter("--tensorboard", help="Also write logs for TensorBoard, in the folder tensorboard of the run folder."),
]


@takes(*EXPERIMENT, MODEL("model"), *TRIALS, *SEED)
def train(
    task: str,
    /,
    *,
    run_dir: File | None = None,
    device: Device = "auto",
    devices: int = 1,
    nodes: int = 1,
    node_rank: Annotated[int, Parameter(env_var="NODE_RANK")] = 0,
    tensorboard: TensorBoard = False,
    restart: Flag = False,
    **given: Any,
) -> None:
    """Train one model on a task, or on a table of your own.

    A task                 adelic train schubert --n 4 --recipe quick
    Another embedding      adelic train weaving --n 6 --embedding learned --recipe quick --seed 3
    Another form of AOE    adelic train mheight --n 8 --features characters --primes 2,3,5 --recipe quick
    A recipe from a file   adelic train schubert --n 4 --recipe recipes/schubert-4-adelic.toml
    A table                adelic train mine.csv --target sold --epochs 20
    Without a network      adelic train mine.csv --target sold --model trees
    Arithmetic             adelic train addition --examples 1000 --solver adelic-placewise --steps 400
    Number theory          adelic train gcd --examples 100000 --embedding base-digits --base 30

    Ctrl-C saves the run after its current step, and the same command continues it. If the run is finished, the command
    shows its result. With --model, the best of --trials random draws on validation is scored on the test split.

    Args:
        task: Name of a task (`adelic data list` shows them), or a table: a file of CSV, JSON lines or Parquet.
        run_dir: Folder of the run.  [default: a folder in runs, named after the run]
        devices: Number of GPUs per machine, or of processes with --device cpu. They share every batch.
        nodes: Number of machines that train together; give the command on each. The first one, at MASTER_ADDR and
            MASTER_PORT, writes the files.
        node_rank: Number of this machine, counted from 0.
        restart: Delete an earlier run in the folder, and begin again.
    """
    keep_freed_memory()
    check_processes(devices)  # before what takes seconds to load

    import adelic_lab

    # torchrun and a cluster's nodes start this command more than once; one process speaks.
    speaks = node_rank == 0 and os.environ.get("RANK", "0") == "0"
    with progress_bar(Path(task).name, transient=True) if speaks else nullcontext() as progress:
        config = experiment(task, given, progress)
    if tensorboard and not config.is_network:
        raise ConfigurationError(f"--tensorboard is for networks, and {config.model.name} is not one; leave it out")
    folder = run_dir or Path("runs") / config.label
    is_alone = devices == nodes == 1 and node_rank == 0
    if not is_alone and "LOCAL_RANK" not in os.environ:
        from adelic_lab.runs.devices import become_torchrun

        become_torchrun(config, device, devices, nodes, node_rank)
    chosen = None if given["primes"] or given["precision"] else _proposed(config)
    how: dict[str, Any] = {"device": device, "restart": restart, "tensorboard": tensorboard}
    with progress_bar(f"{config.row} {config.model.label}") if speaks else nullcontext() as progress:
        if is_alone:
            result = adelic_lab.run(config, folder, progress=progress, **how)
        else:
            result = adelic_lab.run_distributed(config, folder, devices=devices, nodes=nodes, progress=progress, **how)
    if speaks:
        print(_summary(result))
        for line in (_beside_trees(result, config), chosen):
            if line is not None:
                print(line)
        if result.compute not in (None, config.as_dict()["recipe"].get("compute")):
            print(
                f"products were in {result.compute}, as the processor has no instructions for bfloat16, the recipe's; "
                "--compute names one"
            )
        print(f"run folder: {folder}")


def _beside_trees(result: Result, config: Experiment) -> str | None:
    """Return a line that compares a network with boosted trees on digits; None without these.

    Validation says which is better, not test.
    """
    if result.trees is None:
        return None
    name, say = ("r2", "R² {:.4f}".format) if "r2" in result.test else ("accuracy", _percent)
    network, trees = result.trees["network"][name], result.trees["validation"][name]
    by = say(abs(trees - network)).removeprefix("R² ").replace("%", "points")
    better = f"the {'trees score' if trees > network else 'network scores'} {by} higher"
    alone = f"; these alone: {shlex.join(['adelic', 'train', *config.data.arguments()])} --model digit-trees"
    return (
        f"on validation: network {say(network)}, boosted trees on digits {say(trees)}: "
        f"{'both score the same' if trees == network else better} (on test {say(result.test[name])} and "
        f"{say(result.trees['test'][name])}){alone if trees > network else ''}"
    )


def _proposed(config: Experiment) -> str | None:
    """Return a line about the primes and digits that a drawn task defines; None if AOE has others."""
    space = config.data.space
    if space is None or not config.is_network or config.model.name != "adelic" or config.embedding.space() != space:
        return None
    places = ", ".join(f"{p}:{digits}" for p, digits in zip(space.primes, space.precisions, strict=True))
    if space.window.is_uniform and space.n_primes > 1:
        places = f"{space.n_primes} primes from {space.primes[0]} to {space.primes[-1]}, {space.precision} digits each"
    task = config.data.task
    return f"AOE has the primes and digits that {task} asks for, {places}; --primes and --precision name others"


def experiment(task: str, given: dict[str, Any], progress: Progress | None = None) -> Experiment:
    """Return the run that the options of a command describe.

    Args:
        task: name of a task, or path of a table.
        given: the options of `EXPERIMENT`, None if not given, and the seed.
        progress: told before a table is read; None to tell nothing.
    """
    rest = dict(given)
    embedding, recipe, seed = (rest.pop(name) for name in ("embedding", "recipe", "seed"))
    of_data = [name for kind in (TaskData, TableData, DrawnData) for name in options(kind)]
    data = source(task, **{name: rest.pop(name) for name in dict.fromkeys(of_data) if name in rest})
    solver, steps = rest.pop("solver", None), rest.pop("steps", None)
    model, trials = rest.pop("model", None), rest.pop("trials", None)
    if model is not None:
        search = {"trials": trials, **{name: rest.pop(name) for name in ("max_rows", "symmetries")}}
        others = {"embedding": embedding, "recipe": recipe, "solver": solver, "steps": steps, **rest}
        _refuse(others, f"has no effect with --model {model}; leave out one of the two")
        how = RandomSearch(**{name: value for name, value in search.items() if value is not None})
        return Experiment(data=data, model=Classical(name=model), recipe=how, seed=seed)
    _refuse({"trials": trials}, "belongs to --model")
    if isinstance(data, DrawnData):
        of_network = {"embedding": embedding, "recipe": recipe, **rest}
        if solver is None and any(value is not None for value in of_network.values()):
            _refuse({"steps": steps}, "is for --solver; a network has --epochs, which share the --examples")
            return Experiment.choose(data, recipe=recipe or "fresh", embedding=embedding, seed=seed, **rest)
        rate = of_network.pop("learning_rate", None)
        _refuse(of_network, "is for networks, not for a --solver; leave out one of the two")
        of_solver = Steps(learning_rate=rate) if steps is None else Steps(steps=steps, learning_rate=rate)
        return Experiment(data=data, model=SolverConfig(name=solver or DEFAULT_SOLVER), recipe=of_solver, seed=seed)
    _refuse({"solver": solver, "steps": steps}, f"is for drawn tasks, and {task!r} is not one; a recipe has --epochs")
    told = {} if progress is None else {"progress": progress}
    is_flat_table = isinstance(data, TableData) and rest.get("places") in (None, "flat")
    named = recipe or (TABLE if is_flat_table else default_recipe(data.row))
    return Experiment.choose(data, recipe=named, embedding=embedding, seed=seed, **told, **rest)


def _refuse(given: dict[str, Any], why: str) -> None:
    """Raise ConfigurationError for the first option that is given."""
    for name, value in given.items():
        if value is not None:
            raise ConfigurationError(f"--{name.replace('_', '-')} {why}")


def _summary(result: Result) -> str:
    """Return a result in a line."""
    test, rule = result.test, ""
    if result.rule is not None:
        rule = f", best baseline ({result.rule_name}) {_percent(result.rule)}"
    if result.never_seen is not None:
        parts = {"test": test} | {f"test, {split}": figures for split, figures in result.never_seen.items()}
        words = (
            f"{name}: {of['correct']:,} of {of['cases']:,} answers exactly right ({_percent(of['accuracy'])})"
            for name, of in parts.items()
        )
        return (
            f"{result.task} by {result.embedding} from {result.rows['train']:,} examples: {'; '.join(words)}; the most "
            f"frequent answer {_percent(result.majority)}{rule}, {result.seconds:.0f} s"
        )
    trivial = f"majority class {_percent(result.majority)}, look-up {_percent(result.lookup)}{rule}"
    figures = [f"test accuracy {_percent(test['accuracy'])} ({trivial})"]
    guess = result.guess or {}
    if result.is_real:
        figures = [f"test R² {test['r2']:.4f}"]
    elif "exact_match" in test:
        rate = f"exact match {_percent(test['exact_match'])} (baseline {_percent(guess['exact_match'])})"
        figures = [f"test {rate}"] if "mean_squared_error" in test else [*figures, rate]
    for name in ("mean_absolute_error", "mean_squared_error"):
        if name in test:
            figures.append(f"{name.replace('_', ' ')} {test[name]:.4g} (baseline {guess[name]:.4g})")
    if "mean_squared_error" not in test:
        figures += [f"balanced {_percent(test['balanced_accuracy'])}", f"macro-F1 {_percent(test['macro_f1'])}"]
    figures += [f"loss {test['loss']:.4f}", f"{result.seconds:.0f} s"]
    if result.configuration["recipe"].get("max_rows"):
        figures.append(f"trained on {result.rows['train']:,} examples")
    text = f"{row_of({'task': result.task, 'n': result.n})} {result.embedding}: {', '.join(figures)}"
    return text + ("; it predicts one class only" if result.predicts_one_class else "")


def _percent(rate: float) -> str:
    return f"{100 * rate:.2f} %"
