"""Whether long and thin clusters of many samples stay whole: two moons, and two circles.

usage: threads.py

A table: of 18 draws of each shape (six for each of three widths), how many are two clusters at the default,
and without what it takes off the rise of large hills (`Recipe.size_weight`).
"""

from dataclasses import replace

from sklearn.datasets import make_circles, make_moons

from diffpeaks import DensityPeaks
from diffpeaks.recipes import DEFAULT
from diffpeaks_paper.markdown import markdown_table

SIZES, SEEDS = (500, 1_000, 2_000, 5_000, 20_000, 50_000), range(10, 16)
SHAPES = {
    "moons": (lambda *draw: make_moons(draw[0], noise=draw[1], random_state=draw[2]), (0.05, 0.075, 0.1)),
    "circles": (
        lambda *draw: make_circles(draw[0], noise=draw[1], random_state=draw[2], factor=0.5),
        (0.03, 0.05, 0.08),
    ),
}
RECIPES = {"default": DEFAULT, "sizes do not count": replace(DEFAULT, size_weight=0.0)}


def found(shape, recipe, n_samples):
    """How many draws are two clusters."""
    drawn, widths = SHAPES[shape]
    draws = [drawn(n_samples, width, seed)[0] for width in widths for seed in SEEDS]
    return sum(DensityPeaks(recipe=recipe).fit(X).n_clusters_ == 2 for X in draws)


def main():
    rows = [
        [f"{shape}, {name}", *(str(found(shape, recipe, n_samples)) for n_samples in SIZES)]
        for shape in SHAPES
        for name, recipe in RECIPES.items()
    ]
    print(markdown_table(["of 18 draws", *(f"{n_samples:,}" for n_samples in SIZES)], rows))


if __name__ == "__main__":
    main()
