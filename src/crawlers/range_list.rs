//! One published list of address ranges, in any of the formats that operators use.
//!
//! - JSON, of any shape (JAFAR, Google, Bing, OpenAI, AWS, Datadog, Better Stack, ...): each text that is an address
//!   or a network. Under a name such as `ipv4Prefix`, `ip_prefix` or `ip`, and beside others in an array, a text must be one.
//! - Ranges: `192.0.2.1 - 192.0.2.9` in a line or a text, or two members such as `start` and `end`.
//! - Lines: an address, a network or a range first, then whatever a comma or a space parts from it (plain
//!   lists, RFC 8805 geofeeds); `#` begins a comment.
//!
//! Lists are untrusted input. An unreadable entry is a fault of the list, and a list with a fault
//! proves nothing: the unreadable entry may be the range that contains an address.

use crate::crawlers::networks::Network;
use crate::time::UtcTime;

use std::net::IpAddr;

use jiff::civil::{Date, DateTime};
use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Map, Value};

/// Names of JSON members that contain only addresses, in lower case without `_` and `-`.
const ADDRESS_NAMES: [&str; 9] =
    ["cidr", "ip", "ipaddress", "ipprefix", "ipv4", "ipv4prefix", "ipv6", "ipv6prefix", "prefix"];

/// Names of JSON members with the time of a list, in the same form.
const TIME_NAMES: [&str; 5] =
    ["createdate", "creationtime", "lastupdated", "modified", "updatedat"];

/// Pairs of names of JSON members with the first and the last address of a range, in the same form.
const RANGE_NAMES: [(&str, &str); 6] = [
    ("start", "end"),
    ("first", "last"),
    ("from", "to"),
    ("startip", "endip"),
    ("startaddress", "endaddress"),
    ("ipstart", "ipend"),
];

/// The most bytes of a list that a fault quotes.
const QUOTED_BYTES_MAX: usize = 60;

/// The content of a list.
#[derive(Clone, Debug, Default)]
pub struct RangeList {
    /// As far as they could be read.
    pub networks: Vec<Network>,
    /// When it was made, if it says so.
    pub created: Option<UtcTime>,
    /// The number of entries that could not be read.
    pub faults: u64,
    /// The first thing that could not be read, and why.
    pub first_fault: Option<String>,
}

/// A filter for entries of a JSON list: those with `value` under `name`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Filter<'a> {
    name: &'a str,
    value: &'a str,
}

impl<'a> Filter<'a> {
    /// The filter that the `ip_list_format` of a crawler ends with: `... where service=NAME`.
    pub fn of_format(format: &'a str) -> Option<Filter<'a>> {
        let (_, condition) = format.split_once(" where ")?;
        let (name, value) = condition.trim().split_once('=')?;
        Some(Filter { name, value })
    }

    fn admits(self, entry: &Map<String, Value>) -> bool {
        entry.get(self.name).is_none_or(|value| value.as_str() == Some(self.value))
    }
}

impl RangeList {
    /// Reads `text`, which may have any content.
    pub fn read(text: &[u8], filter: Option<Filter<'_>>) -> RangeList {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii();
        let mut list = RangeList::default();
        match text.first() {
            Some(b'{' | b'[') => list.read_json(text, filter),
            Some(b'<') => {
                list.fault("an HTML page, not a list; save its ranges, one per line".to_owned())
            }
            _ => list.read_lines(text),
        }
        if list.networks.is_empty() && list.faults == 0 {
            list.fault("it contains no address".to_owned());
        }
        list
    }

    fn read_lines(&mut self, text: &[u8]) {
        for (line, number) in text.split(|&byte| byte == b'\n').zip(1_u64..) {
            let line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
            let line = joined_ranges(line);
            let is_between = |byte: &u8| byte.is_ascii_whitespace() || b",;\"".contains(byte);
            let mut words = line.split(is_between).filter(|word| !word.is_empty());
            let Some(first) = words.next() else { continue };
            match Network::parse(first) {
                Ok(network) => self.networks.push(network),
                Err(why) => self.fault(format!("line {number}: '{}': {why}", quoted(first))),
            }
            // A country and a city, or more addresses.
            self.networks.extend(words.filter_map(|word| Network::parse(word).ok()));
        }
    }

    fn read_json(&mut self, text: &[u8], filter: Option<Filter<'_>>) {
        match serde_json::from_slice(text) {
            Ok(value) => match newer_jafar(&value) {
                Some(version) => self.fault(format!(
                    "formatVersion is '{}', but this version reads 1.x; use a newer botaudit",
                    quoted(version.as_bytes())
                )),
                None => self.walk(&value, false, filter),
            },
            Err(err) => self.fault(format!("not valid JSON: {err}")),
        }
    }

