"""`python -m adelic`: the command line, where the script `adelic` is not on the path."""

from adelic.cli import main

if __name__ == "__main__":
    main()
