//! Signature Agent Cards (draft-meunier-webbotauth-registry): what an agent says of itself, as a row of
//! a list of crawlers.
//!
//! A card is written by a stranger. So it has limits, its user agents are literal text, and what could
//! hide or break text, or run as a formula, is refused. Drafts differ: members stand in `web_bot_auth`,
//! or, in early ones, beside it; compliance is a boolean, or a list of directives.

pub mod members;

use std::path::Path;

use crate::error::Error;

use super::crawler::{Crawler, CrawlerId, TOOL_PURPOSES, Visibility};
use super::{identify::Identified, registry::Registry};
use members::{Card, CardOptions, Compliance, host_of};

/// The largest card.
pub(crate) const CARD_BYTES_MAX: u64 = 256 << 10;

/// The longest name.
const NAME_BYTES_MAX: usize = 100;

/// The shortest part of a user agent that can identify a crawler, in letters and digits.
const USER_AGENT_LETTERS_MIN: usize = 4;

/// User agents of browsers, one a line: no card may claim one.
const BROWSERS: &str = include_str!("card/browsers.txt");

/// A card as a row of a list of crawlers.
#[derive(Debug)]
pub struct CardRow {
    /// The crawler's name.
    pub name: String,
    /// Its user agents, without wildcards.
    pub user_agents: Vec<String>,
    /// The line of the member with the user agents, or of the product token that stands for them.
    pub line: u64,
    /// The cells that are not empty, by column.
    pub cells: Vec<(&'static str, String)>,
    /// What a reader should know of it.
    pub notes: Vec<String>,
}

/// Reads the card `text` of the file `path`.
///
/// # Errors
/// All mistakes, each with its line.
pub fn read_card(
    path: &Path,
    text: &[u8],
    options: CardOptions<'_>,
) -> std::result::Result<CardRow, Vec<Error>> {
    let mut card = Card::new(path, text, options)?;
    let row = card.row();
    if card.mistakes.is_empty() { Ok(row) } else { Err(card.mistakes) }
}

impl Card<'_> {
    fn row(&mut self) -> CardRow {
        let options = self.options;
        let mut row = CardRow {
            name: String::new(),
            user_agents: Vec::new(),
            line: 1,
            cells: Vec::new(),
            notes: Vec::new(),
        };
        let tokens = self.tokens();
        self.name(&tokens, &mut row);
        let client_id = self.client_id();
        let page = self.url("client_uri");
        let operator = options.operator.map(str::to_owned).or_else(|| {
            let url = client_id.as_ref().or(page.as_ref())?;
            host_of(url).map(str::to_owned)
        });
        row.cell("operator", operator.unwrap_or_default());
        self.purpose(&mut row);
        self.user_agents(&tokens, &mut row);
        row.cell("product_tokens", tokens.join(";"));
        if tokens.is_empty() {
            row.notes
                .push("no rfc9309-product-token: it follows the * groups of robots.txt".to_owned());
        }
        self.trigger(&mut row);
        self.compliance(&mut row);
        if let Some(list) = self.url("ips_uri") {
            row.cell("ip_list_urls", list);
            row.cell("ip_list_format", "JAFAR".to_owned());
        }
        row.cell("documentation_url", page.clone().unwrap_or_default());
        let source = client_id.or(page);
        if source.is_none() {
            let why = "no client_id or client_uri: its promises do not count as those of an operator; \
                       name the page of the card with --url";
            row.notes.push(why.to_owned());
        }
        let evidence = if source.is_some() { "operator-doc" } else { "unverified" };
        row.cell("evidence", evidence.to_owned());
        row.cell("evidence_url", source.clone().unwrap_or_default());
        self.remarks(&mut row);
        row.cell("promise_url", source.unwrap_or_default());
        row.cell("promise_notes", "Signature Agent Card".to_owned());
        self.rate(&mut row);
        row
    }

