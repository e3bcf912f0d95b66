"""The tables of differences: the declared contrast of each row, and what is exploratory."""

from collections.abc import Iterable

from adelic_lab.report.comparison import Comparison, changes, form_alone, recipe_title
from adelic_lab.report.significance import (
    ALPHA,
    Contrast,
    Difference,
    corrected,
    declared_contrast,
    declared_pair,
    differences_from,
    exploratory_differences,
)
from adelic_lab.report.table import (
    EACH_SEED,
    FIGURES_NOTE,
    LOOK_UP_NOTE,
    NONE,
    Table,
    figure,
    marks,
    p_text,
    percent,
    points,
    span,
)

DIFFERENCES_NOTE = (
    "Test accuracy in percentage points, paired over common seeds, with interval and p of SciPy’s paired t-test; of "
    "two seeds the range, without a test. Exploratory: p has Holm’s correction (statsmodels) over all pairs of a row’s "
    "models that could be tested, without the declared contrast; intervals have no correction. Majority class and "
    "look-up are left out."
)
CHANGES_NOTE = (
    "Each line changes one thing of the base, which is the first line. less the base: test accuracy in percentage "
    "points, paired over common seeds, with interval and p of SciPy’s paired t-test; p has Holm’s correction "
    "(statsmodels) over the lines, intervals have none."
)
_CHANGES = ("change", "test accuracy", "less the base", "95 % interval", "seeds", "p, corrected")
LEAST_CHANGES = 2
"""Least number of changes of one embedding that make a table."""


def interval_text(difference: Difference) -> str:
    """Return the interval of a difference in a cell: −1.00 to +2.50; a dash for None.

    >>> [interval_text(Difference(0.5, None, (0, 1, 2), is_the_same=same)) for same in (True, False)]
    ['each seed', '–']
    """
    return EACH_SEED if difference.is_the_same else span(difference.bounds)


def contrast_text(contrast: Contrast | None) -> str:
    """Return a declared contrast in a cell: +1.20 (+0.30 to +2.10, p = 0.012); a dash for None."""
    if contrast is None:
        return NONE
    difference, interval = contrast.difference, interval_text(contrast.difference)
    said = [] if interval == NONE else [interval]
    if difference.p is not None:
        p = p_text(difference.p)
        said.append(f"p {p}" if p.startswith("<") else f"p = {p}")
    return points(difference.mean) + (f" ({', '.join(said)})" if said else "")


def contrasts_table(found: Iterable[Comparison]) -> Table:
    """Return the declared contrast of each row and recipe: AOE minus learned vectors.

    Contaminated data is left out.
    """
    contrasts = [(one, contrast) for one in found if (contrast := declared_contrast(one)) is not None]
    differences = corrected({i: contrast.difference for i, (_, contrast) in enumerate(contrasts)})
    return Table(
        (
            "row, recipe", "AOE", "learned", "look-up", "AOE − learned", "p, corrected", "seeds",
            "rows: AOE / learned alone", "p, McNemar", "interval over rows",
        ),
        tuple(_contrast_line(*contrast, differences[i]) for i, contrast in enumerate(contrasts)),
        (
            "AOE − learned is the contrast of a row that was declared beforehand, and one p a row needs no correction. "
            "Where a row has lines for several recipes, views or bodies, that is more than was declared: p, corrected "
            f"has Holm’s correction (statsmodels) over the lines of this table. {FIGURES_NOTE} AOE in the form that "
            "validation chooses.",
            "AOE − learned: percentage points, paired over common seeds, with 95 % interval and p of SciPy’s paired "
            "t-test; the interval contains what that of a mean contains. Of two seeds the range, without a test.",
            "rows: on how many test rows one of the two alone is right, added up over seeds. p, McNemar: of the exact "
            "test (statsmodels) on the test rows of one seed, that of the median seed; seeds share rows, so that they "
            "are not pooled. interval over rows: 95 % bootstrap interval of the same difference, the test rows "
            "of each seed drawn again; it contains which rows are tested, and keeps the trained models and the splits.",
            LOOK_UP_NOTE,
        ),
        "Declared contrast: AOE − learned",
        ahead=frozenset((i, 4) for i, difference in differences.items() if difference.is_beyond_the_interval),
    )  # fmt: skip


