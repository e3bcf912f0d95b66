"""`adelic tune`."""

import shlex
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adelic.cli.options import (
    NAME,
    NAMES,
    PATH,
    SectionedCommand,
    field_options,
    in_terms_of_options,
    progress_bar,
    runs_option,
)
from adelic.cli.tables import print_table
from adelic.data.sources import DrawnData
from adelic.storage.allocator import keep_freed_memory
from adelic.storage.files import atomic_write, check_writable, file_name
from adelic_lab.cli.experiments import device_option, experiment, model_options, seed_option
from adelic_lab.cli.outputs import check_output
from adelic_lab.config.embedding import embedding_in_paths, embedding_text, stored_embedding
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.models import RandomSearch
from adelic_lab.config.recipes import stored
from adelic_lab.search import dimensions as space

if TYPE_CHECKING:
    from adelic_lab.search.tuning import StudyResult

_SHOWN = 10  # trials in the table


@click.command(cls=SectionedCommand)
@click.argument("task")
@model_options
@seed_option
@field_options(RandomSearch, only=("trials",), is_filled=True)
@click.option(
    "--search",
    type=NAMES,
    help="Dimensions to search, whole or in part, as norm,batch-size=32:64.  [default: those without a star]",
)
@field_options(space.Search, is_filled=True)
@click.option(
    "--storage", type=NAME, help="SQLite file, or URL of a database, for the study.  [default: RUNS-DIR/tune/STUDY.db]"
)
@runs_option
@click.option(
    "--output",
    type=PATH,
    help="File for the best recipe, .toml.  [default: recipes/TASK-N[-EDITION]-EMBEDDING[-OPTIONS].toml]",
)
@click.option("--plot", "picture", type=PATH, help="Also draw the study into this PNG or SVG file.")
@device_option
@in_terms_of_options
def tune(
    task: str,
    embedding: str | None,
    recipe: str | None,
    seed: int,
    trials: int,
    search: tuple[str, ...] | None,
    pruning: str,
    storage: str | None,
    runs_dir: Path,
    output: Path | None,
    picture: Path | None,
    device: str,
    **given: Any,
) -> None:
    """Search the best recipe for TASK and one embedding, or for a drawn task and one --solver.

    It is written to a file that --recipe takes; a solver takes what was found as options.

    A trial trains once, on the training split, for at most --epochs (by default the recipe's) with proposed values,
    and is judged by its best accuracy on the validation split; no search ever sees the test split. Give every embedding
    the same --trials, --epochs and --seed, and the budgets are equal. A value that is given, as --dropout 0.1, is
    kept, not searched.

    On a drawn task a trial trains on each of the --examples once, or --passes times, and is judged by --test-cases
    further questions, none of which is a test question. A solver trains for at most --steps in each trial, and is
    judged at its end, so that no trial is pruned.

    \b
    DIMENSIONS
    * searched when --search names it

    With --search, the part of a dimension to search may follow its name:
    learning-rate=1e-4:1e-3,batch-size=32:64:128.

    The study is kept in a file: the same command goes on after Ctrl-C or a kill (a killed trial is repeated), makes
    more trials when --trials is raised, and shows the study when all are done. A trial that has changed in the file
    since it ended, or was damaged, is refused. Workers that are started with the same command and a --storage that all
    can reach share the trials.

    \b
    adelic tune schubert --n 4 --recipe quick --epochs 10 --trials 20
    adelic tune schubert --n 4 --recipe quick --epochs 10 --trials 20 --embedding learned
    adelic tune weaving --n 6 --recipe quick --search learning-rate=1e-4:1e-2,norm --features characters
    adelic tune mheight --n 8 --recipe quick --storage postgresql://me@machine/studies
    adelic tune gcd --examples 20000 --embedding adelic --search learning-rate,batch-size --trials 8
    adelic tune addition --examples 1000 --solver fone --steps 2000 --trials 8
    adelic train schubert --n 4 --recipe recipes/schubert-4-adelic.toml
    """
    keep_freed_memory()
    import adelic_lab
    from adelic_lab.runs.listing import STUDIES
    from adelic_lab.search import tuning

    with progress_bar(f"tune {Path(task).name}", transient=True) as progress:
        config = experiment(task, embedding, recipe, seed, given, progress)
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
    if picture is not None:
        from adelic_lab.search.study_plots import check_plot, write_plot

        check_plot(picture)
        check_writable(picture)
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
    click.echo(f"wrote {path}")
    if picture is not None:
        write_plot(study, picture)
        click.echo(f"wrote {picture}")
    words = ["adelic", "train", *config.data.arguments(), "--recipe", str(path)]
    click.echo(f"train with it: {shlex.join(words) if config.is_network else study.config.command()}")


tune.help = cleandoc(str(tune.help)).replace("DIMENSIONS", space.dimensions_table())


def _row_of(config: Experiment) -> str:
    """Return the data in the name of a recipe's file: row and edition; of a drawn task, its options too."""
    if isinstance(config.data, DrawnData):
        return config.data.label
    edition = None if config.data.edition == "published" else config.data.edition
    return "-".join(filter(None, [config.row, edition]))


def _name_of(config: Experiment, given: dict[str, Any]) -> str:
    """Return the solver, or the embedding as `adelic reproduce --embeddings` names it, in the name of a recipe's file.

    It says what was given, and what the recipe stores with another value than the default. What an embedding has chosen
    for itself, as the digits after the point that a table's numbers need, it does not.
    """
    if config.is_solver:
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
    samples = f"{sum(t.samples for t in study.trials)} rows trained on" if has_epochs else "trained"
    click.echo(
        f"{len(study.trials)} trials, {pruned} of them pruned (*); {samples} in "
        f"{sum(t.seconds for t in study.trials):.0f} s; best: trial {study.best.number}"
    )
