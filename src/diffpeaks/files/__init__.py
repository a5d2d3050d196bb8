"""Points from files and results into files, in the formats of one table; no file is executed."""

from diffpeaks.files.contract import STANDARD_INPUT, Choice, Ids, Samples, Wanted, check_present
from diffpeaks.files.formats import FORMATS
from diffpeaks.files.reading import label_column, read_column, read_samples
from diffpeaks.files.writing import check_destination, is_same_file, write_results

__all__ = [
    "FORMATS",
    "STANDARD_INPUT",
    "Choice",
    "Ids",
    "Samples",
    "Wanted",
    "check_destination",
    "check_present",
    "is_same_file",
    "label_column",
    "read_column",
    "read_samples",
    "write_results",
]
