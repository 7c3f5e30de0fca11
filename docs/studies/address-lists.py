#!/usr/bin/env python3
"""Measures what an old list of a crawler's addresses misses: the share of today's addresses that it lacks.

address-lists.md describes the data and the figures.
"""

import argparse
import ipaddress
import json
import re
import statistics
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

AGES = (30, 90, 180, 365)  # days
CRAWLERS = ["ahrefsbot", "applebot", "bingbot", "commoncrawlbot", "duckduckbot", "facebookbot", "googlebot"]


def intervals(networks):
    """IPv4 networks as sorted intervals that do not touch."""
    found = []
    for text in networks:
        try:
            network = ipaddress.ip_network(text.strip(), strict=False)
        except ValueError:
            continue
        if network.version == 4:
            found.append(network)
    return [(int(network[0]), int(network[-1]) + 1) for network in ipaddress.collapse_addresses(found)]


def size(of):
    return sum(end - start for start, end in of)


def common(first, second):
    """How many addresses are in both."""
    count, at, other = 0, 0, 0
    while at < len(first) and other < len(second):
        start, end = max(first[at][0], second[other][0]), min(first[at][1], second[other][1])
        count += max(0, end - start)
        if first[at][1] < second[other][1]:
            at += 1
        else:
            other += 1
    return count


def missing(old, new):
    """The share of `new` that `old` lacks."""
    return 1 - common(old, new) / size(new)


def git(checkout, *words):
    return subprocess.run(["git", "-C", str(checkout), *words], stdout=subprocess.PIPE, text=True, check=True).stdout


def versions(checkout, path):
    """(day, addresses) of each version of a file that has addresses, from the oldest; of a day, the last."""
    found = {}
    for line in git(checkout, "log", "--reverse", "--format=%H %cs", "--", path).splitlines():
        commit, day = line.split()
        shown = subprocess.run(["git", "-C", str(checkout), "show", f"{commit}:{path}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        of_day = intervals(shown.stdout.splitlines())
        if of_day:
            found[date.fromisoformat(day)] = of_day
    return sorted(found.items())


def in_force(history, day):
    before = [of_day for at, of_day in history if at <= day]
    return before[-1] if before else None


def shares(history, age, last):
    """For each month from the first version: the share that a list of that age lacked."""
    day, found = last, []
    while day - timedelta(days=age) >= history[0][0]:
        found.append(missing(in_force(history, day - timedelta(days=age)), in_force(history, day)))
        day -= timedelta(days=30)
    return found


def percent(share):
    return f"{100 * share:.1f} %"


def goodbots(checkout):
    last = date.fromisoformat(git(checkout, "log", "-1", "--format=%cs").strip())
    header = ["list", "versions", "first", "addresses", *(f"{age} days" for age in AGES), "since the first"]
    print("| " + " | ".join(header) + " |\n|---" + "|---:" * (len(header) - 1) + "|")
    for name in CRAWLERS:
        history = versions(checkout, f"iplists/{name}.ips")
        cells = [name, len(history), history[0][0], f"{size(history[-1][1]):,}"]
        for age in AGES:
            found = shares(history, age, last)
            cells.append(f"{percent(statistics.mean(found))}, at most {percent(max(found))}" if found else "")
        cells.append(percent(missing(history[0][1], history[-1][1])))
        print("| " + " | ".join(map(str, cells)) + " |")
    print()


def llmbots(checkout):
    lists = {}
    for path in sorted((checkout / "chatgpt_casestudy/bot_ips").glob("*.json")):
        name, day = re.fullmatch(r"(.+)_(\d{8})_\d{6}\.json", path.name).groups()
        prefixes = json.loads(path.read_text(encoding="utf-8"))["prefixes"]
        networks = intervals(prefix.get("ipv4Prefix", "") for prefix in prefixes)
        lists.setdefault(name, []).append((date.fromisoformat(f"{day[:4]}-{day[4:6]}-{day[6:]}"), networks))
    print("| list | of | addresses | days older than the last | lacks of the last | no longer in the last |\n|---|---|---:|---:|---:|---:|")
    for name, history in lists.items():
        if len(history) < 2:
            continue
        newest, last = history[-1]
        for day, of_day in history:
            print(f"| {name} | {day} | {size(of_day):,} | {(newest - day).days} | {percent(missing(of_day, last))} | {percent(missing(last, of_day))} |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--goodbots", type=Path, metavar="DIR", help="a clone of https://github.com/AnTheMaker/GoodBots")
    parser.add_argument("--llmbots", type=Path, metavar="DIR", help="a clone of https://github.com/jiancui-research/ccs_ae_llmbot")
    args = parser.parse_args()
    if not (args.goodbots or args.llmbots):
        sys.exit("give --goodbots, --llmbots, or both")
    if args.goodbots:
        goodbots(args.goodbots)
    if args.llmbots:
        llmbots(args.llmbots)


if __name__ == "__main__":
    main()
