//! Verdicts on single URLs of many origins, for applications.

use std::{path::Path, sync::Arc};

use crate::crawlers::{crawler::CrawlerId, registry::Registry};
use crate::error::Result;
use crate::judge::{Judge, profile::CrawlerProfile, verdict::JudgedAt};
use crate::url::path::{Dialect, prepare};

use super::answer::{RowVerdict, VerdictWord};
use super::known_origin::{KnownOrigin, SharedOrigins};
use super::url_parts::UrlParts;

/// Bytes for robots.txt files and their compiled rules.
const RULES_BYTES_MAX: usize = 256 << 20;

/// The memory for origins, in bytes.
const ORIGINS_BYTES_MAX: usize = 64 << 20;

/// Classifies URLs of any number of origins for one crawler.
///
/// ```
/// use botaudit::{Classifier, Dialect, VerdictWord};
///
/// # let directory = tempfile::tempdir()?;
/// # let robots = directory.path();
/// std::fs::write(robots.join("example.com"), "User-agent: *\nDisallow: /private/\n")?;
/// let classifier = Classifier::open(robots, ["examplebot"], Dialect::Google)?;
///
/// let answer = classifier.classify("https://example.com/private/diary");
/// assert_eq!((answer.verdict, answer.line), (VerdictWord::Disallowed, Some(2)));
/// assert_eq!(classifier.classify("https://example.org/").verdict, VerdictWord::Unknown);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Each robots.txt is read when it is first needed. Files stay in memory up to a total of about 320
/// MiB. Threads can share a classifier: while one of them reads a robots.txt, only those wait that need
/// the same file.
#[derive(Debug)]
pub struct Classifier {
    judge: Judge,
    origins: SharedOrigins,
}

/// May the crawler request the URL?
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Classification {
    /// The answer.
    pub verdict: VerdictWord,
    /// The line of robots.txt that decides, from 1; `None` if no rule matches.
    pub line: Option<u32>,
}

impl Classifier {
    /// A classifier for the crawler that answers to `product_tokens`, the most specific first.
    ///
    /// `robots` is a directory with a robots.txt for each host (`example.com`, `example.com.txt`
    /// or `example.com/robots.txt`), an archive, of which the newest snapshot of each origin
    /// counts, or one robots.txt for all origins.
    ///
    /// # Errors
    /// If `robots` cannot be read or names a host twice, or a token is not one, as in
    /// [`RobotsTxt::is_allowed`](crate::RobotsTxt::is_allowed).
    pub fn open<T: AsRef<str>>(
        robots: impl AsRef<Path>,
        product_tokens: impl IntoIterator<Item = T>,
        dialect: Dialect,
    ) -> Result<Classifier> {
        let registry = Registry::kept();
        let tokens = product_tokens.into_iter().map(|token| {
            let token = registry.checked_token(token.as_ref(), "Classifier::open_for_user_agent");
            token.map(str::to_owned)
        });
        let profile = CrawlerProfile::of_tokens(tokens.collect::<Result<_>>()?);
        Classifier::of(robots.as_ref(), profile, dialect)
    }

    /// As [`Classifier::open`], for the sender of `user_agent`, a whole User-Agent header: a crawler
    /// of the built-in registry, or the first product token, as in
    /// [`Registry::matcher`].
    ///
    /// # Errors
    /// If `robots` cannot be read or names a host twice.
    pub fn open_for_user_agent(
        robots: impl AsRef<Path>,
        user_agent: impl AsRef<[u8]>,
        dialect: Dialect,
    ) -> Result<Classifier> {
        let (_, profile) = CrawlerProfile::of_sender(Registry::kept(), user_agent.as_ref());
        Classifier::of(robots.as_ref(), profile, dialect)
    }

    fn of(robots: &Path, profile: CrawlerProfile, dialect: Dialect) -> Result<Classifier> {
        let judge = Judge::open_many(robots, vec![profile], dialect, RULES_BYTES_MAX)?;
        Ok(Classifier { judge, origins: SharedOrigins::new(ORIGINS_BYTES_MAX) })
    }

