//! The flags that are keys of a configuration, in the groups of the help.

use std::{net::SocketAddr, path::PathBuf};

use crate::config::audit_config::AuditConfig;
use crate::config::money::Money;
use crate::config::setting::{AddressForm, Percent, Seconds, Timeout, Timezone};
use crate::config::size::whole;
use crate::url::{dialect::Dialect, origin::Origin};

use super::value_names::{ADDRESS_FORMS, DIALECTS, one_of};

/// A flag that may be given.
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

/// Declares flags with a heading in the help. Each flag has the name of its key.
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
            /// The part of the configuration that these flags set.
            pub(crate) fn config(&self) -> AuditConfig {
                AuditConfig { $( $flag: self.$flag.clone().given(), )* ..AuditConfig::default() }
            }
        }
    )*};
}

config_flags! {
    /// By what requests are judged.
    pub(crate) struct RobotsFlags under "Rules" {
        /// robots.txt file, directory of such files, or archive.
        ///
        /// A file is for all logs. In a directory, file names say the host: `example.com.txt`, or
        /// `https_example.com_8443.txt` for one origin. An archive (`botaudit robots`) judges each
        /// request by the rules of its time.
        #[arg(long, value_name = "PATH")]
        robots: Option<PathBuf>,

        /// First fetch the robots.txt of the hosts in the logs.
        ///
        /// Fetches only from hosts that crawlers requested, and stores the files in the archive of --robots
        /// or in robots.db. Reads the logs twice.
        #[arg(long)]
        fetch: bool,

        /// Allow --fetch from private addresses, which clients can name in logs.
        #[arg(long, hide_short_help = true)]
        allow_private_addresses: bool,

        /// Allow --fetch from other ports than 80, 443, 8080 and 8443.
        #[arg(long, hide_short_help = true)]
        fetch_any_port: bool,

        /// Time for all fetches from hosts in the logs [default: 600]
        #[arg(long, value_name = "SECONDS", hide_short_help = true)]
        fetch_budget: Option<Seconds>,
    }

    /// Origins of requests, and the proxies before them.
    pub(crate) struct OriginFlags under "Origins" {
        /// Origin if the log names no host: https://example.com.
        #[arg(long, value_name = "URL")]
        origin: Option<Origin>,

        /// Regular expression that takes the host from the path of the log.
        ///
        /// For example '/var/log/nginx/(?<host>[^/]+)\.access\.log'.
        #[arg(long, value_name = "REGEX", hide_short_help = true)]
        origin_from_path: Option<String>,

        /// Another name of a host: www.example.com=example.com; repeatable.
        #[arg(long, value_name = "ALIAS=NAME", hide_short_help = true)]
        alias: Vec<String>,

        /// Trust X-Forwarded-For from this proxy, such as 10.0.0.0/8; repeatable.
        #[arg(long, value_name = "CIDR", hide_short_help = true)]
        trusted_proxy: Vec<String>,
    }

    /// The draft of a robots.txt.
    pub(crate) struct WhatIfFlags under "Testing a draft" {
        /// Write to what-if.csv what this draft of a robots.txt would change.
        ///
        /// The draft is for --what-if-for, --origin, or the only origin in the logs.
        #[arg(long, value_name = "DRAFT", hide_short_help = true)]
        what_if: Option<PathBuf>,

        /// Origin that the draft is for; repeatable.
        #[arg(long, value_name = "URL", hide_short_help = true)]
        what_if_for: Vec<Origin>,
    }

    /// What a report may disclose.
    pub(crate) struct PrivacyFlags under "Privacy" {
        /// none, mask (network), hash or full client addresses [default: none]
        #[arg(long, value_name = "FORM", value_parser = one_of(&ADDRESS_FORMS), hide_possible_values = true, hide_short_help = true)]
        ip: Option<AddressForm>,

        /// Secret text for --ip hash; the same text gives the same hashes.
        #[arg(long, value_name = "TEXT", hide_short_help = true)]
        ip_salt: Option<String>,

        /// Leave query strings and session ids out of the report.
        #[arg(long, hide_short_help = true)]
        strip_query: bool,
    }

    /// The format of all logs.
    pub(crate) struct FormatFlags under "Input" {
        /// Name or format string [default: auto-detected]
        ///
        /// A format string is the value of nginx's log_format or Apache's LogFormat, such as
        /// '$remote_addr - [$time_local] "$request" ...'.
        #[arg(long, value_name = "FORMAT")]
        log_format: Option<String>,

        /// Keys of a JSON log, such as time=ts,host=request.host.
        #[arg(long, value_name = "FIELD=KEY,...", hide_short_help = true)]
        json_fields: Option<String>,

        /// Request headers that HAProxy captures, in order: host,user-agent.
        #[arg(long, value_name = "NAMES", hide_short_help = true)]
        haproxy_captures: Option<String>,

        /// User agent of requests in WARC and CDX files that name none.
        #[arg(long, value_name = "HEADER", hide_short_help = true)]
        user_agent: Option<String>,

        /// Zone of days, and of logged times without a zone [default: UTC]
        #[arg(long, value_name = "ZONE", hide_short_help = true)]
        timezone: Option<Timezone>,
    }

    /// Which lines count, and how many must be understood.
    pub(crate) struct WindowFlags under "Input" {
        /// Ignore requests before TIME, such as 2026-01-31.
        ///
        /// Also 2026-01-31T12:00 or 2026-01-31T12:00+01:00; the zone is --timezone.
        #[arg(long, value_name = "TIME")]
        since: Option<String>,

        /// Ignore requests at TIME or later.
        #[arg(long, value_name = "TIME", hide_short_help = true)]
        until: Option<String>,

        /// Least share of parsed lines of a file, in percent [default: 90]
        #[arg(long, value_name = "PERCENT", hide_short_help = true)]
        min_parse_rate: Option<Percent>,

        /// Least share of judged crawler requests, in percent [default: 1]
        #[arg(long, value_name = "PERCENT", hide_short_help = true)]
        min_judged_rate: Option<Percent>,

        /// Exit with 0 although too little was judged, or --fetch got no answer.
        #[arg(long, hide_short_help = true)]
        allow_unjudged: bool,
    }

    /// How the rules are applied.
    pub(crate) struct JudgingFlags under "Rules" {
        /// CSV file with more crawlers; a row with a built-in name replaces that crawler.
        #[arg(long, value_name = "FILE", hide_short_help = true)]
        crawlers: Option<PathBuf>,

        /// Also judge crawlers that robots.txt does not bind.
        #[arg(long, hide_short_help = true)]
        include_unbound: bool,

        /// Count requests before the first snapshot of an archive as unknown.
        #[arg(long, hide_short_help = true)]
        unknown_before_first_snapshot: bool,

        /// Detect outages of robots.txt; requests in them are unreachable.
        ///
        /// An outage is an hour in which at least three clients requested robots.txt and all got 429 or
        /// 5xx. Reads the logs twice.
        #[arg(help_heading = "Detecting outages from logs", long, hide_short_help = true)]
        infer_outages: bool,

        /// Days before a change for the usual rate of a crawler [default: 28]
        #[arg(help_heading = "Reactions to changes", long, value_name = "DAYS", value_parser = whole, allow_negative_numbers = true, hide_short_help = true)]
        reaction_days: Option<usize>,

        /// Fewest expected requests for a conclusion [default: 3]
        #[arg(help_heading = "Reactions to changes", long, value_name = "N", value_parser = whole, allow_negative_numbers = true, hide_short_help = true)]
        reaction_requests: Option<usize>,

        /// Days without requests after which a crawler has stopped [default: 7]
        #[arg(help_heading = "Reactions to changes", long, value_name = "DAYS", value_parser = whole, allow_negative_numbers = true, hide_short_help = true)]
        reaction_quiet_days: Option<usize>,

        /// Count sessions, which end after this time without requests; usual: 5.
        #[arg(help_heading = "Sessions", long, value_name = "MINUTES", value_parser = whole, allow_negative_numbers = true, hide_short_help = true)]
        session_minutes: Option<usize>,

        /// Count sessions by network; FILE has the columns prefix and network.
        #[arg(help_heading = "Sessions", long, value_name = "FILE", hide_short_help = true)]
        networks: Option<PathBuf>,

        /// Leave out content-usage, content-signal or product-token; repeatable.
        #[arg(help_heading = "Statements about use", long, value_name = "FORM", hide_short_help = true)]
        ignore_usage: Vec<String>,

        /// google (nothing is decoded) or rfc9309 [default: google]
        #[arg(long, value_name = "DIALECT", value_parser = one_of(&DIALECTS), hide_possible_values = true, hide_short_help = true)]
        dialect: Option<Dialect>,
    }

    /// What is counted of the content that crawlers got.
    pub(crate) struct ContentFlags under "Traffic and costs" {
        /// Count requests by path: sections.csv, paths.csv, urls.csv (slower).
        #[arg(long, hide_short_help = true)]
        paths: bool,

        /// Price of a GB (10^9 bytes): 0.09 or 0.09USD; adds costs.csv.
        #[arg(long, value_name = "MONEY", hide_short_help = true)]
        cost_per_gb: Option<Money>,
    }

    /// How genuine crawlers are distinguished from clients that only use their names.
    pub(crate) struct IdentityFlags under "Crawler verification" {
        /// Verify crawlers by the address lists in this directory.
        ///
        /// `botaudit crawlers fetch-ranges DIR` downloads them.
        #[arg(long, value_name = "DIR")]
        ip_ranges: Option<PathBuf>,

        /// Do not use the address lists that come with botaudit.
        ///
        /// They verify crawlers without --ip-ranges, too. They never say that a request is spoofed.
        #[arg(long, hide_short_help = true)]
        no_bundled_ranges: bool,

        /// Verify signatures of requests by the keys in this directory.
        ///
        /// `botaudit crawlers fetch-keys DIR` downloads them. The log must have the headers Signature-Agent,
        /// Signature-Input and Signature: see docs/identity.md.
        #[arg(long, value_name = "DIR", hide_short_help = true)]
        signature_keys: Option<PathBuf>,

        /// Verify crawlers by reverse DNS. Reads the logs twice.
        #[arg(long)]
        verify_dns: bool,

        /// Cache DNS answers in FILE: 7 days, 1 day for negative answers.
        #[arg(long, value_name = "FILE", hide_short_help = true)]
        dns_cache: Option<PathBuf>,

        /// Keep confirmed DNS names with their times in FILE; later audits verify by them.
        ///
        /// Without --verify-dns, the file is only read, and no network is needed.
        #[arg(long, value_name = "FILE", hide_short_help = true)]
        dns_archive: Option<PathBuf>,

        /// Name server to query instead of those in /etc/resolv.conf.
        #[arg(long, value_name = "ADDR:PORT", hide_short_help = true)]
        dns_server: Option<SocketAddr>,

        /// Seconds to wait for a DNS answer [default: 5]
        #[arg(long, value_name = "SECONDS", hide_short_help = true)]
        dns_timeout: Option<Timeout>,

        /// Look up at most N addresses, the busiest first [default: 1000]
        #[arg(long, value_name = "N", value_parser = whole, allow_negative_numbers = true, hide_short_help = true)]
        dns_max: Option<usize>,
    }

    /// When a run exits with 1.
    pub(crate) struct ThresholdFlags under "Output" {
        /// Exit with 1 if there are violations.
        #[arg(long)]
        fail_on_violations: bool,

        /// Exit with 1 if a row of summary.csv meets CONDITION; repeatable.
        ///
        /// For example "violations > 0 where purpose = 'ai-training'". Spoofed crawlers and tools count
        /// only if the condition names them.
        #[arg(long, value_name = "CONDITION", hide_short_help = true)]
        fail_on: Vec<String>,

        /// A crawler with more violations ignores robots.txt [default: 50]
        ///
        /// In percent of the share of disallowed paths that browsers request, or of all judged requests
        /// where that share is small or not known. The whole interval of 95 % must be above.
        #[arg(help_heading = "Conduct", long, value_name = "PERCENT", hide_short_help = true)]
        ignores_min: Option<Percent>,

        /// A crawler with fewer violations rarely breaks a rule [default: 5]
        #[arg(help_heading = "Conduct", long, value_name = "PERCENT", hide_short_help = true)]
        rarely_max: Option<Percent>,
    }
}
