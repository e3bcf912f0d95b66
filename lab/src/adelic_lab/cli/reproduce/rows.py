"""`adelic reproduce ROWS`: rows × embeddings × seeds."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from adelic.cli.options import DryRun, Duration, File, Names, RunsDir, UsageError, command_line, field_options, takes
from adelic.cli.outputs import check_folder
from adelic.cli.progress import progress_bar
from adelic.data.protocol import Progress
from adelic.data.sources import TaskData
from adelic.errors import Interrupted
from adelic.storage.allocator import keep_freed_memory
from adelic.storage.options import options
from adelic_lab.cli.experiments import MODEL, TRAINING, TRIALS, Device, Seeds, TensorBoard
from adelic_lab.cli.report import ResultsDir, print_runs, write_report
from adelic_lab.cli.reproduce.drawn import BENCHMARKS
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.models import RandomSearch
from adelic_lab.config.names import check_name
from adelic_lab.config.recipes import TrainConfig


@takes(
    MODEL("models", kind=Names), *TRIALS, *field_options(TaskData, only=("edition", "split"), is_filled=True), *TRAINING
)
def reproduce_rows(
    *rows: str,
    embeddings: Names | None = None,
    seeds: Seeds = (0,),
    runs_dir: RunsDir = Path("runs"),
    results_dir: ResultsDir = Path("results"),
    device: Device = "auto",
    workers: int = 1,
    budget: Duration | None = None,
    engine: Annotated[str, Parameter(choices=("embedded", "ray"))] = "embedded",
    address: str | None = None,
    cpus_per_run: float | None = None,
    gpus_per_run: float | None = None,
    tensorboard: TensorBoard = False,
    page: Annotated[File | None, Parameter("--report")] = None,
    dry_run: DryRun = False,
    **chosen: Any,
) -> None:
    """Train every embedding, with every seed, on the paper's ROWS.

    adelic reproduce schubert-4 weaving-6 --seeds 0-4 --recipe quick
    adelic reproduce mheight-8 --embeddings adelic:digits,adelic:characters,learned
    adelic reproduce schubert-4 --recipe recipes/{row}-{embedding}.toml
    adelic reproduce schubert-4 --models majority,logistic,mlp,trees --seeds 0-4
    adelic reproduce --budget 25m
    adelic reproduce --engine ray --address auto --cpus-per-run 4 --gpus-per-run 1
    adelic reproduce --dry-run

    A run that has a result in --results-dir is not run again, and a killed one is resumed, so the command can be given
    again at any time: with a --budget, until all is done. With Ray, a run whose machine is lost is started again, and
    goes on if --runs-dir is on a shared disk.

    With --models, each model outside the Transformer is searched: --trials random draws of its options are compared on
    the validation split, in one search for all seeds, and the best one is scored on the test split.

    In the path of a recipe's file, {row} and {embedding} stand for each row (with its edition, unless that is the
    published one: schubert-4-corrected) and embedding (adelic-characters for adelic:characters), so that each gets the
    recipe that was searched for it.

    More benchmarks have options of their own: arithmetic, number-theory and columns, below.

    Args:
        rows: Rows of the table, as schubert-4; further ones, in a table of their own, are characters-18, kl-5, kl-6,
            rsk-8 and other sizes of these tasks.  [default: all whose data is available]
        embeddings: Embeddings to train, separated by commas; with AOE's form as adelic:characters:late, with a rival's
            options as periodic:sigma=0.3 or fone:standardize.  [default: adelic,learned; none with --models]
        seeds: Seeds to run, a run each, as 0,1,2 or 0-4.
        workers: Number of runs at a time, each in a process of one thread.
        budget: Stop after this time, as 25m or 1h30m; runs with the least work left come first.
        engine: Where runs are trained: one after the other in this process (embedded), or on a Ray cluster (ray).
        address: Address of the Ray cluster.  [default: one on this machine]
        cpus_per_run: CPU cores that Ray keeps for each run.  [default: 1]
        gpus_per_run: GPUs that Ray keeps for each run.  [default: 0]
        page: Also write a report to this HTML file, as `adelic report` does.
    """
    if late := next((row for row in rows if row in BENCHMARKS), None):
        raise UsageError(f"{late} comes first: adelic reproduce {late} …")
    keep_freed_memory()
    configs = runs_of_rows(rows=rows, embeddings=embeddings, seeds=seeds, **chosen)
    import adelic_lab
    from adelic_lab.report.page import check_page

    needs = {"address": address, "cpus": cpus_per_run, "gpus": gpus_per_run}
    given: dict[str, Any] = {name: need for name, need in needs.items() if need is not None}
    if engine == "embedded" and given:
        message = "--address, --cpus-per-run and --gpus-per-run belong to --engine ray"
        raise UsageError(message)
    if engine == "ray" and workers != 1:
        message = "--workers belongs to --engine embedded; Ray has --cpus-per-run"
        raise UsageError(message)
    executor = adelic_lab.RayEngine(**given) if engine == "ray" else _local(workers)
    # Before what may train for hours, and without training, too.
    check_folder(runs_dir, "--runs-dir")
    check_folder(results_dir, "--results-dir")
    if page is not None:
        check_page(page)
    if dry_run:
        for config in configs:
            print(config.command())
        return
    if there := len(configs) - len(adelic_lab.outstanding(configs, results_dir)):
        print(f"{there} of {len(configs)} runs have a result in {results_dir}, and are not run again.")
    found = adelic_lab.run_matrix(
        configs,
        runs=runs_dir,
        results=results_dir,
        device=device,
        engine=executor,
        budget=None if budget is None else adelic_lab.Budget(budget),
        on_run=show_run,
        tensorboard=tensorboard,
    )
    if found:
        print_runs(found, all_rows=False)
        if page is not None:
            write_report(found, page, all_rows=False)
    if len(found) < len(configs):
        _print_rest(configs, runs_dir, results_dir)


def runs_of_rows(
    *,
    rows: tuple[str, ...],
    embeddings: tuple[str, ...] | None,
    models: tuple[str, ...] | None,
    trials: int | None,
    seeds: tuple[int, ...],
    edition: str,
    split: str,
    recipe: str | None,
    **changes: Any,
) -> list[Experiment]:
    """Return the runs that the options of the command mean, those of models outside the Transformer first."""
    from adelic_lab.report.published import split_row

    for name in rows:
        split_row(name)  # before torch is loaded
    for text in embeddings or ():
        check_name("embedding", text.partition(":")[0])
    import adelic_lab

    if trials is not None and models is None:
        raise UsageError("--trials belongs to --models")
    found: list[Experiment] = []
    if models is not None:
        ignored = [name for name, value in changes.items() if value is not None and name not in options(RandomSearch)]
        if ignored and embeddings is None:
            flag = options(TrainConfig)[ignored[0]].dashed
            message = f"--{flag} is for networks; of a recipe, models outside have --max-rows and --symmetries"
            raise UsageError(message)
        own = {"trials": trials} | changes
        search = {name: own[name] for name in options(RandomSearch) if own[name] is not None}
        found += adelic_lab.plan_classical(rows, models, seeds, edition=edition, split=split, **search)
    if embeddings is not None or models is None:
        named = ("adelic", "learned") if embeddings is None else embeddings
        found += adelic_lab.plan(
            rows, named, seeds, recipe=recipe or "paper", edition=edition, split=split, changes=changes
        )
    return found


def _local(workers: int) -> Any:
    """Return the engine that runs one after the other here, or several at a time."""
    import adelic_lab

    return adelic_lab.EmbeddedEngine() if workers == 1 else adelic_lab.WorkersEngine(workers)


def _print_rest(configs: list[Experiment], runs: Path, results: Path) -> None:
    """Say what a spent budget has left to do, and how to go on."""
    import adelic_lab

    rest = adelic_lab.outstanding(configs, results)
    print(f"The budget is used up: {len(configs) - len(rest)} of {len(configs)} runs are done. These remain:")
    for config in rest:
        done, whole, parts = adelic_lab.progress_of(config, runs)
        print(f"  {config.label}: {done} of {whole} {parts} done")
    print(f"Go on with: {command_line()}")


@contextmanager
def show_run(index: int, count: int, config: Experiment) -> Iterator[Progress]:
    """Show the progress of a run; if it is stopped, say which one it was."""
    with progress_bar(f"[{index + 1}/{count}] {config.row} {config.model.label} seed {config.seed}") as progress:
        try:
            yield progress
        except Interrupted as stop:
            raise Interrupted(stop.signum, f"run {index + 1} of {count}: {stop}") from None
