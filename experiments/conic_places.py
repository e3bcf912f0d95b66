"""What a network that learns Hasse and Minkowski's theorem says at each place, beside the Hilbert symbol there.

    python experiments/conic_places.py --run-dir runs/conic-places       # train (a minute on one core), ask, draw
    python experiments/conic_places.py --draw                            # draw again what was asked

The network is the local–global one of `adelic reproduce number-theory`, with seed 0; a run that is there is read. It
is asked about every pair of classes at a prime p: a class is the valuation modulo 2 and the residue of the unit part
modulo p, modulo 8 at 2, which decide the Hilbert symbol; at the real place it is the sign. Of each class it is given
the smallest coefficient that the task has. That is enough: at p it reads nothing else of a number.

Writes docs/number-theory/conic-places.json, draws docs/number-theory/conic-places.svg from it, and updates the table of
docs/number-theory/conic.md.
"""

import itertools
import json
from pathlib import Path
from typing import Any

import common
import matplotlib as mpl
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from adelic.cli.options import Flag
from adelic.cli.progress import progress_bar
from adelic.data import drawn_task
from adelic.errors import ConfigurationError
from adelic.nn import LocalGlobalClassifier
from adelic.number_theory.symbols import REAL, hilbert_symbol, split
from adelic.storage.files import atomic_write
from adelic.storage.records import parse_object
from adelic_lab import Experiment, run, trained_network
from adelic_lab.plans import read_plan
from adelic_lab.report.plots import COLOURS, GREY, canvas, render
from adelic_lab.report.table import Table

PAGE, FILE, PICTURE = (
    common.DOCS / "number-theory" / name for name in ("conic.md", "conic-places.json", "conic-places.svg")
)
SHOWN = (5, 2)
"""The places of the picture."""
MARK = "places of the conic"
SERIES = "local–global, dropout, 80 passes"
Class = tuple[int, int]


def main(*, run_dir: Path | None = None, draw: Flag = False) -> None:
    """Train if that is to be done, ask, write and draw.

    Args:
        run_dir: folder of the run.
        draw: draw what was asked before.
    """
    if draw == (run_dir is not None):
        raise ConfigurationError("give --run-dir or --draw")
    if run_dir is not None:
        experiment = the_experiment()
        common.say(f"training in {run_dir}, which takes a minute")
        with progress_bar(experiment.row) as progress:
            result = run(experiment, run_dir, device="cpu", progress=progress)
        network = trained_network(experiment, run_dir)
        assert isinstance(network, LocalGlobalClassifier)
        about = {key: getattr(result, key) for key in ("command", "seed", "commit", "device", "versions")}
        found = {"about": about, "test": result.test, "bias": float(network.bias.detach()), "places": asked(network)}
        atomic_write(FILE, to_json(found))
    common.say(f"drawing {PICTURE.name}")
    found = parse_object(FILE.read_bytes())
    atomic_write(PICTURE, drawn(found))
    common.between_marks(PAGE, f"table: {MARK}", table(found).to_markdown().rstrip())


def the_experiment() -> Experiment:
    """Return the local–global series of the plan that is best by validation, seed 0."""
    (series,) = (one for one in read_plan("full", "number-theory") if one.task == "conic" and one.label == SERIES)
    return series.experiments[0]


def asked(network: LocalGlobalClassifier) -> list[dict[str, Any]]:
    """Return what the network says at each place of all pairs of classes, of which the smallest number is given."""
    numbers = drawn_task("conic").vocabulary
    assert numbers is not None
    found = []
    for place in (REAL, *network.space.primes):
        classes = {}
        for number in sorted(numbers, key=lambda a: (abs(a), a < 0)):
            classes.setdefault(class_of(number, place), number)
        given = [classes[name] for name in sorted(classes)]
        ids = torch.from_numpy(np.searchsorted(numbers, list(itertools.product(given, repeat=2))))
        said = network.local(ids)["real" if place == REAL else str(place)].numpy().astype(float).round(2)
        found.append({"place": place, "numbers": given, "objections": said.reshape(len(given), -1).tolist()})
    return found


