"""What a test says about an error."""

import re

import pytest


def refuses(words):
    """An error whose message holds each of the words, which "|" separates, in this order."""
    match = ".*".join(re.escape(word) for word in words.split("|"))
    return pytest.raises((ValueError, TypeError), match="(?is)" + match)
