import pytest
from hypothesis import settings

# no deadline: a busy machine is not a defect; derandomised so that a failure can be seen again
settings.register_profile("diffpeaks", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("diffpeaks")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that the test works in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def undrawn(monkeypatch):
    """Pages without their pictures, which take most of their time; for tests of all else on a page."""
    monkeypatch.setattr("diffpeaks.report.pictures._svg", lambda draw, size: "<svg></svg>")


@pytest.fixture
def closed_figures():
    """Figures are not shown, and none outlives the test."""
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    yield
    plt.close("all")
