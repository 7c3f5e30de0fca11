use super::*;
use crate::crawlers::own_list::{OwnList, Put};

const WHOLE: &str = r#"{
  "client_id": "https://bot.example/card",
  "client_name": "FieldBot",
  "client_uri": "https://bot.example/about",
  "jwks_uri": "https://bot.example/keys",
  "web_bot_auth": {
    "expected-user-agent": ["FieldBot/*", "Mozilla/5.0 (compatible; FieldBot+ (x|y)"],
    "rfc9309-product-token": "FieldBot",
    "rfc9309-compliance": true,
    "trigger": "crawler",
    "purpose": "tdm",
    "rate-control": "CrawlDelay in robots.txt",
    "rate-expectation": "avg=10rps;max=100rps",
    "known-urls": ["/", "*.png"],
    "ips_uri": "https://bot.example/ips.json"
  }
}"#;

fn read(text: &str) -> std::result::Result<CardRow, Vec<Error>> {
    let has_hidden = |text: &str| text.chars().any(char::is_control);
    let options = CardOptions { name: None, operator: None, url: None, has_hidden };
    read_card(Path::new("card.json"), text.as_bytes(), options)
}

fn mistakes(text: &str) -> Vec<String> {
    read(text).unwrap_err().iter().map(Error::to_string).collect()
}

/// The cell of `column` of the imported row.
fn cell(row: &CardRow, column: &str) -> String {
    let found = row.cells.iter().find(|(name, _)| *name == column);
    found.map(|(_, cell)| cell.clone()).unwrap_or_default()
}

#[test]
fn all_members_become_cells() {
    let row = read(WHOLE).unwrap();
    let expected = [
        ("name", "FieldBot"),
        ("operator", "bot.example"),
        ("purpose", "ai-training"),
        ("user_agent_regex", r"^FieldBot/|^Mozilla/5\.0 \(compatible; FieldBot\+ \(x\|y\)"),
        ("sample_user_agent", "FieldBot/"),
        ("product_tokens", "FieldBot"),
        ("user_triggered", "no"),
        ("rep_applies", "yes"),
        ("crawl_delay", "yes"),
        ("crawl_delay_promise", "CrawlDelay in robots.txt"),
        ("ip_list_urls", "https://bot.example/ips.json"),
        ("documentation_url", "https://bot.example/about"),
        ("evidence", "operator-doc"),
        ("evidence_url", "https://bot.example/card"),
        ("promise_url", "https://bot.example/card"),
        ("rate_promise", "avg=10rps;max=100rps"),
        ("rate_per_hour", "360000"),
    ];
    for (column, expected) in expected {
        assert_eq!(cell(&row, column), expected, "{column}");
    }
    let mut list = OwnList::new(Path::new("own.csv"));
    assert_eq!(list.put(&row), Ok(Put::Added));
    assert_eq!(list.put(&row), Ok(Put::Replaced));
    assert_eq!(list.text().lines().count(), 2);
}

/// Members of early drafts stand beside the name, and say which directives are kept.
#[test]
fn cards_of_early_drafts_are_read() {
    let card = |compliance: &str| {
        let text = format!(
            r#"{{"name": "FieldBot", "expected-user-agent": "FieldBot", "trigger": "fetcher",
                    "rfc9309-compliance": {compliance}}}"#
        );
        read(&text).unwrap()
    };
    let row = card(r#"["User-Agent", "Disallow", "CrawlDelay"]"#);
    assert_eq!(
        (cell(&row, "rep_applies"), cell(&row, "crawl_delay")),
        ("yes".into(), "yes".into())
    );
    assert_eq!(
        (cell(&row, "user_triggered"), cell(&row, "evidence")),
        ("yes".into(), "unverified".into())
    );
    for none in [r#"["User-Agent"]"#, "[]", "false"] {
        assert_eq!(cell(&card(none), "rep_applies"), "no", "{none}");
    }
    assert_eq!(cell(&card("null"), "rep_applies"), "");
}

