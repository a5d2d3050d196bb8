"""What is shown of samples beside their numbers, and what sets clusters apart in it."""

from diffpeaks.captions.captions import Captions, OutsideFolderError, Pictures
from diffpeaks.captions.characteristics import (
    Characteristics,
    Trait,
    characteristic_columns,
    characteristic_words,
)

__all__ = [
    "Captions",
    "Characteristics",
    "OutsideFolderError",
    "Pictures",
    "Trait",
    "characteristic_columns",
    "characteristic_words",
]
