//! What a site owner can do about the findings, with the commands. All commands of the page are
//! here.

use serde_json::Value;

use crate::audit::{conduct::Conduct, crawler_row::Broken, origin_key::OriginKey};
use crate::audit::{tally::header::ReportedOptions, unknown::UnknownCrawler};
use crate::config::audit_config::{AuditConfig, OPTIONS};
use crate::crawlers::identity::{Actor, Identity};
use crate::merge::sum;
use crate::numbers::{counted, grouped, percent};
use crate::table::csv::not_bound_reason;

use super::totals::{CrawlerTotals, rule_text};
use super::{PageModel, REPORT, is_itself, text};

/// The most logs that a command names.
const LOGS_MAX: usize = 8;

/// Log formats of one server, and the value of `deny --for` for it.
pub(crate) const SERVERS: [(&str, &str); 7] = [
    ("traefik", "traefik"),
    ("traefik_json", "traefik"),
    ("caddy", "caddy"),
    ("haproxy", "haproxy"),
    ("cloudflare", "cloudflare"),
    ("lighttpd", "lighttpd"),
    ("vhost_combined", "apache"),
];

/// That value for other formats, which many servers write.
const USUAL_SERVER: &str = "nginx";

/// The longest beginning of a user agent in a pattern.
const PATTERN_BYTES_MAX: usize = 100;

/// The longest URL in a command.
const URL_BYTES_MAX: usize = 500;

/// A finding, and what to do about it.
#[derive(Clone, Debug)]
pub(crate) struct Action {
    /// What the audit found.
    pub finding: String,
    /// What to do.
    pub advice: String,
    /// Commands or lines to copy.
    pub lines: Vec<String>,
}

