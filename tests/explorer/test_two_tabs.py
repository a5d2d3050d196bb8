"""Clusters keep colour and number in a real Chromium, and a tab that fell behind is told so."""

import numpy as np
import pytest
from chromium import changed, open_pages, row_colours, set_rule
from clouds import general_position, same_partition

from diffpeaks import DensityPeaks

X = general_position(4, 300)
X[200:260] += [9.0, -3.0]
MODEL = DensityPeaks().fit(X)


@pytest.fixture
def opened(browser):
    yield from open_pages(browser, MODEL)


def choose(page, *numbers):
    for place, number in enumerate(numbers):
        page.locator(f".row[data-cluster='{number}']").click(modifiers=["Control"] if place else [])


def chosen(page):
    rows = page.locator(".row[aria-selected='true']")
    return sorted(int(number) for number in rows.locator(".label").all_inner_texts())


def test_colour_and_number_stay_and_the_result_is_chosen(opened):
    explorer, page = opened()
    set_rule(page, "n_clusters", 6)
    before, labels = row_colours(page), explorer.labels_
    assert len(before) == 6
    first, second = sorted(before)[1:3]
    choose(page, first, second)
    changed(page, lambda: page.keyboard.press("m"))
    merged = row_colours(page)
    kept = next(number for number in (first, second) if number in merged)
    assert merged == {number: before[number] for number in before if number not in {first, second} - {kept}}
    assert chosen(page) == [kept]
    page.wait_for_selector(f"#details :text('Cluster {kept}')")
    changed(page, lambda: page.keyboard.press("s"))
    parts = [number for number in row_colours(page) if number not in merged]
    assert len(parts) == 1
    assert chosen(page) == sorted([kept, *parts])
    for _ in range(2):
        changed(page, lambda: page.keyboard.press("Control+z"))
    assert row_colours(page) == before
    assert chosen(page) == [first, second]
    np.testing.assert_array_equal(explorer.labels_, labels)
    changed(page, lambda: page.keyboard.press("Control+Shift+Z"))
    assert row_colours(page) == merged


def test_small_changes_of_the_cut_keep_most_colours_and_the_choice(opened):
    _, page = opened()
    set_rule(page, "n_clusters", 6)
    before = row_colours(page)
    choose(page, 0)
    set_rule(page, "n_clusters", 7)
    after = row_colours(page)
    assert len(after) == 7
    assert {number: after[number] for number in before} == before
    assert chosen(page) == [0]


def test_a_stale_tab_merges_nothing_and_is_shown_the_clusters(opened):
    explorer, first = opened()
    set_rule(first, "n_clusters", 6)
    second = opened.another_tab(explorer)
    choose(second, 2, 3)
    choose(first, 0, 1)
    changed(first, lambda: first.keyboard.press("m"))
    after_first = explorer.labels_
    second.keyboard.press("m")
    second.wait_for_selector("#status.refusal:has-text('changed elsewhere')")
    assert explorer.labels_ is after_first
    assert row_colours(second) == row_colours(first)
    assert chosen(second) == [2, 3]  # they are still what they were
    changed(second, lambda: second.keyboard.press("m"))
    expected = np.where(after_first == 3, 2, after_first)
    assert same_partition(explorer.labels_, expected)


def test_a_tab_that_only_looks_is_told_too(opened):
    explorer, first = opened()
    second = opened.another_tab(explorer)
    set_rule(first, "n_clusters", 4)
    second.locator(".row").first.click()
    second.wait_for_selector("#status.refusal:has-text('changed elsewhere')")
    assert row_colours(second) == row_colours(first)
    set_rule(first, "n_clusters", 5)
    second.evaluate("dispatchEvent(new Event('focus'))")
    second.wait_for_selector(".row >> nth=4")
