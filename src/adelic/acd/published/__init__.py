"""The official files of the dataset's authors: read and checked, and written for their own loader."""

from adelic.acd.published.loading import Published, load_published

__all__ = ["Published", "load_published"]
