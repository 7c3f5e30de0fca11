//! The products of operators that send visitors to sites, such as search engines and assistants, by
//! the host in the Referer header.

use std::sync::LazyLock;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use memchr::{memchr3, memrchr};
use serde::{Deserialize, Serialize};

use crate::url::{origin::split_port, path::split_scheme};

/// Name, operator, kind, hosts and source of each product. A host also stands for the same with
/// `www.` in front. Tallies have the names, so names stay as they are.
const TABLE: &str = include_str!("products.csv");

/// The scheme of Referers that name an Android app.
const APP_SCHEME: &str = "android-app://";

/// Room for all hosts.
const HOSTS_MANY: usize = 512;

/// A longer host is not of a product.
const HOST_BYTES_MAX: usize = 64;

/// A product.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Product {
    /// Its name.
    pub name: &'static str,
    /// The operator, as the registry of crawlers names it.
    pub operator: &'static str,
    /// `search`, `ai-assistant` and the like.
    pub kind: &'static str,
}

/// A product, by its place in the table; by its name in files.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProductId(u8);

/// The table in memory.
struct Products {
    all: Vec<Product>,
    hosts: HashMap<&'static [u8], ProductId, RandomState>,
    apps: HashMap<&'static [u8], ProductId, RandomState>,
}

static PRODUCTS: LazyLock<Products> = LazyLock::new(|| {
    let hosts = HashMap::with_capacity_and_hasher(HOSTS_MANY, RandomState::default());
    let mut products = Products { all: Vec::new(), hosts, apps: HashMap::default() };
    for ([name, operator, kind, hosts, _], id) in rows().zip((0..).map(ProductId)) {
        products.all.push(Product { name, operator, kind });
        for host in hosts.split(' ') {
            match host.strip_prefix(APP_SCHEME) {
                Some(app) => products.apps.insert(app.as_bytes(), id),
                None => products.hosts.insert(host.as_bytes(), id),
            };
        }
    }
    products
});

/// The cells of each product.
fn rows() -> impl Iterator<Item = [&'static str; 5]> {
    TABLE.lines().skip(1).map(|line| {
        let mut cells = line.split(',');
        std::array::from_fn(|_| cells.next().unwrap_or_default())
    })
}

/// `operator`, if it has a product.
pub(crate) fn operator_with_product(operator: &str) -> Option<&'static str> {
    PRODUCTS.all.iter().map(|product| product.operator).find(|known| *known == operator)
}

impl ProductId {
    /// The product whose host `referer` has.
    pub(crate) fn of_referer(referer: &[u8]) -> Option<ProductId> {
        let (scheme, rest) = split_scheme(referer)?;
        let is_app = scheme.eq_ignore_ascii_case(b"android-app");
        if !is_app
            && !["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web.as_bytes()))
        {
            return None;
        }
        let authority = &rest[..memchr3(b'/', b'?', b'#', rest).unwrap_or(rest.len())];
        let user = memrchr(b'@', authority).map_or(0, |at| at + 1);
        let (host, _) = split_port(&authority[user..])?;
        let mut lower = [0; HOST_BYTES_MAX];
        let lower = lower.get_mut(..host.len())?;
        lower.copy_from_slice(host);
        lower.make_ascii_lowercase();
        let host = lower.strip_suffix(b".").unwrap_or(lower);
        if is_app {
            return PRODUCTS.apps.get(host).copied();
        }
        PRODUCTS.hosts.get(host.strip_prefix(b"www.").unwrap_or(host)).copied()
    }

    /// The product.
    pub(crate) fn product(self) -> &'static Product {
        &PRODUCTS.all[usize::from(self.0)]
    }
}

impl From<ProductId> for String {
    fn from(id: ProductId) -> String {
        id.product().name.to_owned()
    }
}

impl TryFrom<String> for ProductId {
    type Error = String;