    /// May the crawler request `url`?
    ///
    /// A URL needs its scheme and host. A robots.txt that cannot be read counts as unknown.
    pub fn classify(&self, url: impl AsRef<[u8]>) -> Classification {
        let url = url.as_ref();
        match UrlParts::of(url, None) {
            Err(why) => Classification::of(RowVerdict::invalid(why)),
            Ok(parts) => {
                let origin = self.origin(url, &parts);
                let mut scratch = Vec::new();
                let path = prepare(parts.rest, self.judge.dialect(), &mut scratch);
                let at = Some(JudgedAt::Newest);
                Classification::of(origin.known.verdict(&self.judge, CrawlerId(0).into(), path, at))
            }
        }
    }

    fn origin(&self, url: &[u8], parts: &UrlParts<'_>) -> Arc<KnownOrigin> {
        let key = &url[..url.len() - parts.rest.len()];
        let read = |judge: &Judge, origin| KnownOrigin::of(judge, &origin);
        self.origins.origin(&self.judge, key, parts, read)
    }
}

impl Classification {
    fn of(verdict: RowVerdict<'_>) -> Classification {
        let line = (verdict.line > 0).then_some(verdict.line);
        Classification { verdict: verdict.word, line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_shared<T: Send + Sync>(_: &T) {}

    /// A pipe that nobody writes to stands for a slow disk.
    #[test]
    #[cfg(unix)]
    fn a_slow_file_delays_only_its_own_origin() {
        let dir = tempfile::tempdir().unwrap();
        for host in ["slow.example", "quick.example"] {
            std::fs::write(dir.path().join(host), "").unwrap();
        }
        let classifier = Arc::new(Classifier::open(dir.path(), ["a"], Dialect::Google).unwrap());
        let slow = dir.path().join("slow.example");
        std::fs::remove_file(&slow).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&slow).status().unwrap();
        assert!(made.success());
        let (send, answers) = std::sync::mpsc::channel();
        // No scope: a thread that waits endlessly must not keep the test from failing.
        let ask = |url: &'static str| {
            let (classifier, send) = (Arc::clone(&classifier), send.clone());
            std::thread::spawn(move || send.send((url, classifier.classify(url).verdict)));
        };
        ask("https://slow.example/");
        // Opening to write waits until the other side is opened, so the file is being read then.
        let mut written = std::fs::OpenOptions::new().write(true).open(&slow).unwrap();
        ask("https://quick.example/");
        let long = std::time::Duration::from_secs(60);
        let quick = answers.recv_timeout(long).expect("the slow file delays another origin");
        assert_eq!(quick, ("https://quick.example/", VerdictWord::Allowed));
        std::io::Write::write_all(&mut written, b"User-agent: *\nDisallow: /\n").unwrap();
        drop(written);
        let slow = answers.recv_timeout(long).unwrap();
        assert_eq!(slow, ("https://slow.example/", VerdictWord::Disallowed));
    }

    #[test]
    fn one_file_governs_all_origins() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("robots.txt");
        std::fs::write(&path, "User-agent: a\nAllow: /\nUser-agent: *\nDisallow: /x").unwrap();
        let classifier = Classifier::open(&path, ["b"], Dialect::Rfc9309).unwrap();
        is_shared(&classifier);
        let check = |url: &str, verdict, line| {
            let found = classifier.classify(url);
            assert_eq!((found.verdict, found.line), (verdict, line), "{url}");
        };
        check("https://a.example/%78", VerdictWord::Disallowed, Some(4));
        check("http://b.example:81", VerdictWord::Allowed, None);
        check("https://a.example/robots.txt", VerdictWord::Allowed, None);
        check("/x", VerdictWord::InvalidUrl, None);
        check("https://a b/", VerdictWord::InvalidUrl, None);
        let named = Classifier::open(&path, ["a-image", "a"], Dialect::Google).unwrap();
        assert_eq!(named.classify("https://a.example/x").line, Some(2));
        let line = |classifier: Result<Classifier>| {
            classifier.unwrap().classify("https://a.example/x").line
        };
        assert_eq!(line(Classifier::open(&path, ["a/1.0"], Dialect::Google)), Some(2));
        let header = "Mozilla/5.0 (compatible; A/1.0; +http://a.example)";
        assert_eq!(line(Classifier::open_for_user_agent(&path, header, Dialect::Google)), Some(2));
        assert_eq!(line(Classifier::open_for_user_agent(&path, "b", Dialect::Google)), Some(4));
        let refused = Classifier::open(&path, [header], Dialect::Google).unwrap_err().to_string();
        assert!(refused.ends_with("use Classifier::open_for_user_agent"), "{refused}");
    }
}
