"""`adelic reproduce`: datasets × embeddings × seeds, and the benchmarks with a plan.

A further benchmark is an entry of `BENCHMARKS`.
"""

import importlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from cyclopts import App, Parameter

from adelic.cli import options as cli
from adelic.cli.outputs import check_folder
from adelic.cli.progress import progress_bar
from adelic.data import drawn_task
from adelic.data.protocol import Progress
from adelic.data.sources import DrawnData, TaskData
from adelic.errors import Interrupted
from adelic.storage.options import options
from adelic.storage.workers import check_workers, cores
from adelic_lab.cli.experiments import MODEL, TRAINING, TRIALS, Device, Seeds, TensorBoard
from adelic_lab.cli.report import ResultsDir, print_runs, write_report
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.models import RandomSearch
from adelic_lab.config.names import EMBEDDINGS, PACKAGED, check_name, parse_solver
from adelic_lab.config.recipes import TrainConfig
from adelic_lab.runs.machine import keep_freed_memory

_EXAMPLES = options(DrawnData)["examples"]
_SIZES = cli.reader(partial(cli.integers, each=_EXAMPLES))
Sizes = Annotated[tuple[int, ...], Parameter(converter=_SIZES, n_tokens=1, metavar="INTEGERS")]
reproduce = App(name="reproduce")


@reproduce.default
@cli.takes(
    MODEL("models", kind=cli.Names),
    *TRIALS,
    *cli.field_options(TaskData, only=("edition", "split"), is_filled=True),
    *TRAINING,
)
def reproduce_rows(
    *rows: str,
    embeddings: cli.Names | None = None,
    seeds: Seeds = (0,),
    runs_dir: cli.RunsDir = Path("runs"),
    results_dir: ResultsDir = Path("results"),
    device: Device = "auto",
    workers: int = 1,
    budget: cli.Duration | None = None,
    engine: Annotated[str, Parameter(choices=("embedded", "ray"))] = "embedded",
    address: str | None = None,
    cpus_per_run: float | None = None,
    gpus_per_run: float | None = None,
    tensorboard: TensorBoard = False,
    page: Annotated[cli.File | None, Parameter("--report")] = None,
    dry_run: cli.DryRun = False,
    **chosen: Any,
) -> None:
    """Train every embedding, with every seed, on the paper's datasets (ROWS).

    adelic reproduce schubert-4 weaving-6 --seeds 0-4 --recipe quick
    adelic reproduce mheight-8 --embeddings adelic:digits,adelic:characters,learned
    adelic reproduce schubert-4 --recipe recipes/{row}-{embedding}.toml
    adelic reproduce schubert-4 --models majority,logistic,mlp,trees --seeds 0-4
    adelic reproduce --budget 25m
    adelic reproduce --engine ray --address auto --cpus-per-run 4 --gpus-per-run 1
    adelic reproduce --dry-run

    Finished runs in --results-dir are not repeated, and stopped runs are resumed. So give the command again at any
    time, with a --budget until all runs are done. With Ray, a run on a lost machine starts again; it resumes if
    --runs-dir is on a shared disk.

    With --models, one search for all seeds compares --trials random draws of each model's options on the validation
    split. The best one is scored on the test split.

    The path of a recipe may contain {row} and {embedding}: the dataset (with its edition unless published, as
    schubert-4-corrected) and the embedding (adelic-characters for adelic:characters).

    Further benchmarks: arithmetic, number-theory and columns, below.

    Args:
        rows: Datasets, as schubert-4. Datasets outside the paper's table are characters-18, kl-5, kl-6, rsk-8 and other
            sizes of these tasks.  [default: all whose data is available]
        embeddings: Embeddings to train, separated by commas; with AOE's form as adelic:characters:late, with a rival's
            options as periodic:sigma=0.3 or fone:standardize.  [default: adelic,learned; none with --models]
        seeds: Seeds to run, one run each, as 0,1,2 or 0-4.
        workers: Number of runs at a time, each in a process of one thread.
        budget: Stop after this time, as 25m or 1h30m. Runs with the least work left come first.
        engine: Where to train: one run after the other in this process (embedded), or on a Ray cluster (ray).
        address: Address of the Ray cluster.  [default: one on this machine]
        cpus_per_run: CPU cores that Ray keeps for each run.  [default: 1]
        gpus_per_run: GPUs that Ray keeps for each run.  [default: 0]
        page: Also write a report to this HTML file, as `adelic report` does.
    """
    if late := next((row for row in rows if row in BENCHMARKS), None):
        raise cli.UsageError(f"{late} comes first: adelic reproduce {late} …")
    keep_freed_memory()
    configs = runs_of_rows(rows=rows, embeddings=embeddings, seeds=seeds, **chosen)
    import adelic_lab
    from adelic_lab.report.page import check_page

    needs = {"address": address, "cpus": cpus_per_run, "gpus": gpus_per_run}
    given: dict[str, Any] = {name: need for name, need in needs.items() if need is not None}
    if engine == "embedded" and given:
        raise cli.UsageError("--address, --cpus-per-run and --gpus-per-run belong to --engine ray")
    if engine == "ray" and workers != 1:
        raise cli.UsageError("--workers belongs to --engine embedded; Ray has --cpus-per-run")
    local = adelic_lab.EmbeddedEngine() if workers == 1 else adelic_lab.WorkersEngine(workers)
    executor = adelic_lab.RayEngine(**given) if engine == "ray" else local
    if page is not None:
        check_page(page)
    # Before what may train for hours, and without training, too.
    if _is_dry(configs, dry_run, {"--runs-dir": runs_dir, "--results-dir": results_dir}):
        return
    if there := len(configs) - len(adelic_lab.outstanding(configs, results_dir)):
        print(f"{there} of {len(configs)} runs have a result in {results_dir} and are not repeated.")
    how = {"runs": runs_dir, "device": device, "budget": _until(budget), "tensorboard": tensorboard}
    found = adelic_lab.run_matrix(configs, results=results_dir, on_run=show_run, engine=executor, **how)
    if found:
        print_runs(found, all_rows=False)
        if page is not None:
            write_report(found, page, all_rows=False)
    if len(found) < len(configs):
        rest = adelic_lab.outstanding(configs, results_dir)
        print(f"The budget is used up: {len(configs) - len(rest)} of {len(configs)} runs are done. These remain:")
        for config in rest:
            done, whole, parts = config.parts_done(runs_dir)
            print(f"  {config.label}: {done} of {whole} {parts} done")
        print(f"Go on with: {cli.command_line()}")


