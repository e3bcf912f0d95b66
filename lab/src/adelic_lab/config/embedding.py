"""The embedding of a network: its name and its options, checked without torch."""

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from adelic.data.registry import task as find_task
from adelic.data.sources import DrawnData, TableData
from adelic.errors import ConfigurationError, PrecisionError
from adelic.numbers import AdeleSpace
from adelic.numbers.choice import fitting_space
from adelic.numbers.describe import describe
from adelic.numbers.features import FEATURE_KINDS, HOT_KINDS, PLACE_FEATURES, FeatureLayout
from adelic.numbers.primes import valuation
from adelic.numbers.window import DEFAULT_PRECISION, DEFAULT_PRIMES
from adelic.storage.options import options
from adelic_lab.config.models import Model, rows_of
from adelic_lab.config.names import check_name, n_tokens, needs_vocabulary
from adelic_lab.config.options import Setting, check_table, setting, short
from adelic_lab.config.recipes import SEQUENCE, TrainConfig

FUSIONS = ("agree", "signs", "sum", "product")
"""The fusions of a local–global model, `adelic.nn.LocalGlobalClassifier`."""
OF_TWO_CLASSES = ("agree", "signs")
"""Those of them that tell two classes apart, and no more."""
_FLOAT64, _FLOAT32 = int(sys.float_info.max), (2**24 - 1) * 2**104
_RAW = ("digits", "standardized")
"""The forms of AOE whose real value is a float32 as it is; others take its logarithm."""
_AOE = ("adelic",)
_SEARCHED_FEATURES = ("digits", "standardized", "characters", "one-hot-digits")  # others where they are named
_STANDARDIZED = {"in_names": "standardized", "in_labels": "standardized"}


def _of(embeddings: str, **description: Any) -> Any:
    """Return the field of an option that some embeddings have; it is None in others."""
    return setting(None, of=tuple(embeddings.split()), **description)


_aoe = partial(_of, *_AOE)


