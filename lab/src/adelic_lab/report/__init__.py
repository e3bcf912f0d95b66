"""The benchmark: matrices of runs, and from their results statistics, tables, figures and the report.

| module | what it does |
|---|---|
| `matrix`, `engines` | rows × embeddings × seeds as runs; executes them in one process, several, or on a Ray cluster |
| `files`, `results` | reads and writes result files; a `Summary` says what tables need of a model's runs |
| `rows` | the published figures, from published.toml and published_further.toml |
| `comparison`, `significance` | which models may be compared; tests and intervals, by SciPy and statsmodels |
| `table` | `Table`: columns, rows, notes; as Markdown, CSV, for the terminal, and by templates/report.html as HTML |
| `run_tables`, `row_tables`, `contrasts` | make the tables |
| `plots`, `row_plots` | draw the figures |
| `report` | puts tables and figures together: pages, CSV, HTML |
| `drawn` | what the benchmarks of drawn tasks share: plans, running them, reports |
| `arithmetic`, `number_theory`, `columns` | these benchmarks: plans as data, tables, figures |

All of it may import `adelic_lab` and what lies below that, and no module of the layers above. A result is an
`adelic_lab.Result`, which alone knows the keys of its file. To add a table, write a function that returns a
`Table`, and name it in `report.tables` (and, for the HTML page, in templates/report.html); the command line's `--table`
lists the names, and a test compares both. To add a figure of a row, draw it in `row_plots` with the axes, colours and
legend of `plots`, and make it a `Part` of `report.RowSection`.
"""
