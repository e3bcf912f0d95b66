"""`adelic tune`."""

import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adelic.cli.options import File, Names, RunsDir, Text, field_options, takes
from adelic.cli.outputs import check_output
from adelic.cli.progress import progress_bar
from adelic.cli.tables import print_table
from adelic.data.sources import DrawnData
from adelic.storage.files import atomic_write, check_writable, file_name
from adelic_lab.cli.experiments import EXPERIMENT, SEED, Device, experiment
from adelic_lab.config.embedding import embedding_in_paths, embedding_text, stored_embedding
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.models import RandomSearch
from adelic_lab.config.recipes import stored
from adelic_lab.runs.machine import keep_freed_memory
from adelic_lab.search import dimensions as space

if TYPE_CHECKING:
    from adelic_lab.search.tuning import StudyResult

_SHOWN = 10  # trials in the table


@takes(
    *EXPERIMENT,
    *SEED,
    *field_options(RandomSearch, only=("trials",), is_filled=True),
    *field_options(space.Search, is_filled=True),
)
def tune(
    task: str,
    /,
    *,
    trials: int,
    pruning: str,
    search: Names | None = None,
    storage: Text | None = None,
    runs_dir: RunsDir = Path("runs"),
    output: File | None = None,
    plot: File | None = None,
    device: Device = "auto",
    **given: Any,
) -> None:
    """Search the best recipe for TASK and one embedding, or for a drawn task and one --solver.

    adelic tune schubert --n 4 --recipe quick --epochs 10 --trials 20
    adelic tune schubert --n 4 --recipe quick --epochs 10 --trials 20 --embedding learned
    adelic tune weaving --n 6 --recipe quick --search learning-rate=1e-4:1e-2,norm --features characters
    adelic tune mheight --n 8 --recipe quick --storage postgresql://me@machine/studies
    adelic tune gcd --examples 20000 --embedding adelic --search learning-rate,batch-size --trials 8
    adelic tune addition --examples 1000 --solver fone --steps 2000 --trials 8
    adelic train schubert --n 4 --recipe recipes/schubert-4-adelic.toml

    The recipe is written to a file for --recipe; a solver takes the values as options. Each trial trains once for at
    most --epochs (by default the recipe's) with proposed values. Its score is its best accuracy on the validation
    split, or on --test-cases further questions of a drawn task. No search sees the test split. For equal budgets give
    every embedding the same --trials, --epochs and --seed. A given value, as --dropout 0.1, is kept, not searched.

    The study is kept in a file: the same command continues after Ctrl-C or a kill, makes more trials if --trials is
    raised, and shows a finished study. Workers with the same command and a shared --storage share the trials.

      DIMENSIONS
      * searched when --search names it

    Args:
        task: Name of a task, or the file of your table, as for `adelic train`.
        search: Dimensions to search, complete or in part, as norm,batch-size=32:64 or learning-rate=1e-4:1e-3.
            [default: those without a star]
        storage: SQLite file, or URL of a database, for the study.  [default: RUNS-DIR/tune/STUDY.db]
        output: File for the best recipe, .toml.  [default: recipes/TASK-N[-EDITION]-EMBEDDING[-OPTIONS].toml]
        plot: Also draw the study into this PNG, SVG or PDF file.
    """
    keep_freed_memory()
    import adelic_lab
    from adelic_lab.runs.folders import STUDIES
    from adelic_lab.search import tuning

    with progress_bar(f"tune {Path(task).name}", transient=True) as progress:
        config = experiment(task, given, progress)
    fixed = space.names_of({name for name, value in given.items() if value is not None} - {"epochs"})
    name = config.model.name
    if search is None:
        defined = () if config.data.space is None else ("primes", "precision")  # the task's definition asks for them
        search = space.default_search(config.model, fixed={*fixed, *defined})
    dimensions = space.check_search(search, config.model, fixed=fixed)
    plan = space.Search(config=config, dimensions=dimensions, pruning=pruning)
    path = output or Path("recipes") / file_name(f"{_row_of(config)}-{_name_of(config, given)}", ".toml")
    check_output(path, ".toml")
    tuning.check_output(path, plan)
    if plot is not None:
        from adelic_lab.report.plots import kind_of_figure

        kind_of_figure(plot)
        check_writable(plot)
    with progress_bar(f"tune {config.row} {name}") as progress:
        study = adelic_lab.tune(
            plan,
            trials=trials,
            storage=storage or runs_dir / STUDIES / f"{plan.name}.db",
            device=device,
            progress=progress,
        )
    atomic_write(path, study.to_toml())
    _show(study)
    print(f"wrote {path}")
    if plot is not None:
        study.plot(plot)
        print(f"wrote {plot}")
    words = ["adelic", "train", *config.data.arguments(), "--recipe", str(path)]
    print(f"train with it: {shlex.join(words) if config.is_network else study.config.command()}")


tune.__doc__ = str(tune.__doc__).replace("DIMENSIONS", textwrap.indent(space.dimensions_table(), "      ").strip())


def _row_of(config: Experiment) -> str:
    """Return the data in the name of a recipe's file: dataset and edition; of a drawn task, its options too."""
    if isinstance(config.data, DrawnData):
        return config.data.label
    edition = None if config.data.edition == "published" else config.data.edition
    return "-".join(filter(None, [config.row, edition]))


def _name_of(config: Experiment, given: dict[str, Any]) -> str:
    """Return the solver, or the embedding as `adelic reproduce --embeddings` names it, in the name of a recipe's file.

    It says what was given, and what the recipe stores with another value than the default. What an embedding has chosen
    for itself, as the digits after the point that a table's numbers need, it does not.
    """
    if not config.is_network:
        return config.model.label
    table = config.embedding.as_dict()
    kept = stored_embedding(stored(config.recipe.name, config.row)[1], config.recipe.name)
    asked = {name for name, value in given.items() if value is not None}
    known = asked | {"name"} | (kept.keys() if kept.get("name") == table["name"] else set())
    said = {name: value for name, value in table.items() if name in known}
    return embedding_in_paths(embedding_text(said, always=asked))


def _show(study: "StudyResult") -> None:
    """Print the best trials."""
    rows, has_epochs = [], study.config.is_network  # a solver has none
    ranked = sorted(study.trials, key=lambda t: (t.state == "complete", t.accuracy or 0.0, -(t.loss or 0.0)))[::-1]
    for trial in ranked[:_SHOWN]:
        accuracy = "–" if trial.accuracy is None else f"{100 * trial.accuracy:.2f} %"
        values = [f"{v:.3g}" if isinstance(v, float) else str(v) for v in trial.values.values()]
        mark = "*" if trial.state == "pruned" else ""
        rows.append((str(trial.number), accuracy, *([f"{trial.epochs}{mark}"] if has_epochs else []), *values))
    columns = ("trial", "validation", *(["epochs"] if has_epochs else []), *study.search.space)
    print_table(columns, rows, needed=columns[:3])
    pruned = sum(trial.state == "pruned" for trial in study.trials)
    samples = f"{sum(t.samples for t in study.trials)} examples trained on" if has_epochs else "trained"
    print(
        f"{len(study.trials)} trials, {pruned} of them pruned (*); {samples} in "
        f"{sum(t.seconds for t in study.trials):.0f} s; best: trial {study.best.number}"
    )
