"""The default is a composition of public parts, and each of them can be exchanged alone."""

from dataclasses import replace

import numpy as np
import pytest
from clouds import same_partition
from refusals import refuses
from sklearn import datasets

from diffpeaks import (
    DensityDBSCAN,
    DensityPeaks,
    KernelDiffusion,
    LocalContrast,
    NaiveDensity,
    neighbor_graph,
)
from diffpeaks.cuts import Cut
from diffpeaks.recipes import DEFAULT, PLAIN, Recipe

SETS = {
    "iris": lambda: datasets.load_iris().data,
    "wine": lambda: datasets.load_wine().data,
    "breast cancer": lambda: datasets.load_breast_cancer().data,
    "diabetes": lambda: datasets.load_diabetes().data,
    "digits": lambda: datasets.load_digits().data,
    "linnerud": lambda: datasets.load_linnerud().data,
    "moons": lambda: datasets.make_moons(600, noise=0.08, random_state=0)[0],
    "swiss roll": lambda: datasets.make_swiss_roll(800, noise=0.3, random_state=0)[0],
    "one feature": lambda: datasets.make_blobs(300, 1, centers=[[0], [5]], random_state=0)[0],
    "duplicates": lambda: np.round(datasets.make_blobs(500, 2, random_state=3)[0]),
    "with strangers": lambda: stranger_set(),
}


def stranger_set():
    """Tight groups and people seen once, all about as far apart."""
    random = np.random.RandomState(0)
    directions = random.normal(size=(120, 40))
    groups = np.repeat(directions[:30], 8, axis=0)
    return np.vstack([groups + 0.3 * random.normal(size=groups.shape), directions[30:]])


sets = pytest.mark.parametrize("name", list(SETS))


@sets
def test_the_default_spelled_out_with_its_recipe(name):
    X = SETS[name]()
    model = DensityPeaks().fit(X)
    chosen = model.density_estimator_
    density = KernelDiffusion(chosen.n_neighbors_, steps=3, start_power=chosen.start_power)
    recipe = DEFAULT if model._landscape.tried is None else DEFAULT.closer()
    np.testing.assert_array_equal(DensityPeaks(density, recipe=recipe).fit_predict(X), model.labels_)


@sets
def test_the_default_spelled_out_rule_by_rule(name):
    """No part of the default's recipe: smoothing, density, links and cut are each said."""
    X = SETS[name]()
    model = DensityPeaks().fit(X)
    chosen, links = model.density_estimator_, model._landscape.settings.links
    by_hand = replace(PLAIN, merge_duplicates=True, nearest_share=links.nearest, mutual_share=links.mutual)
    spelled = DensityPeaks(
        KernelDiffusion(chosen.n_neighbors_, steps=3, start_power=chosen.start_power),
        smooth=model.smoothing_ is not None,
        recipe=by_hand,
    ).fit(X)
    np.testing.assert_array_equal(spelled.density_, model.density_)
    cut = model.cut_
    weights = {"flow_weight": cut.flow_weight, "size_weight": cut.size_weight}
    rules = Cut(None, cut.max_link, cut.min_prominence, **weights)
    np.testing.assert_array_equal(spelled.recut(cut=rules), model.labels_)


@pytest.mark.parametrize("density", [NaiveDensity("auto"), LocalContrast("auto"), "kd-asym", "fkd-sym"])
def test_another_density_with_the_rest_of_the_default(density):
    X, _ = datasets.make_blobs(400, 8, centers=4, random_state=1)
    model = DensityPeaks(density, recipe=DEFAULT).fit(X)
    plain = DensityPeaks(density).fit(X)
    assert model.smoothing_ is not None
    assert plain.smoothing_ is None
    assert model._landscape.links.degrees.mean() < plain._landscape.links.degrees.mean()
    assert (model.cut_.flow_weight > 0) == isinstance(model.density_estimator_, KernelDiffusion)


def test_another_rule_for_isolated_samples():
    X = SETS["with strangers"]()
    as_found, outliers = (
        DensityPeaks().fit(X),
        DensityPeaks(recipe=replace(DEFAULT, isolated="outliers")).fit(X),
    )
    assert as_found.isolation_.are_strangers
    assert np.isfinite(as_found.cut_.max_link)
    assert outliers.isolation_.kind == "outliers"
    assert outliers.cut_.max_link == np.inf
    with refuses("isolated='friends'|strangers"):
        Recipe(isolated="friends")


