//! `botaudit crawlers`: shows and checks the registry.

use super::program::Sandbox;

#[test]
fn everybody_is_listed_with_evidence() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("crawlers").exits(0);
    assert_eq!(ran.stdout, sandbox.run("crawlers list").stdout);
    let gptbot: Vec<&str> = ran
        .stdout
        .lines()
        .find(|line| line.starts_with("GPTBot "))
        .unwrap()
        .split_whitespace()
        .collect();
    assert_eq!(gptbot[..5], ["GPTBot", "OpenAI", "ai-training", "follows", "bound"]);
    assert_eq!(gptbot[5..7], ["list", "operator-doc"]);
    assert!(gptbot[7].starts_with("https://"));
    assert!(!ran.stdout.contains("Generic bot"));
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.run("crawlers --format json").stdout).unwrap();
    assert_eq!(json.as_array().unwrap().len(), ran.stdout.lines().count() - 1);
}

#[test]
fn one_is_shown_whole() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("crawlers show googlebot-image").exits(0);
    for line in [
        "Googlebot-Image\n",
        "  product tokens  Googlebot-Image, then Googlebot, then *\n",
        "  bound           yes\n",
        "  DNS names in    googlebot.com, geo.googlebot.com\n",
        "  evidence        operator-doc\n",
        "in --ip-ranges as developers.google.com_static_crawling_ipranges_common-crawlers.json)\n",
    ] {
        assert!(ran.stdout.contains(line), "{line:?}\n{}", ran.stdout);
    }
    let json = sandbox.run("crawlers show --format json AdsBot-Google").exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["honours_star"], &json["bound"]), (&false.into(), &"bound".into()));
    sandbox.run("crawlers show GPT").exits(2).complains("did you mean GPTBot");
}

#[test]
fn user_agents_are_identified() {
    let sandbox = Sandbox::new();
    let identify = |user_agent: &str, flags: &[&str]| {
        let arguments = [&["crawlers", "identify", user_agent], flags].concat();
        sandbox.run_words(&arguments, b"").exits(0).stdout
    };
    assert!(
        identify("Mozilla/5.0 (compatible; GPTBot/1.2)", &[])
            .starts_with("GPTBot\n  operator        OpenAI\n")
    );
    assert!(
        identify("mybot/1.0 (+https://example.com/bot)", &[])
            .starts_with("unknown, but it looks automated: counted in unknown-crawlers.csv\n")
    );
    assert!(
        identify("Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0", &[])
            .starts_with("not a crawler: a browser, an app, or unidentified\n")
    );
    let json: serde_json::Value =
        serde_json::from_str(&identify("GPTBot/1.2", &["--format", "json"])).unwrap();
    assert_eq!((&json["known"], &json["crawler"]["name"]), (&"yes".into(), &"GPTBot".into()));
    sandbox.write("own.csv", "name,user_agent_regex\nmybot,mybot\n");
    assert!(identify("mybot/1.0", &["--crawlers", "own.csv"]).starts_with("mybot\n"));
}

#[test]
fn a_list_of_ones_own_is_checked() {
    let sandbox = Sandbox::new();
    sandbox.write("own.csv", "name,user_agent_regex\nmybot,mybot\nyours,y(\n,x\n");
    let ran = sandbox.run("crawlers check-registry own.csv").exits(1);
    assert_eq!(
        ran.stdout,
        "own.csv: 1 crawler (0 in place of built-in ones), 2 mistakes, 0 warnings\n"
    );
    ran.complains("own.csv:3: user_agent_regex 'y(': unclosed group")
        .complains("own.csv:4: no name");
    sandbox.write("own.csv", "name,user_agent_regex\nmybot,mybot\n");
    sandbox.run("crawlers check-registry own.csv").exits(0);
    sandbox.write("own.csv", "name,user_agent_regex\nmybot,mybot|-bot\n");
    let ran = sandbox.run("crawlers check-registry own.csv").exits(0);
    ran.complains("own.csv:2: user_agent_regex 'mybot|-bot' is also found within longer names");
    sandbox
        .run("crawlers check-registry nowhere.csv")
        .exits(2)
        .complains("cannot read nowhere.csv");
}
