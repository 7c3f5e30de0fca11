//! The configuration file: named sites, each with its logs and any flag of an audit.
//!
//! ```toml
//! reports = "reports"          # where the reports of all sites stand
//! keep_days = 400              # older reports are removed
//! state = "state.sqlite"       # what is remembered from night to night
//! keep_state_days = 400        # older days are forgotten
//!
//! [defaults]                   # for all sites that do not say otherwise
//! ip_ranges = "ranges"
//!
//! [sites.shop]
//! logs = ["/var/log/nginx/shop.access.log*"]
//! robots = "robots/shop.txt"
//! fail_on = ["violations > 0 where identity = 'verified'"]
//! ```
//!
//! A key is a flag without its dashes, with `_` for `-` if you like. Every mistake is found, not
//! only the first.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toml::de::{DeTable, DeValue};

/// A flag that may stand in the file.
#[derive(Clone, Debug)]
pub struct Key {
    /// With `_` for `-`.
    pub name: String,
    /// What is written after it.
    pub takes: Takes,
}

/// What a key is given.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Takes {
    /// `true` or `false`.
    Switch,
    /// Text or a number.
    One,
    /// The same, or a list of it.
    Many,
}

/// What the file asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Days that are kept, the day of the run among them; `None`: all.
    pub keep_days: Option<u32>,
    /// Where the reports of all sites stand, if they do not say otherwise.
    pub reports: PathBuf,
    /// What is remembered.
    pub state: PathBuf,
    /// Days that are remembered, the day of the run among them; `None`: all.
    pub keep_state_days: Option<u32>,
    /// In the order of their names.
    pub sites: Vec<Site>,
}

/// A site.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Fit to name a directory.
    pub name: String,
    /// Where its table begins, from 1.
    pub line: u64,
    /// Where the reports of its days stand.
    pub reports: PathBuf,
    /// Files, directories and patterns.
    pub logs: Vec<String>,
    /// The flags, by name; those of the defaults among them.
    pub settings: BTreeMap<String, Setting>,
}

/// A flag and what it is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Where it stands, from 1.
    pub line: u64,
    /// What it is given.
    pub value: Value,
}

/// What a flag is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Whether it is.
    Switch(bool),
    /// Once for each.
    Words(Vec<String>),
}

/// Something in the file that cannot be meant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mistake {
    /// From 1.
    pub line: u64,
    /// The key, with the tables that it is in; empty where it is no matter of a key.
    pub key: String,
    /// What is wrong, and what to write.
    pub why: String,
}

/// Keys of a site besides the flags.
const OF_SITES: [&str; 2] = ["logs", "output"];

/// Flags that need the lines themselves, of which only sums are remembered.
const NOT_OF_NIGHTS: [(&str, &str); 4] = [
    (
        "requests",
        "single requests are not remembered; for those of a day run: botaudit audit --requests \
         evidence.csv.gz --since 2026-11-20 --until 2026-11-21",
    ),
    ("simulate", "requests are not judged again; run: botaudit audit --simulate"),
    ("simulate_for", "requests are not judged again; run: botaudit audit --simulate"),
    (
        "log_evidence",
        "the lines of an hour may come in several nights, and what was judged is not judged again; run: \
         botaudit audit --log-evidence",
    ),
];

/// Reads the file. Of what is mistaken nothing is in the configuration.
pub fn parse(text: &str, keys: &[Key]) -> (Config, Vec<Mistake>) {
    let mut reader = Reader { text, keys, mistakes: Vec::new() };
    let config = match DeTable::parse(text) {
        Ok(table) => reader.config(table.get_ref()),
        Err(err) => {
            let at = err.span().map_or(0, |span| span.start);
            reader.mistake(at, "", err.message().to_owned());
            Config::default()
        }
    };
    let mut mistakes = reader.mistakes;
    mistakes.sort_by_key(|mistake| mistake.line);
    (config, mistakes)
}

