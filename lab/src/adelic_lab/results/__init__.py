"""Results: typed records, their metrics and their predictions."""
