"""A page in the browser in which the cut of a fitted model is moved by hand."""

from diffpeaks.explorer.launch import Explorer, explore

__all__ = ["Explorer", "explore"]
