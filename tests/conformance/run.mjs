#!/usr/bin/env node
// Asks parsers of JavaScript which crawler may request which URL. It takes the same cases as run.py, or answers its questions with --pipe.
// README.md describes both. Exit code: 0 if all agree, 1 if one differs or fails, 2 if nothing could be compared.

import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { runInThisContext } from "node:vm";

const HERE = dirname(fileURLToPath(import.meta.url));
// Packages are those of the current directory.
const require = createRequire(join(process.cwd(), "package.json"));
const SECONDS_MAX = 10; // for one answer, as in run.py
const USAGE = "usage: run.mjs --parser NAME [--parser NAME ...] [--cases FILE ...] [--details N]\n       run.mjs --pipe NAME";

// Each gets the text of a robots.txt and returns, at once or later, a function of product token and URL.
const PARSERS = {
  "robots-parser": (text) => {
    const robots = require("robots-parser")("https://example.com/robots.txt", text);
    return (token, url) => robots.isAllowed(onExample(url), token);
  },
  "robots-txt-guard": async (text) => {
    const parsed = await require("robots-txt-parse")(Readable.from([Buffer.from(text)]));
    const guard = require("robots-txt-guard")(parsed);
    return (token, url) => guard.isAllowed(token, pathOf(url));
  },
  "robots-txt-parser": (text) => {
    const robots = require("robots-txt-parser")({ allowOnNeutral: true });
    robots.parseRobots("https://example.com", text);
    return (token, url) => {
      robots.setUserAgent(token);
      return robots.canCrawlSync(onExample(url));
    };
  },
};

// Both parsers answer only for the site of the robots.txt, so that the URL moves there; path and query stay as they are.
function onExample(url) {
  return "https://example.com" + pathOf(url);
}

function pathOf(url) {
  const rest = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").replace(/#.*$/s, "");
  return rest.startsWith("/") ? rest : "/" + rest;
}

function version(name) {
  const path = require.resolve.paths(name).map((folder) => join(folder, name, "package.json"));
  for (const file of path) {
    try {
      return JSON.parse(readFileSync(file, "utf8")).version;
    } catch {
      continue;
    }
  }
  return "";
}

// ---- cases

function body(one) {
  if ("robots_txt_base64" in one) return Buffer.from(one.robots_txt_base64, "base64");
  const parts = one.robots_txt.map((part) => (typeof part === "string" ? part + "\n" : part.text.repeat(part.times)));
  return Buffer.from(parts.join(""));
}

function* writtenCases(path) {
  const { topic, cases } = JSON.parse(readFileSync(path, "utf8"));
  for (const one of cases) {
    const robots = body(one).toString("utf8");
    for (const { token, url, expected } of one.requests) {
      yield { robots, token, url, expected: expected === "allow", topic, name: one.name };
    }
  }
}

function unfield(value) {
  return value.startsWith("b64:") ? Buffer.from(value.slice(4), "base64").toString("utf8") : value;
}

function* generatedCases(path) {
  let robots;
  let number = 0;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    number += 1;
    if (line === "") continue;
    const [text, token, url, allowed] = line.split("\t");
    if (text !== "-") robots = Buffer.from(text, "base64").toString("utf8");
    if (robots === undefined || !["0", "1"].includes(allowed)) throw new Error(`${path}:${number}: not a row of cases`);
    yield { robots, token: unfield(token), url: unfield(url), expected: allowed === "1", topic: "rows", name: String(number) };
  }
}

function questions(paths) {
  const folder = join(HERE, "cases");
  const files = paths.length > 0 ? paths : readdirSync(folder).filter((name) => name.endsWith(".json")).sort().map((name) => join(folder, name));
  return files.flatMap((path) => [...(path.endsWith(".tsv") ? generatedCases(path) : writtenCases(path))]);
}

// ---- answers

// The value of a call. Only code of a context can be ended from outside while it runs.
function inTime(call) {
  globalThis.conformanceCall = call;
  try {
    return runInThisContext("conformanceCall()", { timeout: SECONDS_MAX * 1000 });
  } catch (error) {
    throw error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? new Error(`no answer within ${SECONDS_MAX} seconds`) : error;
  }
}

async function answer(parser, question) {
  if (parser.robots !== question.robots) {
    parser.robots = undefined;
    parser.ask = await PARSERS[parser.name](question.robots);
    parser.robots = question.robots;
  }
  const allowed = inTime(() => parser.ask(question.token, question.url));
  if (typeof allowed !== "boolean") throw new Error(`it answered ${allowed}`);
  return allowed;
}

async function pipe(name) {
  const parser = { name };
  let robots;
  for await (const line of createInterface({ input: process.stdin })) {
    const [text, token, url] = line.split("\t");
    if (text !== "-") robots = Buffer.from(text, "base64").toString("utf8");
    try {
      const allowed = await answer(parser, { robots, token: unfield(token), url: unfield(url) });
      process.stdout.write(allowed ? "1\n" : "0\n");
    } catch (error) {
      process.stdout.write(`failed: ${String(error.message).replace(/\s+/g, " ")}\n`);
    }
  }
}

async function compare(name, asked, details) {
  const parser = { name };
  const topics = new Map();
  let agreeing = 0;
  for (const question of asked) {
    let said;
    try {
      const allowed = await answer(parser, question);
      said = allowed === question.expected ? undefined : allowed ? "allowed" : "disallowed";
    } catch (error) {
      said = error.message;
    }
    const counts = topics.get(question.topic) ?? { requests: 0, differ: 0 };
    topics.set(question.topic, { requests: counts.requests + 1, differ: counts.differ + (said === undefined ? 0 : 1) });
    agreeing += said === undefined ? 1 : 0;
    if (said !== undefined && details-- > 0) {
      console.log(`${name}: ${question.topic}/${question.name}: ${JSON.stringify([question.token, question.url])}: ${said}`);
    }
  }
  console.log(`${name} ${version(name)}: ${agreeing} of ${asked.length} requests agree`);
  for (const [topic, { requests, differ }] of topics) console.log(`  ${topic}: ${differ} of ${requests} differ`);
  return agreeing === asked.length;
}

function options(words) {
  const found = { parsers: [], cases: [], details: 0, pipe: undefined };
  for (let at = 0; at < words.length; at += 2) {
    const value = words[at + 1];
    if (value === undefined) return undefined;
    if (words[at] === "--parser" && value in PARSERS) found.parsers.push(value);
    else if (words[at] === "--pipe" && value in PARSERS) found.pipe = value;
    else if (words[at] === "--cases") found.cases.push(value);
    else if (words[at] === "--details" && /^\d+$/.test(value)) found.details = Number(value);
    else return undefined;
  }
  return found.pipe === undefined && found.parsers.length === 0 ? undefined : found;
}

async function main() {
  const found = options(process.argv.slice(2));
  if (found === undefined) {
    console.error(`${USAGE}\nparsers: ${Object.keys(PARSERS).join(", ")}`);
    return 2;
  }
  try {
    for (const name of found.pipe === undefined ? found.parsers : [found.pipe]) await PARSERS[name]("User-agent: *\nDisallow:\n");
    if (found.pipe !== undefined) {
      await pipe(found.pipe);
      return 0;
    }
    const asked = questions(found.cases);
    let agree = true;
    for (const name of found.parsers) agree = (await compare(name, asked, found.details)) && agree;
    return agree ? 0 : 1;
  } catch (error) {
    console.error(`run.mjs: ${error.message}`);
    return 2;
  }
}

process.exitCode = await main();
