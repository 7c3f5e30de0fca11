//! `report.html`, in a real browser if one is installed.

use serde_json::Value;

use super::browser::{Script, Shown, browser, headless, show, show_with};
use super::program::{Sandbox, line, repository};

const GPTBOT: &str = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";

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
    let shown = show(&browser, page, "by-crawler", "GOOGLEBOT");
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
    let count = shown.seen["count"].as_str().unwrap();
    assert!(
        count.ends_with(" rows; charts show all") && !count.starts_with("2 of"),
        "all tables count: {count}"
    );
    shown.says("10 crawlers made 167 requests that robots.txt disallowed");
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
    // Its longest lines are most of its bytes, and are not parsed.
    let command = format!("audit -q --min-parse-rate 0 --robots robots.txt -o report {name}");
    sandbox.run(&command).exits(0);
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

/// A link with a filter shows what its sender sees.
#[test]
fn one_filter_for_the_whole_page_is_in_its_address() {
    let Some(browser) = browser() else { return };
    let sandbox = Sandbox::new();
    let page = sample_page(&sandbox, "--robots sample-data/robots sample-data/logs");
    let shown = show(&browser, page, "by-crawler", "operator:OpenAI");
    shown.is_sound();
    assert_eq!(shown.seen["filtered"], serde_json::json!(["ChatGPT-User", "GPTBot"]));
    assert_eq!(shown.seen["hash"], "#filter=operator%3AOpenAI");
    assert_eq!(
        shown.seen["by_key"],
        serde_json::json!({
            "crawler:bingbot": [["bingbot"], 3],
            "operator:\"Common Crawl\"": [["CCBot"], 1],
            "purpose:seo breaks": [["MJ12bot"], 0],
            "origin:https://shop.example.com": [[], 2],
        })
    );
    assert_eq!((&shown.seen["long"], &shown.seen["low"]), (&0.into(), &0.into()));
    let folds = shown.seen["folds"].to_string();
    assert!(folds.contains(" rows, show all"), "{folds}");
}

#[test]
fn ten_thousand_rows_stay_quick() {
    let Some(browser) = browser() else { return };
    let sandbox = Sandbox::new();
    let log: String = (0..10_000)
        .map(|at| {
            line(at, "/", 200, &format!("Crawler{at}bot/1.0"))
                .repeat(1 + at as usize % 7 + at as usize / 9_900)
        })
        .collect();
    sandbox.write("access.log", log);
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.run("audit -q --robots robots.txt -o report access.log").exits(0);
    let page = sandbox.text("report/report.html");
    let shown = show(&browser, page, "by-user-agent", "crawler9904bot");
    shown.is_sound();
    shown.says("500 of 10,000 rows; unknown-crawlers.csv has all.");
    assert_eq!(shown.seen["rows"], 500);
    let count = shown.seen["count"].as_str().unwrap();
    assert!(count.ends_with("; 9,500 more are only in the CSV files"), "{count}");
    assert_eq!(shown.seen["filtered"].as_array().unwrap().len(), 1);
}

#[test]
fn the_page_is_whole_and_its_policy_lets_nothing_in() {
    let sandbox = Sandbox::new();
    let page = sample_page(
        &sandbox,
        "--robots sample-data/single/robots.txt --origin https://example.com sample-data/single/access.log.gz",
    );
    assert!(page.contains("content=\"default-src 'none'; style-src 'sha256-"));
    assert!(page.contains("<h1>https://example.com: "));
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
        text.lines()
            .map(str::trim)
            .filter(|line| *line != "Filter" && !line.ends_with("rows, show all"))
            .map(str::to_owned)
            .collect()
    };
    assert!(text(&without).join(" ").split_whitespace().count() > 1_000);
    assert_eq!(text(&with).concat().len(), text(&without).concat().len());
}

