//! Everything lint can say: its code, how bad it is, and what it means.
//!
//! An error is certainly not what the author meant, or certainly without the
//! effect it was written for. A warning is probably a mistake, or read
//! differently by different parsers. An info is good to know, and may be fine.

use crate::named_enum::named_enum;

named_enum! {
    /// How bad it is.
    #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
    pub enum Severity {
        /// Certainly wrong.
        Error = "error",
        /// Probably wrong, or not the same for every crawler.
        Warning = "warning",
        /// Good to know.
        Info = "info",
    }
}

/// One thing that lint can find.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Lint {
    /// Its key in this program.
    pub code: Code,
    /// Its key in outputs: words in lower case with `-` between them. A promise: it never changes.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it means, in whole sentences.
    pub meaning: &'static str,
}

impl Lint {
    /// The lint called `name`.
    pub fn named(name: &str) -> Option<&'static Lint> {
        LINTS.iter().find(|lint| lint.name == name)
    }
}

/// Makes [`Code`] and [`LINTS`] of one list, so that neither can lack what the other has.
macro_rules! lints {
    ($($code:ident $name:literal $severity:ident $meaning:literal)*) => {
        /// The keys of [`LINTS`], in the same order.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Code {
            $(#[doc = $meaning] $code,)*
        }

        /// Everything lint can say.
        pub const LINTS: &[Lint] = &[
            $(Lint {
                code: Code::$code,
                name: $name,
                severity: Severity::$severity,
                meaning: $meaning,
            },)*
        ];
    };
}

impl Code {
    /// What is known of it.
    pub fn lint(self) -> &'static Lint {
        &LINTS[self.index()]
    }

    /// Its place in [`LINTS`].
    pub fn index(self) -> usize {
        self as usize
    }
}

