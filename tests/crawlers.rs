//! The registry, and the identification of crawlers by user agent.

#[path = "crawlers/directories.rs"]
mod directories;

use crate::random::Random;
use botaudit::crawlers::borders::whole;
use botaudit::crawlers::browser::is_browser;
use botaudit::crawlers::cache::{UserAgentCache, identify_cached};
use botaudit::crawlers::crawler::{
    CrawlerId, InformationSource, Obligation, RepApplies, StatedPolicy, Trigger, Visibility,
};
use botaudit::crawlers::identify::Identified;
use botaudit::crawlers::registry::Registry;
use botaudit::robots::model::StarGroups;
use botaudit::robots::product_token::USER_AGENT_BYTES_MAX;
use regex_automata::{meta, util::syntax};
use std::fs;
use std::time::{Duration, Instant};

// -- the registry ------------------------------------------------------------

#[test]
fn each_row_is_found_by_its_own_sample() {
    let registry = Registry::builtin();
    for (id, crawler) in registry.iter() {
        let sample = crawler.sample_user_agent.as_bytes();
        let found = registry.identify(sample);
        match crawler.visibility {
            Visibility::NoUserAgent => {
                assert_ne!(found, Identified::Crawler(id), "{}", crawler.name)
            }
            Visibility::OwnUserAgent if sample.is_empty() => {}
            Visibility::OwnUserAgent if id == registry.generic() => {
                assert_eq!(found, Identified::Generic);
            }
            Visibility::OwnUserAgent => {
                assert_eq!(found, Identified::Crawler(id), "{}", crawler.name);
            }
        }
    }
}

#[test]
fn the_list_is_whole() {
    let registry = Registry::builtin();
    assert_eq!(registry.iter().count(), 1280);
    assert_eq!(registry.generic(), CrawlerId(1279));
    let generic = registry.crawler(registry.generic());
    assert_eq!((generic.name.as_str(), generic.product_tokens.len()), ("Generic bot", 0));
    assert_eq!(generic.star, StarGroups::Honoured);
    let googlebot = registry.find("googleBOT").unwrap();
    assert_eq!(registry.crawler(googlebot).name, "Googlebot");
    assert_eq!(registry.find("Googleb"), None);
    let image = registry.crawler(registry.find("Googlebot-Image").unwrap());
    assert_eq!(image.product_tokens, ["Googlebot-Image", "Googlebot"]);
    assert_eq!(image.rdns_suffixes, ["googlebot.com", "geo.googlebot.com"]);
}

/// A host of a page about a crawler says little about who runs it.
#[test]
fn no_operator_is_a_host_name() {
    let registry = Registry::builtin();
    let is_label = |label: &str| {
        let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !label.is_empty() && label.chars().all(is_of_name)
    };
    let is_host = |name: &str| name.contains('.') && name.split('.').all(is_label);
    assert!(is_host("en.wikipedia.org") && !is_host("Webz.io") && !is_host("unknown"));
    let hosts = registry.crawlers().filter(|crawler| is_host(&crawler.operator));
    assert_eq!(hosts.map(|crawler| &*crawler.name).collect::<Vec<_>>(), [""; 0]);
    for (name, operator) in [("ZmEu", "ZmEu users"), ("Indy Library", "library")] {
        let crawler = registry.by_name(name).unwrap();
        assert_eq!((&*crawler.operator, crawler.has_one_operator()), (operator, false));
    }
}

#[test]
fn users_and_the_unknown_are_not_one_operator() {
    let mut crawler = Registry::builtin().crawler(CrawlerId(0)).clone();
    for (operator, is_one, known) in [
        ("OpenAI", true, Some("OpenAI")),
        ("", false, None),
        ("unknown", false, None),
        ("Unknown", false, None),
        ("library", false, Some("library")),
        ("users", false, Some("users")),
        ("Nagios users", false, Some("Nagios users")),
        ("users of Google Docs", false, Some("users of Google Docs")),
        ("Usercentrics", true, Some("Usercentrics")),
        ("Müsers", true, Some("Müsers")),
    ] {
        crawler.operator = operator.to_owned();
        assert_eq!((crawler.has_one_operator(), crawler.known_operator()), (is_one, known));
    }
}

