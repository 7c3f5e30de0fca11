//! Finds the fields of a line. Each kind of layout is a variant, so that the hot loop has a `match`
//! and no indirect call.

use std::sync::Arc;

use crate::time::Zone;

use super::named_columns::{Csv, Ltsv};
use super::proxies::{self, Captures};
use super::reject::{Limitation, Skip};
use super::usual::UsualLayout;
use super::w3c::{self, W3c};
use super::{LineContent, aws, cdx::Cdx, combined, json::Json, template::Template};

/// The layout of lines. Cheap to clone, because large parts are shared.
#[derive(Clone, Debug)]
pub enum LineParser {
    /// Combined, with `host:port` or `host` in front.
    VhostCombined,
    /// nginx's default and Apache's `combined`, with any further fields.
    Combined,
    /// Apache's `common`, with any further fields.
    Common,
    /// Combined with absolute targets, whose origin is our own.
    Varnish,
    /// Combined with the host in place of the ident.
    Lighttpd,
    /// Envoy's default, or Istio's.
    Envoy,
    /// HAProxy's HTTP log.
    Haproxy(Captures),
    /// A format from a server configuration.
    Template(Arc<Template>),
    /// One JSON object per line.
    Json(Json),
    /// The native format of IIS.
    Iis,
    /// Squid's native format.
    Squid,
    /// CSV with a header.
    Csv(Arc<Csv>),
    /// Caddy's console format: columns before an object.
    CaddyConsole(Json),
    /// Labelled tab-separated values.
    Ltsv(Arc<Ltsv>),
    /// Columns named by a `#Fields` directive.
    W3c(Arc<W3c>),
    /// AWS's application load balancer.
    AwsAlb,
    /// AWS's classic load balancer.
    AwsElb,
    /// AWS S3.
    AwsS3,
    /// The index of a crawl.
    Cdx(Cdx),
    /// An error log: no line is a request.
    ErrorLog,
    /// Not known: no line can be read.
    Unknown,
}

impl LineParser {
    /// Finds the fields of `line`, which is not blank; times without a zone are in `zone`.
    #[inline]
    pub(super) fn line<'a>(&'a mut self, line: &'a [u8], zone: &'a Zone) -> LineContent<'a> {
        match self {
            LineParser::VhostCombined => combined::vhost_combined(line),
            LineParser::Combined => combined::combined(line),
            LineParser::Common => combined::common(line),
            LineParser::Varnish => combined::combined_with_own_targets(line),
            LineParser::Lighttpd => combined::combined_with_ident_host(line),
            LineParser::Envoy => proxies::envoy_line(line),
            LineParser::Haproxy(captures) => proxies::haproxy_line(*captures, line, zone),
            LineParser::Template(template) => template.line(line, zone),
            LineParser::Json(json) => json.line(line, zone),
            LineParser::Iis => w3c::iis_line(line, zone).into(),
            LineParser::Squid => proxies::squid_line(line).into(),
            LineParser::Csv(csv) => csv.line(line, zone),
            LineParser::CaddyConsole(json) => json.console_line(line, zone),
            LineParser::Ltsv(ltsv) => ltsv.line(line, zone),
            LineParser::W3c(w3c) => w3c.line(line, zone),
            LineParser::AwsAlb => aws::application(line).into(),
            LineParser::AwsElb => aws::classic(line).into(),
            LineParser::AwsS3 => aws::s3(line).into(),
            LineParser::Cdx(cdx) => cdx.line(line),
            LineParser::ErrorLog => LineContent::Skip(Skip::NotAccess),
            LineParser::Unknown => LineContent::Reject(combined::reason(line)),
        }
    }

    /// The layout of usual lines, which have six quotes: those of request, referer and user agent.
    #[inline(always)]
    pub(super) fn usual_layout(&self) -> Option<UsualLayout> {
        let (has_host, has_own_target) = match self {
            LineParser::Combined => (false, false),
            LineParser::VhostCombined => (true, false),
            LineParser::Varnish => (false, true),
            _ => return None,
        };
        Some(UsualLayout { has_host, has_own_target })
    }

    /// Whether lines that begin with `#` may change how later lines are read.
    pub(super) fn has_directives(&self) -> bool {
        matches!(self, LineParser::W3c(_))
    }

    /// Handles a line that begins with `#`, and returns its kind; `None` if it is a line as all others: in many
    /// formats the first field is what the client sent.
    pub(super) fn direct(&mut self, line: &[u8]) -> Option<Skip> {
        match self {
            LineParser::W3c(w3c) => Arc::make_mut(w3c).direct(line),
            _ => None,
        }
    }

    /// Whether the layout explains the line; stricter than reading, because a layout that ignores
    /// most of a line does not explain it. Only for lines that it can read.
    pub(super) fn is_whole(&self, line: &[u8]) -> bool {
        match self {
            LineParser::Common => !combined::continues_as_combined(line),
            LineParser::Json(json) | LineParser::CaddyConsole(json) => json.is_whole(line),
            _ => true,
        }
    }

    /// The limitations of this layout; the registry has those of its kind.
    pub(super) fn limitations(&self) -> Vec<Limitation> {
        match self {
            LineParser::Haproxy(captures) => captures.limitations(),
            LineParser::Template(template) => template.limitations(),
            LineParser::Json(json) | LineParser::CaddyConsole(json) => json.limitations(),
            LineParser::Csv(csv) => csv.limitations(),
            LineParser::Ltsv(ltsv) => ltsv.limitations(),
            LineParser::W3c(w3c) => w3c.limitations(),
            LineParser::Cdx(cdx) => cdx.limitations(),
            LineParser::ErrorLog => vec![Limitation::ErrorLog],
            _ => Vec::new(),
        }
    }
}
