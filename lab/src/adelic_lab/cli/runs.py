"""`adelic runs`: list and show the runs in a folder."""

import json
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter
from rich.filesize import decimal

from adelic.cli.options import File, Flag, Json, RunsDir, plain
from adelic.cli.tables import print_table, say
from adelic.errors import ConfigurationError
from adelic_lab.config.experiment import flatten

if TYPE_CHECKING:
    from adelic_lab.runs.folders import RunSummary, SearchSummary

Plot = Annotated[File, Parameter(help="Draw the learning curves into this file: .png, .svg or .pdf.")]
_BARS = "▁▂▃▄▅▆▇█"
_FIGURES = {
    "validation_accuracy": ("validation accuracy", "{:.2%}"),
    "validation_loss": ("validation loss", "{:.4f}"),
    "train_loss": ("training loss", "{:.4f}"),
}


runs = App(
    name="runs",
    help="""List and show runs.

adelic runs list
adelic runs show schubert-4-adelic --plot curves.png

Name a run or a search by its label, the beginning of its label, or the path of its folder.
""",
)


@runs.command(name="list")
def list_command(*, runs_dir: RunsDir = Path("runs"), searches: Flag = False, as_json: Json = False) -> None:
    """List the runs with their state, accuracy on the test split, size on disk and age; and the searches.

    adelic runs list
    adelic runs list --searches
    adelic runs list --runs-dir elsewhere --json

    Searches, by `adelic tune` or of models outside the Transformer, are shown with the best validation accuracy so far.
    With --searches only they are listed. With --json, "kind" tells runs from searches.
    """
    import adelic_lab

    found = [] if searches else adelic_lab.list_runs(runs_dir)
    searched = adelic_lab.list_searches(runs_dir)
    if as_json:
        entries = [run.as_dict() for run in found] + [search.as_dict() for search in searched]
        print(json.dumps(entries, indent=2))
        return
    rows = []
    for run in found:
        accuracy = "" if run.accuracy is None else f"{run.accuracy:.2%}"
        seed = str(run.configuration.get("seed", ""))
        names = (run.row, run.embedding, run.recipe)
        rows.append(
            (run.label, _state(run), accuracy, _age(run), *(name or "" for name in names), seed, decimal(run.size))
        )
    if rows:
        columns = ("label", "state", "accuracy", "age", "dataset", "embedding", "recipe", "seed", "size")
        print_table(columns, rows, needed=columns[:3], whole=columns[:1], more="--json")
    elif not searches:
        say(f"there are no runs in {plain(str(runs_dir))}; `adelic train schubert --n 4 --recipe quick` makes one")
    if searched:
        _print_searches(searched)
    elif searches:
        tuned = "`adelic tune schubert --n 4 --recipe quick --epochs 10`"
        say(f"there are no searches in {plain(str(runs_dir))}; {tuned} makes one")


def _print_searches(found: "list[SearchSummary]") -> None:
    rows = []
    for search in found:
        best = "" if search.best is None else f"{search.best:.2%}"
        trials = search.problem or str(search.trials)
        rows.append((search.label, trials, best, _duration(time.time() - search.changed), decimal(search.size)))
    columns = ("search", "trials", "best validation", "age", "size")
    print_table(columns, rows, needed=columns[:3], whole=columns[:1], more="--searches --json")


