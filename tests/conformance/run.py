#!/usr/bin/env python3
"""Asks parsers of robots.txt which crawler may request which URL, and compares their answers with the expected ones.

README.md describes the cases, the parsers and the protocols of --command and --pipe. Exit code: 0 if all parsers agree with
all expected answers, 1 if one differs or fails, 2 if nothing could be compared.
"""

from __future__ import annotations

import argparse
import base64
import collections
import csv
import importlib.metadata
import json
import os
import platform
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

HERE = Path(__file__).resolve().parent
SECONDS_MAX = 10  # for one answer; of the processor, for parsers of Python
REPEATED_BYTES_MAX = 1 << 20  # of one part of a robots.txt that a case repeats

# What --files asks of each file.
TOKENS = ["otherbot", "Googlebot", "bingbot", "GPTBot", "CCBot", "ClaudeBot", "AhrefsBot", "Googlebot-Image"]
PATHS = ["/", "/index.html", "/search?q=robots", "/admin/", "/wp-admin/admin-ajax.php", "/login", "/images/logo.png",
         "/a/document.pdf", "/cart?item=1&sort=price", "/%E3%83%84"]
RULES_MAX = 5  # the first rules of each file, as paths


class Question(NamedTuple):
    robots: bytes
    token: bytes
    url: bytes
    expected: bool | None  # None: nobody knows, --write asks
    rfc9309: bool | None  # what RFC 9309 says, where it differs from Google's parser
    topic: str
    name: str


class Failed(Exception):
    """The parser gave no answer."""


# ---- parsers of Python ---------------------------------------------------------------------------------------------
# Each takes the bytes of a robots.txt and returns a function of product token and URL. Parsers that take text get it in
# UTF-8, with U+FFFD for other bytes.


def text(robots):
    return robots.decode("utf-8", "replace")


def protego(robots):
    from protego import Protego
    parsed = Protego.parse(text(robots))
    return lambda token, url: parsed.can_fetch(url, token)


def urllib_robotparser(robots):
    from urllib.robotparser import RobotFileParser
    parsed = RobotFileParser()
    parsed.parse(text(robots).splitlines())
    parsed.modified()
    return parsed.can_fetch


def robotexclusionrulesparser(robots):
    from robotexclusionrulesparser import RobotExclusionRulesParser
    parsed = RobotExclusionRulesParser()
    parsed.parse(text(robots))
    return parsed.is_allowed


def robotspy(robots):
    from robots import RobotsParser
    return RobotsParser.from_string(text(robots)).can_fetch


def reppy2(robots):
    from reppy.parser import Rules
    parsed = Rules("https://example.com/robots.txt", 200, text(robots), 1e12)
    return lambda token, url: parsed.allowed(url, token)


def gpyrobotstxt(robots):
    from gpyrobotstxt.robots_cc import RobotsMatcher
    return lambda token, url: RobotsMatcher().one_agent_allowed_by_robots(robots, token, url)


def google(robots):
    from jwm.robotstxt.googlebot import RobotsMatcher
    return lambda token, url: RobotsMatcher().OneAgentAllowedByRobots(robots, token.encode(), url.encode())


def fast_robotstxt(robots):
    from robotstxt import RobotsMatcher
    body = text(robots)
    return lambda token, url: RobotsMatcher().is_allowed(body, token, url)


def botaudit(robots):
    from pybotaudit import RobotsTxt
    return RobotsTxt(robots).is_allowed


# Name, package of the version, adapter.
PARSERS = {
    "protego": ("protego", protego),
    "urllib": (None, urllib_robotparser),
    "robotexclusionrulesparser": ("robotexclusionrulesparser", robotexclusionrulesparser),
    "robotspy": ("robotspy", robotspy),
    "reppy2": ("reppy2", reppy2),
    "gpyrobotstxt": ("gpyrobotstxt", gpyrobotstxt),
    "google": ("jwm.robotstxt", google),
    "fast-robotstxt": ("fast-robotstxt", fast_robotstxt),
    "botaudit": ("pybotaudit", botaudit),
}


