"""One Chromium for all tests of the page."""

import pytest
from chromium import launched


@pytest.fixture(scope="session")
def browser():
    with launched() as started:
        yield started
