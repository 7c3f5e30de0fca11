#!/usr/bin/env python3
"""Compares the published tables of The Great GPT Firewall with what its robots.txt files say about `/`.

the-great-gpt-firewall.md describes the data and the figures.
"""

import argparse
import collections
import csv
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

class Verdict(NamedTuple):
    month: str
    site: str
    agent: str
    published: bool  # the table says that the site blocks the agent
    exact: bool  # its robots.txt disallows `/`
    group: str


def restrictions(botaudit, files, agents):
    """The rows of `botaudit robots restrictions`, by site and agent."""
    words = [botaudit, "robots", "restrictions", "--quiet", "--robots", files]
    for agent in agents:
        words += ["--token", agent]
    ran = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return {(row["origin"], row["name"]): row for row in csv.DictReader(ran.stdout.splitlines())}


def is_disallowed(path, line):
    """Whether this line of a robots.txt, which decides about `/`, disallows it."""
    if not line:
        return False
    text = path.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[int(line) - 1].split(b"#")[0]
    field, _, value = text.partition(b":")
    return not field.strip().lower().startswith(b"allow") and bool(value.strip())


def verdicts(botaudit, checkout, month):
    year = month[:4]
    published = json.loads((checkout / year / f"{month}.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for path in (checkout / year / f"{month}-robots.txt").glob("*.robots.txt"):
            shutil.copy(path, Path(folder) / (path.name.removesuffix(".robots.txt") + ".txt"))
        agents = list(dict.fromkeys(agent for site in published for agent in site["breakdown"]))
        rows = restrictions(botaudit, folder, agents)
        for site in published:
            for agent, is_blocked in site["breakdown"].items():
                row = rows.get((site["domain"].lower(), agent))
                if row is not None:
                    exact = is_disallowed(Path(folder) / f"{site['domain']}.txt", row["rule_line"])
                    yield Verdict(month, site["domain"], agent, is_blocked, exact, row["group"])


def why(verdict):
    if verdict.published == verdict.exact:
        return "same"
    if verdict.published:
        return {"own": "named, but allowed", "star": "named elsewhere", "none": "named elsewhere"}[verdict.group or "none"]
    return {"own": "named in another way", "star": "* closes the site"}[verdict.group]


def print_table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" + "---:|" * (len(header) - 1))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("checkout", type=Path, help="a clone of https://github.com/samber/the-great-gpt-firewall")
    parser.add_argument("--botaudit", default="botaudit", help="the program (default: botaudit)")
    parser.add_argument("--month", default="2025-12", help="the month of the second table (default: 2025-12)")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write each verdict")
    args = parser.parse_args()
    months = sorted(path.name.removesuffix("-robots.txt") for path in args.checkout.glob("20??/*-robots.txt"))
    if args.month not in months:
        sys.exit(f"{args.checkout} has no robots.txt files of {args.month}, only of: {', '.join(months)}")
    found = [verdict for month in months for verdict in verdicts(args.botaudit, args.checkout, month)]

    kinds = ["* closes the site", "named, but allowed", "named elsewhere", "named in another way"]
    rows = []
    for month in months:
        of_month = [verdict for verdict in found if verdict.month == month]
        causes = collections.Counter(map(why, of_month))
        sites = len({verdict.site for verdict in of_month})
        differing = len(of_month) - causes["same"]
        rows.append([month, sites, len(of_month), differing, *(causes[kind] for kind in kinds)])
    print_table(["month", "sites", "verdicts", "differ", *kinds], rows)

    agents = collections.defaultdict(collections.Counter)
    for verdict in found:
        if verdict.month == args.month:
            agents[verdict.agent].update({"published": verdict.published, "exact": verdict.exact, why(verdict): 1})
    rows = [[agent, counts["published"], counts["exact"], *(counts[kind] for kind in kinds)] for agent, counts in agents.items()]
    print_table([f"agent, {args.month}", "published", "exact", *kinds], sorted(rows, key=lambda row: (-row[1], row[0])))

    if args.csv:
        with open(args.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([*Verdict._fields, "why"])
            writer.writerows([*verdict, why(verdict)] for verdict in found)


if __name__ == "__main__":
    main()