    fn name(&mut self, tokens: &[String], row: &mut CardRow) {
        let of_card = self.texts("client_name").into_iter().next();
        let of_card = of_card.or_else(|| self.texts("name").into_iter().next());
        let name =
            self.options.name.map(str::to_owned).or(of_card).or_else(|| tokens.first().cloned());
        let why = match name {
            None => "no client_name; name the crawler with --name".to_owned(),
            Some(name) if name.len() > NAME_BYTES_MAX => {
                format!("the name is longer than {NAME_BYTES_MAX} bytes; use --name")
            }
            Some(name) => {
                row.cell("name", name.clone());
                row.name = name;
                return;
            }
        };
        self.mistakes.push(Error::invalid(self.path, 1, why));
    }

    /// The page of the card: what the user says, and what it says itself, must agree.
    fn client_id(&mut self) -> Option<String> {
        let options = self.options;
        let client_id = self.url("client_id");
        let (Some(url), Some(id)) = (options.url, &client_id) else {
            return options.url.map(str::to_owned).or(client_id);
        };
        if let Some(value) = self.member("client_id").filter(|_| url != id) {
            self.mistake(value, format!("client_id is not the URL of the card, which is {url}"));
        }
        client_id
    }

    fn tokens(&mut self) -> Vec<String> {
        let tokens = self.texts("rfc9309-product-token");
        let is_token = |token: &String| {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!".contains(&byte);
            token.bytes().all(is_part) && token.bytes().any(|byte| byte.is_ascii_alphanumeric())
        };
        match (tokens.iter().all(is_token), self.member("rfc9309-product-token")) {
            (false, Some(value)) => {
                self.mistake(value, "rfc9309-product-token must be a name of letters, - and _");
                Vec::new()
            }
            _ => tokens,
        }
    }

    /// A stranger cannot make its crawler a tool, which headlines and exit codes leave out.
    fn purpose(&mut self, row: &mut CardRow) {
        let Some(purpose) = self.texts("purpose").into_iter().next() else { return };
        let word = purpose.to_ascii_lowercase().replace([' ', '_'], "-");
        let word = match word.as_str() {
            "tdm" | "train-ai" | "ai-train" | "training" | "foundation-model-production" => {
                "ai-training"
            }
            "ai-input" | "ai-output" => "ai-search",
            word => word,
        };
        if TOOL_PURPOSES.contains(&word) {
            row.notes.push(format!("purpose '{word}' is that of a tool; imported as 'other'"));
            return;
        }
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        match word.len() <= 40 && word.bytes().all(is_word) {
            true => row.cell("purpose", word.to_owned()),
            false => row.notes.push("purpose is not one word; imported as 'other'".to_owned()),
        }
    }

    /// Each user agent is literal text: the beginning of the header, in which `*` is a wildcard.
    fn user_agents(&mut self, tokens: &[String], row: &mut CardRow) {
        let member = "expected-user-agent";
        let mut agents = self.texts(member);
        let mut value = self.member(member);
        if agents.is_empty() {
            // RFC 9309: the token is a part of the user agent.
            agents = tokens.iter().take(1).map(|token| format!("*{token}")).collect();
            value = self.member("rfc9309-product-token");
        }
        let Some(value) = value else {
            row.cell("sends_own_user_agent", "no".to_owned());
            let why = "neither expected-user-agent nor rfc9309-product-token: no log can show it";
            return row.notes.push(why.to_owned());
        };
        row.line = self.line_of(value);
        let mut regexes = Vec::new();
        for agent in &agents {
            let names = match tokens {
                [] => std::slice::from_ref(&row.name),
                _ => tokens,
            };
            match wrong_user_agent(agent, names) {
                Some(why) => self.mistake(value, format!("{member} '{agent}' {why}")),
                None => regexes.push(regex_of(agent)),
            }
        }
        row.user_agents = agents.iter().map(|agent| agent.replace('*', "")).collect();
        row.cell("user_agent_regex", regexes.join("|"));
        row.cell("sample_user_agent", row.user_agents.first().cloned().unwrap_or_default());
    }

