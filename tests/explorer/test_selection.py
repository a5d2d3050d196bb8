"""Samples are found by words and polygons as plain loops find them, and coloured by what is known of them."""

import numpy as np
import pytest
from clouds import general_position
from hypothesis import given
from hypothesis import strategies as st
from packets import unpacked
from refusals import refuses

from diffpeaks import DensityPeaks
from diffpeaks.captions import Captions, Characteristics
from diffpeaks.explorer.colourings import MOST_CATEGORIES, Colourings
from diffpeaks.explorer.selection import Finder
from diffpeaks.explorer.session import Session
from diffpeaks.explorer.views import Scene, packed_selection

X = general_position(4, 120)
MODEL = DensityPeaks().fit(X)
WORDS = ["Apple", "pear", "Straße", "fig"]
TEXTS = np.array([f"{WORDS[row % 4]} {WORDS[row % 3]} {row}" for row in range(120)], object)
CAPTIONS = Captions(
    120,
    ids=np.array([f"id{row}" for row in range(120)], object),
    text=TEXTS,
    metadata={
        "size": np.where(np.arange(120) < 2, np.nan, np.linspace(-1, 1, 120)),
        "kind": np.array([f"k{row % 30}" for row in range(120)], object),
    },
)


def finder():
    return Finder(Scene.of(MODEL, X), CAPTIONS, MODEL.forest_.rank)


@pytest.mark.parametrize("text", ["apple", "APPLE pear", "strasse", "id7", "k29", "nothing at all", "fig 3"])
def test_all_words_are_looked_for_in_all_that_is_known(text):
    known = [
        f"id{row} {TEXTS[row]} {CAPTIONS.metadata_of(row)['size']} k{row % 30}".casefold()
        for row in range(120)
    ]
    expected = {row for row in range(120) if all(word in known[row] for word in text.casefold().split())}
    found = finder().found(text=text)
    assert set(found.tolist()) == expected
    assert np.all(np.diff(MODEL.forest_.rank[found]) > 0)  # the densest first


@given(st.lists(st.floats(-3, 3, width=32), min_size=4, max_size=4))
def test_a_box_holds_what_lies_between_its_sides(sides):
    x0, x1 = sorted(sides[:2])
    y0, y1 = sorted(sides[2:])
    found = finder().found(polygon=[[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    places = X.astype(np.float32)
    within = (places[:, 0] > x0) & (places[:, 0] < x1) & (places[:, 1] > y0) & (places[:, 1] < y1)
    assert set(np.flatnonzero(within).tolist()) <= set(found.tolist())
    assert len(found) <= np.count_nonzero(
        (places[:, 0] >= x0) & (places[:, 0] <= x1) & (places[:, 1] >= y0) & (places[:, 1] <= y1)
    )


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({}, "one of them"),
        ({"text": "a", "polygon": [[0, 0]]}, "one of them"),
        ({"text": " "}, "1 to 200"),
        ({"text": "a" * 201}, "201 characters"),
        ({"text": 3}, "must be words"),
        ({"polygon": []}, "list of corners"),
    ],
)
def test_queries_that_mean_nothing_are_refused(query, words):
    with refuses(words):
        finder().found(**query)


def test_a_selection_says_which_clusters_it_is_in():
    session = Session(MODEL)
    samples = finder().found(text="apple")
    found = unpacked(packed_selection(session, Scene.of(MODEL, X), samples))
    assert found["n_found"] == len(samples)
    np.testing.assert_array_equal(found["samples"], samples)
    np.testing.assert_array_equal(found["places"].reshape(-1, 2), X[samples].astype(np.float32))
    np.testing.assert_array_equal(found["labels"], session.labels[samples])
    for number, count in found["clusters"]:
        assert count == np.count_nonzero(session.labels[samples] == number)


def coloured(name, drawn=slice(None)):
    return unpacked(Colourings(Characteristics(CAPTIONS)).of(name, Session(MODEL).now).packed(drawn))


def test_what_the_fit_knows_is_a_colouring():
    density = coloured("density")
    logs = np.log10(MODEL.density_)
    np.testing.assert_allclose(density["values"], (logs - logs.min()) / np.ptp(logs), atol=1e-6)
    np.testing.assert_allclose(density["ends"], [MODEL.density_.min(), MODEL.density_.max()])
    for name, values in (("probability", MODEL.probabilities_), ("outlier score", MODEL.outlier_scores_)):
        low, high = values.min(), values.max()
        expected = (values - low) / ((high - low) or 1)
        np.testing.assert_allclose(coloured(name)["values"], expected, atol=1e-6)


def test_columns_of_numbers_and_of_categories_are_colourings():
    size = coloured("size", np.array([0, 119, 2]))
    assert (size["kind"], size["n_missing"], size["values"].tolist()) == ("numbers", 2, [-1, 1, 0])
    kind = coloured("kind")
    assert kind["kind"] == "categories"
    assert len(kind["categories"]) == MOST_CATEGORIES + 1
    assert kind["categories"][-1] == "10 others"
    assert sum(kind["counts"]) == 120
    assert kind["values"].max() == MOST_CATEGORIES


def test_a_column_that_is_not_there_is_no_colouring():
    with refuses("'weight'|density, probability, outlier score, size, kind"):
        coloured("weight")
