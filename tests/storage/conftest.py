import os

import pytest


@pytest.fixture(autouse=True)
def fsync(real_fsync, monkeypatch):
    """Files are brought to the disk here, as they are where no test runs."""
    monkeypatch.setattr(os, "fsync", real_fsync)
