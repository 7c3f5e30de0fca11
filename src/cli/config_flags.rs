//! The flags that are keys of a configuration, in the groups of the help.

use std::{net::SocketAddr, path::PathBuf};

use crate::config::audit_config::AuditConfig;
use crate::config::money::Money;
use crate::config::setting::{AddressForm, Percent, Seconds, Timeout, Timezone};
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
        /// A file applies to all logs. A directory has one file per host, and the file names decide. `example.com`, `example.com.txt` and
        /// `example.com/robots.txt` apply to that host on its default port, for http and https.
        /// `https_example.com_8443.txt` applies to exactly that origin and takes precedence.
        ///
        /// With an archive, made by `botaudit robots import` or `fetch`, each request is judged by
        /// the robots.txt that was in force when it was made.
        #[arg(long, value_name = "PATH")]
        robots: Option<PathBuf>,

        /// First fetch the robots.txt of every host in the logs.
        ///
        /// Only origins that crawlers requested are fetched from. The files go into the archive that --robots names, which is created if it does not exist;
        /// without --robots it is robots.db. The logs are read twice: first to find the origins, then
        /// to judge. Requests from before the fetch are judged by what is fetched now; the report says
        /// how many. `botaudit robots fetch` has more options.
        #[arg(long)]
        fetch: bool,

        /// Allow fetching from private addresses.
        ///
        /// Host names in logs are untrusted: any client can send any Host header.
        #[arg(long, hide_short_help = true)]
        allow_private_addresses: bool,

        /// Allow fetching from any port of hosts in the logs.
        ///
        /// Otherwise only the ports 80, 443, 8080 and 8443 are asked, and the port of --origin. At
        /// most four ports of a host are asked.
        #[arg(long, hide_short_help = true)]
        fetch_any_port: bool,

        /// Time for all fetches from hosts in the logs [default: 600]
        ///
        /// What is not fetched by then is left out, the report says so, and the exit code is 3.
        /// --origin is fetched first, and without this limit.
        #[arg(long, value_name = "SECONDS", hide_short_help = true)]
        fetch_budget: Option<Seconds>,
    }

    /// Origins of requests, and the proxies before them.
    pub(crate) struct OriginFlags under "Origins" {
        /// Origin if the log names no host: https://example.com.
        #[arg(long, value_name = "URL")]
        origin: Option<Origin>,

        /// Regular expression that takes the host from the log's path, where neither the log nor
        /// --origin names one.
        ///
        /// It needs a group named `host`; groups named `scheme` and `port` are optional:
        /// '/var/log/nginx/(?<host>[^/]+)\.access\.log'.
        #[arg(long, value_name = "REGEX", hide_short_help = true)]
        origin_from_path: Option<String>,

        /// Another name of a host or origin, such as www.example.com=example.com; repeatable.
        ///
        /// The report and the rules use the second name. An alias between hosts keeps scheme and port;
        /// http://example.com=https://example.com concerns only these two origins.
        #[arg(long, value_name = "ALIAS=NAME", hide_short_help = true)]
        alias: Vec<String>,

        /// Trust X-Forwarded-For from this proxy (CIDR, such as 10.0.0.0/8); repeatable.
        ///
        /// The client is the last address in X-Forwarded-For that is not a trusted proxy.
        #[arg(long, value_name = "CIDR", hide_short_help = true)]
        trusted_proxy: Vec<String>,
    }

    /// The draft of a robots.txt.
    pub(crate) struct WhatIfFlags under "Testing a draft" {
        /// Write to what-if.csv what this draft of a robots.txt would newly disallow or allow.
        ///
        /// The draft is compared with the rules in force, for the requests that these decided. It
        /// replaces a single --robots file for all origins; otherwise it replaces the robots.txt of
        /// --origin, or of the only origin in the logs.
        #[arg(long, value_name = "DRAFT", hide_short_help = true)]
        what_if: Option<PathBuf>,

        /// Origin that the draft is for, such as https://example.com; repeatable.
        #[arg(long, value_name = "URL", hide_short_help = true)]
        what_if_for: Vec<Origin>,
    }

    /// What a report may disclose.
    pub(crate) struct PrivacyFlags under "Privacy" {
        /// How client addresses appear in reports [default: none]
        #[arg(long, value_name = "FORM", value_parser = one_of(&ADDRESS_FORMS), hide_short_help = true)]
        ip: Option<AddressForm>,

        /// Secret text for --ip hash; use the same text again to compare reports.
        #[arg(long, value_name = "TEXT", hide_short_help = true)]
        ip_salt: Option<String>,

        /// Leave query strings out of the report.
        ///
        /// Examples, evidence and paths.csv have no query strings, fragments, session ids in paths,
        /// and no user or password of absolute targets. rejects.csv has no examples.
        #[arg(long, hide_short_help = true)]
        strip_query: bool,
    }

    /// The format of all logs.
    pub(crate) struct FormatFlags under "Input" {
        /// Name or format string [default: auto-detected]
        ///
        /// `botaudit formats` lists the names. A format string is the value of nginx's log_format or
        /// Apache's LogFormat, such as
        /// '$remote_addr - [$time_local] "$request" $status "$http_user_agent"' or
        /// '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"'.
        #[arg(long, value_name = "FORMAT")]
        log_format: Option<String>,

        /// Keys of a JSON log: time=ts,host=request.host,user-agent=headers.ua; other keys are
        /// auto-detected.
        #[arg(long, value_name = "FIELD=KEY,...", hide_short_help = true)]
        json_fields: Option<String>,

        /// Request headers that HAProxy captures, in the order of its configuration: host,user-agent.
        #[arg(long, value_name = "NAMES", hide_short_help = true)]
        haproxy_captures: Option<String>,

        /// Time zone of days, and of logged times without a zone, such as Europe/Berlin [default: UTC]
        #[arg(long, value_name = "ZONE", hide_short_help = true)]
        timezone: Option<Timezone>,
    }

    /// Which lines count, and how many must be understood.
    pub(crate) struct WindowFlags under "Input" {
        /// Ignore requests before TIME, such as 2026-01-31.
        ///
        /// TIME is a date, or a time such as 2026-01-31T12:00 or 2026-01-31T12:00+01:00. A date means 00:00 on that day. Dates and times without an offset are in the
        /// zone of --timezone.
        #[arg(long, value_name = "TIME")]
        since: Option<String>,

        /// Ignore requests at TIME or later, written as for --since.
        #[arg(long, value_name = "TIME", hide_short_help = true)]
        until: Option<String>,

        /// Share of each file's lines that must be parsed, in percent [default: 90]
        ///
        /// Skipped lines, such as comments, do not count. A file below this share fails the run,
        /// because its format is probably another one. Files with fewer than five unparsed lines pass,
        /// unless no line of any file can be parsed. Beside other files, one of which more than half
        /// of the bytes cannot be parsed is named, and the exit code is 3. 0 accepts every file.
        #[arg(long, value_name = "PERCENT", hide_short_help = true)]
        min_parse_rate: Option<Percent>,

        /// Share of the requests of crawlers that must be judged, in percent [default: 1]
        ///
        /// Requests for robots.txt itself do not count. Below this share, the run says which hosts
        /// have no known robots.txt and exits with 3.
        #[arg(long, value_name = "PERCENT", hide_short_help = true)]
        min_judged_rate: Option<Percent>,

        /// Do not exit with 3 because nothing, or too little, could be judged, or --fetch got no
        /// usable answer from an origin.
        #[arg(long, hide_short_help = true)]
        allow_unjudged: bool,
    }

    /// How the rules are applied.
    pub(crate) struct JudgingFlags under "Rules" {
        /// CSV file with more crawlers; a row with a built-in name replaces that crawler.
        #[arg(long, value_name = "FILE", hide_short_help = true)]
        crawlers: Option<PathBuf>,

        /// Also judge crawlers that robots.txt does not bind.
        ///
        /// By default, two kinds of requests are counted separately: those that a person triggered, and
        /// those of crawlers known not to follow robots.txt. Groups for `*` do not bind crawlers that
        /// are documented to ignore them.
        #[arg(long, hide_short_help = true)]
        include_unbound: bool,

        /// Count requests from before the first snapshot of an archive as unknown.
        ///
        /// By default, they are judged by that snapshot, and the report says how many they are.
        #[arg(long, hide_short_help = true)]
        unknown_before_first_snapshot: bool,

        /// Detect outages of robots.txt from the logs, and count requests in them as unreachable.
        ///
        /// An outage is an hour (UTC) in which at least three clients requested the robots.txt of an
        /// origin, and the server answered all of them with 429 or 5xx. Hours within a day of an
        /// archived snapshot of that origin are left out. The logs are read twice: first for these answers, then to judge.
        /// If the logs are on several machines, see --collect.
        #[arg(help_heading = "Detecting outages from logs", long, hide_short_help = true)]
        infer_outages: bool,

        /// Days before a change of robots.txt whose requests show the usual rate of a crawler [default: 28]
        ///
        /// reactions.csv compares them with the requests after the change. It needs an archive.
        #[arg(help_heading = "Reactions to changes", long, value_name = "DAYS", hide_short_help = true)]
        reaction_days: Option<usize>,

        /// Requests that must be expected at that rate before their absence means anything [default: 3]
        #[arg(help_heading = "Reactions to changes", long, value_name = "N", hide_short_help = true)]
        reaction_requests: Option<usize>,

        /// Days without requests after which a crawler has stopped, or a tenth of the time since its
        /// fetch if that is shorter [default: 7]
        #[arg(help_heading = "Reactions to changes", long, value_name = "DAYS", hide_short_help = true)]
        reaction_quiet_days: Option<usize>,

        /// Count sessions of clients, which end after this many minutes without requests; 5 is usual.
        ///
        /// sessions.csv has the sessions of each crawler, and compliance.csv the times between requests of
        /// one client under a Crawl-delay. `nightly` refuses this option.
        #[arg(help_heading = "Sessions", long, value_name = "MINUTES", hide_short_help = true)]
        session_minutes: Option<usize>,

        /// Count sessions by network in networks.csv, too.
        ///
        /// FILE is CSV with the columns prefix and network, such as 192.0.2.0/24,Example Hosting. The longest
        /// prefix with the address of the client decides. botaudit contains no such data.
        #[arg(help_heading = "Sessions", long, value_name = "FILE", hide_short_help = true)]
        networks: Option<PathBuf>,

        /// Leave this form of statements about use out of usage.csv: content-usage, content-signal or
        /// product-token; repeatable.
        ///
        /// content-usage is draft-ietf-aipref-attach-05 with draft-ietf-aipref-vocab-07, content-signal is
        /// Cloudflare's, and product-token stands for groups such as Google-Extended.
        #[arg(help_heading = "Statements about use", long, value_name = "FORM", hide_short_help = true)]
        ignore_usage: Vec<String>,

        /// How percent-encodings and wildcards are compared [default: google]
        #[arg(long, value_name = "DIALECT", value_parser = one_of(&DIALECTS), hide_short_help = true)]
        dialect: Option<Dialect>,
    }

    /// What is counted of the content that crawlers got.
    pub(crate) struct ContentFlags under "Traffic and costs" {
        /// Count requests by path: sections.csv, paths.csv and urls.csv.
        ///
        /// sections.csv has the directories of each origin, paths.csv the paths that each crawler requested most, and urls.csv how many distinct URLs it
        /// requested. It is off by default because it takes more time and memory, and the report shows paths.
        #[arg(long, hide_short_help = true)]
        paths: bool,

        /// Price of a GB (10^9 bytes) that you serve, such as 0.09 or 0.09USD; adds costs.csv.
        #[arg(long, value_name = "MONEY", hide_short_help = true)]
        cost_per_gb: Option<Money>,
    }

    /// How genuine crawlers are distinguished from clients that only use their names.
    pub(crate) struct IdentityFlags under "Crawler verification" {
        /// Verify crawlers by the address lists in this directory.
        ///
        /// The lists are those that operators publish. `botaudit crawlers fetch-ranges` downloads the lists. The file of a list is the one that
        /// manifest.json names for its URL, or one named like the URL:
        /// https://openai.com/gptbot.json is openai.com_gptbot.json or gptbot.json.
        #[arg(long, value_name = "DIR")]
        ip_ranges: Option<PathBuf>,

        /// Verify crawlers by reverse DNS.
        ///
        /// An address is verified if its name is in a domain of the operator and resolves to the
        /// address again. The logs are read twice: first for the addresses, then to judge. If the logs
        /// are on several machines, see --collect.
        #[arg(long)]
        verify_dns: bool,

        /// Cache DNS answers in FILE: 7 days, 1 day for negative answers.
        #[arg(long, value_name = "FILE", hide_short_help = true)]
        dns_cache: Option<PathBuf>,

        /// Name server to query instead of those in /etc/resolv.conf.
        #[arg(long, value_name = "ADDR:PORT", hide_short_help = true)]
        dns_server: Option<SocketAddr>,

        /// Seconds to wait for a DNS answer [default: 5]
        #[arg(long, value_name = "SECONDS", hide_short_help = true)]
        dns_timeout: Option<Timeout>,

        /// Look up at most N addresses, the busiest first [default: 1000]
        #[arg(long, value_name = "N", hide_short_help = true)]
        dns_max: Option<usize>,
    }

    /// When a run exits with 1.
    pub(crate) struct ThresholdFlags under "Output" {
        /// Exit with 1 if there are violations.
        ///
        /// Violations by spoofed crawlers and by tools do not count.
        #[arg(long)]
        fail_on_violations: bool,

        /// Exit with 1 if a row of summary.csv meets CONDITION; repeatable.
        ///
        /// A condition has columns, numbers, percentages and quoted text, joined by
        /// = != < <= > >=, and, or, not, where:
        /// "violation_rate > 5% and requests >= 100 where purpose = 'ai-training'". Rows of spoofed
        /// crawlers count only if the condition names identity, and rows of tools only if it names
        /// the tool or its purpose.
        #[arg(long, value_name = "CONDITION", hide_short_help = true)]
        fail_on: Vec<String>,

        /// Share of violations from which a crawler that has read robots.txt ignores it, in percent [default: 50]
        ///
        /// The share counts if it is certain: the lower end of its interval of 95 % decides, as the upper end does
        /// for --rarely-max. The column conduct of summary.csv has the result.
        #[arg(help_heading = "Conduct", long, value_name = "PERCENT", hide_short_help = true)]
        ignores_min: Option<Percent>,

        /// Share of violations up to which a crawler rarely breaks a rule, in percent [default: 5]
        #[arg(help_heading = "Conduct", long, value_name = "PERCENT", hide_short_help = true)]
        rarely_max: Option<Percent>,
    }
}