#[test]
fn charts_show_the_numbers_of_their_tables() {
    let Some(browser) = browser() else { return };
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
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
        let charts = [("days-title", "by-day"), ("hours-title", "by-hour")];
        for (drawing, table) in charts {
            if days == 1 && table == "by-day" {
                assert!(shown.seen["drawn"][drawing].is_null(), "one day is drawn by hour");
                continue;
            }
            assert_eq!(shown.seen["drawn"][drawing], 1_000, "{name}, {drawing}");
            let columns = shown.seen["columns"][table].to_string();
            assert!(columns.contains("[\"Violations\",334]"), "{columns}");
        }
        let by_hour = if days == 1 { "by hour (UTC)" } else { "by 3 hours (UTC)" };
        shown.says(&format!("Requests of crawlers {by_hour}"));
        shown.says("334 requests that robots.txt disallowed");
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

#[test]
fn many_origins_fit_into_a_page() {
    let sandbox = Sandbox::new();
    let mut crawlers = "name,operator,purpose,user_agent_regex,product_tokens\n".to_owned();
    for at in 0..110 {
        crawlers += &format!("CrawlerOfAcme{at:03},Acme {},search,AcmeBot{at:03},acme\n", at / 2);
    }
    sandbox.write("crawlers.csv", crawlers);
    let rules: String = (0..8).map(|at| format!("Disallow: /private{at}/\n")).collect();
    let mut log = String::new();
    for origin in 0..200 {
        sandbox.write(
            &format!("robots/www{origin}.example.com.txt"),
            format!("User-agent: *\nCrawl-delay: 60\n{rules}"),
        );
        for crawler in 0..110 {
            let at = origin * 110 + crawler;
            let target = format!("/private{}/{at}", if crawler % 3 == 0 { 9 } else { at % 8 });
            let request = line(at, &target, 200, &format!("AcmeBot{crawler:03}/1.0"));
            let request = request.replace("01/Mar", &format!("{:02}/Mar", at % 28 + 1));
            log += &format!("www{origin}.example.com:443 {request}");
        }
    }
    sandbox.write("access.log", log);
    sandbox.run("audit -q --crawlers crawlers.csv --robots robots -o report access.log").exits(0);
    let page = sandbox.text("report/report.html");
    assert!(page.len() <= 1_000_000, "{}", page.len());
    assert!(page.contains("200 origins: 73 of 110 crawlers broke a rule"));
    let Some(browser) = browser() else { return };
    let shown = show(&browser, page, "by-crawler", "");
    shown.is_sound();
    let (profile, printed) = (tempfile::tempdir().unwrap(), sandbox.path("page.pdf"));
    let status = headless(&browser, profile.path())
        .args(["--no-pdf-header-footer", &format!("--print-to-pdf={}", printed.display())])
        .arg(format!("file://{}", sandbox.path("report/report.html").display()))
        .status();
    assert!(status.unwrap().success());
    let printed = std::fs::read(printed).unwrap();
    let is_page = |text: &&[u8]| text.starts_with(b"/Type /Page\n");
    let pages = (0..printed.len()).map(|at| &printed[at..]).filter(is_page).count();
    assert!((1..=20).contains(&pages), "{pages} pages");
}

#[test]
fn what_to_do_names_commands_that_run() {
    let sandbox = Sandbox::new();
    sandbox.write("it's robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("access.log", line(1, "/private?a=1&b='2'", 200, BINGBOT) + "no line\n");
    let words = ["audit", "-q", "--robots", "it's robots.txt", "--min-parse-rate", "0"];
    let words = [&words[..], &["--origin", "https://a.example", "-o", "report", "access.log"]];
    sandbox.run_words(&words.concat(), b"").exits(0);
    let page = sandbox.text("report/report.html");
    let lines = page.split("<pre").skip(1).flat_map(|rest| {
        let block = rest.split("</pre>").next().unwrap();
        block.split("<code>").skip(1).map(|code| code.split("</code>").next().unwrap())
    });
    let unescaped = lines.map(|line| line.replace("&quot;", "\"").replace("&amp;", "&"));
    let lines: Vec<String> = unescaped.collect();
    let commands = [
        r"botaudit check 'https://a.example/private?a=1&b='\''2'\''' --crawler bingbot --robots 'it'\''s robots.txt'",
        "botaudit crawlers show bingbot",
        "botaudit deny report --for nginx --where 'crawler = \"bingbot\"'",
        "botaudit evidence report --crawler bingbot --origin https://a.example -o evidence",
        "botaudit formats detect access.log",
    ];
    for command in commands {
        assert!(lines.iter().any(|line| line == command), "{command} is not in {lines:#?}");
        let output = pasted(&sandbox, command);
        // A disallowed URL is found: 1.
        let expected = i32::from(command.contains(" check "));
        assert_eq!(output.status.code(), Some(expected), "{command}: {output:?}");
    }
    // Repeats the audit with its options, and needs no network before a name server is asked.
    let verify = "botaudit audit --robots 'it'\\''s robots.txt' --origin https://a.example \
                  --min-parse-rate 0.0 --verify-dns -o report access.log";
    assert!(lines.iter().any(|line| line == verify), "{lines:#?}");
    let verify = format!("{verify} --dns-server 127.0.0.1:9 --dns-timeout 0.1");
    assert_eq!(pasted(&sandbox, &verify).status.code(), Some(0));
    assert!(sandbox.text("report/run.json").contains("\"verify_dns\": true"));
    let test = lines.iter().position(|line| line.starts_with("cp ")).unwrap();
    for command in &lines[test..=test + 1] {
        let output = pasted(&sandbox, command);
        assert_eq!(output.status.code(), Some(0), "{command}: {output:?}");
    }
    assert!(sandbox.names("draft-report").iter().any(|name| name == "what-if.csv"));
}

/// All options of an audit are in the command that repeats it; without their values, there is none.
#[test]
fn the_command_that_repeats_an_audit_has_its_options() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("a.log", line(1, "/private", 200, BINGBOT));
    let page = |options: &str, log: &str| {
        let run =
            format!("audit -q --robots robots.txt --origin https://a.example {options} {log}");
        sandbox.run(&run).exits(0);
        sandbox.text("botaudit-report/report.html")
    };
    let options = "--alias b.example=a.example --alias c.example=a.example --trusted-proxy 10.0.0.0/8 \
                   --since 2026-01-01T00:00:00Z --ip mask --strip-query --cost-per-gb 0.09USD";
    let shown = page(options, "a.log");
    let first = shown.find("botaudit audit ").unwrap();
    let command = shown[first..].split("</code>").find(|line| line.contains("--verify-dns"));
    let command = &command.unwrap()[command.unwrap().rfind("botaudit audit").unwrap()..];
    for option in options.split(" --") {
        let option = format!("--{}", option.trim_start_matches("--"));
        assert!(command.contains(&option), "{option} is not in {command}");
    }
    let command = format!("{command} --dns-server 127.0.0.1:9 --dns-timeout 0.1");
    assert_eq!(pasted(&sandbox, &command).status.code(), Some(0));
    for (options, log) in [
        ("--ip hash --ip-salt secret-secret", "a.log"),
        ("--since 2026-01-01 --until 2027-01-01", "a.log"),
        ("", "- < a.log"),
    ] {
        let shown = match log.split_once(" < ") {
            None => page(options, log),
            Some((log, from)) => {
                let words =
                    ["audit", "-q", "--robots", "robots.txt", "--origin", "https://a.example", log];
                sandbox.run_words(&words, sandbox.text(from).as_bytes()).exits(0);
                sandbox.text("botaudit-report/report.html")
            }
        };
        assert!(shown.contains("<code>--verify-dns</code>"), "{options}");
        assert!(!shown.contains("botaudit audit "), "{options}");
    }
    // An option of a report is none of an audit.
    page("", "a.log");
    sandbox.run("report botaudit-report --compare-at 2026-03-05 -o compared").exits(0);
    let compared = sandbox.text("compared/report.html");
    let audits: Vec<&str> = compared.split("botaudit audit ").skip(1).collect();
    let commands = audits.iter().map(|after| after.split("</code>").next().unwrap());
    let commands: Vec<&str> = commands.collect();
    assert!(!commands.is_empty());
    assert!(!commands.iter().any(|command| command.contains("--compare-at")), "{commands:?}");
}

/// A row for an unknown crawler finds this crawler, and no other with a part of its name.
#[test]
fn the_row_for_an_unknown_crawler_finds_no_other() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let agent = "Chef Client/10.18.2 (ruby-1.9.3; +http://opscode.com)";
    sandbox.write("access.log", line(1, "/private", 200, agent));
    sandbox.run("audit -q --robots robots.txt --origin https://a.example access.log").exits(0);
    let page = sandbox.text("botaudit-report/report.html");
    let head = "name,operator,purpose,user_agent_regex,product_tokens";
    let row = "Client,unknown,other,^Chef Client,Client";
    assert!(page.contains(&format!("<code>{head}</code>\n<code>{row}</code>")), "{page}");
    sandbox.write("crawlers.csv", format!("{head}\n{row}\n"));
    sandbox.run("crawlers check-registry crawlers.csv").exits(0);
    let identified = |agent| {
        let words = ["crawlers", "identify", "--crawlers", "crawlers.csv", agent];
        sandbox.run_words(&words, b"").exits(0).stdout
    };
    assert!(identified(agent).starts_with("Client\n"), "{}", identified(agent));
    let other = identified("Apache-HttpClient/4.5.13 (Java/11)");
    assert!(!other.starts_with("Client\n"), "{other}");
}