impl PageModel<'_> {
    /// The actions, the most important first.
    pub(crate) fn actions(&self) -> Vec<Action> {
        let all = [
            self.violations_of_crawlers(),
            self.rules_broken(),
            self.robots_altered(),
            self.host_unknown(),
            self.robots_unknown(),
            self.unbound(),
            self.spoofed(),
            self.identities_unverified(),
            self.delays_exceeded(),
            self.user_agents_unknown(),
            self.lines_rejected(),
        ];
        all.into_iter().flatten().collect()
    }

    fn violations_of_crawlers(&self) -> Option<Action> {
        let offenders = self.own_offenders();
        let served: u64 = sum(offenders.iter().map(|(_, totals)| totals.statuses.status_2xx));
        let violations = self.not_spoofed().violations;
        let (actor, _) = offenders.first()?;
        let name = &self.crawler(actor.0).name;
        // The rule that it broke most.
        let mut rows = self.violations.rows.iter();
        let broken = rows.find(|(origin, of, _)| of == actor && is_site(origin));
        let check = broken.and_then(|(origin, _, broken)| self.check_command(name, origin, broken));
        let output = ["-o".to_owned(), "evidence".to_owned()];
        let (deny, evidence) = if self.with_conduct(Conduct::Ignores).is_empty() {
            let evidence = broken.map(|(origin, ..)| {
                let words = ["evidence", &self.report, "--crawler", name, "--origin", origin];
                command(&words, &output)
            });
            (self.deny_command(name), evidence)
        } else {
            let all = command(&["evidence", &self.report], &output);
            (self.deny_ignoring_command(), Some(all))
        };
        let lines = [check, Some(self.show_command(name)), Some(deny), evidence];
        Some(Action {
            finding: format!(
                "The server answered {} of {} with content. The crawler with the most of these requests is {}.",
                percent(served, violations),
                counted(violations, "disallowed request"),
                text(name)
            ),
            advice: "robots.txt only asks. These commands show which rule decides and what the operator \
                     promises, write rules for the server that refuse such crawlers (other programs: --for), and \
                     collect evidence for a letter to the operator:"
                .to_owned(),
            lines: lines.into_iter().flatten().collect(),
        })
    }

    /// robots.txt may say what its owner does not mean.
    fn rules_broken(&self) -> Option<Action> {
        let most = self.rules.rows.first()?;
        let digest = most.rule.digest;
        let mut files = self.audit.robots.iter();
        let (file, _) = files.find(|(_, robots)| robots.version.digest == digest)?;
        if self.audit.snapshots.origins_total > 0 || is_site(file) {
            return None;
        }
        let mut draft = vec!["--what-if".to_owned(), "draft.txt".to_owned()];
        if self.option("robots").last() != Some(file) {
            draft.extend(["--what-if-for", most.origins.first()?].map(str::to_owned));
        }
        let lint = command(&["lint", file], &[]);
        let copy = words(&["cp", file, "draft.txt"], &[]);
        let (advice, lines) = match self.audit_command("draft-report", &draft) {
            Some(test) => (
                "This command finds mistakes in robots.txt. To test a change on these logs, edit the copy, and \
                 run the last command; its report is in draft-report/:",
                vec![lint, copy, test],
            ),
            None => (
                "The first command finds mistakes in robots.txt. To test a change on these logs, edit the copy, \
                 and add the last line to the audit command:",
                vec![lint, copy, words(&[], &draft)],
            ),
        };
        Some(Action {
            finding: format!(
                "{} broken, most often \"{}\".",
                match self.rules.total {
                    1 => "1 rule was".to_owned(),
                    total => format!("{} rules were", grouped(total)),
                },
                rule_text(most.rule.directive, &most.rule.pattern)
            ),
            advice: format!("If a rule disallows more than you want, correct it. {advice}"),
            lines,
        })
    }

    /// The audit of this report with `more` options, if the report tells it: the names of its logs
    /// are paths, and all options have their values in it.
    fn audit_command(&self, output: &str, more: &[String]) -> Option<String> {
        let inputs = self.audit.inputs.iter();
        let logs: Vec<&str> = inputs.map(|input| input.summary.name.as_str()).collect();
        let options = &self.audit.options;
        let is = |name, value: &str| options.get(name) == value;
        // Of a night, logs have the names that they get by rotation. The salt of hashes is a secret.
        let is_of_a_night = options.get("since").is_string() && options.get("until").is_string();
        let is_one = self.report != REPORT && !is_of_a_night && !is("ip", "hash");
        if !is_one || !(1..=LOGS_MAX).contains(&logs.len()) || logs.contains(&"-") {
            return None;
        }
        let usual = ReportedOptions::of(&AuditConfig::defaults());
        let mut flags = Vec::new();
        for (name, value) in options.0.iter().filter(|(name, value)| usual.get(name) != *value) {
            // Others are of the report.
            let option = OPTIONS.iter().find(|option| option.reported_as == name);
            let Some(option) = option else { continue };
            let flag = format!("--{}", option.key.replace('_', "-"));
            // What is added takes the place of what the audit had.
            if !more.contains(&flag) {
                flags.extend(flag_words(&flag, value));
            }
        }
        flags.extend(more.iter().cloned());
        flags.extend(["-o", output].into_iter().chain(logs).map(str::to_owned));
        Some(command(&["audit"], &flags))
    }

    /// How to audit again with `more` options, after `advice`: the command, or what to add to it.
    fn audit_again(&self, advice: &str, more: &[&str]) -> (String, Vec<String>) {
        let more: Vec<String> = more.iter().map(|word| (*word).to_owned()).collect();
        match self.audit_command(&self.report, &more) {
            Some(line) => (format!("{advice} This command writes the report again:"), vec![line]),
            None => (format!("{advice} Add this to the audit command:"), vec![words(&[], &more)]),
        }
    }

    fn show_command(&self, crawler: &str) -> String {
        command(&["crawlers", "show", crawler], &self.option("crawlers"))
    }

    fn deny_command(&self, crawler: &str) -> String {
        let condition = format!("crawler = \"{}\"", crawler.replace('"', "\"\""));
        let words = ["deny", &self.report, "--for", self.server(), "--where", &condition];
        command(&words, &self.option("crawlers"))
    }

    /// Refuses all crawlers that ignore robots.txt, after a trial on the logs of the report.
    fn deny_ignoring_command(&self) -> String {
        let logs = self.audit.inputs.iter().map(|input| input.summary.name.as_str());
        let logs: Vec<&str> = logs.collect();
        let mut options = self.option("crawlers");
        if (1..=LOGS_MAX).contains(&logs.len()) && !logs.contains(&"-") {
            options.push("--replay".to_owned());
            options.extend(logs.into_iter().map(str::to_owned));
        }
        options.extend(["-o", "refuse.conf"].map(str::to_owned));
        command(&["deny", &self.report, "--for", self.server()], &options)
    }

    /// The form of the rules for the server that wrote the logs, by their format.
    fn server(&self) -> &'static str {
        let mut formats =
            self.audit.inputs.iter().filter_map(|input| input.summary.format.as_ref());
        let format = formats.next().map_or("", |format| &*format.name);
        SERVERS.iter().find(|(name, _)| *name == format).map_or(USUAL_SERVER, |(_, form)| form)
    }

    /// Explains the verdict for the example of `broken`, unless its URL is too long.
    fn check_command(&self, crawler: &str, origin: &str, broken: &Broken) -> Option<String> {
        let robots = self.option("robots");
        let example = &broken.tally.example;
        let url = format!("{origin}{}", std::str::from_utf8(&example.target).ok()?);
        if url.len() > URL_BYTES_MAX || robots.is_empty() {
            return None;
        }
        let mut options = [robots, self.option("crawlers")].concat();
        let dialect = self.option("dialect");
        if dialect.last().is_some_and(|dialect| dialect != "google") {
            options.extend(dialect);
        }
        if self.audit.snapshots.origins_total > 0 {
            options.extend(["--at".to_owned(), example.time.to_string()]);
        }
        Some(command(&["check", &url, "--crawler", crawler], &options))
    }

    /// The flag of the audit with that name and its value, if it has one.
    fn option(&self, name: &str) -> Vec<String> {
        let value = self.audit.options.get(name);
        value.as_str().map_or_else(Vec::new, |value| vec![format!("--{name}"), value.to_owned()])
    }

    fn unbound(&self) -> Option<Action> {
        let is_unbound = |(crawler, identity): Actor, totals: &CrawlerTotals| {
            let reason = not_bound_reason(self.crawler(crawler));
            is_itself(identity) && !reason.is_empty() && totals.sums.not_bound_disallowed > 0
        };
        let all = self.crawlers.iter().filter(|(actor, totals)| is_unbound(**actor, totals));
        let (actor, _) = all.max_by_key(|(_, totals)| totals.sums.not_bound_disallowed)?;
        let requests = self.not_spoofed().not_bound_disallowed;
        let name = &self.crawler(actor.0).name;
        Some(Action {
            finding: format!(
                "{} for disallowed paths came from crawlers that robots.txt does not bind, most from {}.",
                counted(requests, "request"),
                text(name)
            ),
            advice: "Only the web server can refuse them. These commands show why the crawler is not bound, \
                     and write rules for the server (other programs: --for):"
                .to_owned(),
            lines: vec![self.show_command(name), self.deny_command(name)],
        })
    }

    fn identities_unverified(&self) -> Option<Action> {
        let requests = self.not_spoofed().requests;
        let why = match self.audit.requests_of_other_time() {
            0 => "no address was checked",
            _ => "no address could be verified",
        };
        let advice = "Check addresses by DNS (--verify-dns), or by the lists of the operators (--ip-ranges).";
        let (advice, lines) = self.audit_again(advice, &["--verify-dns"]);
        (requests > 0 && !self.is_identity_known()).then(|| Action {
            finding: format!(
                "Any client may have sent these {}: {why}.",
                counted(requests, "request")
            ),
            advice,
            lines,
        })
    }

    fn spoofed(&self) -> Option<Action> {
        let requests = self.sums_of(Identity::Spoofed).requests;
        let advice = "Refuse their addresses, not the user agent. The file of --evidence has the address of each \
                      disallowed request.";
        let options = ["--ip", "full", "--evidence", "evidence.csv"];
        let (advice, lines) = self.audit_again(advice, &options);
        (requests > 0).then(|| Action {
            finding: format!(
                "{} only claimed to come from crawlers: their addresses do not belong to the operators.",
                counted(requests, "request")
            ),
            advice,
            lines,
        })
    }

    /// A gate in front of the server may keep robots.txt from crawlers.
    fn robots_altered(&self) -> Option<Action> {
        let altered = self.audit.altered_answers();
        let (name, count) = altered.first()?;
        Some(Action {
            finding: format!(
                "{} got something other than robots.txt {}.",
                text(name),
                counted(*count, "time")
            ),
            advice: "A crawler cannot follow rules that it cannot read. Let every client read /robots.txt without \
                     a challenge, in the server and in the gate before it. This command lists the crawlers:"
                .to_owned(),
            lines: vec![command(&["report", &self.report, "--table", "robots-fetches"], &[])],
        })
    }

    fn host_unknown(&self) -> Option<Action> {
        let requests = self.unknown_at(|origin| origin == OriginKey::Unnamed.to_string());
        (requests > 0).then(|| Action {
            finding: format!("{} named no host.", counted(requests, "request")),
            advice: "Add this to the audit command, with the address of your site:".to_owned(),
            lines: vec!["--origin https://example.com".to_owned()],
        })
    }

    fn robots_unknown(&self) -> Option<Action> {
        let requests = self.unknown_at(is_site);
        // If a fetch failed, the warning says what to do.
        let is_fetched = self.audit.options.get("fetch") == true;
        let advice = "Add their files to the directory of --robots, or fetch all robots.txt files into an archive.";
        let (advice, lines) = self.audit_again(advice, &["--fetch", "--robots", "robots.db"]);
        (requests > 0 && !is_fetched).then(|| Action {
            finding: format!(
                "{} went to origins without a known robots.txt.",
                counted(requests, "request")
            ),
            advice,
            lines,
        })
    }

    /// Requests of crawlers that are not spoofed, without a known robots.txt.
    fn unknown_at(&self, is_meant: impl Fn(&str) -> bool) -> u64 {
        let rows = self.audit.rows().iter();
        let own = rows.filter(|row| self.audit.is_own_crawler(row.actor) && is_meant(&row.origin));
        sum(own.map(|row| row.tally.total().unknown))
    }

    fn delays_exceeded(&self) -> Option<Action> {
        let over = self.audit.delays().filter_map(|(_, actor, delayed)| {
            let requests = delayed.pace?.hourly?.requests_over;
            (requests > 0 && self.audit.is_own_crawler(actor)).then_some((requests, actor))
        });
        let (requests, (crawler, _)) = over.max_by_key(|(requests, _)| *requests)?;
        let name = &self.crawler(crawler).name;
        Some(Action {
            finding: format!(
                "In hours with too many requests, {} made {} more than its Crawl-delay allows.",
                text(name),
                counted(requests, "request")
            ),
            advice: "Limit its rate in the web server. This command shows whether its operator promises \
                     to honour the delay:"
                .to_owned(),
            lines: vec![self.show_command(name)],
        })
    }

    fn user_agents_unknown(&self) -> Option<Action> {
        let is_name = |token: &[u8]| {
            !token.is_empty()
                && token.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        };
        let unknown = self.audit.unknown_crawlers.iter();
        let named = unknown.filter(|crawler| is_name(&crawler.token));
        let patterns = named.filter_map(|crawler| Some((crawler, pattern(crawler)?)));
        let (most, pattern) = patterns.max_by_key(|(of, _)| of.tally.sums.requests)?;
        let name = text(std::str::from_utf8(&most.token).ok()?);
        Some(Action {
            finding: format!(
                "{} look automated and are not in the registry, such as {name}.",
                counted(self.audit.unknown_crawlers.len() as u64, "user agent")
            ),
            advice:
                "To judge them, add lines like these to a file, and pass it with --crawlers FILE:"
                    .to_owned(),
            lines: vec![
                "name,operator,purpose,user_agent_regex,product_tokens".to_owned(),
                format!("{name},unknown,other,{pattern},{name}"),
            ],
        })
    }

    fn lines_rejected(&self) -> Option<Action> {
        let most = self.audit.inputs.iter().max_by_key(|input| input.tally.rejected_lines())?;
        (self.lines.rejected > 0).then(|| Action {
            finding: format!("{} could not be parsed.", counted(self.lines.rejected, "line")),
            advice: "rejects.csv has the first line of each kind. This command shows the format of the log with most of them:"
                .to_owned(),
            lines: vec![command(&["formats", "detect", &most.summary.name], &[])],
        })
    }
}

