//! Which user agents are built as those of browsers, and of apps on a person's device.
//!
//! Everything else that the registry does not know is automated: a name alone (`Acme/1.0`), a
//! misspelt `Mozilla`, an address of a page or mail, a browser's platform without an engine. A
//! client can send a browser's user agent and be automated all the same; its user agent cannot show
//! that.

use std::sync::LazyLock;

/// Parts that say what a user agent is, in lower case, with `|` between them.
const PARTS: [(Part, &str); 7] = [
    (
        Part::Platform,
        "windows|win95|win98|winnt|macintosh|mac_p|mac os|macos|x11|linux|android|iphone|ipad|ipod|\
         cros |tizen|web0s|webos|smart-tv|smarttv|playstation|(ps3|nintendo|xbox|blackberry|bb10|\
         playbook|symbian|series40|series60|freebsd|openbsd|netbsd|dragonfly|sunos|amiga|\
         morphos|haiku|beos|os/2|kaios|mobile; |tablet; |fuchsia|maemo|meego|j2me|midp|\
         darwin|appletv|apple tv|crkey|roku|palmos|irix|risc os|cygwin|inferno|bada/|samsung|\
         (java; |(s60v|brew |syllable|serenityos|openharmony|nettv/|(dtv|cloud phone|version/|\
         ;foma;|ce-html|symbos|opentv|minix|dreamcast|(en-us; rv:",
    ),
    (
        Part::Engine,
        "applewebkit/|webkit/|gecko/|gecko |like gecko|trident/|presto/|khtml/|goanna/|servo/|\
         clecko/|netfront/|msie |opera mini|opera/|opera |safari/|safari |firefox/|chrome/|\
         konqueror/|ibrowse|netpositive|charon|nintendo 3ds|polaris|teleca|libweb|ladybird/|icab|omniweb|\
         ; i;|; i)|(x11; i |oregano|navigator/",
    ),
    // Each is enough: the libraries of a device, and phones, televisions and text browsers without an engine.
    (
        Part::Device,
        "\x20cfnetwork/|dalvik/|profile/midp|configuration/cldc|(iphone;|(ipad;|(android|\
         (linux; u; android|(linux; android|(linux;android|; android| android/|/android/|apple tv|\
         appletv|playstation|upnp/1.0 sonos|exoplayer|up.browser|(ios | ios/|(ios/|; ios |[fban/|\
         duckduckgo/|mozacfetch/|(blackberry|maui| android (|;android |android application (|\
         hbbtv/|dolfin/|ucbrowser|uc browser|ucweb|mqqbrowser/|obigo|onebrowser/|netfront/|\
         jig browser|nintendo |windows phone|windows ce|watchos|[watch os,|os=ios|os=apple-ios|\
         wap-browser|wap1.|wap2.0|openwave|browser/dorado|up/4|symbianos|(samsung|samsung-|brightsign/|\
         lg browser|lg netcast|(mac os|nsplayer/|libvlc/|app_bitness/|\
         alamofire/| osx/0|(ios; |;android|_ios/|vizios/|(fire os ",
    ),
    // Who says where to write to is no browser.
    (Part::Address, "http:|https:|www."),
    // What only programs call themselves.
    (
        Part::Program,
        "monitor|inspector|scanner|classifier|checker|verif|httpagent|diagnostic|observatory|\
         preview|gomezagent|watcher|downloader|sitecheck|synthetic|\
         playstore-google|lighthouse|selenium|phantomjs|puppeteer|playwright|httpclient|\
         http-client|http client|client-java|python|curl|wget|libwww-perl|transcoder|ptst/|\
         dejaclick|google search console|; +; |webstatus|criticalcss|cloudflare",
    ),
    // Apps and browsers whose names contain such a word.
    (Part::App, "camscanner|technology%20preview|developerpreview|preview browser"),
    (Part::Compatible, "compatible; "),
];

/// What may follow `compatible; ` in the user agent of a browser, in the same form.
const COMPATIBLE: &str = "msie|konqueror|opera|googletoolbar|chrome|windows|win98|series|ibrowse|netpositive|\
    amiga|alpha/06|arexx|voyager|galeon|icab|offbyone|netscape|netbox|ncbrowser|mspie|risc os|oss/|teleca|polaris|\
    kun/|nokia|omniweb|yospace|origyn|linux 2.|linux mips)|adobe |tablet|i; mac|version; platform|u;";

