"""`adelic train` and `adelic reproduce`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import click

from adelic.cli.arithmetic import arithmetic
from adelic.cli.options import (
    DURATION,
    INTEGERS,
    NAMES,
    Given,
    Tick,
    field_options,
    in_terms_of_options,
    progress_bar,
    stack,
)
from adelic.cli.report import folder, print_table, results_option, write_report
from adelic.data.sources import DrawnData, TableData, TaskData, source
from adelic.errors import ConfigurationError, Interrupted
from adelic.storage.allocator import keep_freed_memory
from adelic.storage.options import options
from adelic.training.embedding import EmbeddingConfig
from adelic.training.experiment import Experiment, RandomSearch, SolverConfig, Steps
from adelic.training.recipes import Recipe
from adelic.training.result import Result

_SOLVER = "adelic-placewise"
recipe_options = stack(
    click.option(
        "--recipe",
        help="How to train: paper (as printed, with our choices listed in docs/paper.md), quick or compact (ours), or "
        "a file that `adelic tune` wrote, as recipes/mine.toml.  [default: paper; compact for a table]",
    ),
    field_options(Recipe, default="the recipe's"),
)
model_options = stack(
    field_options(TaskData, TableData, default=""),
    click.option(
        "--embedding",
        help="How numbers become vectors: adelic, learned, random, one-hot, fone, xval, periodic, or abacus (for "
        "numbers of several digits).  [default: the recipe's, else adelic]",
    ),
    field_options(EmbeddingConfig),
    recipe_options,
)
device_option = click.option(
    "--device",
    default="auto",
    show_default=True,
    help="Where to compute: cpu, cuda, cuda:1, …, or auto (a GPU if there is one).",
)
tensorboard_option = click.option(
    "--tensorboard", is_flag=True, help="Also write logs for TensorBoard, in the folder tensorboard of the run folder."
)


@click.command()
@click.argument("task")
@model_options
@field_options(DrawnData)
@click.option(
    "--solver",
    help="Of a drawn task: adelic-placewise, adelic-one-hot, adelic-3-digits, adelic-flat, fone, xval, abacus, "
    "base-10, base-1000, or package.module:Class of your own.  [default: adelic-placewise]",
)
@field_options(Steps)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Seed of what is drawn at random: the data's split, the first weights, the rows of each step.",
)
@click.option(
    "--run-dir",
    type=folder,
    help="Folder for the run's configuration, checkpoint and result.  [default: a folder in runs, named after the run]",
)
@device_option
@click.option(
    "--devices",
    type=int,
    default=1,
    show_default=True,
    help="Number of GPUs to train on at each machine, or of processes with --device cpu.",
)
@click.option(
    "--nodes",
    type=int,
    default=1,
    show_default=True,
    help="Number of machines that train together; give the command on each of them.",
)
@click.option(
    "--node-rank",
    type=int,
    envvar="NODE_RANK",
    default=0,
    help="Which of these machines this one is, counted from 0.  [default: 0]",
)
@tensorboard_option
@click.option("--restart", is_flag=True, help="Delete what a former run left in the folder, and begin anew.")
@in_terms_of_options
def train(
    task: str,
    embedding: str | None,
    seed: int,
    run_dir: Path | None,
    device: str,
    devices: int,
    nodes: int,
    node_rank: int,
    *,
    tensorboard: bool,
    restart: bool,
    recipe: str | None,
    **given: Any,
) -> None:
    """Train one model on TASK, or resume the run, or show its result.

    TASK is the name of a task, or the file of a table of your own (CSV, JSON lines or Parquet) whose --target is
    predicted from its number columns, or a drawn task, as addition, whose questions a --solver learns to answer with
    exact numbers (`adelic reproduce arithmetic --help` lists both).

    Several devices share every batch of the recipe; of several machines the first one, at MASTER_ADDR and MASTER_PORT,
    writes the files.

    Ctrl-C and SIGTERM save the run after the current step. The same command goes on from there; after a kill, from the
    last checkpoint, which is at most a minute old.

    A recipe's file also says which embedding it was made for; options that are given here take precedence.

    \b
    adelic train schubert --n 4 --recipe quick
    adelic train schubert --n 4 --recipe recipes/schubert-4-adelic.toml
    adelic train weaving --n 6 --embedding learned --recipe quick --seed 3
    adelic train mheight --n 8 --features characters --primes 2,3,5 --precision 8 --recipe quick
    adelic train schubert --n 4 --features characters --places axial --recipe quick
    adelic train schubert --n 4 --embedding periodic --sigma 0.3 --recipe quick
    adelic train schubert --n 4 --recipe quick --device cpu --devices 2
    adelic train mine.csv --target sold --epochs 20
    adelic train addition --examples 1000 --solver adelic-placewise --steps 400
    """
    from adelic.storage.workers import check_processes

    keep_freed_memory()
    check_processes(devices)  # before what takes seconds to load

    from adelic import training

    config = experiment(task, embedding, recipe, seed, given)
    folder = run_dir or Path("runs") / config.label
    # torchrun and a cluster's nodes start this command more than once; one process speaks.
    speaks = node_rank == 0 and os.environ.get("RANK", "0") == "0"
    with progress_bar(f"{config.row} {config.model.label}") if speaks else nullcontext() as tick:
        if devices == nodes == 1 and node_rank == 0:
            result = training.run(config, folder, device=device, restart=restart, tick=tick, tensorboard=tensorboard)
        else:
            result = training.run_distributed(
                config,
                folder,
                devices=devices,
                nodes=nodes,
                node_rank=node_rank,
                device=device,
                restart=restart,
                tick=tick,
                tensorboard=tensorboard,
            )
    if speaks:
        click.echo(_summary(result))
        click.echo(f"run folder: {folder}")


def experiment(task: str, embedding: str | None, recipe: str | None, seed: int, given: dict[str, Any]) -> Experiment:
    """Return the run that the options of a command describe.

    Args:
        task: name of a task, or path of a table.
        embedding: its name, if it is given.
        recipe: its name, if it is given.
        seed: of the run.
        given: the other options of `model_options`, None where not given.
    """
    rest = dict(given)
    of_data = [name for kind in (TaskData, TableData, DrawnData) for name in options(kind)]
    data = source(task, **{name: rest.pop(name) for name in dict.fromkeys(of_data) if name in rest})
    solver, steps = rest.pop("solver", None), rest.pop("steps", None)
    if isinstance(data, DrawnData):
        others = {"embedding": embedding, "recipe": recipe, **rest}
        _refuse(others, f"is for networks, and {task!r} is a drawn task: it has --solver and --steps")
        recipe_of = Steps() if steps is None else Steps(steps=steps)
        return Experiment(data=data, model=SolverConfig(name=solver or _SOLVER), recipe=recipe_of, seed=seed)
    _refuse({"solver": solver, "steps": steps}, f"is for drawn tasks, and {task!r} is not one; a recipe has --epochs")
    name = recipe or ("compact" if isinstance(data, TableData) else "paper")
    return Experiment.choose(data, recipe=name, embedding=embedding, seed=seed, **rest)


def _refuse(given: dict[str, Any], why: str) -> None:
    """Raise ConfigurationError for the first option that is given."""
    for name, value in given.items():
        if value is not None:
            raise ConfigurationError(f"--{name.replace('_', '-')} {why}")


def _questions(result: Result) -> str:
    """Return the result of a solver in a line."""
    parts = {"test": result.test} | {f"test, {split}": figures for split, figures in (result.never_seen or {}).items()}
    words = [
        f"{name}: {figures['correct']:,} of {figures['cases']:,} answers exactly right "
        f"({100 * figures['accuracy']:.2f} %)"
        for name, figures in parts.items()
    ]
    return (
        f"{result.task} by {result.embedding} from {result.rows['train']:,} examples: {'; '.join(words)}; the most "
        f"frequent answer {100 * result.majority:.2f} %, {result.seconds:.0f} s"
    )


def _summary(result: Result) -> str:
    """Return a result in a line."""
    from adelic.data.sources import row_of

    if result.never_seen is not None:
        return _questions(result)
    test = result.test
    trivial = f"majority class {100 * result.majority:.2f} %, look-up {100 * result.lookup:.2f} %"
    if result.rule is not None:
        trivial += f", best trivial rule ({result.rule_name}) {100 * result.rule:.2f} %"
    figures = [f"test accuracy {100 * test['accuracy']:.2f} % ({trivial})"]
    guess = result.guess or {}
    if "exact_match" in test:
        rate = f"{100 * test['exact_match']:.2f} % (trivial rule {100 * guess['exact_match']:.2f} %)"
        figures = [f"test exact match {rate}"] if "mean_squared_error" in test else [*figures, f"exact match {rate}"]
    if "mean_squared_error" in test:
        for name in ("mean_absolute_error", "mean_squared_error"):
            figures.append(f"{name.replace('_', ' ')} {test[name]:.4g} (trivial rule {guess[name]:.4g})")
    else:
        figures.append(f"balanced {100 * test['balanced_accuracy']:.2f} %, macro-F1 {100 * test['macro_f1']:.2f} %")
    figures.append(f"loss {test['loss']:.4f}, {result.seconds:.0f} s")
    if result.configuration["recipe"].get("max_rows"):
        figures.append(f"trained on {result.rows['train']:,} rows")
    text = f"{row_of({'task': result.task, 'n': result.n})} {result.embedding}: {', '.join(figures)}"
    return text + ("; it predicts one class only" if result.predicts_one_class else "")


class Reproduce(click.Command):
    """The command for the paper's rows; with the word arithmetic first, the one for the arithmetic benchmark."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of the command that the arguments mean."""
        if args[:1] == ["arithmetic"]:
            return arithmetic.make_context(f"{info_name} arithmetic", args[1:], parent, **extra)
        if "arithmetic" in args:
            raise click.UsageError("arithmetic comes first: adelic reproduce arithmetic …", ctx=parent)
        return super().make_context(info_name, args, parent, **extra)


