"""Tables of your own as data sets: number columns, a target, and three parts.

>>> price, count = ["1/2", "0.25", 7, -1] * 15, list(range(60))
>>> d = from_table({"price": price, "count": count, "odd": ["no", "yes"] * 30}, target="odd")
>>> d.class_names, [str(q) for q in d.vocabulary[:5]], d.X_train.shape
(('no', 'yes'), ['-1', '0', '1/4', '1/2', '1'], (44, 2))

A column holds numbers of any kind that `AdeleSpace.encode` reads, fractions and decimals of any length included; a
float is the shortest decimal that names it (0.1 is 1/10); true and false are 1 and 0. The target is a class or a whole
number. Equal rows are always in one part.

May import `storage`, `numbers` and the rest of `data`. One more kind of file is an entry of `files.READERS`; what a
column can hold is decided in `columns`, what a target can be in `targets`.
"""

from adelic.data.tables.files import is_table, read_table
from adelic.data.tables.making import from_arrays, from_table

__all__ = ["from_arrays", "from_table", "is_table", "read_table"]