/// Facts with their source; they bind nobody.
#[test]
fn promises_name_their_source() {
    let registry = Registry::builtin();
    let promising: Vec<_> =
        registry.crawlers().filter(|crawler| !crawler.reaction_promise.is_empty()).collect();
    assert_eq!(promising.len(), 54);
    assert_eq!(registry.by_name("PerplexityBot").unwrap().reaction_hours, Some(24));
    assert_eq!(registry.by_name("ClaudeBot").unwrap().reaction_hours, None);
    for crawler in registry.crawlers().filter(|crawler| crawler.reaction_hours.is_some()) {
        assert!(crawler.promise_url.starts_with("https://"), "{}", crawler.name);
    }
}

#[test]
fn binding_and_stated_policy_follow_from_the_facts() {
    use InformationSource::{OperatorDocumentation as Operator, Registry as List, Unverified};
    use RepApplies::{No, Partial, Unknown, Yes};
    use Trigger::{Person, Schedule};
    let mut crawler = Registry::builtin().crawler(CrawlerId(0)).clone();
    for (trigger, rep_applies, evidence, binding, policy) in [
        (Schedule, Yes, Operator, Obligation::Bound, StatedPolicy::Follows),
        (Schedule, Yes, List, Obligation::Bound, StatedPolicy::Unknown),
        (Schedule, Yes, Unverified, Obligation::Bound, StatedPolicy::Unknown),
        (Schedule, Partial, Operator, Obligation::Bound, StatedPolicy::Partly),
        (Schedule, Partial, List, Obligation::Bound, StatedPolicy::Unknown),
        (Schedule, No, Operator, Obligation::Declined, StatedPolicy::DoesNotFollow),
        (Schedule, No, List, Obligation::ReportedNotFollowing, StatedPolicy::Unknown),
        (Schedule, No, Unverified, Obligation::ReportedNotFollowing, StatedPolicy::Unknown),
        (Schedule, Unknown, Operator, Obligation::Bound, StatedPolicy::Unknown),
        (Schedule, Unknown, Unverified, Obligation::Bound, StatedPolicy::Unknown),
        // A request by a person takes precedence over the operator's statement.
        (Person, Yes, Operator, Obligation::UserTriggered, StatedPolicy::Follows),
        (Person, No, Operator, Obligation::UserTriggered, StatedPolicy::DoesNotFollow),
        (Person, No, List, Obligation::UserTriggered, StatedPolicy::Unknown),
        (Person, Unknown, Unverified, Obligation::UserTriggered, StatedPolicy::Unknown),
    ] {
        (crawler.trigger, crawler.rep_applies, crawler.evidence) = (trigger, rep_applies, evidence);
        let found = (crawler.obligation(), crawler.stated_policy());
        assert_eq!(found, (binding, policy), "{trigger:?} {rep_applies:?} {evidence:?}");
    }
}

#[test]
fn purposes_make_crawlers_and_tools() {
    let registry = Registry::builtin();
    let page = include_str!("../docs/identity.md");
    let row =
        |kind: &str| page.lines().find(|line| line.starts_with(&format!("| {kind} |"))).unwrap();
    let (crawlers, tools) = (row("crawlers"), row("tools"));
    for crawler in registry.crawlers().filter(|crawler| crawler.purpose != "unknown") {
        let of_kind = if crawler.is_tool() { tools } else { crawlers };
        let purpose = format!("`{}`", crawler.purpose);
        assert!(of_kind.contains(&purpose), "{}: {purpose}", crawler.name);
    }
    for (name, is_tool) in [("PRTG", true), ("WordPress", true), ("HTTrack", false)] {
        assert_eq!(registry.by_name(name).unwrap().is_tool(), is_tool, "{name}");
    }
}

#[test]
fn rows_that_are_easy_to_get_wrong() {
    let registry = Registry::builtin();
    for (name, binding, policy, star) in [
        ("Googlebot", "bound", "follows", StarGroups::Honoured),
        ("Googlebot-News", "bound", "follows", StarGroups::Honoured),
        // Ignores `*`, and is bound by the groups that name it.
        ("AdsBot-Google", "bound", "follows", StarGroups::Ignored),
        ("Mediapartners-Google", "bound", "follows", StarGroups::Ignored),
        ("YandexMetrika", "bound", "partly", StarGroups::Ignored),
        // Libraries: the request is from a person or from a person's program.
        ("curl", "user-triggered", "unknown", StarGroups::Ignored),
        ("python-requests", "user-triggered", "unknown", StarGroups::Ignored),
        ("Claude-User", "user-triggered", "follows", StarGroups::Honoured),
        ("Google-Safety", "declined", "does-not-follow", StarGroups::Ignored),
        ("DeepSeekBot", "reported-not-following", "unknown", StarGroups::Honoured),
        ("Bytespider", "bound", "unknown", StarGroups::Honoured),
    ] {
        let crawler = registry.crawler(registry.find(name).unwrap());
        let found = (crawler.obligation().as_str(), crawler.stated_policy().as_str(), crawler.star);
        assert_eq!(found, (binding, policy, star), "{name}");
    }
}