@dataclass(frozen=True, kw_only=True)
class EmbeddingConfig(Model):
    """The embedding of a network: its name and its options. An option that the embedding lacks is None.

    Attributes:
        name: How numbers become vectors: {names}. Of these, base-digits and residues have a token for each digit or
            residue, abacus is for numbers of several digits, and angular makes a number a point on a circle.
            [default: the recipe's, else adelic]
        features: Form of AOE (--embedding adelic): digits (as in the paper), standardized, characters, one-hot-digits,
            residues, valuation-unit, multiplicative-characters, or combined, the default on a table of your own.
            docs/features.md compares them.
        projection: Trained map from AOE's features to the vector of a number: none or linear.
        primes: Primes at which AOE has the digits of a number, all different, as 2,3,5.
        precision: Number of digits at each prime: one for all, or by prime, as 2:7,3:5,11:1, which names the primes
            too.
        fractional_digits: How many of these digits are after the point, for numbers whose denominator a prime divides.
        places: Where AOE's places (the real value and the primes) meet: flat (in one vector, as in the paper), apart
            (in the sum of their logits), late (after the last layer), or as a local–global network: agree (all places
            must), signs (their product), sum (of vectors) or product (of complex numbers).
        coordinates: Coordinates of AOE that the network reads with --places flat: all, real or p-adic.
        tied: With --places agree, signs, sum or product: whether all odd primes share one network after its first
            layer.
        gain: With --projection linear: how many times as large as usual the map's first weights are. Above 1, AOE's
            features count for more when training begins; below 1, for less.
        bases: Bases whose multiples by powers of 10 are FoNE's periods: 10 (its paper) or 2-5 (its code).
        standardize: Scale the features of fone or xval to mean 0 and variance 1 over the vocabulary.
        sigma: Standard deviation of the random frequencies that periodic starts from.
        base: Base of the digits that are tokens of base-digits.
        n_primes: How many primes, from 2 on, residues are taken modulo.
        modulus: For --embedding angular: after how many whole numbers the circle closes. Numbers with the same
            remainder modulo this one become the same point of the circle.
        parts: For --embedding union: the embeddings whose vectors are added, of combined, fone, periodic, residues and
            xval, with + between them.
        published: Build fone, xval or periodic as their authors' code does; docs/rivals.md lists the differences.

    Raises:
        UnknownNameError: the embedding, the features or the form of places are unknown.
        ConfigurationError: an option was given to an embedding that lacks it, or its value is out of range, or two
            options do not go together.

    >>> EmbeddingConfig(name="adelic").features, EmbeddingConfig(name="learned").features
    ('digits', None)
    """

    module, flag, trained_by = "adelic_lab.models.network", "--embedding", TrainConfig

    features: str | None = _aoe(default="digits", choices=FEATURE_KINDS, tried=_SEARCHED_FEATURES, in_names="{}")
    projection: str | None = _aoe(choices=("linear",), tried=("none", "linear"), in_names="")
    primes: tuple[int, ...] | None = _aoe(
        default=DEFAULT_PRIMES, tried=tuple(range(2, len(DEFAULT_PRIMES) + 1)), note="first primes", in_names=""
    )
    precision: int | Mapping[int, int] | None = _aoe(
        default=DEFAULT_PRECISION, tried=(4, 6, 8, 12, DEFAULT_PRECISION), note="digits", in_names=""
    )
    fractional_digits: int | None = _aoe(default=0, in_names="")
    places: str | None = _aoe(none="flat", choices=("apart", "late", *FUSIONS), in_names="{}")
    coordinates: str | None = _aoe(default="all", choices=("all", "real", "p-adic"), unwritten="all", in_names="{}")
    tied: bool | None = _aoe(default=False, unwritten=False)
    gain: float | None = _aoe(default=1.0, positive=True, unwritten=1.0)
    bases: str | None = _of("fone", default="10", choices=("10", "2-5"), tried=("10", "2-5"), unwritten="10")
    standardize: bool | None = _of("fone xval", default=False, tried=(False, True), unwritten=False, **_STANDARDIZED)
    # The bounds are the authors' range, in their package's documentation.
    sigma: float | None = _of("periodic union", default=0.01, positive=True, bounds=(0.01, 10.0), unwritten=0.01)
    base: int | None = _of("base-digits", default=10, least=2, greatest=10**6, tried=(10, 30, 1000), in_names="{}")
    n_primes: int | None = _of("residues", default=100, least=1, greatest=1000, in_names="{}", in_labels="{} primes")
    modulus: int | None = _of("angular", default=257, least=2, greatest=10**12, in_names="{}")
    parts: str | None = _of("union", default="fone+xval+residues", in_names="{}", in_labels="{}")
    published: bool | None = _of("fone periodic xval", default=False, unwritten=False, in_labels="as published")

    def __post_init__(self) -> None:
        """Check the values, and fill in those that were not given."""
        super().__post_init__()
        known = options(EmbeddingConfig)
        for name, described in known.items():
            if getattr(self, name) is not None:
                check_owner(f"--{described.dashed}", name, self.name)
            elif self.name in described.of:
                object.__setattr__(self, name, self._default(described))
        if self.features == "combined" and self.places is None:
            object.__setattr__(self, "projection", "linear")  # as AdelicEmbedding has it
        if self.gain not in (None, 1) and self.projection is None:
            raise ConfigurationError(f"gain={self.gain:g} is of the map of --projection linear; add it, or drop --gain")
        if self.name in _AOE:
            self._check_places()
            space = self.space()
            for name in ("primes", "precision", "fractional_digits"):
                object.__setattr__(self, name, getattr(space, name))
        if self.standardize and self.published:
            raise ConfigurationError("--standardize is ours, and does not go with --published; drop one of the two")
        check_name("embedding", self.name)

    def _default(self, described: Setting) -> Any:
        if described.name == "features" and self.places is not None:
            return "valuation-unit" if self.places in FUSIONS else "characters"
        return described.default

    def _check_places(self) -> None:
        """Raise ConfigurationError where a place-wise model is given what belongs to the flat one."""
        if self.tied and self.places not in FUSIONS:
            owners = f"{', '.join(FUSIONS[:-1])} or {FUSIONS[-1]}"
            raise ConfigurationError(f"--tied belongs to --places {owners}, not to {self.places or 'flat'}")
        if self.places is None:
            return
        known = HOT_KINDS if self.places in FUSIONS else PLACE_FEATURES
        if self.features not in known:
            raise ConfigurationError(
                f"features={self.features!r} belong to places='flat'; with {self.places!r} use {', '.join(known)}"
            )
        if self.projection is not None:
            raise ConfigurationError(f"projection='linear' belongs to places='flat'; {self.places!r} has one anyway")
        if self.coordinates != "all":
            raise ConfigurationError(
                f"coordinates={self.coordinates!r} belong to places='flat'; {self.places!r} has all"
            )

    @classmethod
    def of(cls, name: str, **given: Any) -> "EmbeddingConfig":
        """Return the configuration of an embedding; an option that is None or False counts as not given.

        >>> EmbeddingConfig.of("periodic", sigma=0.3).options()
        {'sigma': 0.3, 'published': False}
        """
        plain = {option: value for option, value in given.items() if value is False and name not in owners(option)}
        return cls(name=name, **{option: value for option, value in given.items() if option not in plain})

    @classmethod
    def choose(
        cls,
        table: Mapping[str, Any],
        name: str | None = None,
        *,
        space: AdeleSpace | None = None,
        d_model: int | None = None,
        **given: Any,
    ) -> "EmbeddingConfig":
        """Return the embedding that a recipe's file stores, changed by what a user has given.

        Args:
            table: what is stored; {} where nothing is.
            name: of the embedding; by default the stored one, else "adelic". With another name, the stored
                options do not apply.
            space: that of the task: AOE has its primes and digits where neither a file nor a user says anything of
                them, and the projection that keeps all of them where they are more than `d_model`.
            d_model: length of a vector in the flat model; None for any.
            given: as for `of`; those that are None are taken from the table.

        >>> EmbeddingConfig.choose({"name": "adelic", "precision": 3}, features="characters").options()["precision"]
        3
        >>> EmbeddingConfig.choose({}, space=AdeleSpace((2, 3), 5), d_model=16).options()
        {'features': 'digits', 'projection': None, 'primes': (2, 3), 'precision': 5, ...}
        """
        kept = {key: value for key, value in table.items() if key != "name"}
        chosen = name or table.get("name", "adelic")
        if table.get("name", chosen) != chosen:
            kept = {}
        asked = kept | {k: v for k, v in given.items() if v is not None}
        if space is not None and chosen in _AOE and not asked.keys() & {"primes", "precision", "fractional_digits"}:
            asked |= {"primes": space.primes, "precision": space.precision}
            found = cls.of(chosen, **asked)
            size = FeatureLayout.size_of(str(found.features), space, space.max_precision)
            is_too_long = d_model is not None and size > d_model and found.places is None
            return replace(found, projection="linear") if is_too_long else found
        return cls.of(chosen, **asked)

    def options(self) -> dict[str, Any]:
        """Return the options of this embedding, by name; {} for an embedding without options.

        >>> EmbeddingConfig(name="learned").options(), EmbeddingConfig(name="adelic").options()["precision"]
        ({}, 16)
        """
        return {name: getattr(self, name) for name, o in options(EmbeddingConfig).items() if self.name in o.of}

    def holding(
        self, numbers: Sequence[int | Fraction], place: Callable[[int | Fraction], str] = describe
    ) -> "EmbeddingConfig":
        """Return AOE with as many digits after the point as some numbers need; another embedding as it is.

        `place` is how errors name a number. A PrecisionError means that one needs more digits than there are.

        >>> EmbeddingConfig(name="adelic").holding([Fraction(1999, 100), 3]).fractional_digits
        2
        """
        if self.primes is None or self.precision is None:
            return self
        primes = self.primes
        try:
            space = fitting_space(numbers, primes, self.precision)
        except PrecisionError as error:
            finest = max(numbers, key=lambda q: max(valuation(q.denominator, p) for p in primes))
            raise PrecisionError(f"{place(finest)}: {error}") from None
        return replace(self, fractional_digits=space.fractional_digits)

    @property
    def largest_float(self) -> int | None:
        """Return the largest float of 32 or 64 bits; None if real values are no features."""
        if self.name == "adelic" and self.coordinates != "p-adic":
            return _FLOAT32 if self.places is None and self.features in _RAW else _FLOAT64
        return _FLOAT64 if self.name in ("union", "xval", "periodic") else None

    def check(self, experiment: Any) -> TrainConfig:
        """Return the recipe; body, data and embedding have to go together."""
        recipe: TrainConfig = experiment.network_recipe
        row = experiment.row
        if isinstance(experiment.data, DrawnData):
            self._check_drawn(experiment, experiment.data)
        elif recipe.passes > 1:
            raise ConfigurationError(f"--passes is for drawn tasks; on {row} an epoch is a pass: use --epochs")
        if recipe.trees and not isinstance(experiment.data, TableData):
            raise ConfigurationError(
                f"--trees, as of --recipe table, is for a table of your own, and {row} is none; leave it out"
            )
        if recipe.body != SEQUENCE and self.places is not None:
            raise ConfigurationError(
                f"--places {self.places} is a complete body; leave out --body {recipe.body}, or use --places flat"
            )
        if experiment.vocabulary is not None:
            self.check_numbers(experiment.vocabulary, row)
        return recipe

    def _check_drawn(self, experiment: Any, data: DrawnData) -> None:
        """Check what a network demands of questions that are drawn."""
        row, recipe, classes = data.row, experiment.network_recipe, data.drawn.class_names
        if classes is None:
            raise ConfigurationError(
                f"{row} has numbers as answers, and a network with --embedding learns classes; use --solver"
            )
        if self.places in OF_TWO_CLASSES and len(classes) != 2:
            raise ConfigurationError(
                f"--places {self.places} is for two classes, and {row} has {len(classes)}; use --places sum or product"
            )
        if experiment.vocabulary is None and needs_vocabulary(self.name):
            raise ConfigurationError(
                f"{row} has too many numbers for --embedding {self.name}, which needs a list of them; --embedding "
                "adelic reads any number"
            )
        if self.places not in (None, *FUSIONS) and data.vocabulary is None:
            raise ConfigurationError(
                f"--places {self.places} has one vector per number, and {row} has too many numbers for that; use "
                "--places flat"
            )
        if recipe.sampling_power or recipe.max_rows is not None:
            raise ConfigurationError(
                f"{row} trains on each question once, as it is drawn: --sampling-power must be 0, and --max-rows left "
                "out; --recipe fresh is made for this"
            )

    def work(self, experiment: Any) -> float:
        """Return the work of the encoder: its matrices, and each token's scores with all others and sums by them."""
        recipe = experiment.network_recipe
        if isinstance(experiment.data, DrawnData):
            return float(experiment.data.examples * recipe.passes * recipe.n_encoder_parameters)
        data, rows = rows_of(experiment)
        tokens = n_tokens(recipe.body, find_task(data.task).read_length(data.n, data.edition, recipe.view))
        per_token = recipe.n_encoder_parameters + 2 * recipe.n_layers * recipe.d_model * tokens
        return float(recipe.epochs * rows * tokens * per_token)

    def check_numbers(self, numbers: Sequence[int | Fraction], row: str) -> None:
        """Raise ConfigurationError for Abacus on numbers of one digit, and for FoNE as published on negative ones."""
        if self.name == "fone" and self.published and any(number < 0 for number in numbers):
            raise ConfigurationError(
                f"{row} has negative numbers, and FoNE as published leaves the sign to the text; leave out --published"
            )
        if self.name == "abacus" and all(number == int(number) and -10 < number < 10 for number in numbers):
            raise ConfigurationError(
                f"abacus on {row} is a learned embedding by another name: every token has one digit; "
                "use --embedding learned"
            )

    def check_digits(self, numbers: Sequence[int | Fraction], place: Callable[[Fraction], str]) -> None:
        """Raise PrecisionError where AOE has too few digits after the point for a number."""
        for q in numbers:
            needed = max((valuation(q.denominator, p) for p in self.primes or ()), default=0)
            if needed > (self.fractional_digits or 0):
                raise PrecisionError(
                    f"{place(Fraction(q))}, which needs {needed} digit{'s' * (needed != 1)} after the point, and the "
                    f"run has {self.fractional_digits}; train another one with --fractional-digits {needed}"
                )

    def space(self) -> AdeleSpace:
        """Return AOE's space; not for other embeddings."""
        assert self.primes is not None
        assert self.precision is not None
        assert self.fractional_digits is not None
        return AdeleSpace(self.primes, self.precision, self.fractional_digits)

    @property
    def label(self) -> str:
        """Return a short name for tables and files: adelic-digits, adelic-characters-late, learned, periodic-sigma0.1.

        >>> EmbeddingConfig(name="fone").label, EmbeddingConfig(name="fone", bases="2-5", standardize=True).label
        ('fone', 'fone-bases2-5-standardized')
        """
        said = labelled(self.as_dict(), always=_ALWAYS_IN_NAMES)
        parts = [options(EmbeddingConfig)[name].in_name(value) for name, value in said.items()]
        return "-".join([self.name, *filter(None, parts)])


