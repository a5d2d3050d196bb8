"""What sets clusters apart, against the definitions as loops."""

import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diffpeaks._base.typed_columns import typed_column
from diffpeaks.captions import Captions
from diffpeaks.captions.characteristics import (
    Characteristics,
    TextCounts,
    characteristic_columns,
    characteristic_words,
    short_name,
)

VOCABULARY = ["apple", "bread", "cherry", "dough", "elder"]
cases = st.lists(
    st.tuples(st.lists(st.sampled_from(VOCABULARY), max_size=4), st.integers(-1, 2)), min_size=1, max_size=12
)


def scores_as_loops(texts, labels, n_clusters):
    """c-TF-IDF up to the length of the cluster, which is the same for all its words."""
    counts = [Counter() for _ in range(n_clusters)]
    for text, label in zip(texts, labels, strict=True):
        if label >= 0:
            counts[label].update(text)
    mean = sum(sum(own.values()) for own in counts) / n_clusters
    of_all = sum(counts, Counter())
    return [{word: own[word] * math.log(1 + mean / of_all[word]) for word in own} for own in counts]


@given(cases)
def test_words_are_those_of_the_largest_scores(case):
    texts, labels = [text for text, _ in case], [label for _, label in case]
    counted = TextCounts.of(np.array([" ".join(text) for text in texts], object))
    found = characteristic_words(counted, np.array(labels), 3, most=2)
    for own, scores in zip(found, scores_as_loops(texts, labels, 3), strict=True):
        best = sorted(scores.values(), reverse=True)[:2]
        np.testing.assert_allclose([scores[word] for word in own], best)


def test_words_are_no_numbers_and_no_filling():
    texts = np.array(["The 42 cats and x", "a dog of 7 dogs", None], object)
    found = characteristic_words(TextCounts.of(texts), np.array([0, 1, 1]), 2)
    assert found == [["cats"], ["dog", "dogs"]]
    assert characteristic_words(TextCounts.of(np.array(["", "1 2"], object)), np.array([0, 0]), 1) == [[]]


def test_columns_are_those_that_differ_most():
    labels = np.array([0, 0, 1, 1, 1, 1, -1, -1])
    columns = {
        "flat": typed_column(np.full(8, 2.5)),
        "size": typed_column(np.array([9.5, 10.5, 0.5, 0.0, 0.25, 0.25, np.nan, 1.0])),
        "kind": typed_column(np.array(["a", "b", "c", "c", "c", "c", "a", "b"], object)),
    }
    first, second = characteristic_columns(columns, labels, 2)
    assert [trait.column for trait in first] == ["size", "kind"]
    assert (first[0].value, first[0].of_all) == ("10", f"{22 / 7:.3g}")
    assert [trait.column for trait in second] == ["kind", "size"]
    assert (second[0].value, second[0].of_all) == ("c (100%)", "50%")
    assert math.isclose(second[0].deviation, 1.0)  # (1 - 0.5) / sqrt(0.5 * 0.5)


def test_a_short_name_is_of_words_or_else_of_the_first_trait():
    captions = Captions(4, metadata={"side": np.array(["left", "left", "right", "right"], object)})
    known = Characteristics(captions)
    labels = np.array([0, 0, 1, 1])
    assert known.words(labels, 2) == [[], []]
    left, right = known.traits(labels, 2)
    assert (short_name([], left), short_name([], right)) == ("side left (100%)", "side right (100%)")
    assert short_name(["red", "car"], left) == "red, car"
    assert short_name([], []) == ""


def test_missing_categories_are_no_part_of_all():
    colors = np.array(["red", "blue", None, None] * 30, object)
    labels = np.repeat([0, 1, 2], 40)  # each cluster has the colors of all
    assert characteristic_columns({"color": typed_column(colors)}, labels, 3) == [[], [], []]