def _contrast_line(comparison: Comparison, contrast: Contrast, difference: Difference) -> tuple[str, ...]:
    aoe, learned = (comparison.models[name] for name in (contrast.aoe, contrast.learned))
    rows = contrast.rows
    return (
        f"{comparison.first.title}, {recipe_title(comparison.recipe)}{comparison.fewer_rows}",
        f"{figure(aoe, 'accuracy')} ({form_alone(contrast.aoe)}){marks(aoe)}",
        figure(learned, "accuracy") + marks(learned),
        percent(aoe.trivial("lookup")),
        contrast_text(contrast),
        p_text(difference.adjusted),
        str(len(difference.seeds)),
        NONE if rows is None else f"{sum(rows.first):,} / {sum(rows.second):,}",
        NONE if rows is None else p_text(rows.median_p),
        NONE if rows is None else span(rows.bounds),
    )


def differences_table(comparison: Comparison) -> Table:
    """Return the exploratory differences of a comparison: AOE's form minus each model, and other pairs that differ.

    Where AOE did not run, the model with the best validation score takes its place.
    """
    found = exploratory_differences(comparison)
    both = found | {(b, a): -difference for (a, b), difference in found.items()}
    subject = comparison.best("AOE") or comparison.best() or ""
    declared = declared_pair(comparison)
    pairs = {name: both[subject, name] for name in comparison.models if (subject, name) in both}
    rest = {pair: difference for pair, difference in found.items() if subject not in pair}
    standing = [f"{a} above {b} ({points(d.mean)})" for (a, b), d in rest.items() if d.is_significant]
    tested = [sum(d.adjusted is not None for d in each.values()) for each in (found, rest)]
    others = f"Of the other pairs ({len(rest)}, of which {tested[1]} could be tested) at {ALPHA:g} "
    others += f"these differ: {'; '.join(standing)}." if standing else "none differs."
    said = [
        f"{comparison.heading}: p over {tested[0]} pairs.",
        *([f"The declared contrast is {' − '.join(declared)}."] if declared else []),
        *([others] if rest else []),
    ]
    return Table(
        (f"{subject} −", "difference", "95 % interval", "seeds", "p, corrected"),
        tuple(
            (name, points(d.mean), interval_text(d), str(len(d.seeds)), p_text(d.adjusted)) for name, d in pairs.items()
        ),
        (" ".join(said), DIFFERENCES_NOTE),
        f"Exploratory differences: {comparison.heading}",
        ahead=frozenset((i, 1) for i, difference in enumerate(pairs.values()) if difference.is_significant),
    )


def changes_table(comparison: Comparison) -> Table:
    """Return what each change of one model costs or brings: the models that change one thing of a base, less the base.

    See `changes` for the base. Without two such models of its embedding the table has no rows: other embeddings alone
    are the differences of `differences_table`.
    """
    base, words = changes(comparison)
    models = {name: comparison.models[name] for name in words}
    if sum(model.embedding == comparison.models[base].embedding for model in models.values()) < LEAST_CHANGES:
        return Table(_CHANGES, ())
    first = comparison.models[base]
    found = differences_from(first, models)
    lines = [
        (f"none: {first.label}", figure(first, "accuracy") + marks(first), NONE, NONE, str(len(first.seeds)), NONE)
    ]
    for name, d in sorted(found.items(), key=lambda item: -item[1].mean):
        cells = points(d.mean), interval_text(d), str(len(d.seeds)), p_text(d.adjusted)
        lines.append((words[name], figure(models[name], "accuracy") + marks(models[name]), *cells))
    return Table(_CHANGES, tuple(lines), (CHANGES_NOTE, FIGURES_NOTE), f"One change at a time: {comparison.heading}")
