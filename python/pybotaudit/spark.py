"""Verdicts on data frames of Apache Spark, and audits of many logs.

Every worker needs this package. Nothing here collects rows on the driver, except the tally of an
audit.
"""

from __future__ import annotations

from pybotaudit._spark_audit import AuditProblems, audit
from pybotaudit._spark_classify import classify, classify_archive
from pybotaudit._spark_restrictions import restrictions
from pybotaudit._spark_robots import robots_from_warcs

__all__ = [
    "AuditProblems",
    "audit",
    "classify",
    "classify_archive",
    "restrictions",
    "robots_from_warcs",
]