// -- identification ------------------------------------------------------------

#[test]
fn browsers_are_nobody() {
    let registry = Registry::builtin();
    for browser in browsers() {
        assert_eq!(registry.identify(browser.as_bytes()), Identified::Other, "{browser}");
    }
    for nothing in ["", "-", " ", "  "] {
        assert_eq!(registry.identify(nothing.as_bytes()), Identified::Empty, "{nothing:?}");
    }
    for no_browser in ["\"", "Mozilla/5.0", "x"] {
        assert_eq!(registry.identify(no_browser.as_bytes()), Identified::Generic, "{no_browser:?}");
    }
    // IIS writes `+` for blanks.
    let browser = "Mozilla/4.0+(compatible;+MSIE+6.0;+Windows+NT+5.1)";
    assert_eq!(registry.identify(browser.as_bytes()), Identified::Other);
}

#[test]
fn samples_that_are_easy_to_attribute_wrongly() {
    let registry = Registry::builtin();
    let lines = include_str!("crawlers/samples.tsv").lines().filter(|line| !line.starts_with('#'));
    for (expected, user_agent) in lines.map(|line| line.split_once('\t').unwrap()) {
        let found = name(&registry, registry.identify(user_agent.as_bytes()));
        assert_eq!(found.replace("(other)", "-"), expected, "{user_agent}");
    }
}

#[test]
fn the_first_row_that_matches_wins() {
    let registry = Registry::builtin();
    for (user_agent, expected) in [
        ("Googlebot-Image/1.0", "Googlebot-Image"),
        ("GOOGLEBOT-IMAGE/1.0", "Googlebot-Image"),
        ("x Googlebot/2.1 y Googlebot-Video/1.0", "Googlebot-Video"),
        ("like Googlebot-Image", "Generic bot"),
        ("Mozilla/5.0 (like Googlebot) GPTBot/1.2", "GPTBot"),
        ("bingbot", "bingbot"),
        ("curl/8.5.0", "curl"),
        ("not curl/8.5.0", "Generic bot"),
        ("somethingnew-crawler/0.1", "Generic bot"),
        ("OnCrawl", "OnCrawl"),
        ("OnCrawled", "Generic bot"),
        // It crawls with the user agent of Googlebot; this name is never in the header.
        ("Googlebot-News", "Googlebot-News"),
        ("Mozilla/5.0 (compatible; TavilyBot; +https://tavily.com/)", "Generic bot"),
        ("Google-Extended", "Generic bot"),
        ("Mozilla/5.0 (Linux; Android 9; CUBOT X19) Safari/537.36", "(other)"),
    ] {
        assert_eq!(name(&registry, registry.identify(user_agent.as_bytes())), expected);
    }
}

#[test]
fn the_search_for_literals_changes_no_answer() {
    let registry = Registry::builtin();
    let oracle = Oracle::new(&registry);
    let parts = parts(&registry);
    let mut random = Random(1);
    let mut cache = UserAgentCache::default();
    for part in &parts {
        check(&oracle, &registry, part, &mut cache);
    }
    for _ in 0..2000 {
        let user_agent = mix(&mut random, &parts);
        check(&oracle, &registry, &user_agent, &mut cache);
    }
}

