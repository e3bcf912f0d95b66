"""The files of the dataset's authors: read and checked, and written for their own loader.

- `rows`: how the authors write a row of each task; one entry of its `FORMS` a task.
- `loading`: `load_published`, which finds their files, reads them and compares the rows with ours.
- `authors_layout`: the format `acd` of `adelic.data.export`; one entry of its `LAYOUTS` a task.

May import what `adelic.acd` may, and the folders of the tasks.
"""

from adelic.acd.published.loading import load_published

__all__ = ["load_published"]