class InProcess:
    """A parser of Python. It parses a robots.txt once."""

    def __init__(self, name):
        package, self.make = PARSERS[name]
        self.name, self.robots, self.ask = name, None, None
        self.make(b"")(*("foobot", "https://example.com/"))  # fails here if it is not installed
        self.version = importlib.metadata.version(package) if package else "Python " + platform.python_version()

    def answer(self, question):
        def too_late(*_):
            raise Failed(f"no answer within {SECONDS_MAX} seconds")

        signal.signal(signal.SIGPROF, too_late)
        signal.setitimer(signal.ITIMER_PROF, SECONDS_MAX)
        try:
            if self.robots is not question.robots:
                self.robots, self.ask = None, None
                self.ask = self.make(question.robots)
                self.robots = question.robots
            return bool(self.ask(text(question.token), text(question.url)))
        except Exception as error:
            raise Failed(f"{type(error).__name__}: {error}") from error
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


# ---- parsers of other languages ------------------------------------------------------------------------------------


def name_and_words(argument):
    name, separator, command = argument.partition("=")
    if not separator or not re.fullmatch(r"[\w.-]+", name):
        name, command = Path(*shlex.split(argument)[:1]).name, argument
    words = shlex.split(command)
    if not words or shutil.which(words[0]) is None:
        raise ValueError(f"no such program: {command}")
    return name, words


class Command:
    """A program that answers one question by its exit code."""

    version = ""

    def __init__(self, argument):
        self.name, self.words = name_and_words(argument)
        self.file, self.robots = tempfile.NamedTemporaryFile(prefix="robots-", suffix=".txt"), None

    def answer(self, question):
        if self.robots is not question.robots:
            self.file.seek(0)
            self.file.truncate()
            self.file.write(question.robots)
            self.file.flush()
            self.robots = question.robots
        values = {"{robots}": os.fsencode(self.file.name), "{token}": question.token, "{url}": question.url}
        if any(word in values for word in self.words):
            words = [values.get(word, word) for word in self.words]
        else:
            words = [*self.words, *values.values()]
        try:
            code = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  timeout=SECONDS_MAX).returncode
        except (subprocess.TimeoutExpired, ValueError) as error:
            raise Failed(str(error)) from error
        if code not in (0, 1):
            raise Failed(f"exit code {code}")
        return code == 0


