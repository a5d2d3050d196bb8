"""A disk that is full is said so, and leaves what was there."""

import errno

import pytest

from diffpeaks._base.files import replacing
from diffpeaks.cli import main


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named_and_changes_nothing(tmp_path, number):
    target = tmp_path / "labels.csv"
    target.write_text("old")
    with (
        pytest.raises(OSError, match=r"no space left for .*labels\.csv.*nothing was written"),
        replacing(target),
    ):
        raise OSError(number, "full")
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]
    assert target.read_text() == "old"


def test_memory_that_is_not_there_is_said_in_words(monkeypatch, capsys):
    def run(given):
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr("diffpeaks.cli.info.run", run)
    assert main(["info", "points.npy"]) == 1
    assert capsys.readouterr().err == "diffpeaks: there is not enough memory (std::bad_alloc)\n"