#[test]
fn a_card_with_a_name_alone_is_a_row_that_no_log_shows() {
    let row = read(r#"{"client_name": "Quiet agent"}"#).unwrap();
    assert_eq!(cell(&row, "sends_own_user_agent"), "no");
    assert_eq!(OwnList::new(Path::new("own.csv")).put(&row), Ok(Put::Added));
    assert!(row.notes.iter().any(|note| note.contains("no log can show it")), "{:?}", row.notes);
    assert_eq!(mistakes("{}"), ["card.json:1: no client_name; name the crawler with --name"]);
}

#[test]
fn mistakes_are_named_with_their_lines() {
    for (text, expected) in [
        ("", "card.json:1: not a card, which is a JSON object: EOF while parsing a value"),
        (
            "[]",
            "card.json:1: not a card, which is a JSON object: invalid type: sequence, expected an object",
        ),
        (
            "{\n\"client_name\": \"x\",\n",
            "card.json:3: not a card, which is a JSON object: EOF while parsing a value",
        ),
        (
            "{\n\"client_name\": \"FieldBot\",\n\"client_name\": \"Other\"}",
            "card.json:3: 'client_name' is there twice; remove one of them",
        ),
        (
            "{\"client_name\": \"x\",\n\"web_bot_auth\": []}",
            "card.json:2: web_bot_auth must be an object of few members",
        ),
        (
            "{\"client_name\": \"x\",\n\"purpose\": 5}",
            "card.json:2: purpose must be a text, or a list of texts",
        ),
        (
            "{\"client_name\": \"x\",\n\"rfc9309-compliance\": \"yes\"}",
            "card.json:2: rfc9309-compliance must be true, false, or a list of directives",
        ),
        (
            "{\"client_name\": \"a\\u0007b\"}",
            "card.json:1: client_name has a control character, or one that cannot be seen",
        ),
        (
            "{\"client_name\": \"=cmd()\"}",
            "card.json:1: client_name begins with '=', which spreadsheets run as a formula",
        ),
        (
            "{\"client_name\": \"x\",\n\"ips_uri\": \"https://a.example/x https://b.example/\"}",
            "card.json:2: ips_uri must be one URL that begins with https://",
        ),
        (
            "{\"client_name\": \"x\",\n\"rfc9309-product-token\": \"*\"}",
            "card.json:2: rfc9309-product-token must be a name of letters, - and _",
        ),
        (
            "{\"client_name\": \"x\",\n\"expected-user-agent\": \"Mozilla/5.0 *\"}",
            "card.json:2: expected-user-agent 'Mozilla/5.0 *' is too short",
        ),
    ] {
        let found = mistakes(text);
        assert!(found[0].starts_with(expected), "{text}: {found:?}");
    }
    let long = format!(r#"{{"client_name": "x", "purpose": "{}"}}"#, "p".repeat(2_000));
    assert!(mistakes(&long)[0].contains("purpose is longer than 1024 bytes"));
    let deep = format!(
        r#"{{"client_name": "FieldBot", "x": {}1{}}}"#,
        "[".repeat(99_999),
        "]".repeat(99_999)
    );
    assert_eq!(mistakes(&deep), ["card.json:1: nested more than 16 times, so it is not a card"]);
}

/// Nobody gets the requests of browsers, or of other crawlers, by a card.
#[test]
fn user_agents_of_others_are_refused() {
    for (agent, expected) in [
        ("Mozilla/5.0 (Windows NT 10.0", "its user agent is also that of browsers"),
        ("Mozilla/5.0 (compatible; GPTBot/1.2", "its user agent is also that of GPTBot"),
    ] {
        let text = format!(r#"{{"client_name": "Mimic", "expected-user-agent": "{agent}"}}"#);
        let why = OwnList::new(Path::new("own.csv")).put(&read(&text).unwrap()).unwrap_err();
        assert!(why.starts_with(expected), "{agent}: {why}");
    }
    // A name that is a word of browsers, or of the sample of another crawler.
    for (token, expected) in [
        ("Safari", "its user agent is also that of browsers"),
        ("iPad", "its user agent is also that of browsers"),
        ("SamsungBrowser", "its user agent is also that of browsers"),
        ("Firefox", "its user agent is also that of browsers"),
        ("http", "its user agent is also that of"),
        ("bingbot.htm", "its user agent is also that of bingbot"),
    ] {
        let text = format!(
            r#"{{"client_name": "Mimic", "expected-user-agent": "*{token}*", "rfc9309-product-token": "{token}"}}"#
        );
        let why = OwnList::new(Path::new("own.csv")).put(&read(&text).unwrap()).unwrap_err();
        assert!(why.starts_with(expected), "{token}: {why}");
    }
    // A row of that name replaces the crawler.
    let text = r#"{"client_name": "GPTBot", "expected-user-agent": "*GPTBot/"}"#;
    assert_eq!(OwnList::new(Path::new("own.csv")).put(&read(text).unwrap()), Ok(Put::Added));
    // Letters of regular expressions are letters.
    let text = r#"{"client_name": "Dots", "expected-user-agent": "D.ts[a-z]{9}"}"#;
    let row = read(text).unwrap();
    assert_eq!(cell(&row, "user_agent_regex"), r"^D\.ts\[a\-z\]\{9\}");
    assert_eq!(OwnList::new(Path::new("own.csv")).put(&row), Ok(Put::Added));
}

/// A wildcard without the name of the crawler fits any client.
#[test]
fn wildcards_contain_the_name_of_the_crawler() {
    let card = |agent: &str| {
        format!(
            r#"{{"client_name": "Foo", "expected-user-agent": "{agent}", "rfc9309-product-token": "FooBot"}}"#
        )
    };
    for agent in ["*iPad*", "*Firefox/115*", "*Chrome/116*", "Mozilla/5.0 *Safari", "*XFooBots*"] {
        let found = mistakes(&card(agent));
        let expected = "has a wildcard, but not the name of the crawler; write FooBot into it";
        assert!(found[0].ends_with(expected), "{agent}: {found:?}");
    }
    for agent in ["*FooBot*", "*(foobot; *", "Acme/1.0", "*/FooBot+"] {
        assert!(read(&card(agent)).is_ok(), "{agent}");
    }
}

#[test]
fn a_tool_is_not_what_a_card_says() {
    let row = read(r#"{"client_name": "x", "purpose": "Scanner"}"#).unwrap();
    assert_eq!(cell(&row, "purpose"), "");
    assert!(row.notes[0].contains("'scanner'"), "{:?}", row.notes);
}

#[test]
fn rates_of_words_are_limits_only_if_they_say_so() {
    for (words, expected) in [
        ("avg=10rps;max=100rps", Some(360_000)),
        ("500 rps", Some(1_800_000)),
        ("max = 0.5 requests per second", Some(1_800)),
        ("2.5 rpm", Some(150)),
        ("1 rph", Some(1)),
        ("avg=10rps", None),
        ("Spikes during reindexing", None),
        ("rps", None),
        ("-5 rps", None),
        ("1e9 rps", None),
        ("99999999999999999999 rps", None),
        ("0 rps", None),
        ("", None),
    ] {
        assert_eq!(rate_per_hour(words), expected, "{words}");
    }
}
