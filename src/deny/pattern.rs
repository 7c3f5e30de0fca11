//! A user agent regex in the syntax that all forms share.
//!
//! The text has letters, digits, and a few characters that no form quotes. All other characters
//! are written as `\xHH`, so no pattern can leave its quotes.

use std::fmt::Write;

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{AssertionKind, Ast, ClassBracketed, ClassPerl, ClassPerlKind, ClassSet};
use regex_syntax::ast::{ClassSetItem, GroupKind, Literal, RepetitionKind, RepetitionRange};

/// Characters that mean themselves outside of classes, in every form and within its quotes.
const PLAIN: &str = " -_/,:=@!~&";

/// Characters that have a meaning in a regex and are escaped with a backslash.
const ESCAPED: &str = ".+*?()[]|^";

/// The most repetitions that every engine accepts.
const REPEATED_MAX: u32 = 1000;

/// The start and the end of the text in a form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Anchors {
    /// `^`, or what stands for it.
    pub start: &'static str,
    /// `$`, or what stands for it.
    pub end: &'static str,
    /// Whether plain names are also found within longer names.
    pub finds_within: bool,
}

/// The anchors of forms that match the header alone.
pub(crate) const HEADER: Anchors = Anchors { start: "^", end: "$", finds_within: false };

/// `regex`, from a registry, in the shared syntax.
///
/// # Errors
/// If an engine of some form cannot read it, or reads it in another way.
pub(crate) fn portable(regex: &str, anchors: Anchors) -> Result<String, String> {
    let ast = Parser::new().parse(regex).map_err(|err| err.kind().to_string())?;
    let mut text = String::new();
    push(&ast, anchors, &mut text)?;
    Ok(text)
}

fn push(ast: &Ast, anchors: Anchors, text: &mut String) -> Result<(), String> {
    match ast {
        Ast::Empty(_) => {}
        Ast::Literal(literal) => push_literal(literal, text)?,
        Ast::Dot(_) => text.push('.'),
        Ast::Assertion(assertion) => text.push_str(match assertion.kind {
            AssertionKind::StartLine | AssertionKind::StartText => anchors.start,
            AssertionKind::EndLine | AssertionKind::EndText => anchors.end,
            AssertionKind::WordBoundary => r"\b",
            AssertionKind::NotWordBoundary => r"\B",
            _ => return Err("this kind of word boundary is not known to all servers".to_owned()),
        }),
        Ast::ClassPerl(class) => {
            let not = if class.negated { "^" } else { "" };
            write!(text, "[{not}{}]", members(class)).expect("writing to a string cannot fail");
        }
        Ast::ClassBracketed(class) => push_class(class, text)?,
        Ast::Repetition(repetition) => {
            // Repeated twice, as in `a++`, means something else in other engines.
            let is_repeated = matches!(&*repetition.ast, Ast::Repetition(_));
            push_group(&repetition.ast, is_repeated, anchors, text)?;
            text.push_str(&count(&repetition.op.kind)?);
            text.push_str(if repetition.greedy { "" } else { "?" });
        }
        Ast::Group(group) => {
            if matches!(&group.kind, GroupKind::NonCapturing(flags) if !flags.items.is_empty()) {
                return Err("groups with flags differ between servers".to_owned());
            }
            push_group(&group.ast, true, anchors, text)?;
        }
        Ast::Alternation(alternation) => {
            for (at, ast) in alternation.asts.iter().enumerate() {
                text.push_str(if at > 0 { "|" } else { "" });
                push(ast, anchors, text)?;
            }
        }
        Ast::Concat(concat) => {
            concat.asts.iter().try_for_each(|ast| push(ast, anchors, text))?;
        }
        Ast::Flags(_) => return Err("flags differ between servers".to_owned()),
        Ast::ClassUnicode(_) => return Err("not all servers know classes of Unicode".to_owned()),
    }
    Ok(())
}

fn push_group(
    ast: &Ast,
    is_group: bool,
    anchors: Anchors,
    text: &mut String,
) -> Result<(), String> {
    text.push_str(if is_group { "(?:" } else { "" });
    push(ast, anchors, text)?;
    text.push_str(if is_group { ")" } else { "" });
    Ok(())
}

fn push_literal(literal: &Literal, text: &mut String) -> Result<(), String> {
    let character = literal.c;
    if character.is_ascii_alphanumeric() || PLAIN.contains(character) {
        text.push(character);
    } else if ESCAPED.contains(character) {
        text.extend(['\\', character]);
    } else {
        push_hex(character, text)?;
    }
    Ok(())
}

fn push_hex(character: char, text: &mut String) -> Result<(), String> {
    if !character.is_ascii() {
        return Err(format!("'{}' is not ASCII", character.escape_default()));
    }
    write!(text, "\\x{:02X}", u32::from(character)).expect("writing to a string cannot fail");
    Ok(())
}