    fn trigger(&mut self, row: &mut CardRow) {
        let trigger = self.texts("trigger").into_iter().next();
        match trigger.as_deref() {
            Some("fetcher") => {
                row.cell("user_triggered", "yes".to_owned());
                let why = "trigger is 'fetcher': people ask for its requests, so robots.txt does not bind it";
                row.notes.push(why.to_owned());
            }
            Some("crawler") => row.cell("user_triggered", "no".to_owned()),
            Some(_) => {
                row.notes.push("trigger is neither 'fetcher' nor 'crawler'; ignored".to_owned())
            }
            None => {}
        }
    }

    fn compliance(&mut self, row: &mut CardRow) {
        let name = "rfc9309-compliance";
        let found = self.read(name, "true, false, or a list of directives");
        let control = self.text_of("rate-control");
        let is_delay = |text: &str| {
            let letters = text.bytes().filter(u8::is_ascii_alphanumeric);
            let letters: Vec<u8> = letters.map(|byte| byte.to_ascii_lowercase()).collect();
            String::from_utf8_lossy(&letters).contains("crawldelay")
        };
        let mut has_delay = control.as_deref().is_some_and(is_delay);
        let follows = match found {
            None => return row.delay(has_delay, control),
            Some(Compliance::All(follows)) => follows,
            Some(Compliance::Directives(directives)) => {
                // Texts that are refused say nothing.
                let directives = if self.texts(name).is_empty() { Vec::new() } else { directives };
                has_delay |= directives.iter().any(|directive| is_delay(directive));
                directives.iter().any(|directive| directive.eq_ignore_ascii_case("disallow"))
            }
        };
        if !follows {
            let why = "rfc9309-compliance does not promise to follow Disallow, so robots.txt does not bind it";
            row.notes.push(why.to_owned());
        }
        row.cell("rep_applies", if follows { "yes" } else { "no" }.to_owned());
        row.delay(has_delay, control);
    }

    fn remarks(&mut self, row: &mut CardRow) {
        let mut notes = Vec::new();
        for (member, label) in [
            ("targeted-content", "content"),
            ("known-urls", "URLs"),
            ("rate-control", "rate control"),
            ("jwks_uri", "keys"),
        ] {
            let text = self.text_of(member);
            notes.extend(text.map(|text| format!("{label}: {text}")));
        }
        row.cell("notes", notes.join(". "));
    }

    fn rate(&mut self, row: &mut CardRow) {
        let Some(words) = self.text_of("rate-expectation") else { return };
        let per_hour = rate_per_hour(&words).map(|rate| rate.to_string());
        row.cell("rate_promise", words);
        row.cell("rate_per_hour", per_hour.unwrap_or_default());
    }
}

impl CardRow {
    fn cell(&mut self, column: &'static str, text: String) {
        if !text.is_empty() || column == "product_tokens" {
            self.cells.push((column, text));
        }
    }

    fn delay(&mut self, is_kept: bool, words: Option<String>) {
        if is_kept {
            self.cell("crawl_delay", "yes".to_owned());
            self.cell("crawl_delay_promise", words.unwrap_or_else(|| "Crawl-delay".to_owned()));
        }
    }