/// Whether `origin` is the address of a site, and not a word such as `(others)`.
pub(crate) fn is_site(origin: &str) -> bool {
    origin.contains("://")
}

/// A command of this program for a POSIX shell.
pub(crate) fn command(words: &[&str], more: &[String]) -> String {
    self::words(&[&["botaudit"], words].concat(), more)
}

/// Words of a command.
fn words(words: &[&str], more: &[String]) -> String {
    let words = words.iter().copied().chain(more.iter().map(String::as_str));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

/// A regular expression for the user agents that begin as that of `crawler`, up to its name: the
/// name alone may be a part of others, such as `Client`. It needs no quotes in CSV.
fn pattern(crawler: &UnknownCrawler) -> Option<String> {
    let text = std::str::from_utf8(&crawler.user_agent).ok()?;
    let name = std::str::from_utf8(&crawler.token).ok()?;
    let start = &text[..text.find(name)? + name.len()];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_/;:.()+".contains(c);
    let escaped =
        start.chars().flat_map(|c| ".()+".contains(c).then_some('\\').into_iter().chain([c]));
    (start.len() <= PATTERN_BYTES_MAX && start.chars().all(is_plain))
        .then(|| format!("^{}", escaped.collect::<String>()))
}

/// The words of an option with `value`.
fn flag_words(flag: &str, value: &Value) -> Vec<String> {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Null | Value::Bool(false) => Vec::new(),
        Value::Bool(true) => vec![flag.to_owned()],
        Value::Array(all) => all.iter().flat_map(|one| [flag.to_owned(), word(one)]).collect(),
        one => vec![flag.to_owned(), word(one)],
    }
}

/// One word of a command. Control characters have no form that all shells share; they are shown
/// as in tables.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+,=".contains(&byte);
    let word = text(word);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_stranger_is_one_word() {
        let words = ["check", "https://a.example/x?a=1&b=$(rm)", "it's", "", "a\nb"];
        let expected = r"botaudit check 'https://a.example/x?a=1&b=$(rm)' 'it'\''s' '' 'a\x0Ab'";
        assert_eq!(command(&words, &[]), expected);
    }
}
