"""`adelic report`, and its tables in `adelic reproduce`."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from adelic.cli.options import File, Flag, UsageError
from adelic.cli.outputs import check_folder, check_output
from adelic.cli.tables import print_table, wrapped
from adelic.errors import StorageError, UnknownNameError
from adelic.storage.files import atomic_write, storage_errors
from adelic_lab.report import TABLES

if TYPE_CHECKING:
    from adelic_lab.report.table import Table
    from adelic_lab.results.result import Result
ResultsDir = Annotated[File, Parameter(help="Folder for the files of results.")]


def print_runs(results: "list[Result]", *, all_rows: bool) -> None:
    """Print the table of runs."""
    from adelic_lab.report.tables import tables

    for table in tables(results, "runs", all_rows=all_rows):
        print_figures(table)


def print_figures(table: "Table") -> None:
    """Print a table of figures with its notes. Columns that do not fit the terminal are in the files only.

    Columns of names are always shown.
    """
    from adelic_lab.report.table import NONE

    is_filled = (table.frame != NONE).any().to_numpy()
    needed = [c for i, c in enumerate(table.columns) if is_filled[i] and (i < table.names or c in _NEEDED)]
    print_table(table.columns, table.rows, needed=needed, names=table.names, sections=True, more="the page")
    for note in table.notes:
        print(wrapped(note, min(shutil.get_terminal_size().columns, 120)))


_NEEDED = ("recipe", "seeds", "test accuracy", "exact match", "mean squared error")


def report(
    *,
    results_dir: File | None = None,
    runs_dir: File | None = None,
    output: File = Path("report.html"),
    figures_dir: Annotated[File | None, Parameter("--figures")] = None,
    all_rows: Flag = False,
    markdown: Flag = False,
    chosen: Annotated[str, Parameter("--table", choices=TABLES)] = "runs",
    row: str | None = None,
    csv_file: Annotated[File | None, Parameter("--csv")] = None,
) -> None:
    """Print the table of all runs, and write a report on them.

    adelic report
    adelic report --results-dir experiments/results/table --output report.html
    adelic report --results-dir experiments/results/table --markdown --table overview
    adelic report --results-dir experiments/results/table --markdown --table models --row schubert-4
    adelic report --runs-dir runs --csv runs.csv
    adelic report --results-dir experiments/results/table --figures figures

    The report is an HTML page. With report.html come the table of the runs, as report.csv and report.md, and all other
    tables, as report-tables.md. If a file of such a name is there that is no report's, nothing is written. The page
    shows the best models of each dataset, AOE less learned vectors with tests, confusion matrices, learning curves,
    and accuracy against training examples and time. It needs the results alone. Without --results-dir and --runs-dir
    it shows what `adelic train` and `adelic reproduce` have left here.

    Args:
        results_dir: Folder of result files, or of runs.  [default: results, and the runs in runs]
        runs_dir: Folder of run folders, or one, whose finished runs are reported too.
        output: HTML file to write; with mine.html come mine.csv, mine.md and mine-tables.md.
        figures_dir: Also draw learning curves and costs into this folder, as SVG.
        all_rows: Also list the paper's datasets that were not run.
        markdown: Print a table in Markdown, and write no file.
        chosen: The table that --markdown prints. runs: all runs; overview: the best models of each dataset; contrasts:
            AOE less learned vectors, by recipe; accuracy, loss: the paper's and ours; costs: what a run costs; models:
            every model of each dataset, with its exploratory difference from AOE; changes: what one change of a model
            brings; sizes: accuracies by the number of training examples.
        row: Report this dataset only, in all its editions and splits, as schubert-4.
        csv_file: Write one line for each run to this CSV file, and nothing else.
    """
    from adelic_lab.report.page import check_page, figures
    from adelic_lab.report.tables import single_runs

    if chosen != "runs" and not markdown:
        raise UsageError("--table belongs to --markdown")
    if figures_dir is not None and markdown:
        raise UsageError("--figures writes files, --markdown none")
    if csv_file is not None and (markdown or figures_dir is not None):
        message = "--csv writes one file and nothing else; leave --markdown and --figures out"
        raise UsageError(message)
    if row is not None and all_rows:
        raise UsageError("--row reports one dataset, --all-rows lists all")
    if csv_file is not None:
        check_output(csv_file, ".csv", option="--csv")
    elif not markdown:
        check_page(output)
    if figures_dir is not None:
        check_folder(figures_dir, "--figures")
    results = _results(results_dir, runs_dir)
    if not results and not all_rows:
        raise StorageError(_nothing_found(results_dir, runs_dir))
    if markdown:
        print(in_markdown(results, chosen, row=row, all_rows=all_rows), end="")
        return
    results = of_row(results, row)
    if csv_file is not None:
        atomic_write(csv_file, single_runs(results).to_csv())
        print(f"wrote {csv_file}")
        return
    print_runs(results, all_rows=all_rows)
    write_report(results, output, all_rows=all_rows, row=row)
    if figures_dir is not None:
        for name, svg in figures(results).items():
            atomic_write(figures_dir / name, svg)
            print(f"wrote {figures_dir / name}")


def of_row(results: "list[Result]", row: str | None) -> "list[Result]":
    """Return the results of a dataset; all if none is named."""
    if row is None:
        return results
    rows = list(dict.fromkeys(result.row for result in results))
    if row not in rows:
        raise UnknownNameError.of("dataset", row, rows)
    return [result for result in results if result.row == row]


def in_markdown(results: "list[Result]", table: str, *, row: str | None, all_rows: bool) -> str:
    """Return what --markdown prints: experiments/tables.py, too, which reads results once for many tables."""
    from adelic_lab.report.table import to_markdown
    from adelic_lab.report.tables import tables

    return to_markdown(tables(of_row(results, row), table, all_rows=all_rows, row=row))


def _results(results_dir: Path | None, runs_dir: Path | None) -> "list[Result]":
    """Return the results in the folders that are named; if none is, those in the folders that commands write to."""
    import adelic_lab
    from adelic_lab.runs.folders import is_run_folder, run_folders

    if results_dir is None and runs_dir is None:
        results_dir, runs_dir = (path if path.is_dir() else None for path in (Path("results"), Path("runs")))
    # A folder of runs is read as such, whichever option names it.
    with storage_errors(f"cannot read {results_dir}", "choose another --results-dir"):
        has_runs = results_dir is not None and bool(run_folders(results_dir))
    holding = [path for path in (results_dir if has_runs else None, runs_dir) if path is not None]
    found = [] if results_dir is None or is_run_folder(results_dir) else adelic_lab.read_results(results_dir)
    for path in holding:
        found = adelic_lab.with_finished_runs(found, path)
    return found


def _nothing_found(results_dir: Path | None, runs_dir: Path | None) -> str:
    """Return what to do where there is nothing to report."""
    named = [str(path) for path in (results_dir, runs_dir) if path is not None]
    text = (
        f"no results in {' and '.join(named or ['results', 'runs'])}; `adelic train` and `adelic reproduce` make some"
    )
    folder = results_dir or Path("results")
    inside = [str(path.parent) for path in sorted(folder.glob("*/*.jsonl"))] if folder.is_dir() else []
    return text + "".join(f", and --results-dir {name} has some" for name in dict.fromkeys(inside))


def write_report(results: "list[Result]", page: Path, *, all_rows: bool, row: str | None = None) -> None:
    """Write the page of a report, and say so."""
    import adelic_lab

    for path in adelic_lab.write_report(results, page, all_rows=all_rows, row=row):
        print(f"wrote {path}")
