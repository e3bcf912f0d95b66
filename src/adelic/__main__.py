"""`adelic` and `python -m adelic`: the command line, which takes a moment to be imported."""

import sys

from adelic.errors import INTERRUPTED


def main() -> None:
    """Run the command line; Ctrl-C while it is imported ends it without a traceback, as later."""
    try:
        from adelic.cli import main as run
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