/// Runs a command of the page in a shell.
fn pasted(sandbox: &Sandbox, command: &str) -> std::process::Output {
    let run = command.replacen("botaudit", "\"$0\"", 1);
    let program = env!("CARGO_BIN_EXE_botaudit");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &run, program]).current_dir(sandbox.path(".")).output().unwrap()
}

/// One violation in hundreds of requests is not what somebody does who ignores robots.txt.
#[test]
fn those_who_ignore_robots_txt_come_first_and_one_command_refuses_them() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let of = |agent, path: &'static str, times| {
        (0..times).map(move |at| line(at % 60, path, 200, agent)).collect::<String>()
    };
    let mut log = of(GPTBOT, "/robots.txt", 1) + &of(GPTBOT, "/private", 30);
    log += &(of(BINGBOT, "/robots.txt", 1) + &of(BINGBOT, "/", 309) + &of(BINGBOT, "/private", 1));
    sandbox.write("logs/a b.log", log.replace("192.0.2", "a.example:443 192.0.2"));
    let words = ["audit", "--robots", "robots.txt", "-o", "my report", "logs"];
    let ran = sandbox.run_words(&words, b"").exits(0);
    let line = "  ignore robots.txt: GPTBot 30; rarely break a rule: bingbot 1\n";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    let conducts = sandbox.table("my report/summary.csv").cells("crawler violations conduct");
    assert_eq!(conducts, ["GPTBot | 30 | ignores", "bingbot | 1 | rarely"]);
    assert_eq!(
        sandbox.table("my report/compliance.csv").cells("scope name conduct")[..2],
        ["crawler | GPTBot | ignores", "crawler | bingbot | rarely"]
    );
    let page = sandbox.text("my report/report.html");
    let at = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}: {page}"));
    assert!(page.contains("<h1>https://a.example: GPTBot ignores robots.txt</h1>"), "{page}");
    assert!(page.contains("<b>GPTBot</b> ignores robots.txt. "), "{page}");
    assert!(
        at("<span class=\"badge violation\">ignores it</span>")
            < at("<span class=\"badge rare\">rarely breaks a rule</span>")
    );
    let command = "botaudit deny 'my report' --for apache --replay 'logs/a b.log' -o refuse.conf";
    assert!(page.contains(&format!("<code>{command}</code>")), "{page}");
    let output = pasted(&sandbox, command);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("ignore robots.txt: bingbot (rarely breaks a rule); they are for search"),
        "{said}"
    );
    let letters = "botaudit evidence 'my report' -o evidence";
    assert!(page.contains(&format!("<code>{letters}</code>")), "{page}");
    assert!(pasted(&sandbox, letters).status.success());
    assert_eq!(sandbox.names("evidence"), ["001-GPTBot-a.example", "index.csv"]);
    let rules = sandbox.text("refuse.conf");
    assert!(rules.contains("GPTBot") && !rules.contains("bingbot"), "{rules}");
}