def _is_dry(configs: list[Experiment], dry_run: bool, folders: dict[str, Path]) -> bool:
    """Check that the folders can be written; print the commands of a dry run. Return whether it is one."""
    for option, folder in folders.items():
        check_folder(folder, option)
    for config in configs if dry_run else ():
        print(config.command())
    return dry_run


def _until(budget: float | None) -> Any:
    import adelic_lab

    return None if budget is None else adelic_lab.Budget(budget)


def runs_of_rows(
    *, rows: tuple[str, ...], embeddings: tuple[str, ...] | None, seeds: tuple[int, ...], **changes: Any
) -> list[Experiment]:
    """Return the runs that the options of the command mean, those of models outside the Transformer first."""
    from adelic_lab.report.published import split_row

    for name in rows:
        split_row(name)  # before torch is loaded
    for text in embeddings or ():
        check_name("embedding", text.partition(":")[0])
    import adelic_lab

    models, trials, recipe = (changes.pop(name) for name in ("models", "trials", "recipe"))
    where = {name: changes.pop(name) for name in ("edition", "split")}
    if trials is not None and models is None:
        raise cli.UsageError("--trials belongs to --models")
    found: list[Experiment] = []
    if models is not None:
        ignored = [name for name, value in changes.items() if value is not None and name not in options(RandomSearch)]
        if ignored and embeddings is None:
            flag = options(TrainConfig)[ignored[0]].dashed
            raise cli.UsageError(
                f"--{flag} is for networks; of a recipe, models outside have --max-rows and --symmetries"
            )
        own = {"trials": trials} | changes
        search = {name: own[name] for name in options(RandomSearch) if own[name] is not None}
        found += adelic_lab.plan_classical(rows, models, seeds, **where, **search)
    if embeddings is not None or models is None:
        named = ("adelic", "learned") if embeddings is None else embeddings
        found += adelic_lab.plan(rows, named, seeds, recipe=recipe or "paper", **where, changes=changes)
    return found