@click.command(cls=Reproduce)
@click.argument("rows", nargs=-1)
@click.option(
    "--embeddings",
    type=NAMES,
    help="Embeddings to train, separated by commas; with AOE's form as adelic:characters:late, with a rival's options "
    "as periodic:sigma=0.3 or fone:standardize.  [default: adelic,learned; none with --models]",
)
@click.option(
    "--models", type=NAMES, help="Models other than the Transformer to fit: majority, lookup, logistic, mlp, trees."
)
@click.option(
    "--trials",
    type=Given(options(RandomSearch)["trials"]),
    help="How many random draws of its options are tried for each of --models.  [default: 20]",
)
@click.option("--seeds", type=INTEGERS, default="0", show_default=True, help="Seeds, a run each, as 0,1,2 or 0-4.")
@click.option(
    "--edition",
    default="published",
    show_default=True,
    help="Version of the data; `adelic data info TASK` lists a task's.",
)
@click.option(
    "--split",
    default="published",
    show_default=True,
    help="How rows are divided: published, or orbits (equivalent rows stay in one part, as --symmetries needs).",
)
@recipe_options
@click.option("--runs-dir", type=folder, default="runs", show_default=True, help="Folder for the runs, a folder each.")
@results_option
@device_option
@click.option(
    "--workers",
    type=int,
    default=1,
    show_default=True,
    help="Number of runs at a time, each in a process of one thread.",
)
@click.option(
    "--budget",
    type=DURATION,
    help="Stop after this time, as 25m or 1h30m; runs with the least work left come first.",
)
@click.option(
    "--engine",
    type=click.Choice(["embedded", "ray"]),
    default="embedded",
    show_default=True,
    help="Where runs are trained: one after the other in this process (embedded), or on a Ray cluster (ray).",
)
@click.option("--address", help="Address of the Ray cluster.  [default: one on this machine]")
@click.option("--cpus-per-run", type=float, help="CPU cores that Ray keeps for each run.  [default: 1]")
@click.option("--gpus-per-run", type=float, help="GPUs that Ray keeps for each run.  [default: 0]")
@tensorboard_option
@click.option("--report", "page", type=folder, help="Also write a report to this HTML file, as `adelic report` does.")
@click.option("--dry-run", is_flag=True, help="Print the commands of the runs, and train nothing.")
@click.pass_obj
def reproduce(
    command: str,
    /,
    rows: tuple[str, ...],
    embeddings: tuple[str, ...] | None,
    models: tuple[str, ...] | None,
    trials: int | None,
    seeds: tuple[int, ...],
    edition: str,
    split: str,
    runs_dir: Path,
    results_dir: Path,
    device: str,
    workers: int,
    budget: float | None,
    engine: str,
    address: str | None,
    cpus_per_run: float | None,
    gpus_per_run: float | None,
    page: Path | None,
    *,
    tensorboard: bool,
    dry_run: bool,
    recipe: str | None,
    **changes: Any,
) -> None:
    """Train every embedding, with every seed, on the paper's ROWS.

    Without ROWS, on all whose data is available.

    The arithmetic benchmark has options of its own: adelic reproduce arithmetic --help.

    Finished runs are read, killed ones resumed, so the command can be given again at any time: with a --budget, until
    all is done. With Ray, a run whose machine is lost is started again, and goes on if --runs-dir is on a shared disk.

    With --models, each model outside the Transformer is searched: --trials random draws of its options are compared on
    the validation split, in one search for all seeds, and the best one is scored on the test split. Of the recipe's
    options, these models have --max-rows and --symmetries alone.

    Further rows, in a table of their own: characters-18, kl-5, kl-6, rsk-8 and other sizes of these tasks.

    In the path of a recipe's file, {row} and {embedding} stand for each row (with its edition, unless that is the
    published one: schubert-4-corrected) and embedding (adelic-characters for
    adelic:characters), so that each gets the recipe that was searched for it.

    \b
    adelic reproduce schubert-4 weaving-6 --seeds 0-4 --recipe quick
    adelic reproduce mheight-8 --embeddings adelic:digits,adelic:characters,learned
    adelic reproduce schubert-4 --recipe recipes/{row}-{embedding}.toml
    adelic reproduce schubert-4 --models majority,logistic,mlp,trees --seeds 0-4
    adelic reproduce --budget 25m
    adelic reproduce --engine ray --address auto --cpus-per-run 4 --gpus-per-run 1
    adelic reproduce --dry-run
    """
    keep_freed_memory()
    from adelic import benchmark

    if trials is not None and models is None:
        raise click.UsageError("--trials belongs to --models", ctx=click.get_current_context())
    configs: list[Any] = []
    if models is not None:
        ignored = [name for name, value in changes.items() if value is not None and name not in options(RandomSearch)]
        if ignored and embeddings is None:
            flag = options(Recipe)[ignored[0]].dashed
            message = f"--{flag} is for networks; of a recipe, models outside have --max-rows and --symmetries"
            raise click.UsageError(message, ctx=click.get_current_context())
        own = {"trials": trials} | changes
        chosen = {name: own[name] for name in options(RandomSearch) if own[name] is not None}
        configs += benchmark.plan_classical(rows, models, seeds, edition=edition, split=split, **chosen)
    if embeddings is not None or models is None:
        named = ("adelic", "learned") if embeddings is None else embeddings
        configs += benchmark.plan(
            rows, named, seeds, recipe=recipe or "paper", edition=edition, split=split, changes=changes
        )
    if dry_run:
        for config in configs:
            click.echo(config.command())
        return
    needs = {"address": address, "cpus": cpus_per_run, "gpus": gpus_per_run}
    given: dict[str, Any] = {name: need for name, need in needs.items() if need is not None}
    if engine == "embedded" and given:
        message = "--address, --cpus-per-run and --gpus-per-run belong to --engine ray"
        raise click.UsageError(message, ctx=click.get_current_context())
    if engine == "ray" and workers != 1:
        message = "--workers belongs to --engine embedded; Ray has --cpus-per-run"
        raise click.UsageError(message, ctx=click.get_current_context())
    found = benchmark.run_matrix(
        configs,
        runs=runs_dir,
        results=results_dir,
        device=device,
        engine=benchmark.RayEngine(**given) if engine == "ray" else _local(workers),
        budget=None if budget is None else benchmark.Budget(budget),
        on_run=_show_run,
        tensorboard=tensorboard,
    )
    summaries = benchmark.summarise(found)
    if summaries:
        print_table(summaries, all_rows=False)
        if page is not None:
            write_report(summaries, page, all_rows=False)
    if len(found) < len(configs):
        _print_rest(configs, runs_dir, command)


def _local(workers: int) -> Any:
    """Return the engine that runs one after the other here, or several at a time."""
    from adelic import benchmark

    return benchmark.EmbeddedEngine() if workers == 1 else benchmark.WorkersEngine(workers)


def _print_rest(configs: list[Any], runs: Path, command: str) -> None:
    """Say what a spent budget has left to do, and how to go on."""
    from adelic import benchmark

    rest = [(config, *benchmark.progress(config, runs)) for config in configs]
    rest = [(config, done, whole, parts) for config, done, whole, parts in rest if done < whole]
    click.echo(f"The budget is used up: {len(configs) - len(rest)} of {len(configs)} runs are done. These remain:")
    for config, done, whole, parts in rest:
        click.echo(f"  {config.label}: {done} of {whole} {parts} done")
    click.echo(f"Go on with: {command}")


@contextmanager
def _show_run(index: int, count: int, config: Any) -> Iterator[Tick]:
    with progress_bar(f"[{index + 1}/{count}] {config.row} {config.model.label} seed {config.seed}") as tick:
        try:
            yield tick
        except Interrupted as stop:
            raise Interrupted(stop.signum, f"run {index + 1} of {count}: {stop}") from None
