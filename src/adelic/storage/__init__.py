"""Layer 0: files that are written whole or not at all, the origin of figures, processes that share work.

- `files`: atomic writes, locks, the cache folder, errors of the disk in words.
- `records`: JSON with a checksum inside, TOML.
- `provenance`: versions, machine, commit.
- `workers`: several processes for independent parts of a work.
- `checks`: numbers that a user gives.
- `options`: a dataclass's fields as the only description of its options: help, choices, bounds.
- `version`: of this package.

It may import `adelic.errors` alone, and knows neither numbers nor tasks. All that higher layers need of files,
processes or options is added to the module it belongs to; `workers` knows no task, only functions.
"""
