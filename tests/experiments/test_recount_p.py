"""The adjusted p of docs/results.md are counted again from the answers of single runs."""

SCRIPT = "recount_p"


def test_the_page_has_the_p_that_scipy_and_statsmodels_give(script, capsys):
    assert script.main()
    assert len(capsys.readouterr().out.splitlines()) > 10


def test_another_p_is_noticed(script, capsys, monkeypatch):
    counted = script.recounted()
    monkeypatch.setattr(script, "recounted", lambda: counted | {"lattice-11 (published)": 0.5})
    assert not script.main()
    assert "lattice-11 (published): recounted 1, on the page 0." in capsys.readouterr().out
