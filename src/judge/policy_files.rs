//! Files beside robots.txt that crawlers look for: for models, about licences, contacts, sitemaps.
//!
//! Most have a fixed path. Sitemaps and licences may have any: those that the robots.txt in force
//! names at the requested host belong to it. A fetch proves neither knowledge nor consent.

use std::sync::OnceLock;

use botaudit_robots::named_enum;
use serde::{Deserialize, Serialize};

use crate::robots::model::ParsedRobotsTxt;
use crate::url::origin::Origin;
use crate::url::path::{Dialect, PathQuery, Target, prepare};

named_enum! {
    /// The kind of a file.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum PolicyFile {
        /// An overview of the site for language models.
        LlmsTxt = "llms.txt",
        /// The same with all texts.
        LlmsFullTxt = "llms-full.txt",
        /// Permissions for AI.
        AiTxt = "ai.txt",
        /// The reservation of text and data mining (TDMRep).
        TdmRep = "tdmrep.json",
        /// A licence that robots.txt names (RSL).
        License = "license",
        /// A contact for security researchers.
        SecurityTxt = "security.txt",
        /// Sellers of advertisements.
        AdsTxt = "ads.txt",
        /// The same for apps.
        AppAdsTxt = "app-ads.txt",
        /// The authors of the site.
        HumansTxt = "humans.txt",
        /// A sitemap.
        Sitemap = "sitemap",
    }
}

/// Paths without query.
const USUAL: [(&[u8], PolicyFile); 26] = [
    (b"/llms.txt", PolicyFile::LlmsTxt),
    (b"/docs/llms.txt", PolicyFile::LlmsTxt),
    (b"/.well-known/llms.txt", PolicyFile::LlmsTxt),
    (b"/llms-full.txt", PolicyFile::LlmsFullTxt),
    (b"/docs/llms-full.txt", PolicyFile::LlmsFullTxt),
    (b"/.well-known/llms-full.txt", PolicyFile::LlmsFullTxt),
    (b"/ai.txt", PolicyFile::AiTxt),
    (b"/.well-known/ai.txt", PolicyFile::AiTxt),
    (b"/.well-known/ai.json", PolicyFile::AiTxt),
    (b"/.well-known/tdmrep.json", PolicyFile::TdmRep),
    (b"/.well-known/security.txt", PolicyFile::SecurityTxt),
    (b"/security.txt", PolicyFile::SecurityTxt),
    (b"/ads.txt", PolicyFile::AdsTxt),
    (b"/app-ads.txt", PolicyFile::AppAdsTxt),
    (b"/humans.txt", PolicyFile::HumansTxt),
    (b"/sitemap.xml", PolicyFile::Sitemap),
    (b"/sitemap.xml.gz", PolicyFile::Sitemap),
    (b"/sitemap.txt", PolicyFile::Sitemap),
    (b"/sitemap_index.xml", PolicyFile::Sitemap),
    (b"/sitemap_index.xml.gz", PolicyFile::Sitemap),
    (b"/sitemap-index.xml", PolicyFile::Sitemap),
    (b"/sitemap-index.xml.gz", PolicyFile::Sitemap),
    (b"/sitemaps.xml", PolicyFile::Sitemap),
    (b"/sitemap/sitemap.xml", PolicyFile::Sitemap),
    (b"/news-sitemap.xml", PolicyFile::Sitemap),
    (b"/wp-sitemap.xml", PolicyFile::Sitemap),
];

/// The bits of all of them.
const USUAL_BITS: u64 = {
    let (mut bits, mut at) = (0, 0);
    while at < USUAL.len() {
        bits |= bit(USUAL[at].0);
        at += 1;
    }
    bits
};

/// A path, the host (empty without one), and what robots.txt calls the file there.
type NamedFile = (Box<[u8]>, Box<str>, PolicyFile);

/// Those of a robots.txt, found when they are first asked for.
#[derive(Debug, Default)]
pub(super) struct NamedFiles(OnceLock<(u64, Box<[NamedFile]>)>);

impl NamedFiles {
    /// What `text`, always the same, calls the file `path` of `host` (with its port). `None` for
    /// `host`: the log has none, so any may be meant.
    #[inline]
    pub(crate) fn get<'h>(
        &self,
        text: &ParsedRobotsTxt,
        dialect: Dialect,
        path: PathQuery<'_>,
        host: impl FnOnce() -> Option<&'h str>,
    ) -> Option<PolicyFile> {
        if text.sitemaps.is_empty() && text.licenses.is_empty() {
            return None;
        }
        let (bits, all) = self.0.get_or_init(|| named_files(text, dialect));
        if bits & bit(path.as_bytes()) == 0 {
            return None;
        }
        find(all, path.as_bytes(), host())
    }
}

/// The file of `all`, which are in order, at this path of this host.
#[inline(never)]
fn find(all: &[NamedFile], path: &[u8], host: Option<&str>) -> Option<PolicyFile> {
    let find = |host: &str| {
        let is_before = |(named, at, _): &NamedFile| (&**named, &**at) < (path, host);
        all.get(all.partition_point(is_before)).filter(|(named, ..)| **named == *path)
    };
    let is_at = |(_, at, _): &&NamedFile| host.is_none_or(|host| **at == *host);
    let of_no_host = find("").filter(|(_, at, _)| host.is_none() || at.is_empty());
    let found = of_no_host.or_else(|| find(host?).filter(is_at));
    found.map(|(.., file)| *file)
}

