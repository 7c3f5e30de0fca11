//! Where the names of a pattern end.
//!
//! A name is a whole product: no letter, digit, `-` or `_` stands before or after it. So a regex that begins or
//! ends with a character of a name gets a border there. A regex that begins or ends with another
//! character (`^`, `/`), with a kind of characters (`\d`, `.*`), or with `-` or `_`, says itself what stands
//! there.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Assertion, AssertionKind, Ast, ClassBracketed, ClassSet, ClassSetItem};
use regex_syntax::ast::{Concat, Flags, Group, GroupKind, RepetitionKind, RepetitionRange};

/// What may stand before a name: nothing, or any ASCII character that is in no name.
const BEFORE: &str = r"(?:^|[\x00-\x2C./:-@\x5B-\x5E\x60\x7B-\x7F])";
/// What may stand after a name.
const AFTER: &str = r"(?:$|[\x00-\x2C./:-@\x5B-\x5E\x60\x7B-\x7F])";

/// An end of a pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Side {
    /// Its beginning.
    Start,
    /// Its end.
    End,
}

/// What a part of a pattern begins or ends with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Edge {
    /// Nothing that has a width.
    Nothing,
    /// Letters and digits that the pattern names.
    Name,
    /// Characters that are in no name, or an end of the text.
    Other,
    /// Anything else, also some of the above in one case and others in another.
    Open,
}

/// Whether the byte may be part of a longer name. Those of other alphabets than ASCII count.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || !byte.is_ascii()
}

/// Whether a name at `start..end` of `user_agent` is a whole one.
pub(super) fn is_whole(user_agent: &[u8], start: usize, end: usize) -> bool {
    let is_inside = |inside: Option<&u8>, outside: Option<&u8>| {
        inside.is_some_and(u8::is_ascii_alphanumeric)
            && outside.is_some_and(|&byte| is_of_name(byte))
    };
    let (name, before) = (&user_agent[start..end], &user_agent[..start]);
    !is_inside(name.first(), before.last()) && !is_inside(name.last(), user_agent.get(end))
}

/// `regex` with borders around its names.
///
/// # Errors
/// If it is none.
pub fn whole(regex: &str) -> Result<String, String> {
    let mut ast = parsed(regex)?;
    for side in [Side::Start, Side::End] {
        bound(&mut ast, side);
    }
    Ok(ast.to_string())
}

/// The ends of `regex` at which it is found within longer names.
pub(crate) fn open_sides(regex: &str) -> Vec<Side> {
    let Ok(ast) = parsed(regex) else { return Vec::new() };
    [Side::Start, Side::End].into_iter().filter(|side| is_open(&ast, *side)).collect()
}

fn parsed(regex: &str) -> Result<Ast, String> {
    Parser::new().parse(regex).map_err(|error| error.kind().to_string())
}

/// Puts borders before or after what begins or ends with a name.
fn bound(ast: &mut Ast, side: Side) {
    match edge(ast, side) {
        Edge::Nothing | Edge::Other => {}
        Edge::Name => {
            let inside = std::mem::replace(ast, Ast::empty(*ast.span()));
            *ast = bordered(inside, side);
        }
        Edge::Open => outermost(ast, side).into_iter().for_each(|part| bound(part, side)),
    }
}

fn is_open(ast: &Ast, side: Side) -> bool {
    let mut ast = ast.clone();
    edge(&ast, side) == Edge::Open && {
        let parts = outermost(&mut ast, side);
        parts.is_empty() || parts.into_iter().any(|part| is_open(part, side))
    }
}