@runs.command
def show(label: str, /, *, runs_dir: RunsDir = Path("runs"), plot: Plot | None = None, as_json: Json = False) -> None:
    """Show the run LABEL, with state, figures, learning curves and configuration, or the search LABEL.

    adelic runs show schubert-4-adelic
    adelic runs show runs/mine --plot curves.png
    adelic runs show schubert-4-mlp-search
    """
    import adelic_lab

    run = adelic_lab.find_any(label, runs_dir)
    if isinstance(run, adelic_lab.SearchSummary):
        _show_search(run, plot, as_json=as_json)
        return
    if plot:
        _plot(run, plot)
    if as_json:
        content = run.as_dict() | {
            "configuration": run.configuration,
            "metrics": run.metrics,
            "result": run.result and run.result.as_dict(),
        }
        print(json.dumps(content, indent=2))
        return
    say(f"{plain(str(run.folder))}: {_state(run)}, {decimal(run.size)}, last written {_age(run)} ago")
    if run.problem:
        remedy = "" if "--restart" in run.problem else "; `--restart` begins the run anew"
        say(f"problem: {plain(run.problem)}{remedy}")
    if run.result:
        shown = {
            name: f"{value:,}" if type(value) is int else f"{value:.4f}" for name, value in run.result.test.items()
        }
        test = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in shown.items())
        rules = (("majority", "majority class"), ("lookup", "look-up"), ("rule", "best baseline"))
        figures = [(name, getattr(run.result, key)) for key, name in rules]
        trivial = ", ".join(f"{name} {value:.4f}" for name, value in figures if value is not None)
        say(f"test: {test} ({trivial})")
    for key, (name, form) in _FIGURES.items():
        values = run.history[key]
        if values:
            best = max(values) if key == "validation_accuracy" else min(values)
            first, last, best_text = map(form.format, (values[0], values[-1], best))
            text = f"  {first} → {last}, best {best_text} in epoch {values.index(best) + 1}"
            room = shutil.get_terminal_size().columns - len(f"{name:19} {text}")
            print(f"{name:19} {_sparkline(values, max(8, min(room, 40)))}{text}")
    print()
    for key, value in flatten(run.configuration):
        print(f"{plain(key)} = {json.dumps(value)}")


def _show_search(search: "SearchSummary", plot: Path | None, *, as_json: bool) -> None:
    """Show the kind of a search, its progress, and the command that continues it."""
    if plot:
        raise ConfigurationError(
            f"{search.label} is a search without learning curves to plot; `adelic tune --plot` draws its trials"
        )
    if as_json:
        print(json.dumps(search.as_dict(), indent=2))
        return
    kind = "a search of `adelic tune`" if search.is_study else "the search of a model outside the Transformer"
    best = "" if search.best is None else f", best validation accuracy {search.best:.2%}"
    trials = f"{search.trials:,} trial{'' if search.trials == 1 else 's'}{best}"
    age = _duration(time.time() - search.changed)
    said = search.state if search.problem else trials
    say(f"{plain(str(search.path))}: {kind}, {said}, {decimal(search.size)}, last written {age} ago")
    if search.problem:
        say(f"problem: {plain(search.problem)}")
    if search.is_study:
        say("the same `adelic tune` command goes on with it, and writes its best recipe")
    elif search.runs:
        say(f"it chooses the options of {', '.join(map(plain, search.runs))}; `adelic runs show` shows each")


def _state(run: "RunSummary") -> str:
    if run.state != "unfinished" or run.epochs is None:
        return run.state
    return f"epoch {run.epoch} of {run.epochs}" + (f" + {run.step} steps" if run.step else "")


def _age(run: "RunSummary") -> str:
    return _duration(time.time() - run.changed)


def _duration(seconds: float) -> str:
    """Return a time in words.

    >>> _duration(40), _duration(3600 * 5), _duration(86400 * 40)
    ('40 s', '5 h', '40 d')
    """
    for unit, size, enough in (("s", 1, 120), ("min", 60, 7200), ("h", 3600, 172800)):
        if seconds < enough:
            return f"{max(seconds, 0) / size:.0f} {unit}"
    return f"{seconds / 86400:,.0f} d"


def _sparkline(values: list[float], width: int) -> str:
    """Return a curve in a line of text, from its least value to its greatest.

    >>> _sparkline([0.0, 0.5, 1.0], 8), _sparkline([1.0, 1.0], 8)
    ('▁▅█', '▁▁')
    """
    if len(values) > width:  # the last value of each part: the end is the curve's
        values = [values[(i + 1) * len(values) // width - 1] for i in range(width)]
    least, most = min(values), max(values)
    span = (most - least) or 1.0
    return "".join(_BARS[min(int((value - least) / span * len(_BARS)), len(_BARS) - 1)] for value in values)


def _plot(run: "RunSummary", path: Path) -> None:
    from adelic_lab.report.plots import plot_learning_curves

    if not run.metrics:
        raise ConfigurationError(f"{run.folder} has no whole epoch yet, so there is no learning curve to plot")
    majority = run.result.majority if run.result else None
    plot_learning_curves({plain(run.label): [run.history]}, path, majority=majority)
    print(f"wrote {path}", file=sys.stderr)
