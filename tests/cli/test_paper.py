"""`diffpeaks paper` where its package is installed, and where it is not."""

import sys

import pytest

from diffpeaks.cli import main


@pytest.fixture
def not_installed(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("diffpeaks_paper.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "diffpeaks_paper", None)


def test_the_help_lists_the_experiments(capsys):
    with pytest.raises(SystemExit):
        main(["paper", "--help"])
    assert "table1  density peaks on the 13 sets" in capsys.readouterr().out


@pytest.mark.usefixtures("not_installed")
@pytest.mark.parametrize("given", [[], ["table1"], ["table1", "--read", "--results", "file"]])
def test_without_the_package_it_says_what_to_install(given, capsys):
    assert main(["paper", *given]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "diffpeaks-paper" in error
    assert "pip install ./benchmarks/paper" in error


@pytest.mark.usefixtures("not_installed")
def test_without_the_package_the_help_says_what_to_install(capsys):
    with pytest.raises(SystemExit):
        main(["paper", "--help"])
    assert "pip install ./benchmarks/paper" in capsys.readouterr().out


@pytest.mark.usefixtures("not_installed")
def test_without_the_package_paper_is_still_a_name_for_files(capsys):
    assert main(["cluster", "paper"]) == 2
    assert "'paper' ends like none" in capsys.readouterr().err