/// A longer name is that of another product.
#[test]
fn a_name_within_a_longer_one_is_nobody() {
    let registry = Registry::builtin();
    let mut count = 0;
    for (id, crawler) in registry.iter() {
        let name = &crawler.name;
        // Each of several words may be followed by more.
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let is_word = name.bytes().all(is_part);
        if !is_word || registry.identify(name.as_bytes()) != Identified::Crawler(id) {
            continue;
        }
        let is_cut = |end: Option<char>| end.is_some_and(|end| !end.is_ascii_alphanumeric());
        if is_cut(name.chars().next()) || is_cut(name.chars().last()) {
            continue;
        }
        count += usize::from(crawler.obligation() == Obligation::Bound);
        let longer = [
            "My{}", "my-{}", "a_{}", "9{}", "{}Extra", "{}-x", "{}_x", "{}9", "\u{e4}{}",
            "{}\u{e4}",
        ];
        for longer in longer.map(|form| form.replace("{}", name)) {
            for user_agent in [longer.clone(), format!("Mozilla/5.0 (compatible; {longer}/1.0)")] {
                let found = registry.identify(user_agent.as_bytes());
                assert_ne!(found, Identified::Crawler(id), "{user_agent}");
            }
        }
    }
    assert!(count > 500, "{count}");
}

#[test]
fn what_stands_past_the_limit_has_no_say() {
    let registry = Registry::builtin();
    let at = |padding: usize| [&b"x".repeat(padding), &b" GPTBot"[..]].concat();
    let gptbot = Identified::Crawler(registry.find("GPTBot").unwrap());
    let fits = USER_AGENT_BYTES_MAX - " GPTBot".len();
    let mut cache = UserAgentCache::default();
    for (padding, expected) in [(fits, gptbot), (fits + 1, Identified::Generic)] {
        assert_eq!(registry.identify(&at(padding)), expected);
        assert_eq!(identify_cached(&registry, &at(padding), &mut cache), expected);
    }
}

#[test]
fn hostile_user_agents_take_bounded_time() {
    let registry = Registry::builtin();
    for part in ["bot", "+https://", "ias-", "like Googlebot ", "exabot", "\\bwebzio", "\0", "W3C_"]
    {
        let user_agent = part.as_bytes().repeat((1 << 20) / part.len());
        let start = Instant::now();
        for _ in 0..20 {
            registry.identify(&user_agent);
        }
        // About 20 ms here without optimisation; a slow machine is allowed for.
        assert!(start.elapsed() < Duration::from_secs(5), "{part}: {:?}", start.elapsed());
    }
}

#[test]
fn a_cache_gives_the_registrys_answers() {
    let registry = Registry::builtin();
    let mut cache = UserAgentCache::default();
    let mut random = Random(2);
    let bases = ["GPTBot/", "Mozilla/5.0 (X11) Chrome/", "newbot/", "curl/", &"x".repeat(1020)];
    // More keys, and more bytes of them, than a cache can hold.
    let distinct = 30_000;
    for _ in 0..60_000 {
        let number = random.below(distinct);
        let user_agent = format!("{}{number}", bases[number % bases.len()]);
        let expected = match number % bases.len() {
            0 => "GPTBot",
            2 | 4 => "Generic bot",
            3 => "curl",
            _ => "(other)",
        };
        let found = identify_cached(&registry, user_agent.as_bytes(), &mut cache);
        assert_eq!(name(&registry, found), expected, "{user_agent}");
    }
    assert_eq!(identify_cached(&registry, b"", &mut cache), Identified::Empty);
    assert_eq!(identify_cached(&registry, b"-", &mut cache), Identified::Empty);
}

/// The regexes of all rows in order: slow, but simple enough to be verified.
struct Oracle(Vec<Option<OracleRow>>);

struct OracleRow {
    include: meta::Regex,
    /// The same with borders; much slower.
    whole: meta::Regex,
    exclude: Option<meta::Regex>,
}

impl Oracle {
    fn new(registry: &Registry) -> Oracle {
        let syntax = syntax::Config::new().case_insensitive(true).unicode(false).utf8(false);
        let config = meta::Config::new().utf8_empty(false);
        let mut builder = meta::Builder::new();
        builder.syntax(syntax).configure(config);
        let compile = |text: &str| builder.build(text).unwrap();
        let rows = registry.iter().map(|(id, crawler)| {
            let exclude = &crawler.user_agent_exclude;
            (crawler.visibility == Visibility::OwnUserAgent).then(|| {
                let include = compile(&crawler.user_agent_regex);
                // What looks automated has no name.
                let whole = match id == registry.generic() {
                    true => include.clone(),
                    false => compile(&whole(&crawler.user_agent_regex).unwrap()),
                };
                let exclude = (!exclude.is_empty()).then(|| compile(exclude));
                OracleRow { include, whole, exclude }
            })
        });
        Oracle(rows.collect())
    }

