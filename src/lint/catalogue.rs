//! All findings of lint: code, severity, and meaning.
//!
//! An error is certainly unintended, or certainly without the intended effect. A warning is
//! probably a mistake, or parsers disagree about it. An info may be fine.

use botaudit_robots::named_enum;

named_enum! {
    /// The severity of a finding.
    #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
    pub enum Severity {
        /// Certainly wrong.
        Error = "error",
        /// Probably wrong, or not the same for all crawlers.
        Warning = "warning",
        /// Information.
        Info = "info",
    }
}

/// A kind of finding.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Lint {
    /// The code in this program.
    pub code: Code,
    /// The name in outputs: words in lower case with `-` in between. It must never change.
    pub name: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The meaning, in whole sentences.
    pub meaning: &'static str,
}

impl Lint {
    /// The lint with the name `name`.
    pub(crate) fn named(name: &str) -> Option<&'static Lint> {
        LINTS.iter().find(|lint| lint.name == name)
    }
}

/// Makes [`Code`] and [`LINTS`] from one list, so that they have the same entries.
macro_rules! lints {
    ($($code:ident $name:literal $severity:ident $meaning:literal)*) => {
        /// The codes of [`LINTS`], in the same order.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Code {
            $(#[doc = $meaning] $code,)*
        }

        /// All kinds of findings.
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
    /// The lint with this code.
    pub fn lint(self) -> &'static Lint {
        &LINTS[self.index()]
    }

    /// Whether `lint` reports it only with `--warn`.
    pub fn is_optional(self) -> bool {
        self == Code::TokenCut
    }

    /// The index in [`LINTS`].
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

lints! {
    // The file as a whole.
    NotText "not-text" Error
        "The file is UTF-16 text, compressed or other binary data. Parsers read it as bytes and find \
         no rule in it."
    Html "html" Error
        "The file is an HTML page. Crawlers look through it for lines that happen to be rules and \
         ignore all others, so most likely everything is allowed."
    NotRobotsTxt "not-robots-txt" Error
        "No line of the file is a line of robots.txt. It may be an error page, such as 'Not Found', \
         or another file. Crawlers find no rules in it, so everything is allowed."
    TooLarge "too-large" Error
        "Only the first 500 KiB (512,000 bytes) count. Google ignores the rest, and RFC 9309 \
         requires no crawler to read more."
    ByteOrderMark "byte-order-mark" Info
        "The file starts with a UTF-8 byte-order mark. Google and most crawlers skip it; a few \
         simple parsers read it as part of the first line and then ignore that line."
    MisplacedByteOrderMark "misplaced-byte-order-mark" Error
        "A byte-order mark is before a line that is not the first, as happens when files are \
         joined. Most editors do not show it, but it is part of the field's name, so the line is \
         not read."
    NotUtf8 "not-utf8" Warning
        "A rule contains bytes that are not UTF-8. They are compared as %XX, byte by byte, but \
         browsers and crawlers request the UTF-8 form, so the rule probably matches nothing."
    // Lines.
    LongLine "long-line" Error
        "Google reads the first 16,663 bytes of a line and ignores the rest. No rule needs such \
         a long line; line endings may have been lost."
    NulByte "nul-byte" Error
        "A NUL byte (0x00) hides the rest of its line from Google's parser; other parsers end the \
         line there."
    UnreadLine "unread-line" Warning
        "The line is not blank, not a comment and not a field with a value, so no parser reads \
         it. Comments begin with #."
    UnreadRule "unread-rule" Error
        "The line was meant as a rule, a User-agent line or a Sitemap line, but parsers cannot \
         read it: the colon is missing between more than two words, or a path has no field."
    UnreadTypo "unread-typo" Error
        "The field name is misspelled, and no parser is known to accept this spelling, so the \
         line is ignored."
    AcceptedTypo "accepted-typo" Warning
        "The field name is misspelled. Google's parser accepts this spelling; many others ignore \
         the line."
    LooseName "loose-field-name" Warning
        "The field name only starts like a known one (Disallowed, User-agents). Google's parser \
         accepts it; most others ignore the line."
    MissingColon "missing-colon" Warning
        "There is a space instead of the colon. Google's parser accepts this if the line has \
         exactly two words; RFC 9309 does not, and many parsers ignore the line."
    ColonSplit "colon-split" Error
        "The colon after the field name is missing, and a later colon is read instead: the text \
         after it becomes the value."
    HashInValue "hash-in-value" Warning
        "A # always starts a comment, so the value ends there. URLs are requested without their \
         fragment, so no rule can match it."
    UnknownField "unknown-field" Info
        "No crawler is known to read this field. It does no harm and has no effect."
    UnsupportedField "unsupported-field" Info
        "This field is in use, but not part of the protocol: it does not change what crawlers \
         may request, and only some crawlers read it."
    DeadField "dead-field" Warning
        "noindex, nofollow and noarchive are not read in robots.txt. They were never documented \
         for it; Google stopped reading them in 2019, and no other crawler is known to read \
         them."
    CrawlDelay "crawl-delay" Info
        "Crawl-delay is not part of the protocol. Some crawlers follow it; many, such as \
         Google's, do not."
    CrawlDelayIgnored "crawl-delay-ignored" Warning
        "Crawl-delay in a group of crawlers that are documented not to read it."
    SitemapNotAbsolute "sitemap-not-absolute" Warning
        "The value of Sitemap must be a complete URL, with scheme and host. Google ignores \
         others."
    SeveralSitemaps "several-sitemaps" Warning
        "Each Sitemap line has one URL. With several, the whole value is read as one URL, which \
         does not exist."
    LicenseNotAbsolute "license-not-absolute" Warning
        "The value of License (RSL 1.0) must be a complete URL, with scheme and host."
    // Statements about use.
    UsageOutsideGroup "usage-outside-group" Warning
        "Content-Usage and Content-Signal are for the crawlers of the group around them. \
         Before the first User-agent line, they have no effect."
    UnreadUsage "unread-usage" Warning
        "The value of Content-Usage must be a dictionary as in RFC 9651, such as 'train-ai=n, \
         search=y'. A space around =, an upper-case letter in a label, a missing comma or a comma \
         at the end makes the whole line invalid (draft-ietf-aipref-vocab-07)."
    UsageWithoutPreference "usage-without-preference" Warning
        "The line has no label that is known for this field, or no known value of one. \
         Content-Usage has train-ai and search with y or n (draft-ietf-aipref-vocab-07). \
         Content-Signal has search, ai-input and ai-train with yes or no, and use with immediate, \
         reference or full."
    UsageContradicted "usage-contradicted" Warning
        "The same label has different values for the same crawlers and paths. botaudit reads \
         the most restrictive one, or on one line of Content-Usage the last one. Other programs may \
         read another one."
    // Groups.
    RuleBeforeGroup "rule-before-group" Error
        "Rules count only after a User-agent line. Rules before the first one have no effect."
    NoGroup "no-group" Warning
        "The file has fields such as Host, but no User-agent line and no rule. It names no crawler, \
         so everything may be requested. A file of Sitemap lines alone is usual and not reported."
    GroupContinues "group-continues" Warning
        "Only Allow and Disallow end a list of User-agent lines. Other fields between them do \
         not, so the names before and after them share the rules that follow. Some older parsers \
         end the group there."
    EmptyGroup "empty-group" Warning
        "The file ends with User-agent lines without rules. The crawlers they name may fetch \
         everything: the rules for * do not bind a crawler that a group names."
    MergedGroups "merged-groups" Info
        "Several groups name the same crawler. Crawlers that follow RFC 9309 merge them, \
         wherever they are; some others read only the first one."
    AllowOnly "allow-only" Info
        "The group allows paths but disallows none. What is not disallowed is allowed anyway, so \
         the crawlers it names may fetch everything."
    // User-agent lines.
    EmptyToken "empty-token" Error
        "A User-agent line without a value names no crawler, so it binds none to the rules of \
         its group."
    StarInToken "star-in-token" Error
        "The name of a crawler cannot contain wildcards. Only * alone is special: it means all \
         crawlers that no other group names."
    StarWithText "star-with-text" Warning
        "Text follows the * of a User-agent line. Google's parser reads it as * alone; parsers \
         that compare the whole value do not."
    SeveralTokens "several-tokens" Error
        "Each User-agent line has one name. The text after the first name is not read. Two names \
         with nothing between them are a third one, which no crawler has."
    HeaderAsToken "header-as-token" Error
        "The value is a whole User-Agent header. Crawlers look for their short name (product \
         token), and of this value they read the first word only."
    TokenTail "token-tail" Warning
        "Text such as a version follows the name of a known crawler. Google's parser reads the \
         name and ignores the rest; parsers that compare the whole value find no match."
    TokenCut "token-cut" Info
        "The crawler's name contains digits, dots or spaces. By the protocol, names have only \
         letters, - and _, and Google's parser stops at other characters. This crawler is known \
         to look for its whole name."
    MisspeltToken "misspelt-token" Warning
        "No known crawler has this name, but one has a very similar name."
    RetiredToken "retired-token" Info
        "The crawler of this name no longer exists. Its line does no harm and has no effect."
    UnknownToken "unknown-token" Info
        "botaudit knows no crawler of this name. It may be a small or old one."
    ControlToken "control-token" Info
        "The name is not a crawler. It tells an operator how it may use pages \
         that another of its crawlers fetches. No request has this name, so no log can show \
         whether the operator follows it."
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
        "URLs are requested with spaces as %20, so a rule with a space or a control character \
         matches nothing. A rule has only one path."
    EmptyAllow "empty-allow" Warning
        "An Allow without a path has no effect."
    EmptyDisallow "empty-disallow" Info
        "A Disallow without a path disallows nothing, and the other rules of its group stay in \
         force."
    OverriddenRule "overridden-rule" Error
        "For every path that this rule matches, an opposite rule matches and wins: it is longer, \
         or it is an Allow rule of the same length. So this rule has no effect."
    DuplicateRule "duplicate-rule" Info
        "The same rule is already in this group, or in a group that is merged with it."
    RedundantRule "redundant-rule" Info
        "A shorter rule of the same kind matches every path that this one matches, and no \
         opposite rule comes between them: without this rule, nothing would change."
    CaseDiffers "case-differs" Warning
        "Upper and lower case differ in paths. This Allow would be an exception to a Disallow if \
         case did not matter; but they match different paths, and no other Disallow concerns \
         this Allow."
    EncodedUnreserved "encoded-unreserved" Warning
        "The rule encodes ordinary characters (letters, digits, -._~) as %XX. By RFC 9309 that \
         is the same as the character. Google compares the text: the rule matches only URLs with \
         the same encoding."
    EncodedWildcard "encoded-wildcard" Warning
        "The rule contains %2A or %24. By RFC 9309 they mean an ordinary * or $ in the URL. For \
         Google they match only the same three characters."
    BadPercent "bad-percent-encoding" Warning
        "A % in the rule is not followed by two hexadecimal digits. Browsers and crawlers write \
         % as %25 in URLs."
    DollarInside "dollar-inside" Warning
        "A $ means the end of the URL only if it is the last character. Elsewhere it is an \
         ordinary $, which few URLs contain."
    RegexInRule "regex-in-rule" Warning
        "The rule looks like a regular expression. In rules, only * (any characters) and $ (the \
         end of the URL) are special."
    DirectoryIndex "directory-index" Info
        "Google reads an Allow of an index page also as an Allow of its directory. No other \
         crawler is known to do so."
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