@contextmanager
def show_run(index: int, count: int, config: Experiment) -> Iterator[Progress]:
    """Show the progress of a run; if it is stopped, say which one it was."""
    with progress_bar(f"[{index + 1}/{count}] {config.row} {config.model.label} seed {config.seed}") as progress:
        try:
            yield progress
        except Interrupted as stop:
            raise Interrupted(stop.signum, f"run {index + 1} of {count}: {stop}") from None


class Plan(NamedTuple):
    """The runs of a benchmark's command, and the folder of its results.

    Attributes:
        series: of the whole plan, for the report.
        chosen: the runs that the options choose.
        results: folder for the results, unless another one is given.
        is_full: whether it is the benchmark's full plan, which the documentation shows.
    """

    series: list[Any]
    chosen: list[Experiment]
    results: Path
    is_full: bool


def plan_of(name: str, *, plan_file: Path | None, quick: bool, max_examples: int | None, **chosen: Any) -> Plan:
    """Return what the options of a benchmark's command mean, those that say what to run.

    Args:
        name: of the benchmark.
        plan_file: instead of the full plan.
        quick: whether to use the quick plan instead of the full one.
        max_examples: upper limit of the training examples per run.
        chosen: the tasks, solvers, examples and seeds for `adelic_lab.plans.choose`; your own solvers are added to the
            plan.
    """
    if quick and plan_file:
        raise cli.UsageError("--quick is a plan, and so is --plan; give one")
    for task in chosen["tasks"]:
        drawn_task(task)  # before torch is loaded
    solvers = {each: parse_solver(each)[0] for each in chosen["solvers"] or () if each not in EMBEDDINGS}
    from adelic_lab import plans

    source = plan_file or ("quick" if quick else "full")
    whole = plans.read_plan(source, name, own_solvers=[each for each, module in solvers.items() if ":" in module])
    if max_examples is not None:
        whole = [series.at_most(max_examples) for series in whole]
    runs = plans.experiments(plans.choose(whole, **chosen | {"tasks": chosen["tasks"] or None}))
    words = [] if source == "full" else [Path(source).stem]
    words += [] if max_examples is None else [f"{max_examples}-examples"]
    in_a_clone = not words and Path("experiments", "results", name).is_dir()
    folder = Path("experiments", "results") if in_a_clone else Path("results")
    return Plan(whole, runs, folder / "-".join([name, *words]), is_full=not words)