    fn identify(&self, user_agent: &[u8]) -> Identified {
        if user_agent == b"-" || user_agent.iter().all(|byte| *byte == b' ') {
            return Identified::Empty;
        }
        let found = self.as_written(user_agent);
        let blanks: Vec<u8> =
            user_agent.iter().map(|&byte| if byte == b'+' { b' ' } else { byte }).collect();
        let has_blanks = user_agent.contains(&b' ') || !user_agent.contains(&b'+');
        match found {
            Identified::Crawler(_) => found,
            _ if has_blanks => found,
            _ => self.as_written(&blanks),
        }
    }

    fn as_written(&self, user_agent: &[u8]) -> Identified {
        let user_agent = &user_agent[..user_agent.len().min(USER_AGENT_BYTES_MAX)];
        let found = self.0.iter().position(|row| {
            row.as_ref().is_some_and(|OracleRow { include, whole, exclude }| {
                include.is_match(user_agent)
                    && whole.is_match(user_agent)
                    && !exclude.as_ref().is_some_and(|exclude| exclude.is_match(user_agent))
            })
        });
        match found {
            None if is_browser(user_agent) => Identified::Other,
            None => Identified::Generic,
            Some(row) if row + 1 == self.0.len() => Identified::Generic,
            Some(row) => Identified::Crawler(CrawlerId(u16::try_from(row).unwrap())),
        }
    }
}

#[track_caller]
fn check(oracle: &Oracle, registry: &Registry, user_agent: &[u8], cache: &mut UserAgentCache) {
    let expected = oracle.identify(user_agent);
    let shown = user_agent.escape_ascii();
    assert_eq!(registry.identify(user_agent), expected, "{shown}");
    assert_eq!(identify_cached(registry, user_agent, cache), expected, "first: {shown}");
    assert_eq!(identify_cached(registry, user_agent, cache), expected, "again: {shown}");
}

/// Samples, patterns without their syntax, browsers and hostile bytes.
fn parts(registry: &Registry) -> Vec<Vec<u8>> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for (_, crawler) in registry.iter() {
        parts.push(crawler.sample_user_agent.clone().into_bytes());
        for pattern in [&crawler.user_agent_regex, &crawler.user_agent_exclude] {
            for branch in pattern.split(['|', '(', ')', '?', '^', '*']) {
                parts.push(branch.replace("\\b", "").replace("\\d", "7").replace('\\', "").into());
            }
        }
    }
    parts.extend(browsers().map(|browser| browser.as_bytes().to_vec()));
    for hostile in ["-", " ", "/", "bot", "\0", "\n", "\u{212a}", "é", "1", "_", "x"] {
        parts.push(hostile.into());
    }
    parts.extend([vec![0xff], vec![0xc3], vec![0x80; 9], b"bot/".repeat(2000), b"a".repeat(5000)]);
    parts
}

/// Up to four parts, some cut, some in another case, some with a gap.
fn mix(random: &mut Random, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut mixed = Vec::new();
    for _ in 0..=random.below(4) {
        let mut part = parts[random.below(parts.len())].clone();
        match random.below(6) {
            0 => part.truncate(random.below(part.len() + 1)),
            1 => part.make_ascii_uppercase(),
            2 => part.make_ascii_lowercase(),
            3 if !part.is_empty() => {
                let index = random.below(part.len());
                part[index] ^= 1 << random.below(8);
            }
            _ => {}
        }
        mixed.extend(part);
        if random.below(2) == 0 {
            mixed.push(b' ');
        }
    }
    mixed
}

fn name(registry: &Registry, identified: Identified) -> &str {
    match identified {
        Identified::Crawler(id) => &registry.crawler(id).name,
        Identified::Generic => &registry.crawler(registry.generic()).name,
        Identified::Other | Identified::Empty => "(other)",
    }
}

// -- a list of the user's own ----------------------------------------------------

#[track_caller]
fn with_rows(rows: &str) -> Result<Registry, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("crawlers.csv");
    fs::write(&path, rows).unwrap();
    Registry::with_file(&path).map_err(|error| {
        let message = error.to_string();
        message.strip_prefix(&format!("{}/", directory.path().display())).unwrap().to_owned()
    })
}