fn push_class(class: &ClassBracketed, text: &mut String) -> Result<(), String> {
    let ClassSet::Item(item) = &class.kind else {
        return Err("operations on classes differ between servers".to_owned());
    };
    text.push_str(if class.negated { "[^" } else { "[" });
    push_item(item, text)?;
    text.push(']');
    Ok(())
}

fn push_item(item: &ClassSetItem, text: &mut String) -> Result<(), String> {
    let push_member = |member: char, text: &mut String| match member.is_ascii_alphanumeric() {
        true => {
            text.push(member);
            Ok(())
        }
        false => push_hex(member, text),
    };
    match item {
        ClassSetItem::Literal(literal) => push_member(literal.c, text),
        ClassSetItem::Range(range) => {
            push_member(range.start.c, text)?;
            text.push('-');
            push_member(range.end.c, text)
        }
        ClassSetItem::Perl(class) if !class.negated => {
            text.push_str(members(class));
            Ok(())
        }
        ClassSetItem::Union(union) => union.items.iter().try_for_each(|item| push_item(item, text)),
        _ => Err("this class differs between servers".to_owned()),
    }
}

fn members(class: &ClassPerl) -> &'static str {
    match class.kind {
        ClassPerlKind::Digit => "0-9",
        ClassPerlKind::Space => r"\x09-\x0D\x20",
        ClassPerlKind::Word => "0-9A-Za-z_",
    }
}

fn count(kind: &RepetitionKind) -> Result<String, String> {
    let (count, most) = match kind {
        RepetitionKind::ZeroOrOne => return Ok("?".to_owned()),
        RepetitionKind::ZeroOrMore => return Ok("*".to_owned()),
        RepetitionKind::OneOrMore => return Ok("+".to_owned()),
        RepetitionKind::Range(RepetitionRange::Exactly(count)) => (format!("{{{count}}}"), *count),
        RepetitionKind::Range(RepetitionRange::AtLeast(least)) => (format!("{{{least},}}"), *least),
        RepetitionKind::Range(RepetitionRange::Bounded(least, most)) => {
            (format!("{{{least},{most}}}"), *most)
        }
    };
    match most {
        0..=REPEATED_MAX => Ok(count),
        _ => Err(format!("it repeats more than {REPEATED_MAX} times")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::{borders::whole, pattern::Pattern, registry::Registry};

    #[test]
    fn every_character_that_could_end_a_quote_is_a_number() {
        for (regex, expected) in [
            ("GPTBot", "GPTBot"),
            (r"bot\.html$", r"bot\.html$"),
            (r#"a"b'c`d#e%f;g\\h<i>"#, r"a\x22b\x27c\x60d\x23e\x25f\x3Bg\x5Ch\x3Ci\x3E"),
            ("a\nb\x00c", r"a\x0Ab\x00c"),
            (r"\{x\}\$", r"\x7Bx\x7D\x24"),
            (r#"[^"\]\\a-z]"#, r"[^\x22\x5D\x5Ca-z]"),
            (r"\d+\s?(?P<x>\w)", r"[0-9]+[\x09-\x0D\x20]?(?:[0-9A-Za-z_])"),
            (r"(a|b)++c{2,3}?", r"(?:(?:a|b)+)+c{2,3}?"),
            (r"^a|b\z", "^a|b$"),
        ] {
            assert_eq!(portable(regex, HEADER).unwrap(), expected);
        }
        let quoted = Anchors { start: "(?<=\")", end: "(?=\")", ..HEADER };
        assert_eq!(portable("^a$", quoted).unwrap(), "(?<=\")a(?=\")");
    }

    #[test]
    fn what_servers_read_in_different_ways_is_refused() {
        for regex in [
            "(?x)a",
            "(?i:a)",
            r"\p{L}",
            "[a&&b]",
            "[[:alpha:]]",
            r"\<a",
            "a{2000}",
            "ü",
            "[ü]",
            "(",
        ] {
            assert!(portable(regex, HEADER).is_err(), "{regex}");
        }
    }

    #[test]
    fn every_crawler_has_a_portable_pattern_that_matches_its_sample() {
        for crawler in Registry::builtin().crawlers() {
            let regexes = [&crawler.user_agent_regex, &crawler.user_agent_exclude];
            let regexes = regexes.into_iter().filter(|regex| !regex.is_empty());
            for regex in &regexes
                .flat_map(|regex| [regex.clone(), whole(regex).unwrap()])
                .collect::<Vec<_>>()
            {
                let text = portable(regex, HEADER).unwrap_or_else(|why| panic!("{regex}: {why}"));
                let (ours, theirs) = (Pattern::new(text.clone()), Pattern::new(regex.clone()));
                let sample = crawler.sample_user_agent.as_bytes();
                assert_eq!(ours.is_match(sample), theirs.is_match(sample), "{regex} {text}");
            }
        }
    }
}
