//! `report.html`, in a real browser if one is installed.
//!
//! A page of the test has the report in a frame, acts like a reader, and writes the result where
//! the browser dumps it. Both are served from this machine, so every request is seen.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::program::{Sandbox, line, repository};

const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";

/// Reads, sorts and filters the page, then writes the results.
const HARNESS: &str = r#"<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,"><pre id="seen"></pre>
<iframe id="frame" width="1200" height="900" SANDBOX></iframe>
<script>
const frame = document.getElementById("frame");
let blocked = 0;
frame.addEventListener("load", () => {
  const page = frame.contentDocument, seen = {};
  const table = (id) => page.getElementById(id);
  const first = (id) => [...table(id).tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.cells[0].textContent);
  const heading = (id, text) => [...table(id).tHead.rows[0].cells].find((th) => th.textContent.startsWith(text));
  page.addEventListener("securitypolicyviolation", () => { blocked += 1; });
  seen.headings = [...page.querySelectorAll("h2")].map((h) => h.textContent);
  seen.captioned = [...page.querySelectorAll("table")].every((t) => t.caption && t.caption.textContent);
  seen.scoped = [...page.querySelectorAll("th")].every((th) => th.scope);
  seen.ids = page.querySelectorAll("[id]").length === new Set([...page.querySelectorAll("[id]")].map((e) => e.id)).size;
  seen.links = [...page.querySelectorAll("a")].every((a) => page.querySelector(a.getAttribute("href")));
  seen.scripts = page.scripts.length;
  seen.foreign = page.querySelectorAll("img, iframe, object, embed, link, form, [style], [onclick], [onerror], [onload], main a").length;
  seen.pwned = frame.contentWindow.pwned === true;
  seen.text = page.body.innerText;
  seen.wide = page.documentElement.scrollWidth > page.documentElement.clientWidth;
  frame.width = 380;
  seen.wide_when_narrow = page.documentElement.scrollWidth > 380;
  frame.width = 1200;
  const numbers = (elements, text) => [...elements].map((e) => Number(text(e).replaceAll(",", "").split(": ").pop()));
  const sum = (all) => all.reduce((total, number) => total + number, 0);
  seen.drawn = Object.fromEntries([...page.querySelectorAll("figure svg[role=img]")].map((svg) =>
    [svg.getAttribute("aria-labelledby"), sum(numbers(svg.querySelectorAll("title"), (e) => e.textContent))]));
  seen.tabled = Object.fromEntries([...page.querySelectorAll("table")].map((t) =>
    [t.id, sum(numbers(t.querySelectorAll("tbody td.n"), (e) => e.dataset.v || "0"))]));
  seen.columns = Object.fromEntries([...page.querySelectorAll("table")].map((t) =>
    [t.id, [...(t.tHead ? t.tHead.rows[0].cells : [])].map((th) => [th.textContent, sum(numbers([...t.tBodies[0].rows].map((r) => r.cells[th.cellIndex]), (e) => (e && e.dataset.v) || "0"))])]));
  seen.charts_told = [...page.querySelectorAll("figure")].every((f) => {
    let next = f.nextElementSibling;
    while (next && !next.matches(".frame")) { next = next.nextElementSibling; }
    return next && next.querySelector("caption");
  });
  seen.named = [...page.querySelectorAll("svg[role=img]")].every((svg) => page.getElementById(svg.getAttribute("aria-labelledby")).textContent);
  seen.buttons = page.querySelectorAll("button, input").length;
  seen.loaded = frame.contentWindow.performance.getEntriesByType("resource").length;
  const sorted = ID;
  if (table(sorted) && seen.buttons) {
    seen.rows = table(sorted).tBodies[0].rows.length;
    const start = performance.now();
    const column = heading(sorted, "Requests");
    column.querySelector("button").click();
    seen.descending = [...table(sorted).tBodies[0].rows].map((row) => Number(row.cells[column.cellIndex].dataset.v));
    seen.sort = column.getAttribute("aria-sort");
    column.querySelector("button").click();
    seen.ascending = [...table(sorted).tBodies[0].rows].map((row) => Number(row.cells[column.cellIndex].dataset.v));
    const input = page.getElementById(sorted + "-filter");
    if (input) {
      input.value = "WORD";
      input.dispatchEvent(new frame.contentWindow.Event("input"));
      seen.filtered = first(sorted);
      seen.count = input.parentElement.querySelector("output").textContent;
    }
    seen.milliseconds = performance.now() - start;
  }
  seen.blocked = blocked;
  frame.remove();
  document.getElementById("seen").textContent = JSON.stringify(seen);
});
frame.src = "/report.html";
</script>"#;

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&path)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|path| path.is_file());
    if found.is_none() {
        eprintln!("skipped: no chromium here to show the page");
    }
    found
}