    fn try_from(name: String) -> Result<ProductId, String> {
        let mut known = PRODUCTS.all.iter().zip((0..).map(ProductId));
        let found = known.find(|(product, _)| product.name == name);
        found.map(|(_, id)| id).ok_or_else(|| format!("'{name}' is not a product"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::crawlers::registry::Registry;

    #[test]
    fn the_table_is_whole() {
        let registry = Registry::builtin();
        let operators: BTreeSet<&str> =
            registry.crawlers().map(|crawler| &*crawler.operator).collect();
        let (mut names, mut hosts) = (BTreeSet::new(), BTreeSet::new());
        for [name, operator, kind, of_it, source] in rows() {
            assert!(names.insert(name), "{name}");
            assert!(operators.contains(operator), "the registry lacks a crawler of {operator}");
            let kinds = ["search", "ai-assistant", "social", "chat", "news", "mail", "video"];
            assert!(kinds.contains(&kind), "{name}: {kind}");
            assert!(source.starts_with("https://"), "{name}: {source}");
            for host in of_it.split(' ') {
                assert!(hosts.insert(host), "{host} stands twice");
                let bare = host.strip_prefix(APP_SCHEME).unwrap_or(host);
                let is_host = |byte: u8| {
                    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte)
                };
                assert!(bare.contains('.') && bare.bytes().all(is_host), "{host}");
                assert!(!bare.starts_with("www.") && bare.len() <= HOST_BYTES_MAX - 4, "{host}");
                let url = if bare == host { format!("https://{host}/") } else { host.to_owned() };
                let found = ProductId::of_referer(url.as_bytes()).unwrap();
                assert_eq!(found.product(), &Product { name, operator, kind });
                assert_eq!(ProductId::try_from(String::from(found)), Ok(found));
            }
        }
        assert_eq!(TABLE.lines().next(), Some("name,operator,kind,hosts,source"));
        assert!(TABLE.lines().all(|line| line.matches(',').count() == 4));
        assert!(ProductId::try_from("Google".to_owned()).is_err());
        assert_eq!(operator_with_product("Google"), Some("Google"));
        assert_eq!(operator_with_product("Common Crawl"), None);
    }

    #[track_caller]
    fn check(referer: &str, expected: Option<&str>) {
        let found = ProductId::of_referer(referer.as_bytes()).map(|id| id.product().name);
        assert_eq!(found, expected, "{referer}");
    }

    #[test]
    fn hosts_are_compared_whole() {
        for referer in [
            "https://www.google.com/",
            "https://google.com",
            "http://www.google.co.uk/search?q=x",
            "https://www.google.com.br:443/",
            "HTTPS://WWW.Google.DE./?x",
            "https://google.cat#x",
            "https://evil.example@www.google.com/",
            "https://www.google.com:/",
            "android-app://com.google.android.googlequicksearchbox/",
            "android-app://com.google.android.googlequicksearchbox/https/www.google.com",
        ] {
            check(referer, Some("Google Search"));
        }
        for referer in [
            "",
            "-",
            "/",
            "//",
            "://",
            "https:",
            "https://",
            "https:///",
            "https:/google.com/",
            "//www.google.com/",
            "www.google.com",
            "google.com/",
            "ftp://google.com/",
            "javascript://google.com/",
            "https://google.com@evil.example/",
            "https://google.com:443@evil.example/",
            "https://google.com:x/",
            "https://google.com:99999/",
            "https://google.com.evil.example/",
            "https://google.evil.com/",
            "https://google.xyz/",
            "https://google.com.de/",
            "https://evilgoogle.com/",
            "https://www.www.google.com/",
            "https://ads.google.com/",
            "https://google.com\\@evil.example/",
            "https://evil.example\\google.com/",
            "https://google.com\0.evil.example/",
            "https:// google.com/",
            "https://google.com../",
            "https://[google.com]/",
            "https://evil.example/https://google.com/",
            "https://evil.example?https://google.com/",
            "https://evil.example#@google.com/",
            "https://com.google.android.googlequicksearchbox/",
            "android-app://google.com/",
        ] {
            check(referer, None);
        }
        check(&format!("https://{}google.com/", "a.".repeat(1 << 19)), None);
        check(&format!("https://{}@google.com/", "a:".repeat(1 << 19)), Some("Google Search"));
        check(&format!("https://google.com/{}", "a:".repeat(1 << 19)), Some("Google Search"));
        check("https://chatgpt.com/", Some("ChatGPT"));
        check("https://l.facebook.com/l.php?u=x", Some("Facebook"));
        check("https://de.search.yahoo.com/", Some("Yahoo Search"));
        check("https://yandex.com.tr/", Some("Yandex"));
    }
}
