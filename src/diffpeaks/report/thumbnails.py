"""Small copies of pictures, embedded in the page."""

from __future__ import annotations

import base64
import io
import warnings
from pathlib import Path
from typing import Any

_EDGE = 96  # pixels of the longer side
_ENLARGED_TO = 48  # the least that tiny pictures are drawn with, each pixel a square
_MOST_PIXELS = 64_000_000  # of a picture that is opened
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
_JPEG_QUALITY = 80


def thumbnail(path: Path | None) -> str | None:
    """The picture as a data URL; None where there is none, or what is there cannot be shown."""
    if path is None:
        return None
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what the file says of itself beside the pixels
            with Image.open(path, formats=_FORMATS) as opened:
                if opened.width * opened.height > _MOST_PIXELS:
                    return None
                return _embedded(_scaled(opened))
    except (OSError, ValueError, SyntaxError, UnidentifiedImageError, Image.DecompressionBombError):
        return None


def _scaled(opened: Any) -> Any:
    from PIL import Image, ImageOps

    opened.draft("RGB", (2 * _EDGE, 2 * _EDGE))  # a JPEG is then decoded at about that size
    image = ImageOps.exif_transpose(opened)
    has_alpha = "A" in image.getbands() or "transparency" in image.info
    image = image.convert("RGBA" if has_alpha else "RGB")
    image.info = {}  # what a file says of its place and its camera stays in it
    image.thumbnail((_EDGE, _EDGE))
    longer = max(image.size)
    if longer < _ENLARGED_TO:
        times = -(-_ENLARGED_TO // longer)
        image = image.resize((times * image.width, times * image.height), Image.Resampling.NEAREST)
    return image


def _embedded(image: Any) -> str:
    """As JPEG or PNG, whichever is smaller; a JPEG has no transparency."""
    kinds: dict[str, dict[str, Any]] = {"png": {"optimize": True}, "jpeg": {"quality": _JPEG_QUALITY}}
    if image.mode == "RGBA":
        del kinds["jpeg"]
    files = {}
    for kind, options in kinds.items():
        file = io.BytesIO()
        image.save(file, kind, **options)
        files[kind] = file.getvalue()
    smallest = min(files, key=lambda kind: len(files[kind]))
    return f"data:image/{smallest};base64,{base64.b64encode(files[smallest]).decode()}"
