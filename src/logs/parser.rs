//! Where the fields stand in a line: one variant for each kind of layout, so that
//! the hot loop is a `match` and no call through a pointer.

use std::sync::Arc;

use crate::logs::haproxy::Captures;
use crate::logs::json::Json;
use crate::logs::limitation::Caveat;
use crate::logs::template::Template;
use crate::logs::w3c::W3c;
use crate::logs::{Line, aws_elb, aws_s3, combined, envoy, haproxy};
use crate::time::Zone;

/// How lines are laid out. Cheap to clone: what is large is shared.
#[derive(Clone, Debug)]
pub enum Layout {
    /// Combined, with `host:port` or `host` in front.
    VhostCombined,
    /// nginx's default and Apache's `combined`, with any more fields behind.
    Combined,
    /// Apache's `common`, with any more fields behind.
    Common,
    /// Combined, with absolute targets that name our own origin.
    Varnish,
    /// Envoy's default, or Istio's.
    Envoy,
    /// HAProxy's HTTP log.
    Haproxy(Captures),
    /// As a server's configuration writes it.
    Template(Arc<Template>),
    /// A JSON object a line.
    Json(Json),
    /// Columns as a `#Fields` names them.
    W3c(Arc<W3c>),
    /// AWS's application load balancer.
    AwsAlb,
    /// AWS's classic load balancer.
    AwsElb,
    /// AWS S3.
    AwsS3,
}

/// What a line that begins with `#` says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Directive {
    /// Nothing that the layout understands.
    Comment,
    /// How the lines after it are laid out.
    Understood,
}

impl Layout {
    /// Finds the fields of `line`, which is not blank; times without a zone are those of `zone`.
    #[inline]
    pub(super) fn line<'a>(&'a mut self, line: &'a [u8], zone: &'a Zone) -> Line<'a> {
        match self {
            Layout::VhostCombined => combined::vhost_combined(line),
            Layout::Combined => combined::combined(line),
            Layout::Common => combined::common(line),
            Layout::Varnish => combined::combined_with_own_targets(line),
            Layout::Envoy => envoy::line(line),
            Layout::Haproxy(captures) => haproxy::line(*captures, line, zone),
            Layout::Template(template) => template.line(line, zone),
            Layout::Json(json) => json.line(line, zone),
            Layout::W3c(w3c) => w3c.line(line, zone).into(),
            Layout::AwsAlb => aws_elb::application(line).into(),
            Layout::AwsElb => aws_elb::classic(line).into(),
            Layout::AwsS3 => aws_s3::line(line).into(),
        }
    }

    /// Whether lines that begin with `#` may change how those after them are read.
    pub(super) fn has_directives(&self) -> bool {
        matches!(self, Layout::W3c(_))
    }

    /// Takes note of a line that begins with `#`.
    pub(super) fn direct(&mut self, line: &[u8]) -> Directive {
        match self {
            Layout::W3c(w3c) => Arc::make_mut(w3c).direct(line),
            _ => Directive::Comment,
        }
    }

    /// Stricter than reading: a layout that ignores the better part of a line does not explain
    /// it. Asked of lines that it reads.
    pub(super) fn is_whole(&self, line: &[u8]) -> bool {
        match self {
            Layout::Common => !combined::continues_as_combined(line),
            Layout::Json(json) => json.is_whole(line),
            _ => true,
        }
    }

    /// What this very layout cannot tell; what its kind cannot stands in the registry.
    pub(super) fn caveats(&self) -> Vec<Caveat> {
        match self {
            Layout::Haproxy(captures) => captures.caveats(),
            Layout::Template(template) => template.caveats(),
            Layout::Json(json) => json.caveats(),
            Layout::W3c(w3c) => w3c.caveats(),
            _ => Vec::new(),
        }
    }
}
