"""The processor stands for a card here."""

import pytest
import torch

from diffpeaks.neighbors.gpu import points as points_module
from diffpeaks.neighbors.gpu import space as space_module


@pytest.fixture(autouse=True)
def a_processor_for_a_card(monkeypatch):
    for module in (space_module, points_module):
        monkeypatch.setattr(module, "opened", lambda name: torch.device("cpu"))
