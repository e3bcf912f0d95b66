"""`adelic runs`: list, show and compare the runs that a folder holds, and make room."""

import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adelic.cli.options import PATH, SuggestingGroup, plain, runs_option
from adelic.cli.tables import print_table, say
from adelic.errors import ConfigurationError, RunBusyError
from adelic_lab.config.experiment import flatten

if TYPE_CHECKING:
    from adelic_lab.runs.folders.listing import RunSummary
    from adelic_lab.runs.folders.searches import SearchSummary

plot_option = click.option("--plot", type=PATH, help="Draw the learning curves into this file: .png, .svg or .pdf.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
_BARS = "▁▂▃▄▅▆▇█"
_FIGURES = {
    "validation_accuracy": ("validation accuracy", "{:.2%}"),
    "validation_loss": ("validation loss", "{:.4f}"),
    "train_loss": ("training loss", "{:.4f}"),
}


@click.group(cls=SuggestingGroup)
def runs() -> None:
    """List, show and compare runs, and delete old ones.

    A run is named by its label, the beginning of its label, or the path of its folder; so is a search, which `show` and
    `prune` know, too.

    \b
    adelic runs list
    adelic runs show schubert-4-adelic --plot curves.png
    adelic runs compare schubert-4-adelic schubert-4-learned
    adelic runs prune --yes
    """


@runs.command("list")
@runs_option
@click.option("--searches", is_flag=True, help="List only the searches.")
@json_option
def list_command(runs_dir: Path, *, searches: bool, as_json: bool) -> None:
    """List the runs with their state, accuracy on the test split, size on disk and age; and the searches.

    Searches are those of `adelic tune` and of models outside the Transformer, with the best validation accuracy so far;
    with --searches they are listed alone. With --json, "kind" says which entry is a run and which a search.

    \b
    adelic runs list
    adelic runs list --searches
    adelic runs list --runs-dir elsewhere --json
    """
    import adelic_lab

    found = [] if searches else adelic_lab.list_runs(runs_dir)
    searched = adelic_lab.list_searches(runs_dir)
    if as_json:
        entries = [run.as_dict() for run in found] + [search.as_dict() for search in searched]
        click.echo(json.dumps(entries, indent=2))
        return
    rows = []
    for run in found:
        accuracy = "" if run.accuracy is None else f"{run.accuracy:.2%}"
        seed = str(run.configuration.get("seed", ""))
        names = (run.row, run.embedding, run.recipe)
        rows.append(
            (run.label, _state(run), accuracy, _age(run), *(name or "" for name in names), seed, _size(run.size))
        )
    if rows:
        columns = ("label", "state", "accuracy", "age", "row", "embedding", "recipe", "seed", "size")
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
        rows.append((search.label, trials, best, _duration(time.time() - search.changed), _size(search.size)))
    columns = ("search", "trials", "best validation", "age", "size")
    print_table(columns, rows, needed=columns[:3], whole=columns[:1], more="--searches --json")


@runs.command()
@click.argument("label")
@runs_option
@plot_option
@json_option
def show(label: str, runs_dir: Path, plot: Path | None, *, as_json: bool) -> None:
    """Show the run LABEL: state, figures, learning curves, configuration; or what the search LABEL is.

    \b
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
        _plot([run], plot)
    if as_json:
        content = run.as_dict() | {
            "configuration": run.configuration,
            "metrics": run.metrics,
            "result": run.result and run.result.as_dict(),
        }
        click.echo(json.dumps(content, indent=2))
        return
    say(f"{plain(str(run.folder))}: {_state(run)}, {_size(run.size)}, last written {_age(run)} ago")
    if run.problem:
        remedy = "" if "--restart" in run.problem else "; `--restart` begins the run anew"
        say(f"problem: {plain(run.problem)}{remedy}")
    if run.result:
        shown = {
            name: f"{value:,}" if type(value) is int else f"{value:.4f}" for name, value in run.result.test.items()
        }
        test = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in shown.items())
        rules = (("majority", "majority class"), ("lookup", "look-up"), ("rule", "best trivial rule"))
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
            click.echo(f"{name:19} {_sparkline(values, max(8, min(room, 40)))}{text}")
    click.echo()
    for key, value in flatten(run.configuration):
        click.echo(f"{plain(key)} = {json.dumps(value)}")


def _show_search(search: "SearchSummary", plot: Path | None, *, as_json: bool) -> None:
    """Say what a search is, how far it has come, and what goes on with it."""
    from adelic_lab.runs.folders.searches import runs_of

    if plot:
        raise ConfigurationError(
            f"{search.label} is a search, and has no learning curves to plot; `adelic tune --plot` draws its trials"
        )
    if as_json:
        click.echo(json.dumps(search.as_dict(), indent=2))
        return
    kind = "a search of `adelic tune`" if search.is_study else "the search of a model outside the Transformer"
    best = "" if search.best is None else f", best validation accuracy {search.best:.2%}"
    trials = f"{search.trials:,} trial{'' if search.trials == 1 else 's'}{best}"
    age = _duration(time.time() - search.changed)
    said = search.state if search.problem else trials
    say(f"{plain(str(search.path))}: {kind}, {said}, {_size(search.size)}, last written {age} ago")
    if search.problem:
        say(f"problem: {plain(search.problem)}")
    if search.is_study:
        say("the same `adelic tune` command goes on with it, and writes its best recipe")
    elif labels := runs_of(search):
        say(f"it chooses the options of {', '.join(map(plain, labels))}; `adelic runs show` shows each")


@runs.command()
@click.argument("labels", nargs=-1, required=True)
@runs_option
@plot_option
def compare(labels: tuple[str, ...], runs_dir: Path, plot: Path | None) -> None:
    """Show side by side how the runs LABELS differ: first configurations, then figures.

    \b
    adelic runs compare schubert-4-adelic schubert-4-learned --plot both.svg
    """
    import adelic_lab

    found = [adelic_lab.find_run(label, runs_dir) for label in labels]
    if len({run.folder.resolve() for run in found}) < 2:
        raise ConfigurationError("a comparison needs at least two different runs; `adelic runs list` lists them")
    if plot:
        _plot(found, plot)
    rows: list[Sequence[str]] = []
    configurations = [dict(flatten(run.configuration)) for run in found]
    for key in dict.fromkeys(key for configuration in configurations for key in configuration):
        values = [json.dumps(c[key]) if key in c else "" for c in configurations]
        if len(set(values)) > 1:
            rows.append([key, *values])
    rows.append(["state", *map(_state, found)])
    figures = [_figures(run) for run in found]
    keys = dict.fromkeys(key for run_figures in figures for key in run_figures)
    rows += [[key, *(run_figures.get(key, "") for run_figures in figures)] for key in keys]
    columns = ("", *(str(i) for i, _ in enumerate(found, start=1)))
    for number, run in zip(columns[1:], found, strict=True):
        click.echo(f"{number}: {plain(run.label)}")  # labels are longer than figures, and two do not fit a terminal
    print_table(columns, rows, needed=columns[:3], more="a wider terminal, or a pipe,")


@runs.command()
@click.argument("labels", nargs=-1)
@runs_option
@click.option(
    "--state",
    "states",
    type=click.Choice(["finished", "unfinished", "damaged"]),
    multiple=True,
    default=["finished"],
    show_default=True,
    help="Prune runs in this state only; can be given several times.",
)
@click.option(
    "--older-than",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Prune only runs that were last written to at least this many days ago.  [default: 0]",
)
@click.option("--folders", is_flag=True, help="Delete whole runs, not their checkpoints alone; and searches.")
@click.option("--yes", is_flag=True, help="Delete; without it, only say what would be deleted.")
def prune(
    labels: tuple[str, ...], runs_dir: Path, states: tuple[str, ...], older_than: float, *, folders: bool, yes: bool
) -> None:
    """Delete checkpoints, or whole runs, of the runs LABELS; of all runs, if none is named.

    A finished run without its checkpoint keeps its result; an unfinished one begins anew. A run that was written to in
    the last ten minutes and is not finished may be running, and is left alone. Other files than a run's are never
    deleted.

    With --folders, searches are deleted, too. That of a model outside the Transformer is finished with the runs that
    wait for it; one of `adelic tune` always counts as unfinished, as more trials may follow: --state unfinished.

    \b
    adelic runs prune
    adelic runs prune --yes
    adelic runs prune --state unfinished --older-than 30 --folders --yes
    """
    import adelic_lab
    from adelic_lab.runs.folders import listing

    everything = [adelic_lab.find_any(label, runs_dir) for label in labels]
    if not labels:
        everything = [*adelic_lab.list_runs(runs_dir), *(adelic_lab.list_searches(runs_dir) if folders else ())]
    found = [entry for entry in everything if not isinstance(entry, adelic_lab.SearchSummary)]
    searched = [entry for entry in everything if isinstance(entry, adelic_lab.SearchSummary)]
    freed, count = 0, 0
    for run in {run.folder.resolve(): run for run in found}.values():
        age = max(0.0, time.time() - run.changed)  # a clock was wrong
        if run.state not in states or age < older_than * 86400:
            continue
        if run.may_be_running:
            click.echo(f"left alone, since it may be running: {plain(str(run.folder))}")
            continue
        size = listing.prunable_size(run, whole=folders)
        if not (size or folders):
            continue
        if yes:
            try:
                listing.prune(run, whole=folders)
            except RunBusyError as error:
                click.echo(f"left alone: {plain(str(error))}")
                continue
        part = "run" if folders else "checkpoint of"
        click.echo(
            f"{'deleted' if yes else 'would delete'} {part} {plain(str(run.folder))} ({_state(run)}, {_size(size)})"
        )
        freed, count = freed + size, count + 1
    sizes = [
        _prune_search(search, states, older_than, is_named=bool(labels), folders=folders, yes=yes)
        for search in {search.path.resolve(): search for search in searched}.values()
    ]
    gone = [size for size in sizes if size is not None]
    outcome = f"{_size(freed + sum(gone))} of {count} {'run' if count == 1 else 'runs'}"
    outcome += f" and {len(gone)} {'search' if len(gone) == 1 else 'searches'}" if gone else ""
    click.echo(f"deleted {outcome}" if yes else f"would delete {outcome}; --yes deletes")


def _prune_search(
    search: "SearchSummary", states: tuple[str, ...], older_than: float, *, is_named: bool, folders: bool, yes: bool
) -> int | None:
    """Delete a search if its state and age are asked for, or say that; return its size, None where it stays."""
    from adelic_lab.runs.folders.searches import delete_search

    where, why = plain(str(search.path)), ""
    if not folders:
        why = "since a search has no checkpoint; --folders deletes it"
    elif search.state not in states:
        why = f"since it counts as {search.state}; --state {search.state} deletes it"
    elif search.may_be_running:
        click.echo(f"left alone, since it may be running: {where}")
        return None
    if why or max(0.0, time.time() - search.changed) < older_than * 86400:
        if why and is_named:
            click.echo(f"left alone, {why}: {where}")
        return None
    if yes:
        try:
            delete_search(search)
        except RunBusyError as error:
            click.echo(f"left alone: {plain(str(error))}")
            return None
    click.echo(f"{'deleted' if yes else 'would delete'} search {where} ({search.state}, {_size(search.size)})")
    return search.size


def _state(run: "RunSummary") -> str:
    if run.state != "unfinished" or run.epochs is None:
        return run.state
    return f"epoch {run.epoch} of {run.epochs}" + (f" + {run.step} steps" if run.step else "")


def _size(n_bytes: float) -> str:
    """Return a size in words.

    >>> _size(999), _size(20_300_000)
    ('999 B', '20.3 MB')
    """
    for unit in ("B", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.1f} GB"


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
    if len(values) > width:  # the last value of each part, so that the end is the curve's
        values = [values[(i + 1) * len(values) // width - 1] for i in range(width)]
    least, most = min(values), max(values)
    span = (most - least) or 1.0
    return "".join(_BARS[min(int((value - least) / span * len(_BARS)), len(_BARS) - 1)] for value in values)


def _figures(run: "RunSummary") -> dict[str, str]:
    """Return a run's figures as texts."""
    figures: dict[str, str] = {}
    if run.best_validation is not None:
        figures["best validation accuracy"] = f"{run.best_validation:.2%}"
        figures["last training loss"] = f"{run.metrics[-1]['train_loss']:.4f}"
    if run.result:
        test = run.result.test
        for name, value in test.items():  # errors and losses are not rates
            form = "," if type(value) is int else ".4f" if name.endswith(("loss", "error")) else ".2%"
            figures[f"test {name.replace('_', ' ')}"] = format(value, form)
        figures["parameters"] = f"{run.result.parameters:,}"
        figures["seconds"] = f"{run.result.seconds:,.0f}"
    return figures


def _plot(found: list["RunSummary"], path: Path) -> None:
    from adelic_lab.report.plots import Curves, plot_learning_curves

    empty = next((run for run in found if not run.metrics), None)
    if empty is not None:
        raise ConfigurationError(f"{empty.folder} has no whole epoch yet, so there is no learning curve to plot")
    majorities = {run.result.majority if run.result else None for run in found}
    majority = majorities.pop() if len(majorities) == 1 else None
    plot_learning_curves([Curves(plain(run.label), (run.history,)) for run in found], path, majority=majority)
    click.echo(f"wrote {path}", err=True)