#[test]
fn nothing_judged_is_never_good_news() {
    let sandbox = Sandbox::new();
    sandbox.write("robots/other.example.txt", "User-agent: *\nDisallow: /x\n");
    sandbox.write("access.log", line(1, "/", 200, BINGBOT));
    let audit = "audit -q --robots robots -o report --origin https://a.example access.log";
    sandbox.run(audit).exits(3);
    let page = sandbox.text("report/report.html");
    assert!(page.contains("<h1>https://a.example: nothing could be judged</h1>"), "{page}");
    assert!(page.contains("<span class=\"badge unjudged\">not judged</span>"));
    let command =
        "botaudit audit --origin https://a.example --fetch --robots robots.db -o report access.log";
    assert!(page.contains(&format!("<code>{command}</code>")), "{page}");
    assert!(!page.contains("<code>--origin"));
    for good in ["obeys it", "No known crawler broke a rule", "no crawler broke"] {
        assert!(!page.contains(good), "{good}");
    }
}

#[test]
fn a_log_without_hosts_gets_other_advice() {
    let sandbox = Sandbox::new();
    sandbox.write("robots/other.example.txt", "User-agent: *\nDisallow: /x\n");
    sandbox.write("access.log", line(1, "/", 200, BINGBOT));
    sandbox.run("audit -q --robots robots -o report access.log").exits(3);
    let page = sandbox.text("report/report.html");
    assert!(page.contains("<h1>Crawlers and robots.txt: nothing could be judged</h1>"), "{page}");
    assert!(page.contains("1 request named no host."));
    assert!(page.contains("<code>--origin https://example.com</code>"));
    assert!(!page.contains("--fetch --robots robots.db -o"));
}