/// Browsers and players without an engine in their user agent, and old phones, by the first word, in the same form.
const FIRST_WORDS: &str = "lynx/|links |links/|elinks|w3m/|netsurf|dillo/|ibrowse|amiga|ncsa_mosaic|vms_mosaic/|\
    voyager|microsoft office|outlook|opera/|opera |nokia|samsung|sonyericsson|sonyc|mot-|motorola|\
    blackberry|lg-|lg |lge|lgk|lgu|docomo/|kddi-|j-phone/|softbank/|vodafone/|willcom|quicktime|ddg-|ddg_|roku|htc|\
    alcatel|amoi|asus-|huawei|lenovo-|panasonic|pantech|philips|sagem|sanyo|sec-sgh|sharp-|sie-|siemens|zte|hpipaq|\
    palmscape|palmsource|haier|hisense|amaya/|hotjava/|xiino/|midori|firefox |bonecho|galeon|arcmobile|uzbl|vlc/|\
    kodi/|xbmc/|winamp|foobar2000/|windows-media-player/|mpv |mplayer|banshee|clementine|audacious/|itunes/|googleearth/|\
    podcasts/|pocket casts|antennapod/|podkicker|overcast|rssradio/|doggcatcher|skynet/|bible (|brave browser|\
    nook browser/|aplix_|biyubi/|briskbard/|ninetails/|icab/|omniweb|privacybrowser/|goggalaxyclient/|creativecloud/|discord|\
    webexteams|com.apple.webkit.networking/|com.huawei.hmos.browser|cfnetwork/|wireshark/|rekordbox/|castro 2 episode download|podcatcher|\
    icatcher|citrixreceiver|smarttv_|ios/|iphone|ipad|postbox|sonos/|server-bag [|applecoremedia/";

/// The kind of a part.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Platform,
    Engine,
    Device,
    Address,
    Program,
    App,
    Compatible,
}

/// The parts by their numbers.
static NUMBERED: LazyLock<Vec<(&'static [u8], Part)>> = LazyLock::new(|| {
    let of_kind = |(kind, parts): (Part, &'static str)| {
        parts.split('|').map(move |part| (part.as_bytes(), kind))
    };
    PARTS.into_iter().flat_map(of_kind).collect()
});

/// The parts that a search has found in a user agent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BrowserParts {
    /// A bit for each kind.
    kinds: u8,
    /// Whether a part was found that no browser has.
    is_alien: bool,
}

impl BrowserParts {
    /// All parts, in lower case and in the order of their numbers.
    pub(super) fn all() -> impl Iterator<Item = &'static [u8]> {
        NUMBERED.iter().map(|(part, _)| *part)
    }

    /// Adds the part of this `number`, which stands before `after` in the user agent.
    #[inline]
    pub(super) fn add(&mut self, number: usize, after: &[u8]) {
        let (_, kind) = NUMBERED[number];
        self.is_alien |= matches!(kind, Part::Address | Part::Program)
            || (kind == Part::Compatible && !is_compatible(after));
        self.kinds |= 1 << kind as u8;
    }

    /// Whether `user_agent`, which has these parts and no others, is built as that of a browser, or of an app on a
    /// person's device.
    pub(super) fn are_of_browser(self, user_agent: &[u8]) -> bool {
        let has = |part: Part| self.kinds & 1 << part as u8 != 0;
        if has(Part::App) {
            return true;
        }
        if self.is_alien || has_mail(user_agent) || is_misspelt(user_agent) {
            return false;
        }
        // Some logs cut user agents, and then the engine may be missing.
        let is_cut = || user_agent.contains(&b'(') && !user_agent.contains(&b')');
        let is_built_so = has(Part::Platform) && (has(Part::Engine) || is_cut());
        let after_mozilla = || starts_with(user_agent, "mozilla/") || !contains_mozilla(user_agent);
        (is_built_so && after_mozilla())
            || has(Part::Device)
            || FIRST_WORDS.split('|').any(|word| starts_with(user_agent, word))
    }
}

/// Whether `user_agent` is built as that of a browser, or of an app on a person's device. This looks for one part
/// after the other; a registry finds them in the search for its crawlers.
pub fn is_browser(user_agent: &[u8]) -> bool {
    let folded = user_agent.to_ascii_lowercase();
    let mut found = BrowserParts::default();
    for (number, part) in BrowserParts::all().enumerate() {
        let rests = (0..folded.len()).filter_map(|at| folded[at..].strip_prefix(part));
        rests.for_each(|after| found.add(number, after));
    }
    found.are_of_browser(user_agent)
}

fn is_compatible(rest: &[u8]) -> bool {
    COMPATIBLE.split('|').any(|name| starts_with(rest, name))
}

fn starts_with(text: &[u8], beginning: &str) -> bool {
    text.get(..beginning.len()).is_some_and(|text| text.eq_ignore_ascii_case(beginning.as_bytes()))
}

fn contains_mozilla(user_agent: &[u8]) -> bool {
    user_agent.windows(8).any(|window| window.eq_ignore_ascii_case(b"mozilla/"))
}

/// Whether the first word is nearly `Mozilla`, but not quite: `Mozlila/5.0`.
fn is_misspelt(user_agent: &[u8]) -> bool {
    let word = user_agent.split(|byte| *byte == b'/').next().unwrap_or_default();
    if word.len() != 7 || word.eq_ignore_ascii_case(b"mozilla") {
        return false;
    }
    let mut letters = word.to_ascii_lowercase();
    letters.sort_unstable();
    letters == b"aillmoz"
}

