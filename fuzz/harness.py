"""What both fuzzers share: seeds, a corpus folder, a limit of seconds an input."""

import sys
from collections.abc import Callable
from pathlib import Path

SEEDS = Path(__file__).parent / "seeds"


def fuzz(check: Callable[[bytes], object], name: str) -> None:
    """Feed atheris' inputs to a check until it fails or the time is over; the command line is libFuzzer's.

    New inputs go to fuzz/corpus/<name>, which later runs start from.
    """
    try:
        import atheris
    except ImportError:
        sys.exit("fuzzing needs atheris: pip install 'adelic[fuzz]' (or run the tests, which check the seeds)")
    corpus = Path(__file__).parent / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    atheris.instrument_all()

    def one(data: bytes) -> None:
        check(data)

    atheris.Setup([sys.argv[0], "-timeout=20", *sys.argv[1:], str(corpus), str(SEEDS / name)], one)
    atheris.Fuzz()
