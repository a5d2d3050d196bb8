"""A fit as one page: what was run, pictures, and who is in each cluster."""

from diffpeaks.report.writing import check_report, write_report

__all__ = ["check_report", "write_report"]
