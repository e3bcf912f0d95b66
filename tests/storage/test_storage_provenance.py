import subprocess

from adelic.storage import provenance
from adelic.storage.provenance import machine, source_commit, versions


def test_provenance():
    assert set(versions("numpy")) == {"adelic", "numpy", "python"}
    assert "core" in machine()
    commit = source_commit()
    assert commit is None or len(commit.rstrip("+")) == 40


def test_a_repository_that_does_not_have_the_package_names_no_commit(tmp_path, monkeypatch):
    file = tmp_path / ".venv" / "adelic" / "storage" / "provenance.py"
    file.parent.mkdir(parents=True)
    file.touch()
    monkeypatch.setattr(provenance, "__file__", str(file))

    def git(*words):
        named = ("-c", "user.name=somebody", "-c", "user.email=somebody@localhost")
        return subprocess.run(["git", *named, *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    git("init")
    git("commit", "--allow-empty", "-m", "theirs")
    assert source_commit() is None
    git("add", ".venv")
    git("commit", "-m", "ours")
    assert source_commit() == git("rev-parse", "HEAD").strip()
    file.write_text("# changed\n", encoding="utf-8")
    assert source_commit() == git("rev-parse", "HEAD").strip() + "+"
