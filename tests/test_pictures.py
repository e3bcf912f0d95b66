"""The pictures of docs/pictures are what their script draws."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.long
def test_the_pictures_are_made_by_their_script():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "pictures.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_every_picture_is_shown():
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert f"](pictures/{picture.name})" in pages