/// Whether there is an address of mail: `name@example.com`.
fn has_mail(user_agent: &[u8]) -> bool {
    let mut signs = memchr::memchr_iter(b'@', user_agent);
    signs.any(|at| {
        let is_of_host = |byte: &&u8| byte.is_ascii_alphanumeric() || b".-".contains(byte);
        let before = user_agent[..at].last().is_some_and(u8::is_ascii_alphanumeric);
        let host: Vec<u8> = user_agent[at + 1..].iter().take_while(is_of_host).copied().collect();
        let top = host.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        before && host.contains(&b'.') && top.len() > 1 && top.iter().all(u8::is_ascii_alphabetic)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_and_apps_are_known_by_their_build() {
        let browsers = [
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0",
            "Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 330.0.3.29.91 (iPhone14,3; iOS 17_5; en_IR@calendar=gregorian; en)",
            "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/111.0.0.0 Mobile Safari/537.36 (Ecosia android@111.0.5563.116)",
            "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; WOW64; Trident/4.0; .NET CLR 2.0.50727)",
            "Mozilla/5.0 (compatible; Konqueror/3.5; Linux) KHTML/3.5.5 (like Gecko)",
            "Mozilla/5.0 (PlayStation 4 3.11) AppleWebKit/537.73 (KHTML, like Gecko)",
            "Opera/9.80 (Windows NT 6.1; WOW64) Presto/2.12.388 Version/12.18",
            "Lynx/2.8.9rel.1 libwww-FM/2.14 SSL-MM/1.4.1 GNUTLS/3.6.5",
            "Nokia6280/2.0 (03.60) Profile/MIDP-2.0 Configuration/CLDC-1.1",
            "com.apple.WebKit.Networking/8613.3.9.0.16 CFNetwork/1335.0.3 Darwin/21.6.0",
            "Dalvik/2.1.0 (Linux; U; Android 9; Portal Build/PKQ1.191225.001)",
            "MOZILLA/5.0 (WINDOWS NT 10.0; WIN64; X64) APPLEWEBKIT/537.36",
            "Mozilla/5.0 (en-us) AppleWebKit/525.13 (KHTML, like Gecko) Version/3.1 Safari/525.13",
            "Mozilla/5.0 (SAMSUNG; SAMSUNG-GT-S5250; U; Bada/1.0; pt-br) AppleWebKit/533.1 (KHTML, like Gecko) Dolfin/2.0",
            "Mozilla/5.0 (S60V3; U; en-us; NokiaE63)/UC Browser8.1.0.120/28/352/UCWEB Mobile",
            "Mozilla/5.0 (Linux; Android 12; SM-A125F; wv) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36 CamScanner/6.55.0",
            "HbbTV/1.5.1 (+DRM;Acme;TV2021;1.2;;) Browser/1.0",
            // As some logs cut it.
            "Mozilla/5.0 (Windows NT 10.0; Win",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHT",
        ];
        for user_agent in browsers {
            assert!(is_browser(user_agent.as_bytes()), "{user_agent}");
        }
    }

    #[test]
    fn each_part_is_found() {
        for (part, kind) in NUMBERED.iter() {
            let user_agent = format!("Mozilla/5.0 (X11; {}", String::from_utf8_lossy(part));
            let is_alien = matches!(kind, Part::Address | Part::Program | Part::Compatible);
            assert_eq!(is_browser(user_agent.as_bytes()), !is_alien, "{user_agent}");
        }
    }

    #[test]
    fn everything_else_is_automated() {
        let others = [
            "OpenAI Image Downloader",
            "mwmbl/0.2.0 (https://mwmbl.example)",
            "GrokAgent",
            "DreamHost SiteMonitor 1.0",
            "Google-HTTP-Java-Client/1.17.0-rc (gzip)",
            "Mozlila/5.0 (Linux; Android 7.0; SM-G892A Bulid/NRD90M; wv) AppleWebKit/537.36",
            "HappyWing",
            "swagger-validator",
            "Synapse/1.98",
            "TwitterFeed 3",
            "Mozilla/5.0",
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64)",
            "Mozilla/5.0 (compatible; Acme/1.0)",
            "Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.1; Trident/6.0) SiteCheck-x",
            "page-preview Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/80.0.3987.132 Safari/537.36",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1 Safari/537.36 joe@crawl.example",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1 Safari/537.36 (+https://crawl.example)",
            "LWPrCa2l') OR 941=(SELECT 941 FROM PG_SLEEP(15))--",
            "\u{0}\u{1}",
        ];
        for user_agent in others {
            assert!(!is_browser(user_agent.as_bytes()), "{user_agent}");
        }
    }

    #[test]
    fn any_bytes_have_an_answer() {
        let alphabet =
            [&b"Mozilla/"[..], b"(", b")", b"@", b"a.b", b"compatible; ", b"\xff", b"Windows"];
        for first in alphabet {
            for second in alphabet {
                for third in alphabet {
                    is_browser(&[first, second, third].concat());
                }
            }
        }
    }
}
