"""Reports: what a benchmark of drawn tasks shows of a plan's results, in a folder and in the page beside it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from adelic_lab.report.drawn.plans import Series, gather
from adelic_lab.report.files import write_files


@dataclass(frozen=True)
class Report:
    r"""What a benchmark shows of some series.

    Attributes:
        tables: in Markdown, with their notes, by the names of their places in the page; table.md has all of them.
        of_the_page: further tables, which the page alone has.
        files: how to make further files, by name; what is None is not written.

    >>> Report({"all tasks": "| task |", "one task": "", "notes": "No notes."}).text
    '| task |\n\nNo notes.'
    """

    tables: Mapping[str, str]
    of_the_page: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Callable[[], str | bytes | None]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the tables one after the other."""
        return "\n\n".join(filter(None, self.tables.values()))


def write_report(
    show: Callable[[list[Series]], Report], plan: Iterable[Series], results: Path, folder: Path
) -> list[Path]:
    """Write the report of a plan: table.md and further files; fill the places for tables in the page beside the folder.

    The page of the folder docs/arithmetic is docs/arithmetic.md. If it is there, what stands in it between
    `<!-- table: NAME -->` and `<!-- end of table -->` is replaced, for each table of the report.

    Args:
        show: of a benchmark, as `adelic_lab.report.arithmetic.show`.
        plan: all that the report is about; what was not run is said to be so.
        results: folder of the result files.
        folder: of the report; made if it is missing.

    Returns:
        The paths of the files, table.md first; figures are drawn where there is something to show.

    Raises:
        ConfigurationError: the page lacks these marks.
        RunFolderError: a result's file is damaged.
        StorageError: a file cannot be written.

    >>> import tempfile
    >>> from adelic_lab.report import arithmetic
    >>> with tempfile.TemporaryDirectory() as name:
    ...     written = write_report(arithmetic.show, [], Path(name, "results"), Path(name, "report"))
    >>> [path.name for path in written]
    ['table.md', 'summary.json']
    """
    report = show(gather(plan, results))
    files: dict[Path, str | bytes] = {folder / "table.md": report.text + "\n"}
    for name, make in report.files.items():
        if (content := make()) is not None:
            files[folder / name] = content
    return write_files(files, folder, {**report.of_the_page, **report.tables})