/// One bit, by the length and the last byte of `path`.
#[inline]
const fn bit(path: &[u8]) -> u64 {
    let last = match path {
        [.., last] => *last as usize,
        [] => 0,
    };
    1 << ((path.len() + 7 * last) % 64)
}

/// The files in order, and the bits of their paths: most other paths have none of them.
fn named_files(text: &ParsedRobotsTxt, dialect: Dialect) -> (u64, Box<[NamedFile]>) {
    let licenses = text.licenses.iter().map(|url| (&*url.url, PolicyFile::License));
    let sitemaps = text.sitemaps.iter().map(|url| (&*url.url, PolicyFile::Sitemap));
    let mut scratch = Vec::new();
    let mut named = |(url, file): (&[u8], PolicyFile)| {
        let (path, host) = match Target::of(b"GET", url) {
            Target::Path(path) => (path, String::new()),
            Target::Absolute { scheme, authority, path } => {
                let origin = Origin::from_authority(scheme, authority)?;
                (path, origin.host_and_port().to_owned())
            }
            Target::NoPath => return None,
        };
        let path = prepare(path, dialect, &mut scratch);
        (path.as_bytes() != b"/").then(|| (path.as_bytes().into(), host.into(), file))
    };
    let mut all: Vec<NamedFile> = licenses.chain(sitemaps).filter_map(&mut named).collect();
    all.sort_unstable();
    (all.iter().fold(0, |bits, (path, ..)| bits | bit(path)), all.into())
}

impl PolicyFile {
    /// The kind of the file whose usual path this is.
    #[inline]
    pub(crate) fn usual(path: PathQuery<'_>) -> Option<PolicyFile> {
        let path = path.as_bytes();
        // Most paths begin in another way.
        if !matches!(
            path.first_chunk()?,
            b"/llm"
                | b"/doc"
                | b"/.we"
                | b"/ai."
                | b"/sec"
                | b"/ads"
                | b"/app"
                | b"/hum"
                | b"/sit"
                | b"/new"
                | b"/wp-"
        ) {
            return None;
        }
        let end = memchr::memchr(b'?', path).unwrap_or(path.len());
        let path = &path[..end];
        if USUAL_BITS & bit(path) == 0 {
            return None;
        }
        USUAL.iter().find(|(usual, _)| *usual == path).map(|(_, file)| *file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::parse::parse_body;

    #[test]
    fn files_are_known_by_usual_paths_and_by_robots_txt() {
        let text = "User-agent: *\nDisallow: /x\nSitemap: https://www.a.example/map?a=%2f\n\
                    Sitemap: /own\nSitemap: sitemap\nSitemap: https://a.example\n\
                    Sitemap: http://a.example:8080/port\nLicense: http://A.example/rsl\n\
                    Sitemap: https://a.example/rsl\nSitemap: http://a.example:80/http\n\
                    Sitemap: https://a.example:443/https\nSitemap: https://a.example:80/odd\n";
        let (text, named) = (parse_body(text.as_bytes()), NamedFiles::default());
        for (host, path, expected) in [
            ("a.example", "/llms.txt", "llms.txt"),
            ("a.example", "/llms.txt?x", "llms.txt"),
            ("a.example", "/LLMS.txt", ""),
            ("a.example", "/a/llms.txt", ""),
            ("a.example", "/.well-known/tdmrep.json", "tdmrep.json"),
            ("a.example", "/sitemap.xml.gz", "sitemap"),
            ("a.example", "/robots.txt", ""),
            ("www.a.example", "/map?a=%2f", "sitemap"),
            ("www.a.example", "/map", ""),
            ("a.example", "/map?a=%2F", ""),
            ("", "/map?a=%2F", "sitemap"),
            ("b.example", "/own", "sitemap"),
            ("", "/own", "sitemap"),
            ("a.example", "/rsl", "license"),
            // The default port of the scheme of the URL is none.
            ("a.example", "/http", "sitemap"),
            ("a.example:80", "/http", ""),
            ("a.example", "/https", "sitemap"),
            ("a.example", "/odd", ""),
            ("a.example:80", "/odd", "sitemap"),
            ("a.example:8080", "/port", "sitemap"),
            ("a.example", "/port", ""),
            ("a.example", "/", ""),
            ("a.example", "/zzz", ""),
        ] {
            let mut scratch = Vec::new();
            let path = prepare(path.as_bytes(), Dialect::Google, &mut scratch);
            let host = (!host.is_empty()).then_some(host);
            let found = PolicyFile::usual(path)
                .or_else(|| named.get(&text, Dialect::Google, path, || host));
            assert_eq!(found.map_or("", PolicyFile::as_str), expected, "{host:?} {path:?}");
        }
    }

    #[test]
    fn a_robots_txt_may_name_only_sitemaps_or_only_licenses() {
        for (text, expected) in [
            ("Sitemap: /own\n", Some(PolicyFile::Sitemap)),
            ("License: https://a.example/own\n", Some(PolicyFile::License)),
            ("Disallow: /own\n", None),
        ] {
            let (text, named, mut scratch) =
                (parse_body(text.as_bytes()), NamedFiles::default(), Vec::new());
            let path = prepare(b"/own", Dialect::Google, &mut scratch);
            let found = named.get(&text, Dialect::Google, path, || Some("a.example"));
            assert_eq!(found.map(PolicyFile::as_str), expected.map(PolicyFile::as_str));
        }
    }
}