    /// Collects the networks in `value`; with `is_address`, a text must be a network.
    fn walk(&mut self, value: &Value, is_address: bool, filter: Option<Filter<'_>>) {
        match value {
            Value::Object(entry) if filter.is_none_or(|filter| filter.admits(entry)) => {
                if entry.contains_key("ipv4Prefix") && entry.contains_key("ipv6Prefix") {
                    self.fault("an entry has both ipv4Prefix and ipv6Prefix".to_owned());
                    return;
                }
                self.add_range(entry);
                for (name, value) in entry {
                    let name = plain(name);
                    if TIME_NAMES.contains(&name.as_str()) {
                        self.created = self.created.max(value.as_str().and_then(time));
                    }
                    self.walk(value, ADDRESS_NAMES.contains(&name.as_str()), filter);
                }
            }
            Value::Array(entries) => {
                let is_network = |entry: &Value| {
                    entry.as_str().is_some_and(|text| Network::parse(text.as_bytes()).is_ok())
                };
                let are_addresses = is_address || entries.iter().any(is_network);
                entries.iter().for_each(|entry| self.walk(entry, are_addresses, filter));
            }
            Value::String(text) => match Network::parse(text.trim().as_bytes()) {
                Ok(network) => self.networks.push(network),
                Err(why) if is_address && !text.is_empty() => {
                    self.fault(format!("'{}': {why}", quoted(text.as_bytes())));
                }
                Err(_) => {}
            },
            _ => {}
        }
    }

    /// The range from one member of `entry` to another, if it has such members.
    fn add_range(&mut self, entry: &Map<String, Value>) {
        let text = |wanted: &str| {
            let mut named = entry.iter().filter(|(name, _)| plain(name) == wanted);
            named.find_map(|(_, value)| value.as_str()).map(str::trim)
        };
        for (first, last) in RANGE_NAMES {
            let (Some(first), Some(last)) = (text(first), text(last)) else { continue };
            let is_address = |text: &str| text.parse::<IpAddr>().is_ok();
            // Other members have such names, too: times, for example.
            if !is_address(first) && !is_address(last) {
                continue;
            }
            let range = format!("{first}-{last}");
            match Network::parse(range.as_bytes()) {
                Ok(network) => self.networks.push(network),
                Err(why) => self.fault(format!("'{}': {why}", quoted(range.as_bytes()))),
            }
        }
    }

    fn fault(&mut self, what: String) {
        self.faults += 1;
        self.first_fault.get_or_insert(what);
    }
}

/// The version of a list in JAFAR's format, if its meaning may have changed
/// (draft-illyes-webbotauth-jafar, Handling Format Versioning).
fn newer_jafar(list: &Value) -> Option<&str> {
    let version = list.get("formatVersion")?.as_str()?;
    let major: Option<u64> = version.split('.').next().and_then(|major| major.trim().parse().ok());
    major.is_some_and(|major| major > 1).then_some(version)
}

/// The same without the blanks around a hyphen, so that a range is one word.
fn joined_ranges(line: &[u8]) -> Vec<u8> {
    let parts: Vec<&[u8]> = line.split(|&byte| byte == b'-').map(<[u8]>::trim_ascii).collect();
    parts.join(&b'-')
}

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// The time in `2026-03-01T04:00:00.000000`, in UTC unless it names another offset, or in AWS's
/// `2026-03-01-04-00-00`. A day alone, or with something unreadable after it, is its midnight.
fn time(text: &str) -> Option<UtcTime> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.into());
    }
    let of_aws = || DateTime::strptime("%Y-%m-%d-%H-%M-%S", text).ok();
    let of_day =
        || Some(text.get(..10)?.parse::<Date>().ok()?.to_datetime(jiff::civil::Time::midnight()));
    let time = text.parse::<DateTime>().ok().or_else(of_aws).or_else(of_day)?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().into())
}

