#!/usr/bin/env python3
"""Writes rows for `run.py --cases`: generated robots.txt files, requests, and the answers of Google's parser.

The same number of files and the same seed give the same rows. README.md describes rows.
"""

import argparse
import random
import re
import sys
from pathlib import Path
from urllib.parse import quote

import run

REQUESTS = 10  # for each file
NAMES = ["foobot", "barbot", "bazbot", "foobot-images", "foo", "bot", "Foo_Bot", "a"]
UNUSUAL_NAMES = ["foobot/2.1", "foo bot", "fo\u00f6bot", "MJ12bot", "foobot*", "*bot", "", "\t"]
PIECES = ["a", "a", "b", "page", "/", "/a", "/b/", ".html", ".php", "?", "?q=1", "&", "=", "-", "index.html", "*", "*", "$", "%61", "%2F", "%C3%A9", "%3F", "~", "//"]
PATHS = [piece for piece in PIECES if piece not in "*$"]
UNUSUAL_PIECES = ["\u00e9", "%2f", "%c3%a9", "%e9", "%", "%4", "%zz", " ", "\t", "**", "$$", "$a", "\\", "#", "\u2028", "\x0b", "\u30c4", "\ufeff", "\x00", '"']
FIELDS = ["Disallow", "Disallow", "Disallow", "Allow"]
UNUSUAL_FIELDS = ["disallow", "ALLOW", "Dissallow", "Disalow", "Useragent", "User agent", "Dis allow", "Allowed", "Noindex", " Disallow", "Disallow ", "\tAllow", "\ufeffDisallow"]
OTHERS = ["Sitemap: https://example.com/sitemap.xml", "Crawl-delay: 10", "# a comment", "", "", "Host: example.com", "Noindex: /a"]
UNUSUAL_OTHERS = ["<html>", "Disallow", "User-agent", "Disallow /", "User-agent *", ": /", "Sitemap:", "  ", "\x00", "a: b: c"]
ENDS = ["\n", "\n", "\n", "\r\n"]
UNUSUAL_ENDS = ["\r", "\n\r", "\r\r\n", "\n\n", "\u2028\n", "\x0c\n", " \n"]


class Writer:
    """Writes files that are usual, or with a share of unusual parts."""

    def __init__(self, rng, unusual):
        self.rng, self.unusual = rng, unusual

    def pick(self, usual, others):
        return self.rng.choice(others if self.rng.random() < self.unusual else usual)

    def pattern(self):
        if self.rng.random() < 0.06:
            return ""
        start = "" if self.rng.random() < self.unusual else "/"
        return start + "".join(self.pick(PIECES, UNUSUAL_PIECES) for _ in range(self.rng.choice([0, 0, 1, 1, 1, 2, 2, 3, 5])))

    def line(self, in_group):
        sort = self.rng.random()
        if sort < (0.2 if in_group else 0.9):
            name = "*" if self.rng.random() < 0.4 else self.pick(NAMES, UNUSUAL_NAMES)
            return self.pick(["User-agent"], ["user-agent", "USER-AGENT", "Useragent", "User agent", " User-agent", "User-agent "]) + self.colon() + name
        if sort < 0.85:
            return self.pick(FIELDS, UNUSUAL_FIELDS) + self.colon() + self.pattern()
        return self.pick(OTHERS, UNUSUAL_OTHERS)

    def colon(self):
        return self.pick([": ", ": ", ":"], [" : ", ":\t", "::", " ", " = ", ":  "])

    def file(self):
        end = self.pick(ENDS, UNUSUAL_ENDS)
        parts = ["\ufeff"] if self.rng.random() < self.unusual else []
        for number in range(self.rng.randint(1, 14)):
            comment = " # a" if self.rng.random() < 0.04 else ""
            last = self.pick([end], UNUSUAL_ENDS)
            parts += [self.line(number > 0), comment, last]
        text = "".join(parts).encode("utf-8")
        if self.rng.random() < self.unusual:
            at = self.rng.randrange(len(text) + 1)
            text = text[:at] + self.rng.choice([b"\xe9", b"\xff", b"\xc3", b"\xed\xa0\x80"]) + text[at:]
        return text

    def request(self, robots):
        """A name and a URL, most of them of the file."""
        names = re.findall(rb"(?im)^user-agent:[ \t]*([a-z_-]+)", robots)
        is_known = names and self.rng.random() < 0.5
        token = self.rng.choice(names) if is_known else self.pick(NAMES, UNUSUAL_NAMES).encode("utf-8")
        return token, self.url(robots)

    def url(self, robots):
        rules = re.findall(rb"(?im)^(?:dis)?allow[ \t]*:[ \t]*([^\s#]+)", robots)
        if rules and self.rng.random() < 0.75:
            # Some of a rule's special characters stay, because a URL may contain them.
            path = re.sub(rb"\*", lambda _: self.rng.choice([b"", b"a", b"/b/", b"*"]), self.rng.choice(rules))
            path = path.removesuffix(b"$") + self.rng.choice([b"", b"", b"", b"a", b"/", b".html", b"?q=1", b"index.html", b"$"])
            if self.unusual == 0:
                path = quote(path, safe="/?&=%:;,+!~'()@-._$*").encode("ascii")
        else:
            path = "/" + "".join(self.pick(PATHS, UNUSUAL_PIECES) for _ in range(self.rng.randint(0, 3)))
            path = path.encode("utf-8")
        host = self.pick(["https://example.com"], ["http://example.com:8080", "HTTPS://EXAMPLE.com", "", "example.com"])
        return host.encode("ascii") + path


def rows(files, seed):
    rng = random.Random(seed)
    for _ in range(files):
        # A third of the files is usual.
        writer = Writer(rng, rng.choice([0, 0.05, 0.25]))
        robots = writer.file()
        for _ in range(REQUESTS):
            yield robots, *writer.request(robots)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("output", type=Path, metavar="FILE.tsv")
    parser.add_argument("--files", type=int, default=3000, help="number of files, each with ten requests (default: 3000)")
    parser.add_argument("--seed", type=int, default=1, help="(default: 1)")
    args = parser.parse_args()
    try:
        google = run.InProcess("google")
    except ImportError as error:
        print(f"generate.py: {error}; pip install jwm.robotstxt", file=sys.stderr)
        return 2
    questions = (run.Question(robots, token, url, None, None, "", "") for robots, token, url in rows(args.files, args.seed))
    run.write(args.output, google, questions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