/// What the browser saw of the page, and the requested paths.
struct Shown {
    seen: Value,
    asked: Vec<String>,
}

/// Whether the script of a page runs.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Script {
    Runs,
    Blocked,
}

/// Shows the report `page`; sorts the table `id` by requests and filters it by `word`.
fn show(browser: &Path, page: String, id: &str, word: &str) -> Shown {
    show_with(browser, page, id, word, Script::Runs)
}

fn show_with(browser: &Path, page: String, id: &str, word: &str, script: Script) -> Shown {
    let sandbox = if script == Script::Runs { "" } else { "sandbox=\"allow-same-origin\"" };
    let harness = HARNESS.replace("ID;", &format!("{id:?};")).replace("WORD", word);
    let harness = harness.replace("SANDBOX", sandbox);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            log.lock().unwrap().extend(answer(stream.unwrap(), &harness, &page));
        }
    });
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
        .arg(format!("http://{address}/harness.html"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty() || script == Script::Blocked, "{console:?}");
    let dom = String::from_utf8_lossy(&output.stdout);
    let seen = dom.split("<pre id=\"seen\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let seen = seen.unwrap_or_else(|| panic!("nothing shown:\n{dom}\n{said}"));
    let seen = seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let seen = serde_json::from_str(&seen).unwrap_or_else(|err| panic!("{err}: {seen}\n{said}"));
    let asked = asked.lock().unwrap().clone();
    Shown { seen, asked }
}

/// Answers one request; returns the requested path.
fn answer(mut stream: TcpStream, harness: &str, page: &str) -> Option<String> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => request.extend_from_slice(&buffer[..count]),
        }
    }
    let path = String::from_utf8_lossy(&request).split(' ').nth(1)?.to_owned();
    let (status, body) = match path.as_str() {
        "/harness.html" => ("200 OK", harness),
        "/report.html" => ("200 OK", page),
        _ => ("404 Not Found", ""),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // The browser may disconnect at any time.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    Some(path)
}

impl Shown {
    /// Checks that apply to every page.
    #[track_caller]
    fn is_sound(&self) {
        let seen = &self.seen;
        for (what, expected) in [
            ("captioned", Value::Bool(true)),
            ("scoped", Value::Bool(true)),
            ("ids", Value::Bool(true)),
            ("links", Value::Bool(true)),
            ("scripts", 1.into()),
            ("foreign", 0.into()),
            ("pwned", Value::Bool(false)),
            ("charts_told", Value::Bool(true)),
            ("named", Value::Bool(true)),
            ("wide", Value::Bool(false)),
            ("wide_when_narrow", Value::Bool(false)),
            ("loaded", 0.into()),
            ("blocked", 0.into()),
        ] {
            assert_eq!(seen[what], expected, "{what}");
        }
        let headings = seen["headings"].as_array().unwrap();
        let is_simulated = headings.contains(&"What the draft would change".into());
        assert_eq!(headings.len(), if is_simulated { 12 } else { 11 });
        let mut asked = self.asked.clone();
        asked.sort();
        assert_eq!(asked, ["/harness.html", "/report.html"]);
    }

    fn numbers(&self, what: &str) -> Vec<u64> {
        let numbers = self.seen[what].as_array().unwrap();
        numbers.iter().map(|number| number.as_u64().unwrap()).collect()
    }

