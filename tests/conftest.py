import pytest
from hypothesis import settings

# no deadline: a busy machine is not a defect; derandomised so that a failure can be seen again
settings.register_profile("diffpeaks", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("diffpeaks")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that the test works in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def closed_figures():
    """Figures are not shown, and none outlives the test."""
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    yield
    plt.close("all")