#[test]
fn own_rows_come_first_or_replace_in_place() {
    let registry = with_rows(
        "name,user_agent_regex,rep_applies,evidence\n\
         Ours,^Ours/,,\n\
         gptbot,GPTBot|GPT-Bot,no,registry\n\
         Images,Googlebot-Image/2,yes,operator-doc\n\
         Generic BOT,weird,,\n",
    )
    .unwrap();
    assert_eq!(registry.iter().count(), 1282);
    let first: Vec<_> = registry.iter().take(3).map(|(_, crawler)| crawler.name.as_str()).collect();
    assert_eq!(first, ["Ours", "Images", "virustotal"]);
    for (user_agent, expected) in [
        ("Ours/1", "Ours"),
        ("ours/1 GPTBot", "Ours"),
        ("Googlebot-Image/2.0", "Images"),
        ("Googlebot-Image/1.0", "Googlebot-Image"),
        ("gpt-bot", "gptbot"),
        ("OAI-SearchBot GPTBot", "gptbot"),
        ("Weird thing", "Generic BOT"),
        ("a crawler", "Generic BOT"),
    ] {
        assert_eq!(name(&registry, registry.identify(user_agent.as_bytes())), expected);
    }
    let gptbot = registry.crawler(registry.find("GPTBot").unwrap());
    assert_eq!(gptbot.obligation(), Obligation::ReportedNotFollowing);
    assert_eq!((gptbot.operator.as_str(), gptbot.purpose.as_str()), ("unknown", "other"));
    assert!(registry.crawler(registry.generic()).product_tokens.is_empty());
}

#[test]
fn only_equal_registries_have_equal_digests() {
    let builtin = Registry::builtin().digest();
    assert_eq!(with_rows("name\n").unwrap().digest(), builtin);
    for rows in ["Ours,^Ours/", "GPTBot,GPTBot"] {
        let own = with_rows(&format!("name,user_agent_regex\n{rows}\n")).unwrap();
        assert_ne!(own.digest(), builtin);
    }
}

#[test]
fn product_tokens_default_to_the_name_without_the_column() {
    let tokens = |rows: &str| {
        let registry = with_rows(rows).unwrap();
        registry.crawler(CrawlerId(0)).product_tokens.join("+")
    };
    assert_eq!(tokens("name,user_agent_regex\nOur Bot,ours\n"), "Our Bot");
    assert_eq!(tokens("name,user_agent_regex,product_tokens\nOurs,ours,\n"), "");
    assert_eq!(tokens("product_tokens,name,user_agent_regex\na-b ; a;,Ours,ours\n"), "a-b+a");
}

#[test]
fn a_file_may_be_written_by_anyone() {
    let registry =
        with_rows("\u{feff}name , user_agent_regex\r\n\"A, b\",\"x\"\"y\"\r\n\r\n").unwrap();
    assert_eq!(name(&registry, registry.identify(b"X\"Y")), "A, b");
    let registry = with_rows("name,sends_own_user_agent\nControl,NO\n").unwrap();
    assert_eq!(registry.find("control"), Some(CrawlerId(0)));
    assert_eq!(with_rows("name\n").unwrap().iter().count(), 1280);
}

#[test]
fn a_file_that_is_no_list_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("crawlers.csv");
    let error = Registry::with_file(&path).unwrap_err().to_string();
    assert!(error.starts_with("cannot read "), "{error}");
    fs::write(&path, b"name,operator\na,\xff\n").unwrap();
    let error = Registry::with_file(&path).unwrap_err().to_string();
    assert!(error.ends_with("crawlers.csv:2: not UTF-8; save the file as UTF-8"), "{error}");
    let mut many = "name,sends_own_user_agent\n".to_owned();
    (0..65_300).for_each(|number| many += &format!("{number},no\n"));
    fs::write(&path, many).unwrap();
    let error = Registry::with_file(&path).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "66580 crawlers with the built-in ones, but at most 65535 are \
                             possible; remove some"
        ),
        "{error}"
    );
    fs::write(&path, "x".repeat((16 << 20) + 1)).unwrap();
    let error = Registry::with_file(&path).unwrap_err().to_string();
    assert!(error.contains("larger than 16 MiB, so it is not a list of crawlers"), "{error}");
}

/// User agents of browsers, one per line.
fn browsers() -> impl Iterator<Item = &'static str> {
    include_str!("../src/crawlers/card/browsers.txt").lines()
}
