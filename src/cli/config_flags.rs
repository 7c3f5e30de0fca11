//! The flags that are keys of a configuration, in the groups in which the help shows them.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::config::audit_config::AuditConfig;
use crate::config::setting::{AddressForm, Percent, Timeout, Timezone};
use crate::url::{dialect::Dialect, origin::Origin};

use super::value_names::{ADDRESS_FORMS, DIALECTS, one_of};

/// A flag, as far as it is given.
trait Flag {
    type Value;

    fn given(self) -> Option<Self::Value>;
}

impl Flag for bool {
    type Value = bool;

    fn given(self) -> Option<bool> {
        self.then_some(true)
    }
}

impl<T> Flag for Option<T> {
    type Value = T;

    fn given(self) -> Option<T> {
        self
    }
}

impl<T> Flag for Vec<T> {
    type Value = Vec<T>;

    fn given(self) -> Option<Vec<T>> {
        (!self.is_empty()).then_some(self)
    }
}

/// Declares flags, each with the name of the key that it fills, under a heading of the help.
macro_rules! config_flags {
    ($(
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident under $heading:literal {
            $( $(#[$flag_meta:meta])* $flag:ident: $kind:ty, )*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(clap::Args, Debug)]
        #[command(next_help_heading = $heading)]
        $visibility struct $name { $( $(#[$flag_meta])* $flag: $kind, )* }

        impl $name {
            /// Their part of a configuration.
            pub fn config(&self) -> AuditConfig {
                AuditConfig { $( $flag: self.$flag.clone().given(), )* ..AuditConfig::default() }
            }
        }
    )*};
}

config_flags! {
    /// By what requests are judged.
    pub struct RobotsFlags under "Fetching robots.txt" {
        /// A robots.txt file for the whole log, a directory with one file an origin, or an archive.
        ///
        /// In an archive, made by `botaudit robots import` or `fetch`, each request is judged by what
        /// was in force when it was made.
        ///
        /// In a directory the names decide: `example.com`, `example.com.txt` and
        /// `example.com/robots.txt` govern that host on its default port under any scheme;
        /// `https_example.com_8443.txt` governs exactly that origin, and wins.
        #[arg(help_heading = "Rules", long, value_name = "PATH")]
        robots: Option<PathBuf>,

        /// First fetch the robots.txt of each origin that crawlers asked, into the archive of --robots.
        ///
        /// The archive is made where there is none; without --robots it is robots.db. The logs are read
        /// twice: once for the origins, once to judge. Requests from before are judged by what is
        /// fetched now, and the report says how many. `botaudit robots fetch` lets you say more of how.
        #[arg(long)]
        fetch: bool,

        /// Ask hosts of the logs also at private addresses. Host names in logs are
        /// untrusted: any client can send any Host header.
        #[arg(long)]
        allow_private_addresses: bool,
    }

    /// Whose log it is, and by whom it was reached.
    pub struct OriginFlags under "Origins" {
        /// Origin of records whose log names no host, as https://example.com.
        #[arg(long, value_name = "URL")]
        origin: Option<Origin>,

        /// Regular expression that takes the host of such records from the log's path, without --origin.
        ///
        /// Its group `host` is the host; groups `scheme` and `port` are optional:
        /// '/var/log/nginx/(?<host>[^/]+)\.access\.log'.
        #[arg(long, value_name = "REGEX")]
        origin_from_path: Option<String>,

        /// Another name of a host or an origin: www.example.com=example.com. Can be repeated.
        ///
        /// Between hosts, scheme and port stay; http://example.com=https://example.com is about
        /// these two alone. The report and robots.txt go by the second name.
        #[arg(long, value_name = "ALIAS=NAME")]
        alias: Vec<String>,

        /// A proxy that is believed about X-Forwarded-For, as 10.0.0.0/8. Can be repeated.
        ///
        /// The client is then the last address there that is no such proxy.
        #[arg(long, value_name = "CIDR")]
        trusted_proxy: Vec<String>,
    }

    /// What if another robots.txt had been in force.
    pub struct WhatIfFlags under "Testing a draft" {
        /// A draft of a robots.txt: write to what-if.csv what it would newly forbid or allow.
        ///
        /// Compared with the rules in force, for the requests that these decided. The draft stands for
        /// the whole of a single --robots file; else for --origin, or for the only origin of the logs.
        #[arg(long, value_name = "DRAFT")]
        what_if: Option<PathBuf>,

        /// The origin that the draft is for, as https://example.com. Can be repeated.
        #[arg(long, value_name = "URL")]
        what_if_for: Vec<Origin>,
    }

    /// What may leave in a report.
    pub struct PrivacyFlags under "Privacy" {
        /// How clients' addresses are written in reports [default: none]
        #[arg(long, value_name = "HOW", value_parser = one_of(&ADDRESS_FORMS))]
        ip: Option<AddressForm>,

        /// Text that hashes of addresses depend on; keep it secret, and keep it to compare reports.
        #[arg(long, value_name = "TEXT")]
        ip_salt: Option<String>,

        /// Leave query strings out of examples and evidence, and examples out of rejects.csv.
        #[arg(long)]
        strip_query: bool,
    }

    /// What the user says of the formats of all logs.
    pub struct FormatFlags under "Reading logs" {
        /// Log format, by name or as the server's configuration has it; told from the lines if not given.
        ///
        /// A name that botaudit formats lists; or what stands in an nginx log_format or an Apache
        /// LogFormat, as '$remote_addr - [$time_local] "$request" $status "$http_user_agent"' or
        /// '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"'.
        #[arg(long, value_name = "FORMAT")]
        log_format: Option<String>,

        /// Keys of a JSON log, as time=ts,host=request.host,user-agent=headers.ua; the others are told.
        #[arg(long, value_name = "PART=KEY,...")]
        json_fields: Option<String>,

        /// Request headers that HAProxy captures, in the order of its configuration: host,user-agent.
        #[arg(long, value_name = "NAMES")]
        haproxy_captures: Option<String>,

        /// Zone whose midnights part days, and of times that name none, as Europe/Berlin [default: UTC]
        #[arg(long, value_name = "ZONE")]
        timezone: Option<Timezone>,
    }

    /// Which lines count, and how many must be understood.
    pub struct WindowFlags under "Reading logs" {
        /// Pass over requests made before TIME: 2026-01-31, 2026-01-31T12:00, or with an offset.
        ///
        /// A date begins at midnight in the zone of --timezone, and so does a time without an offset.
        #[arg(long, value_name = "TIME")]
        since: Option<String>,

        /// Pass over requests made at TIME or later; written as for --since.
        #[arg(long, value_name = "TIME")]
        until: Option<String>,

        /// Lines of a file that must be records, in percent of those that are not skipped [default: 90]
        ///
        /// A file that falls short fails the run, as its format was mistaken; a file with fewer than
        /// five rejected lines does not, unless no line of any file is a record. 0 accepts anything.
        #[arg(long, value_name = "PERCENT")]
        min_parse_rate: Option<Percent>,
    }

    /// How the rules are applied.
    pub struct JudgingFlags under "Rules" {
        /// CSV of crawlers that are added to the built-in ones; a row of the same name replaces one.
        #[arg(long, value_name = "FILE")]
        crawlers: Option<PathBuf>,

        /// Also judge crawlers that robots.txt does not bind, as if it bound everybody.
        ///
        /// Else the requests of fetchers that a person triggered, and of crawlers that are known not to
        /// follow robots.txt, are counted apart, and `*` does not bind crawlers that are documented to
        /// ignore it.
        #[arg(long)]
        include_unbound: bool,

        /// Count requests from before the first snapshot of an archive as unknown.
        ///
        /// Else they are judged by that snapshot, and the report says how many they are.
        #[arg(long)]
        unknown_before_first_snapshot: bool,

        /// Count requests as unreachable in hours in which nobody got robots.txt, as the logs show.
        ///
        /// That is an hour of UTC in which at least three clients asked for the robots.txt of an origin
        /// and every one got 429 or 5xx, unless an archive has a snapshot of that origin from less than
        /// a day before or after. The logs are read twice: once for the answers, once to judge; see
        /// --collect where they lie on several machines.
        #[arg(help_heading = "Detecting outages from logs", long)]
        infer_outages: bool,

        /// How percent-encodings and wildcards are read [default: google]
        #[arg(long, value_parser = one_of(&DIALECTS))]
        dialect: Option<Dialect>,
    }

    /// By what crawlers are told from those who only use their names.
    pub struct IdentityFlags under "Crawler verification" {
        /// Directory of the address ranges that operators publish, a file a list.
        ///
        /// A list is in the file that manifest.json names for its URL, or in one named like the URL:
        /// https://openai.com/gptbot.json in openai.com_gptbot.json or gptbot.json.
        #[arg(long, value_name = "DIR")]
        ip_ranges: Option<PathBuf>,

        /// Ask name servers whether addresses are those of the crawlers that they say they are.
        ///
        /// An address is verified if its name is in a domain of the operator and has that address.
        /// The logs are read twice: once for the addresses, once to judge; see --collect where they lie
        /// on several machines.
        #[arg(long)]
        verify_dns: bool,

        /// Remember answers in FILE: 7 days, or 1 day that there is none.
        #[arg(long, value_name = "FILE")]
        dns_cache: Option<PathBuf>,

        /// Name server to ask, in place of those of /etc/resolv.conf.
        #[arg(long, value_name = "ADDR:PORT")]
        dns_server: Option<SocketAddr>,

        /// Seconds after which a question counts as not answered [default: 5]
        #[arg(long, value_name = "SECONDS")]
        dns_timeout: Option<Timeout>,

        /// Addresses that are looked up, the busiest first [default: 1000]
        #[arg(long, value_name = "N")]
        dns_max: Option<usize>,
    }

    /// On what a run fails that could be carried out.
    pub struct ThresholdFlags under "Output" {
        /// Exit with 1 if there are violations (of crawlers that are not spoofed).
        #[arg(long)]
        fail_on_violations: bool,

        /// Exit with 1 if a row of summary.csv meets CONDITION; can be repeated.
        ///
        /// Columns, numbers, percentages and quoted text, with = != < <= > >=, and, or, not, where:
        /// "violation_rate > 5% and requests >= 100 where purpose = 'ai-training'". Rows of spoofed
        /// crawlers count only where it names identity.
        #[arg(long, value_name = "CONDITION")]
        fail_on: Vec<String>,
    }
}