fn quoted(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(QUOTED_BYTES_MAX)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::networks::Networks;
    use crate::random::Random;

    /// Reads `text`; `expected` is the networks it holds, then what is wrong with it.
    #[track_caller]
    fn check(text: &str, format: &str, expected: &str, fault: &str) -> RangeList {
        let list = RangeList::read(text.as_bytes(), Filter::of_format(format));
        let networks =
            expected.split_whitespace().map(|text| Network::parse(text.as_bytes()).unwrap());
        assert_eq!(Networks::new(list.networks.iter().copied()), Networks::new(networks), "{text}");
        assert_eq!(list.first_fault.as_deref().unwrap_or(""), fault, "{text}");
        assert_eq!(list.faults > 0, !fault.is_empty());
        list
    }

    #[test]
    fn json_as_google_bing_and_openai_write_it() {
        let list = check(
            r#"{"creationTime": "2026-02-26T15:46:21.000000", "prefixes": [
                {"ipv6Prefix": "2001:4860:4801:10::/64"}, {"ipv4Prefix": "66.249.64.0/27"}]}"#,
            "json prefixes[].ipv4Prefix/ipv6Prefix",
            "2001:4860:4801:10::/64 66.249.64.0/27",
            "",
        );
        assert_eq!(list.created.unwrap().to_string(), "2026-02-26T15:46:21Z");
        check(
            r#"{"prefixes": [{"ipv4Prefix": "66.249.64/27"}]}"#,
            "",
            "",
            "'66.249.64/27': not an address or network",
        );
        check(r#"{"prefixes": []}"#, "", "", "it contains no address");
        check(
            r#"{"prefixes": [{"ipv4Prefix""#,
            "",
            "",
            "not valid JSON: EOF while parsing an object at line 1 column 27",
        );
        check(
            r#"{"prefixes": [{"ipv4Prefix": "0.0.0.0/0"}]}"#,
            "",
            "",
            "'0.0.0.0/0': the network is too wide to identify an operator",
        );
    }

    #[test]
    fn json_as_jafar_wants_it() {
        let list = |version: &str, entry: &str| {
            format!(
                r#"{{"formatVersion": "{version}", "creationTime": "2025-08-15T14:30:00Z", "notes": "all of 192.0.2.9",
                "prefixes": [{{"ipv4Prefix": "66.249.64.0/20", "service": "Bot"}}, {entry},
                {{"ipv6Prefix": "2001:4860:4000::/36", "service": "AdsBot"}}]}}"#
            )
        };
        let one = r#"{"ipv4Prefix": "192.0.2.0/24", "service": "AdsBot"}"#;
        for version in ["1.0", "1.10", "x"] {
            let all = "66.249.64.0/20 192.0.2.0/24 2001:4860:4000::/36";
            let read = check(&list(version, one), "", all, "");
            assert_eq!(read.created.unwrap().to_string(), "2025-08-15T14:30:00Z");
        }
        let of_service = "json prefixes[] where service=AdsBot";
        check(&list("1.0", one), of_service, "192.0.2.0/24 2001:4860:4000::/36", "");
        check(
            &list("2.0", one),
            "",
            "",
            "formatVersion is '2.0', but this version reads 1.x; use a newer botaudit",
        );
        // Such an entry is invalid and must be ignored; the list may lack something.
        check(
            &list("1.0", r#"{"ipv4Prefix": "192.0.2.0/24", "ipv6Prefix": "2001:db8::/32"}"#),
            "",
            "66.249.64.0/20 2001:4860:4000::/36",
            "an entry has both ipv4Prefix and ipv6Prefix",
        );
    }

    #[test]
    fn json_as_aws_writes_it() {
        let text = r#"{"syncToken": "1", "createDate": "2026-02-26-15-46-21",
            "prefixes": [{"ip_prefix": "3.5.140.0/22", "region": "ap-northeast-2", "service": "AMAZON"},
                {"ip_prefix": "54.183.255.128/26", "region": "us-west-1", "service": "ROUTE53_HEALTHCHECKS"}],
            "ipv6_prefixes": [{"ipv6_prefix": "2600:1f14::/35", "service": "AMAZON"}]}"#;
        let list = check(
            text,
            "json prefixes[].ip_prefix where service=ROUTE53_HEALTHCHECKS",
            "54.183.255.128/26",
            "",
        );
        assert_eq!(list.created.unwrap().to_string(), "2026-02-26T15:46:21Z");
        check(text, "", "3.5.140.0/22 54.183.255.128/26 2600:1f14::/35", "");
        check(text, "json where service=NONE", "", "it contains no address");
    }

    #[test]
    fn the_time_of_a_list() {
        let check = |text: &str, expected: &str| {
            let found = time(text).map(|time| time.to_string()).unwrap_or_default();
            assert_eq!(found, expected, "{text}");
        };
        check("2026-02-26T15:46:21.000000", "2026-02-26T15:46:21Z");
        check("2026-02-26 15:46:21", "2026-02-26T15:46:21Z");
        check("2026-02-26T15:46:21Z", "2026-02-26T15:46:21Z");
        check("2026-02-26T15:46:21+02:00", "2026-02-26T13:46:21Z");
        check("2026-02-26-15-46-21", "2026-02-26T15:46:21Z");
        check("2026-02-26", "2026-02-26T00:00:00Z");
        check("2026-02-26T99", "2026-02-26T00:00:00Z");
        for text in [
            "",
            "later",
            "2026-02-3",
            "2026-13-01T00:00:00Z",
            "9999-12-31T23:59:59Z",
            "2026-02-2\u{e9}",
        ] {
            check(text, "");
        }
    }

    #[test]
    fn json_of_other_shapes() {
        check(r#"[{"ip": "192.0.2.1", "city": "x"}, {"ip": ""}]"#, "", "192.0.2.1", "");
        check(
            r#"{"1": {"ip": "192.0.2.1"}, "2": {"ip": "x"}}"#,
            "",
            "192.0.2.1",
            "'x': not an address or network",
        );
        check(
            r#"{"us": ["192.0.2.1"], "eu": ["2001:db8::1"], "regions": ["us"]}"#,
            "",
            "192.0.2.1 2001:db8::1",
            "",
        );
        check(
            r#"{"version": 4, "modified": "2026-02-26-15-46-21", "synthetics": {"prefixes_ipv4": ["192.0.2.1/32", "bad"]}}"#,
            "",
            "192.0.2.1",
            "'bad': not an address or network",
        );
        check(
            &"[".repeat(1000),
            "",
            "",
            "not valid JSON: recursion limit exceeded at line 1 \
             column 128",
        );
    }

    #[test]
    fn lines() {
        check(
            "\u{feff}192.0.2.1\r\n\r\n# all\r\n2001:db8::/32 # new\r\n",
            "",
            "192.0.2.1 2001:db8::/32",
            "",
        );
        check("192.0.2.1, 192.0.2.3;192.0.2.5", "", "192.0.2.1 192.0.2.3 192.0.2.5", "");
        check(
            "192.0.2.1\nhello\n192.0.2.3\nx",
            "",
            "192.0.2.1 192.0.2.3",
            "line 2: 'hello': not an address or network",
        );
        check("", "", "", "it contains no address");
        check("# nothing\n", "", "", "it contains no address");
        check(
            "\n <!doctype html><p>Your address is 192.0.2.1",
            "",
            "",
            "an HTML page, not a list; save its ranges, one per line",
        );
    }

    #[test]
    fn ranges_from_one_address_to_another() {
        let networks = "192.0.2.0/30 192.0.2.4";
        for line in ["192.0.2.0-192.0.2.4", "192.0.2.0 - 192.0.2.4 # x", "192.0.2.0 -192.0.2.4,DE"]
        {
            check(line, "", networks, "");
        }
        check(
            r#"["192.0.2.0 - 192.0.2.4", "2001:db8::-2001:db8::3"]"#,
            "",
            "192.0.2.0/30 192.0.2.4 2001:db8::/126",
            "",
        );
        check(
            r#"[{"start": "192.0.2.0", "end": "192.0.2.4", "from": "2026-01-01", "to": "x"}]"#,
            "",
            networks,
            "",
        );
        check(
            r#"{"ranges": [{"startIp": "::ffff:192.0.2.0", "endIp": "192.0.2.4"}]}"#,
            "",
            networks,
            "",
        );
        for (list, fault) in [
            (
                "192.0.2.9-192.0.2.1",
                "line 1: '192.0.2.9-192.0.2.1': the range ends before it begins",
            ),
            (
                "0.0.0.0 - 9.255.255.255",
                "line 1: '0.0.0.0-9.255.255.255': the range is too wide to identify an operator",
            ),
            (
                "192.0.2.1-::1",
                "line 1: '192.0.2.1-::1': the range begins and ends in different families of addresses",
            ),
            ("192.0.2.1-9", "line 1: '192.0.2.1-9': not an address or network"),
        ] {
            check(list, "", "", fault);
        }
        let half = check(
            r#"[{"start": "192.0.2.0", "end": "later"}]"#,
            "",
            "192.0.2.0",
            "'192.0.2.0-later': not an address or network",
        );
        assert_eq!(half.faults, 1);
    }

    #[test]
    fn geofeeds() {
        let feed =
            "# Meta\n31.13.24.0/21,IE,IE-D,Dublin,\n\"2a03:2880::/32\",US,US-CA,Menlo Park,94025\n";
        check(feed, "RFC 8805 geofeed CSV", "31.13.24.0/21 2a03:2880::/32", "");
    }

    #[test]
    fn any_bytes() {
        let mut random = Random::new();
        for _ in 0..2000 {
            let text: Vec<u8> = (0..60)
                .map(|_| b"0123456789./:,;#\n\r \"{}[]ip\xff\0a"[random.below(29)])
                .collect();
            for head in ["", "[", "{\"ip\":"] {
                RangeList::read(&[head.as_bytes(), &text].concat(), None);
            }
        }
    }
}
