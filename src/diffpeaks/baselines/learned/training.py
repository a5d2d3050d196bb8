"""Where networks run, how they are trained, and how they are asked, in batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from diffpeaks.progress import stage

DEVICES = {"auto", "cpu", "cuda"}


def device_of(name: str) -> torch.device:
    """The device of that name; "auto" is a GPU where torch sees one. One that is missing is refused."""
    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        raise ValueError(
            f"device='cuda', but torch {torch.__version__} sees no GPU; install a torch with CUDA on a "
            "machine that has one, or use device='cpu'"
        )
    return torch.device("cuda" if name == "cuda" or (name == "auto" and there) else "cpu")


@contextmanager
def reproducible(seed: int, device: torch.device) -> Iterator[None]:
    """Inside, the same seed gives the same numbers; torch's own state is as before afterwards."""
    mode = torch.get_deterministic_debug_mode()
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS may round otherwise
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True)
        try:
            yield
        finally:
            torch.set_deterministic_debug_mode(mode)


def train(
    network: nn.Module,
    loss_of: Callable[[NDArray[np.int64]], Tensor],
    n_items: int,
    batch_size: int,
    n_epochs: int,
    learning_rate: float,
) -> float:
    """Adam on the loss of batches of items, in random order; the mean loss of the last epoch.

    The learning rate falls along a half cosine to 0.
    """
    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    n_steps = n_epochs * -(-n_items // batch_size)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, n_steps)
    network.train()
    losses: list[float] = []
    with stage("training", n_epochs * n_items) as done:
        for _ in range(n_epochs):
            losses.clear()
            for items in np.array_split(torch.randperm(n_items).numpy(), -(-n_items // batch_size)):
                optimizer.zero_grad()
                loss = loss_of(items)
                loss.backward()
                optimizer.step()
                schedule.step()
                losses.append(float(loss.detach()))
                if not np.isfinite(losses[-1]):
                    raise ValueError(
                        f"the loss is {losses[-1]} with learning_rate={learning_rate}; use a smaller one"
                    )
                done(len(items))
    network.eval()
    return float(np.mean(losses))


def outputs(
    network: nn.Module,
    output_of: Callable[[NDArray[np.int64]], Tensor],
    n_items: int,
    batch_size: int,
) -> NDArray[Any]:
    """What a network says of all items, batch by batch."""
    network.eval()
    found = []
    with torch.no_grad(), stage("network", n_items) as done:
        for items in np.array_split(np.arange(n_items), max(1, -(-n_items // batch_size))):
            found.append(output_of(items).cpu().numpy())
            done(len(items))
    return np.concatenate(found)


def on_device(values: NDArray[Any], device: torch.device) -> Tensor:
    """An array as a tensor, which need not be written to."""
    return torch.from_numpy(np.array(values)).to(device)
