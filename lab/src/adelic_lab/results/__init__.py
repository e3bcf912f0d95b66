"""Results: `result` is a typed record, checked when it is read; with its `metrics` and its packed `predictions`."""
