#!/usr/bin/env python3
"""Counts AI crawlers in the log of site C of "Somesite I Used To Crawl" (IMC 2025): by the method of its notebook, and by an audit.

ucsd-site-c.md describes the data and the figures.
"""

import argparse
import collections
import csv
import ipaddress
import json
import re
import subprocess
import tempfile
from pathlib import Path

# The pattern of imc25_lib.py.
LINE = re.compile(r'(?P<ip>\S+) - - \[[^\]]+] "\S+ (?P<path>\S+) [^"]+" \d{3} \S+ "[^"]*" "(?P<user_agent>[^"]+)"')
OPENAI = ["OPENAI_SEARCHBOT_IPS", "OPENAI_GPTBOT_IPS", "OPENAI_CHATGPT_USER_IPS"]
# The lists that the notebook asks, by the name of the crawler.
LISTS = {"GPTBot": OPENAI, "ChatGPT-User": OPENAI, "OAI-SearchBot": OPENAI, "Applebot": ["APPLEBOT_IPS"], "Meta-ExternalAgent": ["META_IPS"],
         "Meta-ExternalFetcher": ["META_IPS"]}
# The same lists under the names by which an audit finds them.
FILES = {"gptbot.json": "OPENAI_GPTBOT_IPS", "chatgpt-user.json": "OPENAI_CHATGPT_USER_IPS", "searchbot.json": "OPENAI_SEARCHBOT_IPS", "applebot.json": "APPLEBOT_IPS"}
URLS = {"gptbot.json": "https://openai.com/gptbot.json", "chatgpt-user.json": "https://openai.com/chatgpt-user.json",
        "searchbot.json": "https://openai.com/searchbot.json", "applebot.json": "https://search.developer.apple.com/applebot.json"}


def lists(source):
    """The address lists of imc25_defs.py, read as text."""
    found = re.findall(r'^(\w+_IPS) = """\n(.*?)"""', source.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return {name: [line.strip() for line in text.splitlines() if line.strip()] for name, text in found}


def by_notebook(log, agents, addresses):
    """Requests, fetches of robots.txt, and spoofed other requests of each agent whose name is in the user agent."""
    counts = collections.defaultdict(collections.Counter)
    networks = {name: [ipaddress.ip_network(text) for text in found] for name, found in addresses.items()}
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        match = LINE.match(line.strip())
        if not match:
            continue
        for agent in agents:
            if agent.lower() not in match["user_agent"].lower():
                continue
            counts[agent]["requests"] += 1
            if "robots.txt" in match["path"]:
                counts[agent]["robots"] += 1
            elif agent in LISTS:
                address = ipaddress.ip_address(match["ip"])
                is_own = any(address in network for name in LISTS[agent] for network in networks[name])
                counts[agent]["spoofed"] += not is_own
    return counts


def by_audit(botaudit, log, addresses, listed_at):
    """Requests, fetches of robots.txt, and requests by identity, of each crawler in summary.csv."""
    counts = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "robots.txt").write_text("User-agent: *\nDisallow:\n", encoding="utf-8")
        ranges = folder / "ranges"
        ranges.mkdir()
        entries = []
        for file, name in FILES.items():
            size = (ranges / file).write_text(json.dumps({"prefixes": [{"ipv4Prefix": text} for text in addresses[name]]}), encoding="ascii")
            entries.append({"url": URLS[file], "file": file, "fetched_at_utc": listed_at, "size_bytes": size})
        (ranges / "manifest.json").write_text(json.dumps({"schema_version": 1, "lists": entries}), encoding="utf-8")
        # The lists that come with botaudit change from version to version.
        words = [botaudit, "audit", "--quiet", "--robots", folder / "robots.txt", "--origin", "https://website-c.com", "--ip-ranges", ranges, "--no-bundled-ranges",
                 "--output", folder / "report", log]
        subprocess.run(words, check=True)
        with open(folder / "report/summary.csv", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                found = counts[row["crawler"].lower()]
                found["requests"] += int(row["requests"])
                found["robots"] += int(row["robots_txt_requests"])
                found[row["identity"]] += int(row["requests"])
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("checkout", type=Path, help="a clone of https://github.com/ucsdsysnet/ai-crawler-imc-25")
    parser.add_argument("--botaudit", default="botaudit", help="the program (default: botaudit)")
    parser.add_argument("--listed-at", default="2025-05-06T00:00:00Z", metavar="TIME", help="time of the address lists (default: the day of the commit)")
    args = parser.parse_args()
    data = args.checkout / "respect-robots-txt"
    log = data / "data/access_websitec-com.log"
    addresses = lists(data / "src/imc25_defs.py")
    names = (data / "data/user-agents.txt").read_text(encoding="utf-8").splitlines()
    agents = [line.split(",")[0].strip() for line in names if line.strip() and not line.startswith("#")]
    agents.append("Perplexity-User")  # of the last cell of the notebook
    theirs = by_notebook(log, agents, addresses)
    ours = by_audit(args.botaudit, log, addresses, args.listed_at)
    print("| agent | notebook: requests | of robots.txt | spoofed others | audit: requests | of robots.txt | verified | spoofed | unverified |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for agent in sorted(theirs, key=lambda agent: (-theirs[agent]["requests"], agent)):
        counts, found = theirs[agent], ours[agent.lower()]
        spoofed = counts["spoofed"] if agent in LISTS else ""
        print(f"| {agent} | {counts['requests']} | {counts['robots']} | {spoofed} | {found['requests']} | {found['robots']} | "
              f"{found['verified']} | {found['spoofed']} | {found['unverified']} |")


if __name__ == "__main__":
    main()
