#!/usr/bin/env python3
"""Asks parsers of robots.txt about real files and about the conformance cases, and counts where they differ from Google's parser.

parsers-disagree.md describes the data and the figures.
"""

import argparse
import collections
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

SUITE = Path(__file__).resolve().parents[2] / "tests/conformance"
sys.path.insert(0, str(SUITE))
import run  # noqa: E402

GOOGLE = "google"
OF_NODE = ["robots-parser", "robots-txt-guard", "robots-txt-parser"]
OF_RUST = ["botaudit", "robotstxt", "robotxt", "texting_robots", "fast-robots"]


def parsers(args):
    """All parsers that are there, except Google's."""
    for name in run.PARSERS:
        if name == GOOGLE or (args.rust and name in OF_RUST):
            continue
        try:
            yield run.InProcess(name)
        except ImportError as error:
            print(f"left out: {name}: {error}", file=sys.stderr)
    if args.node:
        for name in OF_NODE:
            # run.mjs takes packages from the directory in which it runs.
            script = f"cd {shlex.quote(str(args.node))} && exec node {shlex.quote(str(SUITE / 'run.mjs'))} --pipe {name}"
            yield run.Pipe(f"{name}=sh -c {shlex.quote(script)}")
    if args.rust:
        for name in OF_RUST:
            yield run.Pipe(f"{name}={shlex.quote(str(args.rust))} {name}")


def about_files(google, directory, every):
    """Questions about files, with the answers of Google's parser."""
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(directory.iterdir())[::every]:
            shutil.copy(path, folder)
        return [question._replace(expected=google.answer(question)) for question in run.file_questions(Path(folder))]


def counts(parser, questions):
    """The answers of the parser by kind, and those that differ by topic."""
    kinds, topics = collections.Counter(), collections.Counter()
    for question in questions:
        kind = run.compare(parser, question, "google").kind
        kinds[kind] += 1
        topics[question.topic] += kind != "agree"
    return kinds, topics


def print_table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|---" + "|---:" * (len(header) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in row) + " |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", type=Path, help="a directory of robots.txt files, such as tests/test_data of a clone of https://github.com/scrapy/protego")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask about each N-th file by name only (default: 1, all)")
    parser.add_argument("--node", type=Path, metavar="DIR", help="a directory with the packages of npm")
    parser.add_argument("--rust", type=Path, metavar="PROGRAM", help="the program of tests/conformance/rust")
    args = parser.parse_args()
    try:
        google = run.InProcess(GOOGLE)
    except ImportError as error:
        sys.exit(f"{error}: Google's parser gives the expected answers: pip install jwm.robotstxt")
    of_files = about_files(google, args.files, args.every)
    written = list(run.written_cases(sorted((SUITE / "cases").glob("*.json")), None))
    found = [(parser.name, *counts(parser, of_files), counts(parser, written)[1]) for parser in parsers(args)]

    print(f"{len(of_files):,} requests for {len({question.name for question in of_files}):,} real files:\n")
    rows = [[name, len(of_files) - kinds["agree"], kinds["allowed"], kinds["disallowed"], kinds["failed"]] for name, kinds, _, _ in found]
    print_table(["parser", "differ", "allow what Google's disallows", "disallow what it allows", "no answer"], sorted(rows, key=lambda row: (row[1], row[0])))

    print(f"{len(written):,} written requests:\n")
    requests = collections.Counter(question.topic for question in written)
    rows = [[topic, count, *(topics[topic] for _, _, _, topics in found)] for topic, count in requests.items()]
    print_table(["differ, by topic", "requests", *(name for name, _, _, _ in found)], rows)


if __name__ == "__main__":
    run.with_fixed_hashes()
    main()
