"""Classify the requests of the sample data by Spark, and audit its logs.

Usage: python python/examples/sample_data.py [REPORT], in the root directory of the project
"""

from __future__ import annotations

import sys
from pathlib import Path

import pybotaudit
from pybotaudit import spark as botaudit_spark
from pyspark.sql import SparkSession


def main() -> None:
    """Print the verdicts by crawler, and write a report."""
    report = sys.argv[1] if len(sys.argv) > 1 else "botaudit-report"
    spark = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    logs = sorted(Path("sample-data/logs").iterdir())
    botaudit_spark.audit(spark, logs, robots="sample-data/robots", output=report)
    violations = pybotaudit.read_report(report)["violations"]
    print(f"{report}: {len(violations)} broken rules")
    rows = violations.select(["origin", "example_target"]).to_pylist()
    urls = [(row["origin"] + row["example_target"],) for row in rows]
    frame = spark.createDataFrame(urls, "url string").distinct()
    answers = botaudit_spark.classify_archive(
        frame, "sample-data/robots", crawlers=["GPTBot", "Googlebot"]
    )
    answers.groupBy("crawler", "verdict").count().orderBy("crawler", "verdict").show()
    spark.stop()


if __name__ == "__main__":
    main()