_FORM = ("features", "places")  # first in every label, without their names
_ALWAYS_IN_NAMES = ("features", "base", "n_primes", "modulus")  # as names of runs have had from the first


def labelled(table: Mapping[str, Any], *, always: Collection[str] = ()) -> dict[str, Any]:
    """Return the options that a label of an embedding says: those of other values than the defaults, AOE's form first.

    Every label is made of them: the names of runs and of searched recipes, lists of runs, and reports. The table is as
    config.toml has it: options that it lacks have their defaults. Those in `always` are said whatever their values are,
    if the embedding has them.

    >>> labelled({"name": "base-digits", "base": 30}), labelled({"name": "base-digits", "base": 10})
    ({'base': 30}, {})
    >>> labelled({"name": "adelic", "primes": [2, 3], "places": "late"}, always=("features",))
    {'features': 'digits', 'places': 'late', 'primes': [2, 3]}
    """
    known = [described for described in options(EmbeddingConfig).values() if table["name"] in described.of]
    found = {}
    for described in sorted(known, key=lambda described: described.name not in _FORM):
        # Tables of files have lists where fields have tuples.
        plain = list(described.default) if isinstance(described.default, tuple) else described.default
        value = table.get(described.name, plain)
        if value != plain or (described.name in always and value is not False):
            found[described.name] = value
    return found