    /// Why it must not be on a list: it is about user agents of others. `before` and `after` are all
    /// crawlers without the row and with it.
    pub(crate) fn conflict(&self, before: &Registry, after: &Registry) -> Option<String> {
        let taken = |other: &str| {
            format!(
                "its user agent is also that of {other}; to replace that crawler, use --replace '{other}'"
            )
        };
        for agent in &self.user_agents {
            match before.identify(agent.as_bytes()) {
                Identified::Other => {
                    return Some("its user agent is also that of browsers".to_owned());
                }
                Identified::Crawler(id) => {
                    let other = &before.crawler(id).name;
                    if !other.eq_ignore_ascii_case(&self.name) {
                        return Some(taken(other));
                    }
                }
                Identified::Generic | Identified::Empty => {}
            }
        }
        let own = after.find(&self.name)?;
        let is_own = |agent: &str| after.identify(agent.as_bytes()) == Identified::Crawler(own);
        if BROWSERS.lines().any(is_own) {
            return Some("its user agent is also that of browsers".to_owned());
        }
        let is_taken = |(id, of): &(CrawlerId, &Crawler)| {
            *id != own && of.visibility == Visibility::OwnUserAgent && is_own(&of.sample_user_agent)
        };
        if let Some((_, other)) = after.iter().find(is_taken) {
            return Some(taken(&other.name));
        }
        let lost = self.user_agents.iter().find(|agent| !is_own(agent))?;
        Some(format!("its user agent '{lost}' is that of an earlier row"))
    }
}

/// Why `agent` cannot identify the crawler of these `names`.
fn wrong_user_agent(agent: &str, names: &[String]) -> Option<String> {
    if !agent.is_ascii() {
        return Some("has other characters than ASCII, which user agents do not have".to_owned());
    }
    let product = agent.strip_prefix("Mozilla/5.0").unwrap_or(agent);
    let letters = product.bytes().filter(u8::is_ascii_alphanumeric).count();
    if letters < USER_AGENT_LETTERS_MIN {
        let why =
            "is too short, so other clients may send it; write the name of the crawler into it";
        return Some(why.to_owned());
    }
    let has_name = || agent.split('*').any(|part| names.iter().any(|name| has_word(part, name)));
    (agent.contains('*') && !has_name()).then(|| {
        let names = names.join(", ");
        format!("has a wildcard, but not the name of the crawler; write {names} into it")
    })
}

/// Whether `text` contains `word` without a letter or a digit beside it, in any case.
fn has_word(text: &str, word: &str) -> bool {
    let (text, word) = (text.to_ascii_lowercase(), word.to_ascii_lowercase());
    let is_part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    !word.is_empty()
        && text.match_indices(&word).any(|(at, _)| {
            !is_part(text[..at].chars().next_back())
                && !is_part(text[at + word.len()..].chars().next())
        })
}

/// The regex for headers that begin with `agent`.
fn regex_of(agent: &str) -> String {
    let parts: Vec<String> = agent.split('*').map(regex_syntax::escape).collect();
    let start = if agent.starts_with('*') { "" } else { "^" };
    let regex = format!("{start}{}", parts.join(".*"));
    regex.trim_start_matches(".*").trim_end_matches(".*").to_owned()
}

/// The most requests in an hour that words such as `avg=10rps;max=100rps` or `500 rps` allow. An
/// average is not a limit.
fn rate_per_hour(words: &str) -> Option<u32> {
    let parts: Vec<&str> = words.split([';', ',']).map(str::trim).collect();
    let named = parts.iter().find_map(|part| {
        let (name, rate) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("max").then_some(rate)
    });
    let only = parts.first().copied().filter(|part| parts.len() == 1 && !part.contains('='));
    let rate = named.or(only)?.trim().to_ascii_lowercase();
    let end = rate.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
    let (number, unit) = rate.split_at(end);
    let number: f64 = number.parse().ok()?;
    let per_hour = match unit.trim() {
        "rps" | "req/s" | "requests/s" | "requests per second" | "r/s" => 3600.0,
        "rpm" | "req/min" | "requests/min" | "requests per minute" | "r/min" => 60.0,
        "rph" | "req/h" | "requests/h" | "requests per hour" | "r/h" => 1.0,
        _ => return None,
    };
    let rate = (number * per_hour).ceil();
    (1.0..=f64::from(u32::MAX)).contains(&rate).then_some(rate as u32)
}

#[cfg(test)]
mod tests;