def to_json(found: dict[str, Any]) -> str:
    """Return the file: what each place says on a line of its own; place 0 is the real one."""
    lines = [f'"{key}": {json.dumps(value)}' for key, value in found.items() if key != "places"]
    places = ",\n  ".join(json.dumps(about) for about in found["places"])
    return "{" + ",\n ".join([*lines, f'"places": [\n  {places}]']) + "}\n"


def class_of(number: int, place: int) -> Class:
    """Return the valuation modulo 2 and the residue of the unit part; of a real number 0 and the sign.

    >>> class_of(-10, 5), class_of(12, 2), class_of(-10, REAL)
    ((1, 3), (0, 3), (0, -1))
    """
    if place == REAL:
        return 0, 1 if number > 0 else -1
    valuation, unit = split(np.array([number]), place)
    return int(valuation[0]) % 2, int(unit[0]) % (8 if place == 2 else place)


def verdicts(found: dict[str, Any], about: dict[str, Any]) -> tuple[Any, Any]:
    """Return for which pairs of classes a place says no, since its objection exceeds the bias, and where it should."""
    a = np.array(about["numbers"])
    return np.array(about["objections"]) > found["bias"], hilbert_symbol(a[:, None], a, about["place"]) == -1


def table(found: dict[str, Any]) -> Table:
    """Return how many pairs of classes the network has right at each place, and how it is wrong about the others."""
    rows = []
    for about in found["places"]:
        no, truth = verdicts(found, about)
        counts = (truth.size, (no == truth).sum(), (truth & ~no).sum(), (no & ~truth).sum())
        rows.append((str(about["place"] or "real"), *(f"{int(count):,}" for count in counts)))
    columns = ("place", "pairs of classes", "right", "no objection to a symbol −1", "objection to a symbol 1")
    return Table.of(columns, tuple(rows))


def drawn(found: dict[str, Any]) -> bytes:
    """Return the picture: what the network says at two places, beside the Hilbert symbols."""
    with canvas(10, 10.2, GREY) as figure:
        grid = figure.subplots(len(SHOWN), 2)
        for (left, right), place in zip(grid, SHOWN, strict=True):
            (about,) = (one for one in found["places"] if one["place"] == place)
            names = [name_of(class_of(number, place), place) for number in about["numbers"]]
            no, truth = verdicts(found, about)
            said = [[f"{x:.1f}" for x in row] for row in about["objections"]]
            draw_table(left, names, no, said, marked=no != truth)
            left.set_title(f"the network at {place}: how much it objects", fontsize=11)
            symbols = [["−1" if is_no else "1" for is_no in row] for row in truth.tolist()]
            draw_table(right, names, truth, symbols, marked=no != truth)
            right.set_title(f"the Hilbert symbol (a, b) at {place}", fontsize=11)
        return render(figure, "svg", transparent=True)


def name_of(cls: Class, p: int) -> str:
    """Return a class in writing.

    >>> name_of((1, 3), 5), name_of((0, 1), 5)
    ('5·3', '1')
    """
    valuation, residue = cls
    return f"{p}·{residue}" if valuation else str(residue)


def draw_table(axes: Axes, names: list[str], no: Any, texts: list[list[str]], *, marked: Any) -> None:
    """Draw a square of classes of a (rows) and b (columns), orange where the answer is no, blue where it is not."""
    colours = np.array([mpl.colors.to_rgb(colour) for colour in (COLOURS[0], COLOURS[1])]) * 0.55 + 0.45
    axes.pcolormesh(colours[no.astype(int)], edgecolor=GREY, linewidth=0.4)
    for (i, j), is_marked in np.ndenumerate(marked):
        axes.text(j + 0.5, i + 0.5, texts[i][j], ha="center", va="center", fontsize=9, color="black")
        if is_marked:
            axes.add_patch(Rectangle((j + 0.06, i + 0.06), 0.88, 0.88, fill=False, edgecolor="black", linewidth=2))
    places = np.arange(len(names)) + 0.5
    axes.set_xticks(places, names)
    axes.set_yticks(places, names)
    axes.tick_params(length=0)
    axes.invert_yaxis()
    axes.set_aspect("equal")
    axes.set_xlabel("b")
    axes.set_ylabel("a", rotation=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


if __name__ == "__main__":
    common.run(main)
