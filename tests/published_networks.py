"""Files like those of the authors' networks: the same names, parameters and shapes, with other values."""

from itertools import pairwise

import torch

HEAD = {"0.weight": (512, 512), "0.bias": (512,), "1.weight": (512,), "2.weight": (1, 512), "2.bias": (1,)}
HALF = {"0.weight": (256, 256), "0.bias": (256,), "1.weight": (256,), "2.weight": (2, 256), "2.bias": (2,)}


def convolutions(*widths):
    shapes = {}
    for number, (n_in, n_out) in enumerate(pairwise(widths), 1):
        shapes |= {f"conv{number}.weight": (2 * n_in, n_out), f"conv{number}.bias": (n_out,)}
    return shapes


def head(shapes):
    return {f"classifier.{name}": shape for name, shape in shapes.items()}


def detection(n_in, n_out):
    layers = {"layers.0.gc.weight": (n_in, 512), "layers.1.gc.weight": (512, 64)}
    return layers | {"classifier.weight": (n_out, 64), "classifier.bias": (n_out,)}


# what the authors' program stores
SHAPES = {
    "pretrained_gcn_v_ms1m.pth": convolutions(256, 512) | head(HEAD),
    "pretrained_gcn_e_ms1m.pth": convolutions(512, 512, 512, 256, 256) | head(HALF),
    "pretrained_lgcn_ms1m.pth": convolutions(256, 512, 512, 256, 256)
    | head(HALF)
    | {"bn0.running_mean": (256,), "bn0.running_var": (256,)},
    "pretrained_gcn_d_ms1m.pth": detection(256, 1),
    "pretrained_gcn_d_iop_ms1m.pth": detection(256, 1),
    "pretrained_gcn_s_ms1m.pth": detection(257, 2),
}


def weights(name, prefix=""):
    torch.manual_seed(0)
    return {prefix + part: 0.05 * torch.rand(shape) + 0.01 for part, shape in SHAPES[name].items()}


def put(folder, name, state, wrapped=True):
    torch.save({"meta": {"epoch": 1}, "state_dict": state} if wrapped else state, folder / name)


def put_all(folder):
    """Every file of the authors, each stored in one of the ways that they have."""
    for number, name in enumerate(SHAPES):
        put(folder, name, weights(name, "module." if number == 1 else ""), wrapped=number != 0)