    #[track_caller]
    fn says(&self, what: &str) {
        let text = self.seen["text"].as_str().unwrap();
        assert!(text.contains(what), "{what:?} is not in:\n{text}");
    }
}

/// The page of an audit of the sample data.
fn sample_page(sandbox: &Sandbox, arguments: &str) -> String {
    let report = sandbox.path("report");
    let mut command = sandbox.command(&format!("audit -q {arguments} -o {}", report.display()));
    assert!(command.current_dir(repository()).status().unwrap().success());
    sandbox.text("report/report.html")
}

#[test]
fn a_page_sorts_and_filters_and_asks_for_nothing() {
    let Some(browser) = browser() else { return };
    let sandbox = Sandbox::new();
    let page = sample_page(&sandbox, "--robots sample-data/robots sample-data/logs");
    let shown = show(&browser, page, "by-crawler", "google SEARCH");
    shown.is_sound();
    let (mut sorted, descending) = (shown.numbers("descending"), shown.numbers("descending"));
    sorted.sort_unstable();
    assert_eq!(shown.numbers("ascending"), sorted);
    sorted.reverse();
    assert_eq!(descending, sorted);
    assert_eq!(shown.seen["sort"], "descending");
    let filtered: Vec<&str> =
        shown.seen["filtered"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(filtered, ["Googlebot-Image", "Googlebot"]);
    assert_eq!(shown.seen["count"], "2 of 10 rows");
    shown.says("10 crawlers made 166 requests that robots.txt disallowed");
}

#[test]
fn what_strangers_write_is_text() {
    let Some(browser) = browser() else { return };
    let attacks = [
        "<script>pwned=true</script>",
        "</script><img src=x onerror=pwned=true>",
        "'><svg onload=pwned=true>",
        "javascript:pwned=true",
        "\\x22><style>*{display:none}</style>",
        "\u{202e}txt.stobor\u{202c}",
        "nul\0nul",
        "&lt;b&gt;&amp;#x3c;",
        "{{7*7}}${7*7}",
    ];
    let mut log = String::new();
    for (at, attack) in attacks.iter().enumerate() {
        let (second, target) = (at as u32, attack.replace(' ', "%20"));
        log += &line(second, &format!("/private/{target}"), 200, BINGBOT);
        log += &line(second, "/private", 200, &format!("{attack} EvilBot/{at}"));
    }
    log += &line(60, &format!("/private/{}", "a".repeat(1 << 20)), 200, BINGBOT);
    log += &line(61, "/", 200, &format!("LongBot/{}", "b".repeat(1 << 20)));
    let sandbox = Sandbox::new();
    sandbox.write("a<script>pwned=true<b>.log", log);
    let rules = "User-agent: *\nDisallow: /private/<script>pwned=true\nDisallow: /private\n";
    sandbox.write("robots.txt", rules);
    let name = "a<script>pwned=true<b>.log";
    sandbox.run(&format!("audit -q --robots robots.txt -o report {name}")).exits(0);
    let page = sandbox.text("report/report.html");
    assert!(page.len() < 200_000, "{}", page.len());
    assert!(!page.contains('\0') && !page.contains('\u{202e}'));
    let shown = show(&browser, page, "by-user-agent", "evilbot/0");
    shown.is_sound();
    shown.says("<script>pwned=true</script> EvilBot/0");
    shown.says("</script><img src=x onerror=pwned=true>");
    shown.says("Disallow: /private/<script>pwned=true");
    shown.says("javascript:pwned=true");
    shown.says("\\xE2\\x80\\xAEtxt.stobor");
    shown.says("nul\\x00nul");
    shown.says("&lt;b&gt;&amp;#x3c;");
    assert_eq!(shown.seen["filtered"].as_array().unwrap().len(), 1);
}

/// Each part of the page with a distinct name; the markup can be checked without a browser.
#[test]
fn what_strangers_write_is_text_wherever_it_stands() {
    let sandbox = Sandbox::new();
    let hostile = |name: &str| format!("<{name}>&lt;");
    let crawlers = "name,operator,purpose,user_agent_regex,product_tokens\n";
    let [name, operator, purpose] = ["name", "operator", "purpose"].map(hostile);
    let row = format!("{name},{operator},{purpose},AcmeCrawler,acmecrawler\n");
    sandbox.write("crawlers.csv", format!("{crawlers}{row}"));
    let rules = "User-agent: <group>&lt;\nUser-agent: acmecrawler\nCrawl-delay: <delay>&lt;\n\
                 Disallow: /<rule>&lt;\nDisallow: /<near>&lt;\n";
    sandbox.write("<robots>&lt;.txt", rules);
    sandbox.write("<draft>&lt;.txt", "User-agent: *\nDisallow: /<new>&lt;\n");
    let acme = "AcmeCrawler/1";
    let log = [
        line(1, "/<rule>&lt;<target>&lt;", 200, acme),
        line(2, "/<new>&lt;<changed>&lt;", 200, acme),
        line(3, "/", 200, "<agent>&lt; EvilBot/1"),
        "<reject>&lt;\n".to_owned(),
    ];
    sandbox.write("<log>&lt;.log", log.concat());
    let command = sandbox
        .command("audit -q --min-parse-rate 0 --crawlers crawlers.csv -o report")
        .args(["--robots", "<robots>&lt;.txt", "--what-if", "<draft>&lt;.txt", "<log>&lt;.log"])
        .args(["--origin", "https://example.com"])
        .status();
    assert!(command.unwrap().success());
    let page = sandbox.text("report/report.html");
    let names = "name operator purpose delay rule near robots draft new target changed agent \
                 reject log group";
    for name in names.split_whitespace() {
        assert!(!page.contains(&format!("<{name}>&lt;")), "{name} is markup");
        assert!(page.contains(&format!("&lt;{name}&gt;&amp;lt;")), "{name} is not shown: {page}");
    }
    assert_eq!(page.matches("</script>").count(), 1);
}

#[test]
fn ten_thousand_rows_stay_quick() {
    let Some(browser) = browser() else { return };
    let sandbox = Sandbox::new();
    let log: String = (0..10_000)
        .map(|at| line(at, "/", 200, &format!("Crawler{at}bot/1.0")).repeat(1 + at as usize % 7))
        .collect();
    sandbox.write("access.log", log);
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.run("audit -q --robots robots.txt -o report access.log").exits(0);
    let page = sandbox.text("report/report.html");
    let shown = show(&browser, page, "by-user-agent", "crawler6bot");
    shown.is_sound();
    shown.says("The first 1,000 of 10,000 rows; unknown-crawlers.csv has all.");
    assert_eq!(shown.seen["rows"], 1_000);
    assert_eq!(shown.seen["filtered"].as_array().unwrap().len(), 1);
    // Two sorts and a filter; the limit is generous, because other tests run at the same time.
    assert!(shown.seen["milliseconds"].as_f64().unwrap() < 3_000.0);
}

#[test]
fn the_page_is_whole_and_its_policy_lets_nothing_in() {
    let sandbox = Sandbox::new();
    let page = sample_page(
        &sandbox,
        "--robots sample-data/single/robots.txt --origin https://example.com sample-data/single/access.log.gz",
    );
    assert!(page.contains("content=\"default-src 'none'; style-src 'sha256-"));
    assert!(page.contains("<h1>https://example.com</h1>"));
    for loaded in ["src=", "url(", "@import", "<link", "fetch(", "http-equiv=\"refresh\""] {
        assert!(!page.contains(loaded), "{loaded}");
    }
    assert!(page.contains("<mark><code>Disallow: /</code></mark>"));
}

#[test]
fn without_the_script_all_of_it_can_be_read() {
    let Some(browser) = browser() else { return };
    let sandbox = Sandbox::new();
    let page = sample_page(&sandbox, "--robots sample-data/robots sample-data/logs");
    let with = show(&browser, page.clone(), "by-crawler", "");
    let without = show_with(&browser, page, "by-crawler", "", Script::Blocked);
    without.is_sound();
    assert_eq!(without.seen["buttons"], 0);
    assert!(with.seen["buttons"].as_u64().unwrap() > 10);
    let text = |shown: &Shown| -> Vec<String> {
        let text = shown.seen["text"].as_str().unwrap();
        text.lines().map(str::trim).filter(|line| *line != "Filter").map(str::to_owned).collect()
    };
    assert!(text(&without).join(" ").split_whitespace().count() > 1_000);
    assert_eq!(text(&with).concat().len(), text(&without).concat().len());
}

#[test]
fn charts_show_the_numbers_of_their_tables() {
    let Some(browser) = browser() else { return };
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    // One day is a bar chart; forty days are a heat map.
    for (name, days) in [("day", 1), ("days", 40)] {
        let at = |request: u32| {
            let (day, target) =
                (request % days, if request.is_multiple_of(3) { "/private" } else { "/" });
            let date = format!("{:02}/{}/2026", day % 28 + 1, ["Mar", "Apr"][day as usize / 28]);
            line(request * 61 % 86_400, target, 200, BINGBOT).replace("01/Mar/2026", &date)
        };
        sandbox.write("access.log", (0..1_000).map(at).collect::<String>());
        let audit = "audit -q --robots robots.txt --origin http://a.example access.log";
        sandbox.run(&format!("{audit} -o {name}")).exits(0);
        let page = sandbox.text(&format!("{name}/report.html"));
        let shown = show(&browser, page, "by-day", "");
        shown.is_sound();
        let drawn = &shown.seen["drawn"];
        assert_eq!(drawn["days-title"], 334, "{drawn}");
        if name == "days" {
            let tabled = &shown.seen["tabled"];
            for (what, id, expected) in [
                ("calendar-violations-title", "violations-by-hour", 334),
                ("calendar-requests-title", "requests-by-hour", 1_000),
            ] {
                assert_eq!((&drawn[what], &tabled[id]), (&expected.into(), &expected.into()));
            }
        } else {
            assert_eq!(drawn["hours-violations-title"], 334);
            assert_eq!(drawn["hours-requests-title"], 1_000);
            let columns = shown.seen["columns"]["by-hour"].to_string();
            assert!(columns.contains("[\"Violations\",334]"), "{columns}");
            assert!(columns.contains("[\"Requests\",1000]"), "{columns}");
        }
    }
}

#[test]
fn a_draft_is_named_in_the_page() {
    let Some(browser) = browser() else { return };
    let sandbox = Sandbox::new();
    sandbox.write(
        "draft<b>.txt",
        "User-agent: *\nDisallow: /<script>pwned=true</script>\nDisallow: /p\n",
    );
    let draft = sandbox.path("draft<b>.txt").display().to_string();
    let arguments = format!(
        "--robots sample-data/robots --what-if {draft} --what-if-for https://www.example.com sample-data/logs"
    );
    let shown = show(&browser, sample_page(&sandbox, &arguments), "by-change", "newly allowed");
    shown.is_sound();
    shown.says("What the draft would change");
    shown.says("draft<b>.txt");
    let run = sandbox.json("report/run.json");
    for change in ["newly_disallowed", "newly_allowed"] {
        let expected = &run["what_if"]["crawlers"][change];
        let name = format!("N{}", change[1..].replace('_', " "));
        let columns = shown.seen["columns"]["changed-crawlers"].to_string();
        assert!(columns.contains(&format!("[\"{name}\",{expected}]")), "{columns}");
    }
    assert!(!shown.numbers("descending").is_empty());
}

#[test]
fn a_page_of_nothing_says_so() {
    let Some(browser) = browser() else { return };
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /x\n");
    let browser_line = line(1, "/", 200, "Mozilla/5.0");
    for (log, status, says) in [
        (String::new(), 3, "No request could be judged: no requests in access.log; use other logs"),
        (browser_line, 0, "The logs contain no request of a known crawler."),
    ] {
        sandbox.write("access.log", log);
        sandbox.run("audit -q --robots robots.txt -o report access.log").exits(status);
        let shown = show(&browser, sandbox.text("report/report.html"), "by-crawler", "");
        shown.is_sound();
        shown.says(says);
    }
}
