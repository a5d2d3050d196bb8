"""The four figures: figure 1 is computed on the spot, the others only read the lines of the runs."""

import numpy as np

from diffpeaks import KernelDiffusion, NaiveDensity
from diffpeaks.datasets import make_three_gaussians
from diffpeaks.plotting import pyplot
from diffpeaks_paper import cost, face_runs
from diffpeaks_paper.definitions import DENSITIES, DIFFUSION_DENSITIES, SENSITIVITY
from diffpeaks_paper.sources import GENERATED

COLORS = dict(zip(DENSITIES, ("#999999", "#E69F00", "#56B4E9", "#0072B2", "#CC79A7", "#D55E00"), strict=True))
MARKERS = dict(zip(DENSITIES, "osv^PX", strict=True))
ONE_ANSWER = {"Infomap": "*", "Leiden": "D", "DensityPeaks()": "P"}
_RADIUS = 1.25  # where one peak of the naive density stands out, and three of that of the walk


def figure1(path):
    """A mixture of three Gaussians; both densities in the plane and as heights above it."""
    X, y = make_three_gaussians(random_state=0)
    densities = {
        "naive": NaiveDensity(radius=_RADIUS).fit(X).density_,
        "kernel diffusion, one step": KernelDiffusion(radius=_RADIUS, bandwidth=_RADIUS**2).fit(X).density_,
    }
    plt = pyplot()
    figure = plt.figure(figsize=(11, 7), layout="constrained")
    ax = figure.add_subplot(2, 3, (1, 4))
    for component, color in enumerate(("#0072B2", "#E69F00", "#009E73")):
        ax.scatter(*X[y == component].T, s=8, color=color, linewidths=0)
    ax.set(title="1,000 samples of three Gaussians", aspect="equal")
    for column, (name, density) in enumerate(densities.items(), 2):
        order = np.argsort(density)
        flat = figure.add_subplot(2, 3, column)
        drawn = flat.scatter(*X[order].T, c=density[order], s=8, cmap="viridis", linewidths=0)
        flat.set(title=name, aspect="equal")
        figure.colorbar(drawn, ax=flat, shrink=0.8)
        high = figure.add_subplot(2, 3, column + 3, projection="3d")
        high.scatter(*X[order].T, density[order], c=density[order], s=4, cmap="viridis", linewidths=0)
        high.set(zlabel="density")
        high.view_init(elev=25, azim=-70)
    return _saved(figure, path)


def figure2(path, records, **wanted):
    """Precision against recall for all values of `max_link`."""
    lines = {line["method"]: line for line in records.of(experiment=face_runs.METHODS, **wanted)}
    figure, axes = pyplot().subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    for ax, score in zip(axes, ("pairwise", "bcubed"), strict=True):
        for density in (name for name in DENSITIES if "curve" in lines[name]):
            curve = lines[density]["curve"][score]
            ax.plot(curve["recall"], curve["precision"], color=COLORS[density], label=density)
        for name, marker in ONE_ANSWER.items():
            if name in lines:
                found = lines[name][score]
                style = {"marker": marker, "color": "black", "linestyle": "none", "markersize": 8}
                ax.plot(found["recall"], found["precision"], label=name, **style)
        low = max(0, min(line[score]["f"] for line in lines.values() if "curve" in line) - 15)
        ax.set(xlabel="recall", ylabel="precision", title=_title(score, wanted))
        ax.set(xlim=(low, 100.5), ylim=(low, 100.5))
        ax.legend(loc="lower left")
    return _saved(figure, path)


def figure3(path, records, **wanted):
    """The best BCubed F over all `max_link`, as one parameter varies."""
    lines = records.of(experiment=face_runs.SENSITIVITIES, **wanted)
    figure, axes = pyplot().subplots(1, 3, figsize=(13, 4.2), layout="constrained", sharey=True)
    for ax, (parameter, (densities, _)) in zip(axes, SENSITIVITY.items(), strict=True):
        for density in densities:
            found = [
                line
                for line in lines
                if (line["parameter"], line["method"]) == (parameter, density) and "bcubed" in line
            ]
            values, scores = ([line["value"] for line in found], [line["bcubed"]["f"] for line in found])
            ax.plot(values, scores, color=COLORS[density], marker=MARKERS[density], label=density)
        ax.set(xlabel=parameter)
        ax.legend()
    axes[0].set_ylabel("BCubed F, best max_link")
    figure.suptitle(_title("sensitivity", wanted))
    return _saved(figure, path)


def figure4(path, records, **wanted):
    """Time and memory of the densities against the number of samples, the graph given."""
    lines = records.of(
        experiment=cost.EXPERIMENT, set=wanted["set"], source=wanted["source"], of=wanted["n_samples"]
    )
    figure, axes = pyplot().subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    for density in DIFFUSION_DENSITIES:
        found = [line for line in lines if line["density"] == density and "without_limit" not in line]
        sizes = np.array([line["n_samples"] for line in found])
        style = {"color": COLORS[density], "marker": MARKERS[density]}
        for ax, key, unit in ((axes[0], "density_seconds", 1), (axes[1], "kilobytes", 2**20)):
            values = np.array([line[key] for line in found]) / unit
            label = f"{density} (n^{growth(sizes, values):.2f})"
            ax.plot(sizes, values, label=label, **style)
    axes[0].set(xlabel="samples", ylabel="seconds", xscale="log", yscale="log")
    axes[1].set(xlabel="samples", ylabel="GiB beside the graph", xscale="log", yscale="log")
    for ax in axes:
        ax.set_xticks(sizes, [f"{size // 1000}k" for size in sizes])
        ax.minorticks_off()
        ax.legend()
    figure.suptitle(_title("cost of the density", wanted))
    return _saved(figure, path)


def growth(sizes, values):
    """The exponent of a power law through the points."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-9)), 1)[0])


def _title(what, wanted):
    source = ", generated" if wanted["source"] == GENERATED else ""
    return f"{what}: {wanted['set']}{source}, {wanted['n_samples']:,} samples"


def _saved(figure, path):
    figure.savefig(path, dpi=120)
    pyplot().close(figure)
    return path