def test_what_a_recipe_says_of_isolated_samples_is_told_as_such():
    X = SETS["iris"]()
    assert "the recipe treats" in str(
        DensityPeaks(recipe=replace(DEFAULT, isolated="strangers")).fit(X).isolation_
    )
    assert "the recipe treats" not in str(DensityPeaks().fit(X).isolation_)


def test_strangers_of_a_graph_are_refused_where_nothing_says_what_far_is():
    graph = neighbor_graph(SETS["iris"](), 10)
    with refuses("isolated='strangers'|precomputed|max_link"):
        DensityPeaks(metric="precomputed", recipe=replace(DEFAULT, isolated="strangers")).fit(graph)


def test_flow_never_counts_for_less_than_nothing():
    X = SETS["moons"]()
    assert DensityPeaks(recipe=replace(DEFAULT, flat_dimension=0.0)).fit(X).cut_.flow_weight == 0


def test_dbscan_follows_a_recipe_that_is_given():
    X = SETS["with strangers"]()
    plain = DensityDBSCAN("fkd-asym", min_density=0).fit(X)
    strangers = DensityDBSCAN("fkd-asym", min_density=0, recipe=replace(PLAIN, isolated="strangers")).fit(X)
    assert plain.n_clusters_ < strangers.n_clusters_
    short = DensityDBSCAN(recipe=replace(DEFAULT, measure_dimension=False)).fit(X)
    assert short._cores.links.degrees.mean() < short.graph_.degrees.mean()


def test_copies_may_stay_apart():
    X = np.repeat(datasets.make_blobs(100, 2, random_state=0)[0], 3, axis=0)
    merged, apart = (
        DensityPeaks().fit(X),
        DensityPeaks(recipe=replace(DEFAULT, merge_duplicates=False)).fit(X),
    )
    assert merged.density_estimator_.graph_.n_samples == 100
    assert apart.density_estimator_.graph_.n_samples == 300


def test_a_recipe_is_saved_with_the_model(tmp_path):
    X = SETS["iris"]()
    recipe = replace(DEFAULT, rise=0.4, steps=2)
    model = DensityPeaks(recipe=recipe).fit(X)
    assert model.cut_.min_prominence == 0.4
    model.save(tmp_path / "iris.model")
    loaded = DensityPeaks.load(tmp_path / "iris.model")
    assert loaded.recipe == recipe
    np.testing.assert_array_equal(loaded.fit_predict(X), model.labels_)


def test_a_recipe_shows_what_is_unusual_in_it():
    assert repr(replace(DEFAULT, rise=0.4, steps=2)) == "Recipe(steps=2, rise=0.4)"
    assert "recipe=Recipe(rise=0.4)" in repr(DensityPeaks(recipe=replace(DEFAULT, rise=0.4)))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"steps": 0}, "steps=0|from 1"),
        ({"steps": 2.5}, "steps=2.5|integer"),
        ({"rise": np.nan}, "rise=nan|from 0"),
        ({"rise": -1}, "rise=-1|0"),
        ({"neighbors": np.inf}, "neighbors=inf|to 1e+06"),
        ({"mutual_share": 1.5}, "mutual_share=1.5|1"),
        ({"link_share": "far"}, "link_share='far'|number"),
        ({"few": 0.0}, "few=0|from"),
        ({"fewest": 10**30}, "fewest=|to"),
        ({"smooth": "auto"}, "smooth='auto'|True"),
    ],
)
def test_constants_that_make_no_sense_are_refused(changed, words):
    with refuses(words):
        replace(DEFAULT, **changed)


def test_rows_that_occur_often_are_hills_where_copies_stay_apart():
    n_places, n_copies = 30, 50
    X = np.repeat(np.random.RandomState(0).normal(size=(n_places, 4)), n_copies, axis=0)
    model = DensityPeaks(recipe=replace(DEFAULT, merge_duplicates=False)).fit(X)
    assert model.graph_.n_neighbors < n_copies
    assert same_partition(model.labels_, np.repeat(np.arange(n_places), n_copies))
    assert DensityPeaks().fit(X).n_clusters_ < n_places
