"""The tables of differences: the declared contrast of each row, and what is exploratory."""

from collections.abc import Iterable

from adelic.benchmark.comparison import Comparison, recipe_title
from adelic.benchmark.grid import FIGURES_NOTE, LOOK_UP_NOTE, NONE, Grid, figure, marks, p_text, percent, points, span
from adelic.benchmark.significance import (
    ALPHA,
    Contrast,
    declared_contrast,
    declared_pair,
    exploratory_differences,
)

DIFFERENCES_NOTE = (
    "Test accuracy in percentage points, paired over common seeds, with interval and p of SciPy’s paired t-test; of "
    "two seeds the range, and no test, as where every seed has the same difference. Exploratory: p has Holm’s "
    "correction (statsmodels) over all pairs of a row’s models that could be tested, the declared contrast not among "
    "them; intervals have none. Majority class and look-up have no part in it."
)


def contrast_text(contrast: Contrast | None) -> str:
    """Return a declared contrast in a cell: +1.20 (+0.30 to +2.10, p = 0.012); a dash for none."""
    if contrast is None:
        return NONE
    found = contrast.difference
    p = p_text(found.p)
    said = [span(found.bounds)] if found.bounds else []
    said += [f"p {p}" if p.startswith("<") else f"p = {p}"] if found.p is not None else []
    return points(found.mean) + (f" ({', '.join(said)})" if said else "")


def contrasts_grid(found: Iterable[Comparison]) -> Grid:
    """Return the declared contrast of each row and recipe: AOE minus learned vectors.

    Args:
        found: one comparison a row and recipe; contaminated ones have no line.
    """
    lines = [_contrast_line(comparison) for comparison in found if not comparison.is_contaminated]
    return Grid(
        "Declared contrast: AOE − learned",
        (
            "row, recipe", "AOE", "learned", "look-up", "AOE − learned", "p", "seeds", "rows: AOE / learned alone",
            "p, McNemar", "interval over rows",
        ),
        tuple(line for line in lines if line is not None),
        (
            "The one contrast of a row that was declared beforehand, hence without a correction. "
            f"{FIGURES_NOTE} AOE in the form that validation chooses.",
            "AOE − learned: percentage points, paired over common seeds, with 95 % interval and p of SciPy’s paired "
            "t-test; the interval contains what that of a mean contains. Of two seeds the range, without a test.",
            "rows: on how many test rows one of the two alone is right, added up over seeds. p, McNemar: of the exact "
            "test (statsmodels) on the test rows of one seed, that of the median seed; seeds share rows, so that they "
            "are not pooled. interval over rows: 95 % bootstrap interval (SciPy) of the same difference, the test rows "
            "of each seed drawn again; it contains which rows are tested, and keeps the trained models and the splits.",
            LOOK_UP_NOTE,
        ),
    )  # fmt: skip


def _contrast_line(comparison: Comparison) -> tuple[str, ...] | None:
    contrast = declared_contrast(comparison)
    if contrast is None:
        return None
    aoe, learned = (comparison.models[name] for name in (contrast.aoe, contrast.learned))
    difference, rows = contrast.difference, contrast.rows
    return (
        f"{comparison.first.title}, {recipe_title(comparison.recipe)}{comparison.fewer_rows}",
        f"{figure(aoe, 'accuracy')} ({contrast.aoe.removeprefix('AOE ').strip('()')}){marks(aoe)}",
        figure(learned, "accuracy") + marks(learned),
        percent(aoe.trivial("lookup")),
        points(difference.mean) + (f" ({span(difference.bounds)})" if difference.bounds else ""),
        p_text(difference.p),
        str(len(difference.seeds)),
        NONE if rows is None else f"{sum(rows.first):,} / {sum(rows.second):,}",
        NONE if rows is None else p_text(rows.median_p),
        NONE if rows is None else span(rows.bounds),
    )


def differences_grid(comparison: Comparison) -> Grid:
    """Return the exploratory differences of a comparison: AOE's chosen form minus each model, and what else stands.

    Where AOE did not run, the model with the best validation score takes its place.
    """
    found = exploratory_differences(comparison)
    both = found | {(b, a): d for (a, b), d in found.items()}
    subject = comparison.best("AOE") or comparison.best() or ""
    declared = declared_pair(comparison)
    lines = []
    for name in comparison.models:
        difference = both.get((subject, name))
        if difference is None:
            continue
        sign = 1 if (subject, name) in found else -1
        ends = None if difference.bounds is None else sorted(sign * bound for bound in difference.bounds)
        lines.append(
            (
                name,
                points(sign * difference.mean),
                span(None if ends is None else (ends[0], ends[1])),
                str(len(difference.seeds)),
                p_text(difference.adjusted),
            )
        )
    rest = {pair: difference for pair, difference in found.items() if subject not in pair}
    standing = [f"{a} above {b} ({points(d.mean)})" for (a, b), d in rest.items() if d.is_significant]
    tested = [sum(d.adjusted is not None for d in each.values()) for each in (found, rest)]
    others = f"Of the other pairs ({len(rest)}, of which {tested[1]} could be tested) at {ALPHA:g} "
    others += f"these differ: {'; '.join(standing)}." if standing else "none differs."
    return Grid(
        f"Exploratory differences: {comparison.heading}",
        (f"{subject} −", "difference", "95 % interval", "seeds", "p, corrected"),
        tuple(lines),
        (
            " ".join(
                [
                    f"{comparison.heading}: p over {tested[0]} pairs.",
                    *([f"The declared contrast is {' − '.join(declared)}."] if declared else []),
                    *([others] if rest else []),
                ]
            ),
            DIFFERENCES_NOTE,
        ),
    )