def embedding_text(table: Mapping[str, Any], *, always: Collection[str] = ("features",)) -> str:
    """Return an embedding as `adelic reproduce --embeddings` takes it; long lists are abridged.

    Arguments are those of `labelled`.

    >>> embedding_text({"name": "adelic", "features": "characters", "places": "late"})
    'adelic:characters:late'
    >>> embedding_text({"name": "fone", "bases": "2-5", "standardize": True}), embedding_text({"name": "learned"})
    ('fone:bases=2-5:standardize', 'learned')
    """
    words = [table["name"]]
    for name, value in labelled(table, always=always).items():
        words.append(name if value is True else short(value) if name in _FORM else f"{name}={short(value)}")
    return ":".join(words)


def embedding_in_paths(text: str) -> str:
    """Return a text for `adelic reproduce --embeddings` as a part of paths: {embedding} in the path of a recipe.

    >>> embedding_in_paths("adelic:characters:late"), embedding_in_paths("periodic:sigma=0.3")
    ('adelic-characters-late', 'periodic-sigma=0.3')
    """
    return text.replace(":", "-")


def options_in_words(table: Mapping[str, Any]) -> list[str]:
    """Return the options that a report says of an embedding, in words; σ always, and last.

    >>> options_in_words({"name": "periodic", "published": True})
    ['as published', 'sigma 0.01']
    >>> options_in_words({"name": "residues", "n_primes": 25}), options_in_words({"name": "residues", "n_primes": 100})
    (['25 primes'], [])
    """
    said = labelled(table, always=("sigma",))
    known = options(EmbeddingConfig)
    return [known[name].in_label(said[name]) for name in sorted(said, key=lambda name: name == "sigma")]


