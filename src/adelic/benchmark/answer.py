"""The answer that the report begins with: who is ahead, on how many rows, in a few sentences."""

from collections.abc import Iterable

from adelic.benchmark.comparison import Comparison
from adelic.benchmark.row_tables import ahead_of_all, chosen_by_validation
from adelic.benchmark.significance import TRIVIAL, declared_contrast
from adelic.benchmark.table import points


def answer(found: Iterable[Comparison]) -> list[str]:
    """Return what the rows say, in sentences; of each row the recipe that validation chooses, as in `overview`.

    Args:
        found: one comparison a row and recipe.

    >>> answer([])
    ['No row with one class was run.']
    """
    chosen = {title: comparison for title, comparison in chosen_by_validation(found).items() if comparison is not None}
    if not chosen:
        return ["No row with one class was run."]
    return [*_of_the_contrast(chosen), *_of_all_models(chosen)]


def _of_the_contrast(chosen: dict[str, Comparison]) -> list[str]:
    contrasts = {title: declared_contrast(comparison) for title, comparison in chosen.items()}
    differences = {title: contrast.difference for title, contrast in contrasts.items() if contrast is not None}
    if not differences:
        return ["AOE and learned vectors did not run on the same row with the same seeds."]
    clear = {title: d.mean for title, d in differences.items() if d.is_beyond_the_interval}
    above = [f"{title} ({points(mean)} points)" for title, mean in clear.items() if mean > 0]
    below = [f"{title} ({points(mean)} points)" for title, mean in clear.items() if mean < 0]
    few = sum(d.p is None for d in differences.values())
    rest = len(differences) - len(clear) - few
    missing = f", and {_rows(few)} had too few seeds, or no spread between them, for an interval" if few else ""
    return [
        f"AOE against learned vectors, the contrast that was declared beforehand, on {_rows(len(differences))}: AOE is "
        f"ahead beyond the 95 % interval on {_listed(above)}, learned vectors on {_listed(below)}; on {_rows(rest)} "
        f"the interval contains 0{missing}."
    ]


def _of_all_models(chosen: dict[str, Comparison]) -> list[str]:
    first = []
    for title, comparison in chosen.items():
        models = {name: m for name, m in comparison.models.items() if m.embedding not in TRIVIAL}
        name = ahead_of_all(models)
        if name is not None:
            first.append(f"{title}: {name}")
    if first:
        return [f"Ahead of every other model of its row beyond the intervals: {'; '.join(first)}."]
    return ["On no row is one model ahead of every other one beyond the intervals."]


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _listed(titles: list[str]) -> str:
    return f"{_rows(len(titles))}: {', '.join(titles)}" if titles else "none"