def _benchmark(name: str, page: str, about: str, more: str = "") -> Callable[..., None]:
    """Return the command of a benchmark.

    Args:
        name: of the benchmark, as in `adelic_lab.plans` and `adelic_lab.report`, which says what is shown.
        page: of the documentation, and its folder there.
        about: the question that it answers, after "Find out which", for the help.
        more: a further paragraph of the help.
    """

    def command(
        *tasks: str,
        solvers: cli.Names | None = None,
        examples: Sizes | None = None,
        max_examples: Annotated[int | None, Parameter(converter=cli.reader(_EXAMPLES.parse))] = None,
        quick: cli.Flag = False,
        plan_file: Annotated[cli.File | None, Parameter("--plan")] = None,
        seeds: Seeds | None = None,
        workers: int | None = None,
        budget: cli.Duration | None = None,
        runs_dir: cli.RunsDir = Path("runs"),
        results_dir: cli.File | None = None,
        report_dir: Annotated[cli.File | None, Parameter("--report")] = None,
        dry_run: cli.DryRun = False,
    ) -> None:
        """Find out which {about}.

        adelic reproduce {name} --quick
        adelic reproduce {name} --seeds 0
        adelic reproduce {name}

        Each run trains one model on one task and counts exactly right answers, on unseen questions of the same kind and
        on splits unlike training. Finished runs are not repeated, and stopped runs are resumed: give the command again
        after Ctrl-C, a kill or a spent --budget.

        The report covers the whole plan and marks missing runs "not run". Results are written to results/{name}, in a
        clone to experiments/results/{name}; there the tables go into docs/{page}.md and the pages in docs/{page}. With
        --quick, --plan or --max-examples, the folders are results/{name}-NAME and its folder report.{more}

        Args:
            tasks: Names of tasks (see `adelic data list`).  [default: all of the plan]
            solvers: Run these solvers or embeddings only, as fone,base-10.  [default: all]
            examples: Run these numbers of training examples only, as 100,1000.  [default: all of the plan]
            max_examples: Train on at most this number of examples, for a first look, in separate folders.  [default:
                the plan's]
            quick: Run a small sample in a few minutes, in separate folders.
            plan_file: Run your own plan, a TOML file. It may name modules, which are imported: treat it as code.
            seeds: Seeds to run, one run each, as 0,1,2 or 0-4.  [default: all of the plan]
            workers: Number of processes, of one thread each.  [default: one for each core]
            budget: Stop after this time, as 25m or 1h30m; the shortest trainings come first.
            results_dir: Folder for the results: one file per task and size, one line per run.  [default:
                results/{name}]
            report_dir: Folder for the tables and figures.  [default: docs/{page} in a clone, else the folder report of
                the results]
        """
        chosen: dict[str, Any] = {"tasks": tasks, "solvers": solvers, "examples": examples, "seeds": seeds}
        plan = plan_of(name, plan_file=plan_file, quick=quick, max_examples=max_examples, **chosen)
        results = results_dir or plan.results
        is_shown = plan.is_full and Path("docs", f"{page}.md").exists()
        report = report_dir or (Path("docs", page) if is_shown else results / "report")
        count = cores() if workers is None else check_workers(workers)
        if _is_dry(plan.chosen, dry_run, {"--runs-dir": runs_dir, "--results-dir": results, "--report": report}):
            return
        import adelic_lab
        from adelic_lab import plans

        with progress_bar(name.replace("-", " ")) as progress:

            @contextmanager
            def show(index: int, count: int, experiment: Experiment) -> Iterator[None]:
                yield
                progress(index + 1, count, f"{experiment.row} {experiment.model.label} seed {experiment.seed}")

            where: dict[str, Any] = {"runs": runs_dir, "results": results, "device": "cpu"}
            engine = adelic_lab.WorkersEngine(count)
            adelic_lab.run_matrix(plan.chosen, **where, engine=engine, budget=_until(budget), on_run=show)
        shown = importlib.import_module(f"adelic_lab.report.{name.replace('-', '_')}").show
        text, written = plans.write_report(shown, plan.series, results, report)
        print(text)
        for path in written:
            print(f"wrote {path}")
        if left := len(adelic_lab.outstanding(plan.chosen, results)):
            print(f"{left} runs are left. Go on with: {cli.command_line()}")

    command.__doc__ = inspect.cleandoc(str(command.__doc__)).format(name=name, page=page, about=about, more=more)
    return command


_SOLVERS = f"""

Solvers: {", ".join(PACKAGED)}; `adelic train --help` describes each. Rivals as published are
fone:published=true (also with :shifts=true), xval:published=true, xval:scaling=log and
base-digits:number_token_weight=0.3. Your own solver is package.module:Class, a subclass of
adelic_lab.models.solvers.Solver."""
_FORMS = "form of AOE, or which rival, reads what is asked of number columns: residues, sums, sizes, dates"
_SIGNS = "number representation learns number theory: divisors, squares, signs, conics"
_SUMS = "number representation learns arithmetic, from how many examples"
BENCHMARKS = {
    "arithmetic": _benchmark("arithmetic", "arithmetic", _SUMS, _SOLVERS),
    "number-theory": _benchmark("number-theory", "number-theory", _SIGNS),
    "columns": _benchmark("columns", "features", _FORMS),
}
"""The commands by name."""
for _name, _command in BENCHMARKS.items():
    reproduce.command(_command, name=_name)