struct Reader<'a> {
    text: &'a str,
    keys: &'a [Key],
    mistakes: Vec<Mistake>,
}

impl Reader<'_> {
    fn config(&mut self, root: &DeTable<'_>) -> Config {
        let mut config = Config::default();
        let mut reports = PathBuf::from("reports");
        let mut state = None;
        let mut defaults = BTreeMap::new();
        if let Some(table) = root.get("defaults") {
            match table.get_ref().as_table() {
                Some(table) => defaults = self.settings(table, "defaults", &[]),
                None => self.wrong(table.span().start, "defaults", "a table: [defaults]"),
            }
        }
        for (key, value) in root {
            let at = key.span().start;
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("reports", DeValue::String(path)) if !path.is_empty() => {
                    reports = PathBuf::from(path.as_ref());
                }
                ("reports", _) => self.wrong(at, "reports", "the path of a directory, in quotes"),
                ("state", DeValue::String(path)) if !path.is_empty() => {
                    state = Some(PathBuf::from(path.as_ref()));
                }
                ("state", _) => self.wrong(at, "state", "the path of a file, in quotes"),
                ("keep_days" | "keep_state_days", value) => {
                    let days = whole_number(value).filter(|&days| days > 0);
                    if days.is_none() {
                        self.wrong(at, key.get_ref(), "a number of days, 1 or more");
                    } else if key.get_ref() == "keep_days" {
                        config.keep_days = days;
                    } else {
                        config.keep_state_days = days;
                    }
                }
                ("defaults" | "sites", _) => {}
                (other, _) => self.mistake(
                    at,
                    other,
                    "unknown key; those outside of tables are reports, keep_days, state and \
                     keep_state_days, and the tables are [defaults] and [sites.NAME]"
                        .to_owned(),
                ),
            }
        }
        match root.get("sites").map(|sites| (sites.span().start, sites.get_ref().as_table())) {
            Some((_, Some(sites))) if !sites.is_empty() => {
                for (name, site) in sites {
                    let at = name.span().start;
                    match site.get_ref().as_table() {
                        Some(table) => {
                            let name = name.get_ref();
                            if let Some(site) = self.site(name, at, table, &reports, &defaults) {
                                config.sites.push(site);
                            }
                        }
                        None => self.wrong(at, &format!("sites.{}", name.get_ref()), "a table"),
                    }
                }
            }
            found => {
                let at = found.map_or(0, |(at, _)| at);
                self.mistake(at, "sites", "there are none; write [sites.NAME]".to_owned());
            }
        }
        config.state = state.unwrap_or_else(|| reports.join("state.sqlite"));
        config.reports = reports;
        self.check_apart(&config.sites);
        config.sites.sort_by(|left, right| left.name.cmp(&right.name));
        config
    }

    fn site(
        &mut self,
        name: &str,
        at: usize,
        table: &DeTable<'_>,
        reports: &std::path::Path,
        defaults: &BTreeMap<String, Setting>,
    ) -> Option<Site> {
        let path = format!("sites.{name}");
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if name.is_empty() || name.starts_with('.') || !name.bytes().all(is_of_name) {
            let why = "a site's name names a directory; use letters, digits, _ - and . within";
            self.mistake(at, &path, why.to_owned());
            return None;
        }
        let mut settings = defaults.clone();
        settings.extend(self.settings(table, &path, &OF_SITES));
        let mut site = Site {
            name: name.to_owned(),
            line: self.line(at),
            reports: reports.join(name),
            logs: Vec::new(),
            settings,
        };
        if let Some(output) = table.get("output") {
            match output.get_ref().as_str().filter(|output| !output.is_empty()) {
                Some(output) => site.reports = PathBuf::from(output),
                None => self.wrong(
                    output.span().start,
                    &format!("{path}.output"),
                    "the path of a directory, in quotes",
                ),
            }
        }
        let key = format!("{path}.logs");
        let Some(logs) = table.get("logs") else {
            self.mistake(at, &key, "missing; write logs = [\"/var/log/nginx/access.log*\"]".into());
            return None;
        };
        match words(logs.get_ref()).filter(|logs| !logs.is_empty()) {
            Some(logs) if logs.iter().any(|log| log == "-") => {
                let why = "a nightly job has no standard input; name files";
                self.mistake(logs_at(table), &key, why.to_owned());
                return None;
            }
            Some(logs) => site.logs = logs,
            None => {
                self.wrong(logs.span().start, &key, "a list of files, directories or patterns");
                return None;
            }
        }
        Some(site)
    }

    /// The flags in `table`; `others` are keys that are none.
    fn settings(
        &mut self,
        table: &DeTable<'_>,
        path: &str,
        others: &[&str],
    ) -> BTreeMap<String, Setting> {
        let mut settings = BTreeMap::new();
        for (written, value) in table {
            let at = written.span().start;
            let name = written.get_ref().replace('-', "_");
            if others.contains(&name.as_str()) {
                continue;
            }
            let full = format!("{path}.{}", written.get_ref());
            if let Some((_, why)) = NOT_OF_NIGHTS.iter().find(|(key, _)| *key == name) {
                self.mistake(at, &full, (*why).to_owned());
                continue;
            }
            let Some(key) = self.keys.iter().find(|key| key.name == name) else {
                let keys = self.keys.iter().map(|key| key.name.as_str());
                let all: Vec<&str> = others.iter().copied().chain(keys).collect();
                self.mistake(at, &full, format!("unknown key; the keys are {}", all.join(", ")));
                continue;
            };
            let value = match (key.takes, value.get_ref(), words(value.get_ref())) {
                (Takes::Switch, DeValue::Boolean(is_on), _) => Some(Value::Switch(*is_on)),
                (Takes::Switch, ..) => None,
                (Takes::One, DeValue::Array(_), _) => None,
                (Takes::One | Takes::Many, _, words) => words.map(Value::Words),
            };
            match value {
                Some(value) => {
                    let setting = Setting { line: self.line(at), value };
                    if settings.insert(name, setting).is_some() {
                        self.mistake(at, &full, "this key is there twice".to_owned());
                    }
                }
                None => self.wrong(
                    at,
                    &full,
                    match key.takes {
                        Takes::Switch => "true or false",
                        Takes::One => "text in quotes, or a number",
                        Takes::Many => "text in quotes, or a list of it",
                    },
                ),
            }
        }
        settings
    }

    /// Two sites must not replace each other's reports.
    fn check_apart(&mut self, sites: &[Site]) {
        for (at, site) in sites.iter().enumerate() {
            if let Some(other) = sites[..at].iter().find(|other| other.reports == site.reports) {
                self.mistakes.push(Mistake {
                    line: site.line,
                    key: format!("sites.{}.output", site.name),
                    why: format!("its reports would stand where those of {} do", other.name),
                });
            }
        }
    }

    fn wrong(&mut self, at: usize, key: &str, expected: &str) {
        self.mistake(at, key, format!("expected {expected}"));
    }

    fn mistake(&mut self, at: usize, key: &str, why: String) {
        self.mistakes.push(Mistake { line: self.line(at), key: key.to_owned(), why });
    }

    fn line(&self, at: usize) -> u64 {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        memchr::memchr_iter(b'\n', before).count() as u64 + 1
    }
}