def owners(option: str) -> tuple[str, ...]:
    """Return the names of the embeddings that have an option; () where it is not an embedding's.

    >>> owners("precision"), owners("standardize"), owners("learning_rate")
    (('adelic',), ('fone', 'xval'), ())
    """
    known = options(EmbeddingConfig)
    return known[option].of if option in known else ()


def check_owner(what: str, option: str, embedding: str) -> None:
    """Raise `ConfigurationError` if an option belongs to other embeddings, and not to this one.

    `what` is the option in the user's words, `option` a field of `EmbeddingConfig`.

    >>> check_owner("--sigma", "sigma", "learned")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: --sigma belongs to the embeddings 'periodic' and 'union', not to 'learned'
    """
    names = owners(option)
    if names and embedding not in names:
        listed = " and ".join(filter(None, [", ".join(map(repr, names[:-1])), repr(names[-1])]))
        whose = f"embedding{'s' if len(names) > 1 else ''} {listed}"
        raise ConfigurationError(f"{what} belongs to the {whose}, not to {embedding!r}")


def stored_embedding(table: Any, recipe: str) -> dict[str, Any]:
    """Return the table of a recipe's file that stores an embedding, checked; {} where it stores none."""
    if table is None:
        return {}
    where = f"{recipe} [embedding]"
    own = check_table(
        EmbeddingConfig, {k: v for k, v in table.items() if k != "name"} if type(table) is dict else table, where
    )
    if type(table.get("name")) is not str:
        raise ConfigurationError(f"{where} has no name")
    return {"name": table["name"], **own}