class Pipe:
    """A program that answers one line by one line."""

    version = ""

    def __init__(self, argument):
        self.name, self.words = name_and_words(argument)
        self.process, self.robots = None, None

    def answer(self, question):
        if self.process is None:
            self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.robots = None
        robots = b"-" if self.robots is question.robots else base64.b64encode(question.robots)
        self.robots = question.robots
        try:
            self.process.stdin.write(b"\t".join([robots, field(question.token), field(question.url)]) + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self.stop()
            raise Failed("the program ended") from None
        if not select.select([self.process.stdout], [], [], SECONDS_MAX)[0]:
            self.stop()
            raise Failed(f"no answer within {SECONDS_MAX} seconds")
        answer = self.process.stdout.readline()
        if not answer.endswith(b"\n"):
            self.stop()
            raise Failed("the program ended")
        if answer not in (b"0\n", b"1\n"):
            raise Failed(answer.decode("utf-8", "replace").strip())
        return answer == b"1\n"

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process = None


# ---- cases ---------------------------------------------------------------------------------------------------------


def body(case):
    if "robots_txt_base64" in case:
        return base64.b64decode(case["robots_txt_base64"])
    parts = []
    for part in case["robots_txt"]:
        if isinstance(part, str):
            parts.append(part + "\n")
        elif len(part["text"].encode()) * part["times"] > REPEATED_BYTES_MAX:
            raise ValueError(f"{case['name']}: more than {REPEATED_BYTES_MAX} bytes")
        else:
            parts.append(part["text"] * part["times"])
    return "".join(parts).encode()


def written_cases(paths, level):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        for case in document["cases"]:
            if level not in (None, case["level"]):
                continue
            robots = body(case)
            for request in case["requests"]:
                expected = request["expected"] == "allow"
                rfc9309 = request["rfc9309"] == "allow" if "rfc9309" in request else None
                yield Question(robots, request["token"].encode(), request["url"].encode(), expected, rfc9309,
                               document["topic"], case["name"])


def unfield(value):
    return base64.b64decode(value[4:]) if value.startswith(b"b64:") else value


def field(value):
    is_plain = all(byte >= 0x20 and byte not in (0x7F,) for byte in value) and not value.startswith(b"b64:")
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        is_plain = False
    return value if is_plain else b"b64:" + base64.b64encode(value)


def is_plain(question):
    """Whether all parsers should agree: a usual name, an absolute URL that is encoded, not of /robots.txt, a file in UTF-8."""
    try:
        question.robots.decode("utf-8")
    except UnicodeDecodeError:
        return False
    is_url = re.fullmatch(rb"https?://[a-z.]+/(?:[!$&-;=?-Z_a-z~]|%[0-9A-F]{2})*", question.url)
    is_own = re.search(rb"://[a-z.]+/robots\.txt(\?|$)", question.url)
    return bool(re.fullmatch(rb"[A-Za-z_-]+", question.token) and is_url and not is_own)


def generated_cases(path):
    """Rows of robots.txt in base64 (- for that of the row before), token, URL, 1 or 0, and others that do not matter."""
    robots = None
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip(b"\n").split(b"\t")
            if len(fields) < 4 or fields[3] not in (b"0", b"1") or (robots is None and fields[0] == b"-"):
                raise ValueError(f"{path}:{number}: not robots.txt, token, URL and 0 or 1, separated by tabs")
            if fields[0] != b"-":
                robots = base64.b64decode(fields[0])
            question = Question(robots, unfield(fields[1]), unfield(fields[2]), fields[3] == b"1", None, "", str(number))
            yield question._replace(topic="plain" if is_plain(question) else "unusual")


def paths_of_rules(robots):
    rules = re.findall(rb"^[ \t]*(?:dis)?allow[ \t]*:[ \t]*([^\s#]+)", robots, re.IGNORECASE | re.MULTILINE)
    for rule in rules[:RULES_MAX]:
        path = quote(rule.replace(b"*", b"x").removesuffix(b"$"), safe="/?&=%:;,+!~'()@-._$[]")
        if path.startswith("/") and path != "/robots.txt":
            yield path


def file_questions(directory):
    for path in sorted(directory.iterdir()):
        robots = path.read_bytes()
        for url in dict.fromkeys([*PATHS, *paths_of_rules(robots)]):
            for token in TOKENS:
                yield Question(robots, token.encode(), b"https://example.com" + url.encode(), None, None, "", path.name)


def write(path, parser, questions):
    """The answers of `parser` as a file for --cases."""
    before, failed = None, 0
    with open(path, "wb") as file:
        for question in questions:
            try:
                answer = b"1" if parser.answer(question) else b"0"
            except Failed:
                failed += 1
                continue
            robots = b"-" if before is question.robots else base64.b64encode(question.robots)
            before = question.robots
            file.write(b"\t".join([robots, field(question.token), field(question.url), answer]) + b"\n")
    print(f"{path}: the answers of {parser.name}; {failed} questions without an answer are left out", file=sys.stderr)


# ---- comparison ----------------------------------------------------------------------------------------------------


class Result(NamedTuple):
    kind: str  # agree, disallowed, allowed or failed
    is_rfc9309: bool  # it differs from Google's parser, and agrees with RFC 9309
    said: str


def compare(parser, question, dialect):
    expected = question.expected
    if dialect == "rfc9309" and question.rfc9309 is not None:
        expected = question.rfc9309
    try:
        allowed = parser.answer(question)
    except Failed as failure:
        return Result("failed", False, str(failure))
    if allowed == expected:
        return Result("agree", False, "")
    said = "allowed" if allowed else "disallowed"
    return Result(said, dialect == "google" and allowed == question.rfc9309, said)


def shown(value):
    return ascii(value.decode("utf-8", "replace"))[1:-1][:100]


def differences(parser, found, details):
    for question, result in found[:details]:
        print(f"{parser.name}: {question.topic}/{question.name}: {shown(question.token)} {shown(question.url)}: {result.said[:200]}")


TOTALS = [
    ("requests", lambda counts: sum(counts.values()) - counts["rfc9309"]),
    ("agree", lambda counts: counts["agree"]),
    ("differ", lambda counts: counts["allowed"] + counts["disallowed"] + counts["failed"]),
    ("of these: allowed", lambda counts: counts["allowed"]),
    ("disallowed", lambda counts: counts["disallowed"]),
    ("no answer", lambda counts: counts["failed"]),
    ("as RFC 9309 says", lambda counts: counts["rfc9309"]),
]


def differing(counts):
    return counts["allowed"] + counts["disallowed"] + counts["failed"]


def table(rows, format):
    """Rows of cells, the first of them the header."""
    if format == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
    elif format == "markdown":
        rows = [rows[0], ["---", *["---:"] * (len(rows[0]) - 1)], *rows[1:]]
        print("\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows))
    else:
        widths = [max(len(str(row[at])) for row in rows) for at in range(len(rows[0]))]
        for row in rows:
            cells = [str(row[0]).ljust(widths[0]), *(str(cell).rjust(width) for cell, width in zip(row[1:], widths[1:]))]
            print("  ".join(cells).rstrip())
    print()


def print_tables(results, requests, format):
    rows = [["parser", *(name for name, _ in TOTALS)]]
    for parser, topics in results:
        total = sum(topics.values(), collections.Counter())
        rows.append([f"{parser.name} {parser.version}".strip(), *(count(total) for _, count in TOTALS)])
    table(rows, format)
    rows = [["requests that differ, by topic", "requests", *(parser.name for parser, _ in results)]]
    for topic in requests:
        rows.append([topic, requests[topic], *(differing(topics[topic]) for _, topics in results)])
    table(rows, format)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog="Exit codes: 0 all agree, 1 some differ, 2 failed.")
    parser.add_argument("--parser", action="append", default=[], choices=[*PARSERS], help="a parser of Python that is installed")
    parser.add_argument("--command", action="append", default=[], metavar="[NAME=]CMD",
                        help="a program that gets robots.txt, token and URL as arguments, or in place of {robots}, {token} and {url}; "
                             "exit code 0: allowed, 1: disallowed")
    parser.add_argument("--pipe", action="append", default=[], metavar="[NAME=]CMD",
                        help="a program that answers each line of robots.txt, token and URL with 1 or 0")
    parser.add_argument("--cases", type=Path, action="append", default=[], metavar="FILE",
                        help="cases: JSON as in cases/, or rows of .tsv (default: all of cases/)")
    parser.add_argument("--files", type=Path, metavar="DIR", help="with --write: ask for the robots.txt files of DIR")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the answers of the one parser as cases")
    parser.add_argument("--plain", action="store_true", help="of rows, only those with a usual name, an encoded URL, and a file in UTF-8")
    parser.add_argument("--level", choices=["rfc", "google"], help="only cases that RFC 9309 decides, or only the others")
    parser.add_argument("--dialect", choices=["google", "rfc9309"], default="google", help="whose answers are expected where they differ")
    parser.add_argument("--details", type=int, default=0, metavar="N", help="print the first N differences of each parser")
    parser.add_argument("--format", choices=["text", "markdown", "csv"], default="text", help="format of the tables")
    args = parser.parse_args()
    if (args.files is None) != (args.write is None):
        parser.error("--files and --write belong together")
    if not (args.parser or args.command or args.pipe):
        parser.error("no parser: use --parser, --command or --pipe")
    if args.write and len(args.parser + args.command + args.pipe) != 1:
        parser.error("--write needs exactly one parser")
    return args


def questions(args):
    rows = [path for path in args.cases if path.suffix == ".tsv"]
    documents = [path for path in args.cases if path.suffix != ".tsv"]
    if not args.cases:
        documents = sorted((HERE / "cases").glob("*.json"))
    found = list(written_cases(documents, args.level))
    for path in rows:
        found += [question for question in generated_cases(path) if question.topic == "plain" or not args.plain]
    return found


def with_fixed_hashes():
    """Starts this program again if needed. Some parsers depend on the order of a set, and would answer otherwise in each run."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})


def main():
    args = arguments()
    try:
        parsers = [*map(InProcess, args.parser), *map(Command, args.command), *map(Pipe, args.pipe)]
        if args.write:
            write(args.write, parsers[0], file_questions(args.files))
            return 0
        asked = questions(args)
    except (ImportError, OSError, ValueError, KeyError) as error:
        hint = "; install it, or leave it out" if isinstance(error, ImportError) else ""
        print(f"run.py: {error}{hint}", file=sys.stderr)
        return 2
    if not asked:
        print("run.py: no cases", file=sys.stderr)
        return 2
    requests = collections.Counter(question.topic for question in asked)
    results = []
    for parser in parsers:
        topics, found = collections.defaultdict(collections.Counter), []
        for question in asked:
            result = compare(parser, question, args.dialect)
            topics[question.topic][result.kind] += 1
            topics[question.topic]["rfc9309"] += result.is_rfc9309
            if result.kind != "agree":
                found.append((question, result))
        results.append((parser, topics))
        differences(parser, found, args.details)
    print_tables(results, requests, args.format)
    return int(any(differing(counts) for _, topics in results for counts in topics.values()))


if __name__ == "__main__":
    with_fixed_hashes()
    sys.exit(main())