fn logs_at(table: &DeTable<'_>) -> usize {
    table.get("logs").map_or(0, |logs| logs.span().start)
}

fn whole_number(value: &DeValue<'_>) -> Option<u32> {
    value.as_integer().filter(|number| number.radix() == 10)?.as_str().parse().ok()
}

/// Text and numbers as they are written, and lists of them.
fn words(value: &DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::String(text) => Some(vec![text.to_string()]),
        DeValue::Integer(number) if number.radix() == 10 => Some(vec![number.as_str().to_owned()]),
        DeValue::Float(number) => Some(vec![number.as_str().to_owned()]),
        DeValue::Array(items) => {
            let word = |item: &DeValue<'_>| match item {
                DeValue::Array(_) => None,
                item => words(item)?.pop(),
            };
            items.iter().map(|item| word(item.get_ref())).collect()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Vec<Key> {
        let key = |name: &str, takes| Key { name: name.to_owned(), takes };
        vec![
            key("robots", Takes::One),
            key("fail_on", Takes::Many),
            key("verify_dns", Takes::Switch),
            key("dns_max", Takes::One),
        ]
    }

    #[track_caller]
    fn check(text: &str, expected: &[(u64, &str, &str)]) {
        let (_, mistakes) = parse(text, &keys());
        assert_eq!(mistakes.len(), expected.len(), "{mistakes:?}");
        for (mistake, &(line, key, why)) in mistakes.iter().zip(expected) {
            assert_eq!((mistake.line, mistake.key.as_str()), (line, key), "{mistake:?}");
            assert!(mistake.why.contains(why), "{mistake:?}");
        }
    }

    #[test]
    fn sites_have_the_defaults_and_their_own() {
        let text = "reports = \"r\"\nkeep_days = 30\n[defaults]\nverify-dns = true\ndns_max = 5\n\
                    [sites.shop]\nlogs = \"a.log\"\ndns_max = 7\nfail_on = [\"x\", \"y\"]\n\
                    [sites.blog]\nlogs = [\"b.log\", \"c*\"]\noutput = \"elsewhere\"\n";
        let (config, mistakes) = parse(text, &keys());
        assert_eq!(mistakes, []);
        assert_eq!(config.keep_days, Some(30));
        let [blog, shop] = &config.sites[..] else { panic!("{config:?}") };
        assert_eq!((blog.name.as_str(), blog.line), ("blog", 10));
        assert_eq!(blog.reports, PathBuf::from("elsewhere"));
        assert_eq!(shop.reports, PathBuf::from("r/shop"));
        assert_eq!(blog.logs, ["b.log", "c*"]);
        let setting = |site: &Site, name: &str| {
            let Setting { line, value } = site.settings[name].clone();
            (line, value)
        };
        let words = |words: &[&str]| Value::Words(words.iter().map(|&word| word.into()).collect());
        assert_eq!(setting(shop, "verify_dns"), (4, Value::Switch(true)));
        assert_eq!(setting(shop, "dns_max"), (8, words(&["7"])));
        assert_eq!(setting(blog, "dns_max"), (5, words(&["5"])));
        assert_eq!(setting(shop, "fail_on"), (9, words(&["x", "y"])));
    }

    #[test]
    fn every_mistake_is_told_with_its_line_and_key() {
        check("", &[(1, "sites", "there are none")]);
        check("a = \n", &[(1, "", "")]);
        check(
            "report = 1\nkeep_days = 0\nsites = 5\n",
            &[
                (1, "report", "unknown key; those outside"),
                (2, "keep_days", "expected a number of days"),
                (3, "sites", "there are none"),
            ],
        );
        check(
            "[sites.a]\nrobots = [\"x\"]\nrobts = 1\nverify_dns = \"yes\"\n\
             [sites.b]\nlogs = [\"-\"]\n[sites.\"../c\"]\n",
            &[
                (1, "sites.a.logs", "missing"),
                (2, "sites.a.robots", "expected text in quotes, or a number"),
                (3, "sites.a.robts", "the keys are logs, output, robots, fail_on"),
                (4, "sites.a.verify_dns", "expected true or false"),
                (6, "sites.b.logs", "no standard input"),
                (7, "sites.../c", "names a directory"),
            ],
        );
        check(
            "[sites.a]\nlogs = \"x\"\noutput = \"r\"\n[sites.b]\nlogs = \"y\"\noutput = \"r\"\n",
            &[(4, "sites.b.output", "those of a do")],
        );
    }
}