/// The parts of which one is always at the end of `ast`, if it has such parts.
fn outermost(ast: &mut Ast, side: Side) -> Vec<&mut Ast> {
    match ast {
        Ast::Group(group) => vec![&mut group.ast],
        Ast::Alternation(branches) => branches.asts.iter_mut().collect(),
        Ast::Concat(concat) => {
            let has_width = |part: &Ast| edge(part, side) != Edge::Nothing;
            let part = match side {
                Side::Start => concat.asts.iter_mut().find(|part| has_width(part)),
                Side::End => concat.asts.iter_mut().rfind(|part| has_width(part)),
            };
            part.filter(|part| !may_be_empty(part)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn bordered(mut inside: Ast, side: Side) -> Ast {
    let span = *inside.span();
    let mut asts = match &mut inside {
        Ast::Concat(concat) => std::mem::take(&mut concat.asts),
        Ast::Alternation(_) => {
            let kind = GroupKind::NonCapturing(Flags { span, items: Vec::new() });
            vec![Ast::group(Group { span, kind, ast: Box::new(inside) })]
        }
        _ => vec![inside],
    };
    let border = |text| parsed(text).expect("borders are valid");
    match side {
        Side::Start => asts.insert(0, border(BEFORE)),
        Side::End => asts.push(border(AFTER)),
    }
    Ast::concat(Concat { span, asts })
}

fn edge(ast: &Ast, side: Side) -> Edge {
    match ast {
        Ast::Empty(_) | Ast::Flags(_) => Edge::Nothing,
        Ast::Assertion(assertion) if is_end_of_text(assertion) => Edge::Other,
        Ast::Assertion(_) => Edge::Nothing,
        Ast::Literal(literal) => edge_of_letter(literal.c),
        Ast::ClassBracketed(class) => edge_of_class(class),
        Ast::Dot(_) | Ast::ClassPerl(_) | Ast::ClassUnicode(_) => Edge::Open,
        Ast::Repetition(repetition) => edge(&repetition.ast, side),
        Ast::Group(group) => edge(&group.ast, side),
        Ast::Alternation(branches) => {
            branches.asts.iter().fold(Edge::Nothing, |found, ast| both(found, edge(ast, side)))
        }
        Ast::Concat(concat) => match side {
            Side::Start => edge_of_parts(concat.asts.iter(), side),
            Side::End => edge_of_parts(concat.asts.iter().rev(), side),
        },
    }
}

/// `parts` from the outside to the inside.
fn edge_of_parts<'a>(parts: impl Iterator<Item = &'a Ast>, side: Side) -> Edge {
    let mut found = Edge::Nothing;
    let mut is_after_kind = false;
    for part in parts {
        let edge = edge(part, side);
        // A number after `/` or `-` makes no name longer.
        if is_after_kind && edge != Edge::Nothing {
            let is_apart = edge == Edge::Other || is_joint(part);
            return if is_apart { Edge::Other } else { Edge::Open };
        }
        is_after_kind =
            found == Edge::Nothing && edge == Edge::Open && (is_kind(part) || is_joint(part));
        if !is_after_kind {
            found = both(found, edge);
            if !may_be_empty(part) {
                return found;
            }
        }
    }
    if is_after_kind { Edge::Open } else { found }
}

fn both(one: Edge, other: Edge) -> Edge {
    match (one, other) {
        (Edge::Nothing, edge) | (edge, Edge::Nothing) => edge,
        (one, other) if one == other => one,
        _ => Edge::Open,
    }
}

/// Whether it is a kind of characters, such as a digit, once or more.
fn is_kind(ast: &Ast) -> bool {
    match ast {
        Ast::Dot(_) | Ast::ClassPerl(_) | Ast::ClassUnicode(_) | Ast::ClassBracketed(_) => true,
        Ast::Repetition(repetition) => is_kind(&repetition.ast),
        _ => false,
    }
}

fn is_joint(ast: &Ast) -> bool {
    matches!(ast, Ast::Literal(literal) if matches!(literal.c, '-' | '_'))
}

fn edge_of_letter(letter: char) -> Edge {
    match letter {
        '-' | '_' => Edge::Open,
        letter if letter.is_ascii() && !letter.is_ascii_alphanumeric() => Edge::Other,
        _ => Edge::Name,
    }
}

fn edge_of_class(class: &ClassBracketed) -> Edge {
    match &class.kind {
        ClassSet::Item(item) if !class.negated => edge_of_item(item),
        _ => Edge::Open,
    }
}

fn edge_of_item(item: &ClassSetItem) -> Edge {
    match item {
        ClassSetItem::Empty(_) => Edge::Nothing,
        ClassSetItem::Literal(literal) => edge_of_letter(literal.c),
        ClassSetItem::Union(union) => {
            union.items.iter().map(edge_of_item).fold(Edge::Nothing, both)
        }
        _ => Edge::Open,
    }
}

fn is_end_of_text(assertion: &Assertion) -> bool {
    use AssertionKind::{EndLine, EndText, StartLine, StartText};
    matches!(assertion.kind, StartLine | StartText | EndLine | EndText)
}

fn may_be_empty(ast: &Ast) -> bool {
    match ast {
        Ast::Empty(_) | Ast::Flags(_) => true,
        Ast::Assertion(assertion) => !is_end_of_text(assertion),
        Ast::Repetition(repetition) => {
            let least = match &repetition.op.kind {
                RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore => 0,
                RepetitionKind::OneOrMore => 1,
                RepetitionKind::Range(
                    RepetitionRange::Exactly(least)
                    | RepetitionRange::AtLeast(least)
                    | RepetitionRange::Bounded(least, _),
                ) => *least,
            };
            least == 0 || may_be_empty(&repetition.ast)
        }
        Ast::Group(group) => may_be_empty(&group.ast),
        Ast::Alternation(branches) => branches.asts.iter().any(may_be_empty),
        Ast::Concat(concat) => concat.asts.iter().all(may_be_empty),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::pattern::Pattern;

    #[test]
    fn a_name_is_found_only_as_a_whole() {
        for (regex, found, not_found) in [
            (
                "GPTBot",
                "GPTBot|x GPTBot/1.2|(GPTBot;|+GPTBot+|gptbot",
                "MyGPTBot|GPTBots|GPTBot-x|a-GPTBot|GPTBot_|GPTBot9|\u{e4}GPTBot|GPTBot\u{e4}",
            ),
            ("GPTBot|Foo", "a Foo b|GPTBot", "Food|aGPTBot"),
            (r"bingbot\b", "bingbot/2.0", "bingbot-x|xbingbot"),
            ("Foo(?:Bot)?", "Foo|FooBot", "FooBo|FooBots|xFooBot"),
            ("(?:My-)?Foo", "Foo|My-Foo", "xMy-Foo|Your-Foo"),
            ("Foo(?:-[12])?", "Foo|Foo-1|Foo-2", "Foo-3|Foo-12"),
            ("[fF]oo[sx]", "foos", "foosx|afoos"),
            // Other ends are as they are written.
            ("^Foo", "Foo/1", "Food|a Foo"),
            ("Foo/", "Foo/1|Foo/x", "aFoo/1"),
            (r"Foo/\d", "Foo/1|Foo/12|Foo/1a", "aFoo/1"),
            (r"Foo-\d|Foo", "Foo-12|Foo", "Foo-x|Foo1"),
            ("Foo(?:/|$)", "Foo|Foo/x", "Foo |aFoo"),
            ("foo.*bar", "foo bar|foobar", "foobars|afoo bar"),
            ("(?:foo|-)bar", "x foobar|x-bar", "xfoobar|x-bars"),
            ("foo-", "foo-|foo-bar", "afoo-"),
            ("(?:ab)+", "abab", "ababc|cab"),
            (r"a\.example", "http://a.example/", "http://ba.example/|http://a.examples/"),
        ] {
            let pattern = Pattern::of_names(regex);
            for user_agent in found.split('|') {
                assert!(pattern.is_match(user_agent.as_bytes()), "{regex} {user_agent}");
            }
            for user_agent in not_found.split('|') {
                assert!(!pattern.is_match(user_agent.as_bytes()), "{regex} {user_agent}");
            }
        }
    }

    #[test]
    fn patterns_without_borders_are_known() {
        for (regex, expected) in [
            ("GPTBot|Foo/", ""),
            (r"^Foo/\d+|foo-\d|foo -", ""),
            ("-?Foo", "Start"),
            ("foo-", "End"),
            (r"foo\d*", "End"),
            ("[a-z]*bot", "Start"),
            (".*foo|bar.*", "Start End"),
            ("(?:ok|-x)y", "Start"),
            ("(", ""),
        ] {
            let sides: Vec<String> =
                open_sides(regex).iter().map(|side| format!("{side:?}")).collect();
            assert_eq!(sides.join(" "), expected, "{regex}");
        }
    }
}