lints! {
    // The file as a whole.
    NotText "not-text" Error
        "The file is UTF-16 text or compressed data. Parsers read it as bytes and find no rule in \
         it."
    Html "html" Error
        "The file is an HTML page. Crawlers look through it for lines that happen to be rules and \
         ignore all others, so most likely everything is allowed."
    TooLarge "too-large" Error
        "Only the first 500 KiB (512,000 bytes) count. Google ignores everything behind them, and \
         RFC 9309 asks no crawler to read more."
    ByteOrderMark "byte-order-mark" Info
        "The file starts with a UTF-8 byte-order mark. Google and most crawlers skip it; a few \
         simple parsers take it for a part of the first line, which is then lost to them."
    MisplacedByteOrderMark "misplaced-byte-order-mark" Error
        "A byte-order mark stands in front of a line that is not the first, as happens when files \
         are joined. It is invisible in most editors, but a part of the field's name, so the line \
         is not read."
    NotUtf8 "not-utf8" Warning
        "A rule holds bytes that are not UTF-8. They are compared as %XX, byte by byte, while \
         browsers and crawlers ask for the UTF-8 form, so the rule most likely matches nothing."
    // Lines.
    LongLine "long-line" Error
        "Google reads the first 16,663 bytes of a line and drops the others. Nothing in a \
         robots.txt needs lines of that length; line endings may have been lost."
    NulByte "nul-byte" Error
        "A NUL byte (0x00) hides the rest of its line from Google's parser; other parsers end the \
         line there."
    UnreadLine "unread-line" Warning
        "The line is neither blank, nor a comment, nor a field with a value, so no parser reads \
         it. Text for people belongs behind a #."
    UnreadRule "unread-rule" Error
        "The line was meant as a rule, a User-agent or a Sitemap line, but parsers cannot read \
         it: the colon is missing and more than two words follow each other, or a path stands \
         alone."
    UnreadTypo "unread-typo" Error
        "The name of the field is misspelt in a way that no parser is known to accept, so the \
         line is ignored."
    AcceptedTypo "accepted-typo" Warning
        "The name of the field is misspelt. Google's parser accepts this spelling, many others \
         ignore the line."
    LooseName "loose-field-name" Warning
        "The name of the field only starts like a known one (Disallowed, User-agents). Google's \
         parser accepts that, most others ignore the line."
    MissingColon "missing-colon" Warning
        "A space stands where the colon should. Google's parser accepts that where the line has \
         exactly two words; RFC 9309 does not, and many parsers ignore the line."
    ColonSplit "colon-split" Error
        "The colon behind the field's name is missing, and another one further on is taken for \
         it: what stands behind that one is read as the value."
    HashInValue "hash-in-value" Warning
        "A # starts a comment wherever it stands, so the value ends there. URLs are requested \
         without their fragment: no rule can tell them apart by it."
    UnknownField "unknown-field" Info
        "No crawler is known to read this field. It does no harm and has no effect."
    UnsupportedField "unsupported-field" Info
        "A field that is in use, but no part of the protocol: it changes nothing in what crawlers \
         may request, and only those that know it heed it."
    DeadField "dead-field" Warning
        "noindex, nofollow and noarchive are not read in robots.txt. They were never documented \
         for it; Google stopped reading them in 2019, and no other crawler is known to read \
         them."
    CrawlDelay "crawl-delay" Info
        "Crawl-delay is no part of the protocol. Some crawlers honour it, many do not, Google \
         among them."
    CrawlDelayIgnored "crawl-delay-ignored" Warning
        "Crawl-delay in a group of crawlers that are documented not to read it."
    SitemapNotAbsolute "sitemap-not-absolute" Warning
        "The value of Sitemap must be a whole URL, with scheme and host. Google ignores others."
    SeveralSitemaps "several-sitemaps" Warning
        "Each Sitemap line holds one URL. With several, the whole value is read as one URL, which \
         does not exist."
    // Groups.
    RuleBeforeGroup "rule-before-group" Error
        "Rules count only behind a User-agent line. Those before the first one bind nobody."
    GroupContinues "group-continues" Warning
        "Only Allow and Disallow end a list of User-agent lines. Other fields between them do \
         not, so the names before and behind share the rules that follow. Some older parsers end \
         the group there."
    EmptyGroup "empty-group" Warning
        "The file ends in User-agent lines without rules. The crawlers they name may fetch \
         everything: where a group names a crawler the rules for * do not bind it any more."
    MergedGroups "merged-groups" Info
        "Several groups name the same crawler. Crawlers that follow RFC 9309 merge them, wherever \
         they stand; some others read the first one only."
    AllowOnly "allow-only" Info
        "The group allows paths but disallows none. What is not disallowed is allowed anyway, so \
         the crawlers it names may fetch everything."
    // User-agent lines.
    EmptyToken "empty-token" Error
        "A User-agent line without a value names nobody. The rules of its group bind no crawler \
         through it."
    StarInToken "star-in-token" Error
        "The name of a crawler cannot hold wildcards. Only * alone is special: it means all \
         crawlers that no other group names."
    StarWithText "star-with-text" Warning
        "Text follows the * of a User-agent line. Google's parser reads it as * alone; parsers \
         that compare the whole value do not."
    SeveralTokens "several-tokens" Error
        "Each User-agent line holds one name. What follows the first one is not read."
    HeaderAsToken "header-as-token" Error
        "The value is a whole User-Agent header. Crawlers look for their short name (product \
         token), and of this value they read the first word only."
    TokenTail "token-tail" Warning
        "Something follows the name of a known crawler, as a version does. Google's parser reads \
         the name and ignores the rest; parsers that compare the whole value find no match."
    TokenCut "token-cut" Info
        "The crawler's name holds digits, dots or spaces. The protocol's names consist of \
         letters, - and _ only, and Google's parser reads no further. The crawler itself is known \
         to look for its whole name."
    MisspeltToken "misspelt-token" Warning
        "No known crawler answers to this name, but one answers to a name very much like it."
    UnknownToken "unknown-token" Info
        "No crawler that botaudit knows answers to this name. It may be one of the many small or \
         forgotten ones."
    ControlToken "control-token" Info
        "The name is no crawler but a switch: it tells an operator what may be done with pages \
         that another of its crawlers fetches. No request ever carries this name, so no log can \
         show whether it is heeded."
    NotObeyed "token-not-obeyed" Info
        "The crawler is documented, or reported, not to follow robots.txt, so rules for it have \
         no effect."
    // Rules.
    RuleIsUrl "rule-is-url" Error
        "The value of a rule is a path, compared with the path of what is requested. A whole URL \
         matches nothing."
    NeverMatches "rule-never-matches" Error
        "Paths start with a slash, so a rule that starts with neither / nor * matches nothing."
    SpaceInRule "space-in-rule" Error
        "URLs are requested with their spaces as %20, so a rule with a space or a control \
         character inside matches nothing. Nor does a rule hold several paths."
    EmptyAllow "empty-allow" Warning
        "An Allow without a path has no effect: it neither allows nor forbids anything."
    EmptyDisallow "empty-disallow" Info
        "A Disallow without a path forbids nothing, and does not lift the other rules of its \
         group."
    OverriddenRule "overridden-rule" Error
        "Whatever this rule matches, a rule of the opposite kind matches too and wins: it is \
         longer, or it is the Allow of two equally long ones. The rule never decides anything."
    DuplicateRule "duplicate-rule" Info
        "The same rule stands before, in this group or in one that is merged with it."
    RedundantRule "redundant-rule" Info
        "A shorter rule of the same kind matches all that this one does, and no opposite rule \
         comes between them: without this rule, nothing would change."
    CaseDiffers "case-differs" Warning
        "Paths are compared with their case. This Allow would be an exception to a Disallow if \
         case did not matter; as it is, the two have nothing to do with each other, and no other \
         Disallow touches the Allow."
    EncodedUnreserved "encoded-unreserved" Warning
        "The rule spells plain characters (letters, digits, -._~) as %XX. By RFC 9309 that is the \
         same as the plain character. Google compares the text: such a rule matches only URLs \
         that are written this way too."
    EncodedWildcard "encoded-wildcard" Warning
        "The rule holds %2A or %24. By RFC 9309 they stand for a plain * or $ in the URL. Google \
         takes them as they are: they match only the same three characters."
    BadPercent "bad-percent-encoding" Warning
        "A % in the rule is not followed by two hexadecimal digits. Browsers and crawlers write a \
         plain % as %25 in URLs."
    DollarInside "dollar-inside" Warning
        "A $ means the end of the URL only as the very last character. Anywhere else it is a \
         plain $, which few URLs hold."
    RegexInRule "regex-in-rule" Warning
        "The rule looks like a regular expression. Rules know only *, for any characters, and $, \
         for the end of the URL; all else stands for itself."
    DirectoryIndex "directory-index" Info
        "Google reads an Allow of an index page as an Allow of its directory's own URL, too. No \
         other crawler is known to."
    RobotsTxtRule "robots-txt-rule" Info
        "robots.txt itself may always be requested, whatever the rules say."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_in_lower_case_and_meanings_are_sentences() {
        for (at, lint) in LINTS.iter().enumerate() {
            assert_eq!((lint.code.index(), lint.code.lint()), (at, lint));
            assert_eq!(Lint::named(lint.name), Some(lint), "{} is taken", lint.name);
            assert!(lint.name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')));
            assert!(lint.meaning.ends_with('.'), "{}", lint.name);
        }
        assert_eq!(Lint::named("nothing"), None);
    }
}
