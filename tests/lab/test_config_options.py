"""Options by the names that files have."""

from dataclasses import dataclass

import pytest

from adelic.errors import ConfigurationError
from adelic.storage.options import option
from adelic_lab.config.options import check_table


@dataclass
class Mine:
    learning_rate: float = option(1.0, positive=True)
    is_dry: bool = option(False)
    n_parts: tuple[int, ...] = option((1,), least=1)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"learning_rate": 0}, "learning_rate=0 must be"),
        ({"learning_rate": "learning-rate=3"}, "learning_rate='learning-rate=3' must be"),
        ({"is_dry": "is-dry="}, "is_dry='is-dry=' must be"),
        ({"n_parts": "n-parts="}, "n_parts='n-parts=' must be"),
    ],
)
def test_errors_of_files_have_the_names_of_files_and_leave_values_as_they_are(table, words):
    with pytest.raises(ConfigurationError) as caught:
        check_table(Mine, table, "mine.toml [recipe]")
    assert str(caught.value).startswith(f"mine.toml [recipe]: {words}")
