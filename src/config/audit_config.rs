//! The configuration of an audit, from flags, from a file, or from both: the table of its options.
//!
//! A missing value is `None`, so that configurations can be combined: flags take precedence over the
//! settings of a site, and these over the defaults of the file.

use std::path::{Path, PathBuf};
use std::{ffi::OsString, net::SocketAddr, sync::LazyLock};

use serde_json::Value;

use crate::url::{origin::Origin, path::Dialect};

use super::option::{Class, FlagGroup, InPython, Needs, OptionEntry, entry, options};
use super::setting::{AddressForm, KeyTable, Percent, Scalar, Seconds, Timeout, Timezone, given};
use super::{amounts::Money, option_value::OptionValue};

/// The default number of looked-up addresses.
const DNS_MAX: usize = 1000;

/// The default of `reaction_days`.
pub(crate) const REACTION_DAYS: usize = 28;

/// The default of `reaction_requests`.
pub(crate) const REACTION_REQUESTS: usize = 3;

/// The default of `reaction_quiet_days`.
pub(crate) const REACTION_QUIET_DAYS: usize = 7;

options! {
    /// The configuration of an audit. Each key is the flag of the same name, and has its default if
    /// it is `None`. Keys that are texts on the command line can be set by typed values, too:
    ///
    /// ```
    /// use botaudit::{AddressForm, AuditConfig, Money, Percent, Timezone, UtcTime};
    ///
    /// let mut config = AuditConfig::default();
    /// config.robots = Some("robots.txt".into());
    /// config.origin = Some("https://example.com".parse()?);
    /// config.timezone = Some("Europe/Berlin".parse()?);
    /// config.ip = Some(AddressForm::Mask);
    /// config.min_parse_rate = Some(Percent::try_from(99.0)?);
    /// config.cost_per_gb = Money::new(90_000, "USD");
    /// config.set_window(UtcTime::from_unix_seconds(1_793_491_200), None);
    /// config.add_alias(&"https://www.example.com".parse()?, &"https://example.com".parse()?);
    /// config.add_trusted_proxy([10, 0, 0, 0].into(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct AuditConfig {
        Rules "Rules" {
            /// The robots.txt file, directory or archive to judge by.
            robots: PathBuf => {
                number: 1, value_name: "PATH", is_in_short_help: true, class: Class::Source,
                python: InPython::Argument("Path"),
                help: "robots.txt file, directory of such files, or archive",
                details: "A file is for all logs. In a directory, file names say the host: \
                          `example.com.txt`, or `https_example.com_8443.txt` for one origin. An \
                          archive (`botaudit robots`) judges each request by the rules of its \
                          time.",
            }
            /// Whether robots.txt files are fetched first.
            fetch: bool => {
                number: 39, is_in_short_help: true, class: Class::Collected,
                python: InPython::Refused,
                help: "First fetch the robots.txt of the hosts in the logs",
                details: "Fetches only from hosts that crawlers requested, and stores the files \
                          in the archive of --robots or in robots.db. Reads the logs twice.",
            }
            /// Whether robots.txt may be fetched from private addresses.
            allow_private_addresses: bool => {
                number: 40, needs: Some(Needs::On("fetch")), python: InPython::Refused,
                help: "Allow --fetch from private addresses, which clients can name in logs",
            }
            /// Whether robots.txt may be fetched from any port of hosts in logs.
            fetch_any_port: bool => {
                number: 41, needs: Some(Needs::On("fetch")), python: InPython::Refused,
                help: "Allow --fetch from other ports than 80, 443, 8080 and 8443",
            }
            /// The time for fetches from hosts in logs.
            fetch_budget: Seconds = Seconds::OF_FETCHES => {
                number: 42, value_name: "SECONDS", needs: Some(Needs::On("fetch")),
                python: InPython::Refused,
                help: "Time for all fetches from hosts in the logs",
            }
            /// A CSV file of more crawlers.
            crawlers: PathBuf => {
                number: 12, value_name: "FILE", class: Class::Source,
                help: "CSV file with more crawlers; a row with a built-in name replaces that \
                       crawler",
            }
            /// Whether crawlers that robots.txt does not bind are judged.
            include_unbound: bool => {
                number: 26, class: Class::Verdicts,
                help: "Also judge crawlers that robots.txt does not bind",
            }
            /// Whether requests before the first snapshot of an archive are unknown.
            unknown_before_first_snapshot: bool => {
                number: 27, class: Class::Verdicts,
                help: "Count requests before the first snapshot of an archive as unknown",
            }
        }
        Rules "Detecting outages from logs" {
            /// Whether outages of robots.txt are inferred from the logs.
            infer_outages: bool => {
                number: 38, class: Class::Collected, only_if_given: true,
                help: "Detect outages of robots.txt; requests in them are unreachable",
                details: "An outage is an hour in which at least three clients requested \
                          robots.txt and all got 429 or 5xx. Reads the logs twice.",
                not_nightly: "because the lines of an hour may come in several nights; run: \
                              botaudit audit --infer-outages",
            }
        }
        Rules "Reactions to changes" {
            /// How many days before a change of robots.txt requests count for it.
            reaction_days: usize = REACTION_DAYS => {
                number: 28, value_name: "DAYS", class: Class::Counted,
                help: "Days before a change for the usual rate of a crawler",
            }
            /// The expected requests below which nothing is concluded about a reaction.
            reaction_requests: usize = REACTION_REQUESTS => {
                number: 29, value_name: "N", class: Class::Shown,
                help: "Fewest expected requests for a conclusion",
            }
            /// The days without requests after which a crawler has stopped.
            reaction_quiet_days: usize = REACTION_QUIET_DAYS => {
                number: 30, value_name: "DAYS", class: Class::Shown,
                help: "Days without requests after which a crawler has stopped",
            }
        }
        Rules "Sessions" {
            /// After how many minutes without requests a session ends; sessions are counted only
            /// then.
            session_minutes: usize => {
                number: 33, value_name: "MINUTES", class: Class::Counted, only_if_given: true,
                help: "Count sessions, which end after this time without requests; usual: 5",
                not_nightly: "which does not keep clients; run: botaudit audit --session-minutes 5",
            }
            /// A CSV file of networks by which sessions are counted.
            networks: PathBuf => {
                number: 34, value_name: "FILE", class: Class::Source, only_if_given: true,
                needs: Some(Needs::Given("session_minutes")),
                help: "Count sessions by network; FILE has the columns prefix and network",
                not_nightly: "which does not keep clients; run: botaudit audit --session-minutes 5",
            }
        }
        Rules "Statements about use" {
            /// Forms of statements about use that are not counted.
            ignore_usage: Vec<String> => {
                number: 35, value_name: "FORM", class: Class::Counted, only_if_given: true,
                help: "Leave out content-usage, content-signal or product-token",
            }
        }
        Rules "Rules" {
            /// How percent-encodings and wildcards are compared: "google" or "rfc9309".
            dialect: Dialect = Dialect::Google => {
                number: 25, value_name: "DIALECT", class: Class::Read,
                help: "google (nothing is decoded) or rfc9309",
            }
        }
        Rules "Origins" {
            /// The origin of requests, if the log names no host.
            origin: Origin => {
                number: 2, value_name: "URL", is_in_short_help: true, class: Class::Read,
                help: "Origin if the log names no host: https://example.com",
            }
            /// A pattern that takes the host from the path of a log.
            origin_from_path: String => {
                number: 3, value_name: "REGEX", class: Class::Read,
                help: "Regular expression that takes the host from the path of the log",
                details: "For example '/var/log/nginx/(?<host>[^/]+)\\.access\\.log'.",
            }
            /// Other names of hosts and origins, as `alias=name`.
            alias: Vec<String> => {
                number: 4, value_name: "ALIAS=NAME", class: Class::Read, reported_as: "aliases",
                python: InPython::Argument("Mapping[str, str] | Sequence[str]"),
                help: "Another name of a host: www.example.com=example.com",
            }
            /// Addresses or networks of proxies whose X-Forwarded-For is trusted.
            trusted_proxy: Vec<String> => {
                number: 7, value_name: "CIDR", class: Class::Read, reported_as: "trusted_proxies",
                help: "Trust X-Forwarded-For from this proxy, such as 10.0.0.0/8",
            }
        }
        Format "Input" {
            /// The log format, as a name or a line of a server's configuration.
            log_format: String => {
                number: 8, value_name: "FORMAT", is_in_short_help: true, class: Class::Read,
                help: "Name or format string [default: auto-detected]",
                details: "A format string is the value of nginx's log_format or Apache's \
                          LogFormat, such as '$remote_addr - [$time_local] \"$request\" ...'.",
            }
            /// Keys of a JSON log, as `field=key` with commas.
            json_fields: String => {
                number: 10, value_name: "FIELD=KEY,...", class: Class::Read,
                python: InPython::Joined("str | Mapping[str, str] | None"),
                help: "Keys of a JSON log, such as time=ts,host=request.host",
            }
            /// Request headers that HAProxy captures, in order, with commas.
            haproxy_captures: String => {
                number: 9, value_name: "NAMES", class: Class::Read,
                python: InPython::Joined("str | Sequence[str] | None"),
                help: "Request headers that HAProxy captures, in order: host,user-agent",
            }
            /// The user agent of a crawl whose WARC or CDX files do not name it.
            user_agent: String => {
                number: 11, value_name: "HEADER", class: Class::Read, only_if_given: true,
                help: "User agent of requests in WARC and CDX files that name none",
            }
            /// The zone of days, and of times without one, such as "Europe/Berlin".
            timezone: Timezone = Timezone::default() => {
                number: 18, value_name: "ZONE", class: Class::Read,
                help: "Zone of days, and of logged times without a zone",
            }
        }
        Window "Input" {
            /// The start of the time to judge.
            since: String => {
                number: 19, value_name: "TIME", is_in_short_help: true, class: Class::Window,
                python: InPython::Argument("Time | None"),
                help: "Ignore requests before TIME, such as 2026-01-31",
                details: "Also 2026-01-31T12:00 or 2026-01-31T12:00+01:00; the zone is --timezone.",
                not_nightly: "which reads all new lines; run: botaudit audit --since",
            }
            /// The end of that time, which is excluded.
            until: String => {
                number: 20, value_name: "TIME", class: Class::Window,
                python: InPython::Argument("Time | None"),
                help: "Ignore requests at TIME or later",
                not_nightly: "which reads all new lines; run: botaudit audit --until",
            }
            /// The smallest share of lines of a log that must be parsed, in percent.
            min_parse_rate: Percent = Percent::OF_RECORDS_MIN => {
                number: 21, value_name: "PERCENT", class: Class::Shown,
                help: "Least share of parsed lines of a file, in percent",
            }
            /// The smallest share of requests of crawlers that must be judged, in percent.
            min_judged_rate: Percent = Percent::OF_JUDGED_MIN => {
                number: 22, value_name: "PERCENT", class: Class::Shown,
                help: "Least share of judged crawler requests, in percent",
            }
            /// Whether a run may end well in which nothing, or too little, was judged.
            allow_unjudged: bool => {
                number: 49, class: Class::Source, only_if_given: true, python: InPython::Refused,
                help: "Exit with 0 although too little was judged, or --fetch got no answer",
            }
        }
        Evidence "Output" {
            /// The file of violating requests.
            evidence: PathBuf => {
                number: 43, value_name: "FILE", is_in_short_help: true, python: InPython::Refused,
                help: "Write all violations to FILE (CSV; also .gz or .zst)",
                not_nightly: "which does not keep single requests; for a day, run: botaudit audit \
                              --evidence evidence.csv.gz --since 2026-11-20 --until 2026-11-21",
            }
        }
        Thresholds "Output" {
            /// Whether violations fail the run.
            fail_on_violations: bool => {
                number: 50, is_in_short_help: true, python: InPython::Refused,
                help: "Exit with 1 if there are violations",
            }
            /// Conditions on rows of `summary`, such as "violations > 0 where purpose = 'ai-training'".
            fail_on: Vec<String> => {
                number: 51, value_name: "CONDITION",
                help: "Exit with 1 if a row of summary.csv meets CONDITION",
                details: "For example \"violations > 0 where purpose = 'ai-training'\". Spoofed \
                          crawlers and tools count only if the condition names them.",
            }
        }
        Thresholds "Conduct" {
            /// The smallest share of violations of a crawler that ignores robots.txt.
            ignores_min: Percent = Percent::IGNORES_MIN => {
                number: 31, value_name: "PERCENT", class: Class::Shown, only_if_given: true,
                help: "A crawler with more violations ignores robots.txt",
                details: "In percent of the share of disallowed paths that browsers request, or \
                          of all judged requests where that share is small or not known. The \
                          whole interval of 95 % must be above.",
            }
            /// The greatest share of violations of a crawler that rarely breaks a rule.
            rarely_max: Percent = Percent::RARELY_MAX => {
                number: 32, value_name: "PERCENT", class: Class::Shown, only_if_given: true,
                help: "A crawler with fewer violations rarely breaks a rule",
            }
        }
        Details "Privacy" {
            /// How addresses of clients are written: "none", "mask", "hash" or "full".
            ip: AddressForm = AddressForm::None => {
                number: 23, value_name: "FORM", class: Class::Shown,
                help: "none, mask (network), hash or full client addresses",
            }
            /// The secret for "hash".
            ip_salt: String => {
                number: 44, value_name: "TEXT", needs: Some(Needs::Given("ip")),
                help: "Secret text for --ip hash; the same text gives the same hashes",
            }
            /// Whether query strings are left out of reports.
            strip_query: bool => {
                number: 24, class: Class::Shown,
                help: "Leave query strings and session ids out of the report",
            }
        }
        Details "Crawler verification" {
            /// The directory of published address lists.
            ip_ranges: PathBuf => {
                number: 13, value_name: "DIR", is_in_short_help: true, class: Class::Source,
                help: "Verify crawlers by the address lists in this directory",
                details: "`botaudit crawlers fetch-ranges DIR` downloads them.",
            }
            /// Whether the address lists that come with botaudit are not used.
            no_bundled_ranges: bool => {
                number: 14, class: Class::Source, only_if_given: true,
                help: "Do not use the address lists that come with botaudit",
                details: "They verify crawlers without --ip-ranges, too. They never say that a \
                          request is spoofed.",
            }
            /// The directory of the keys with which agents sign requests.
            signature_keys: PathBuf => {
                number: 15, value_name: "DIR", class: Class::Source, only_if_given: true,
                help: "Verify signatures of requests by the keys in this directory",
                details: "`botaudit crawlers fetch-keys DIR` downloads them. The log must have \
                          the headers Signature-Agent, Signature-Input and Signature: see \
                          docs/identity.md.",
            }
            /// Whether crawlers are verified by reverse DNS.
            verify_dns: bool => {
                number: 16, is_in_short_help: true, class: Class::Collected,
                help: "Verify crawlers by reverse DNS. Reads the logs twice",
            }
            /// The file of answers of DNS.
            dns_cache: PathBuf => {
                number: 45, value_name: "FILE", needs: Some(Needs::Given("verify_dns")),
                help: "Cache DNS answers in FILE: 7 days, 1 day for negative answers",
            }
            /// The file of names that DNS confirmed, with their times.
            dns_archive: PathBuf => {
                number: 46, value_name: "FILE", class: Class::Source, only_if_given: true,
                help: "Keep confirmed DNS names with their times in FILE; later audits verify by \
                       them",
                details: "Without --verify-dns, the file is only read, and no network is needed.",
            }
            /// The name server, such as "192.0.2.1:53".
            dns_server: SocketAddr => {
                number: 47, value_name: "ADDR:PORT", needs: Some(Needs::Given("verify_dns")),
                help: "Name server to query instead of those in /etc/resolv.conf",
            }
            /// The time limit of a lookup, in seconds.
            dns_timeout: Timeout = Timeout::default() => {
                number: 48, value_name: "SECONDS", needs: Some(Needs::Given("verify_dns")),
                help: "Seconds to wait for a DNS answer",
            }
            /// The most addresses that are looked up.
            dns_max: usize = DNS_MAX => {
                number: 17, value_name: "N", class: Class::Verdicts,
                needs: Some(Needs::Given("verify_dns")),
                help: "Look up at most N addresses, the busiest first",
            }
        }
        Details "Testing a draft" {
            /// A draft of a robots.txt to judge by as well.
            what_if: PathBuf => {
                number: 5, value_name: "DRAFT", class: Class::Counted, only_if_given: true,
                help: "Write to what-if.csv what this draft of a robots.txt would change",
                details: "The draft is for --what-if-for, --origin, or the only origin in the \
                          logs.",
                not_nightly: "which reads each line once; run: botaudit audit --what-if",
            }
            /// The origins that the draft is for.
            what_if_for: Vec<Origin> => {
                number: 6, value_name: "URL", class: Class::Counted, only_if_given: true,
                needs: Some(Needs::Given("what_if")),
                help: "Origin that the draft is for",
                not_nightly: "which reads each line once; run: botaudit audit --what-if",
            }
        }
        Details "Traffic and costs" {
            /// Whether requests are counted by section and path.
            paths: bool => {
                number: 36, class: Class::Counted, only_if_given: true,
                help: "Count requests by path: sections.csv, paths.csv, urls.csv (slower)",
            }
            /// The price of 10^9 bytes, such as 0.09 or "0.09USD".
            cost_per_gb: Money => {
                number: 37, value_name: "MONEY", class: Class::Shown, only_if_given: true,
                help: "Price of a GB (10^9 bytes): 0.09 or 0.09USD; adds costs.csv",
            }
        }
        Threads "Performance" {
            /// The number of threads; 0, the default, is one per core.
            threads: usize = 0 => {
                number: 52, value_name: "N",
                help: "Number of threads; 0 means one per core",
            }
        }
    }
}

/// The options in the order of their numbers.
pub(super) fn by_number() -> impl Iterator<Item = &'static OptionEntry> {
    let mut options: Vec<&OptionEntry> = OPTIONS.iter().collect();
    options.sort_by_key(|option| option.number);
    options.into_iter()
}

/// The class of the option that `run.json` has as `name`.
pub(crate) fn class_of(name: &str) -> Option<Class> {
    OPTIONS.iter().find(|option| option.reported_as == name).map(|option| option.class)
}
