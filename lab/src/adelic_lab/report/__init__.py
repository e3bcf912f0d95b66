"""Reports: from results a data frame, and from it statistics, tables, figures and the page.

| module | what it does |
|---|---|
| `files` | reads and writes result files |
| `published` | the published figures, from published.toml and published_further.toml |
| `frame` | a data frame with a line for each run, one with a line for each model, and which models may be compared |
| `statistics` | intervals, tests and corrections, by SciPy and statsmodels |
| `table` | `Table`: a data frame of texts with notes; as Markdown, CSV and HTML, and how figures are written in cells |
| `tables` | makes all tables of results; their sentences are in wording.toml |
| `plots` | how figures look, and those of rows |
| `page` | puts tables and figures together: pages, CSV, HTML (templates/report.html) |
| `arithmetic`, `number_theory`, `columns` | tables and figures of these benchmarks |

A result is an `adelic_lab.Result`, which alone knows the keys of its file. To add a table, write a function that
returns a `Table`, and name it in `tables.tables`. Processes that train import `files` and `published`, without pandas.
"""

TABLES = (*("runs", "overview", "contrasts", "accuracy", "loss", "costs", "models", "changes", "sizes"),)
"""The tables of results by name, see `tables.tables`; here, where the command line knows them without pandas."""
