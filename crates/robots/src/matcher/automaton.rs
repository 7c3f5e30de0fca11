//! Compiles the literals of a wildcard rule into one small DFA.
//!
//! After the first `*`, a rule is a sequence of literals. The leftmost match of each literal is as
//! good as any other. So the automaton can be built deterministically, before regex-automata sees
//! it: each literal has the states of Knuth, Morris and Pratt, and the last one is the first one of
//! the next literal. This needs one state for each byte of the literals, whereas determinizing
//! `.*?ab.*?cd` multiplies the states.

use regex_automata::Anchored;
use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson::{Builder, NFA, Transition};
use regex_automata::util::{primitives::StateID, start};

/// The bytes of a DFA besides its transitions: byte classes, start states, state kinds. Measured
/// with regex-automata 0.4.18 on the suffixes of real files.
pub(crate) const FIXED_BYTES: usize = 1 << 10;

/// A DFA that finds several literals in sequence.
#[derive(Debug)]
pub(crate) struct Automaton {
    dfa: dense::DFA<Vec<u32>>,
    start: StateID,
    /// The first byte; without it, the automaton is not run.
    first: u8,
}

/// The most bytes that the automaton of `suffix` can take.
///
/// It has one state per byte. It has a column for each distinct byte, for the ranges between them,
/// and for the end.
pub(crate) fn bytes_max(suffix: &[u8]) -> usize {
    let mut is_in = [0_u64; 4];
    suffix.iter().for_each(|byte| is_in[usize::from(byte >> 6)] |= 1 << (byte & 63));
    let distinct: u32 = is_in.iter().map(|bits| bits.count_ones()).sum();
    let classes = distinct as usize * 2 + 2;
    let states = suffix.len() + 4;
    let transitions_bytes = states.saturating_mul(classes.next_power_of_two() * size_of::<u32>());
    transitions_bytes.saturating_add(FIXED_BYTES)
}

impl Automaton {
    /// Builds the automaton of `suffix`, which is literals separated by `*`; `None` if it would
    /// take more than `bytes_max`, or if there is no literal.
    pub(crate) fn new(suffix: &[u8], bytes_max: usize) -> Option<Automaton> {
        let literals: Vec<&[u8]> =
            suffix.split(|byte| *byte == b'*').filter(|literal| !literal.is_empty()).collect();
        if literals.is_empty() {
            return None;
        }
        let nfa = nfa(&literals)?;
        let config = dense::Config::new()
            .accelerate(false)
            .start_kind(StartKind::Anchored)
            .dfa_size_limit(Some(bytes_max))
            .determinize_size_limit(Some(bytes_max.saturating_mul(4)));
        let dfa = dense::Builder::new().configure(config).build_from_nfa(&nfa).ok()?;
        let start = dfa.start_state(&start::Config::new().anchored(Anchored::Yes)).ok()?;
        Some(Automaton { dfa, start, first: literals[0][0] })
    }

    /// Whether `text` has all literals, in order and without overlap.
    #[inline]
    pub(crate) fn is_match(&self, text: &[u8]) -> bool {
        let Some(from) = memchr::memchr(self.first, text) else { return false };
        let mut state = self.start;
        for byte in &text[from..] {
            state = self.dfa.next_state(state, *byte);
            // The only special states of this DFA are those after the end: match or dead.
            if self.dfa.is_special_state(state) {
                return self.dfa.is_match_state(state);
            }
        }
        self.dfa.is_match_state(self.dfa.next_eoi_state(state))
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Automaton>() + self.dfa.memory_usage()
    }
}

/// The states of all literals, then the match; `None` if regex-automata cannot number them.
fn nfa(literals: &[&[u8]]) -> Option<NFA> {
    let mut builder = Builder::new();
    builder.set_utf8(false);
    builder.start_pattern().ok()?;
    let states_count: usize = literals.iter().map(|literal| literal.len()).sum();
    // Transitions cannot be changed after they are added, so they lead to placeholder states.
    let doors: Vec<StateID> =
        (0..states_count).map(|_| builder.add_empty().ok()).collect::<Option<_>>()?;
    let matched = builder.add_match().ok()?;
    let mut offset = 0;
    for literal in literals {
        let end = offset + literal.len();
        let next = doors.get(end).copied().unwrap_or(matched);
        add_literal(&mut builder, literal, &doors[offset..end], next)?;
        offset = end;
    }
    builder.finish_pattern(doors[0]).ok()?;
    builder.build(doors[0], doors[0]).ok()
}

/// Adds the transitions of each prefix of `literal`: each byte leads to the longest prefix that the
/// text read so far ends in.
fn add_literal(
    builder: &mut Builder,
    literal: &[u8],
    doors: &[StateID],
    next: StateID,
) -> Option<()> {
    let bytes = distinct(literal);
    let mut table = vec![0; bytes.len() * literal.len()];
    let mut border = 0;
    for (index, byte) in literal.iter().enumerate() {
        let column = bytes.partition_point(|other| other < byte);
        let row = index * bytes.len();
        if index > 0 {
            // After a mismatch, the search continues as after the longest proper border.
            let border_row = border * bytes.len();
            table.copy_within(border_row..border_row + bytes.len(), row);
            border = table[border_row + column];
        }
        table[row + column] = index + 1;
        let door = |state: &usize| doors.get(*state).copied().unwrap_or(next);
        let targets = table[row..row + bytes.len()].iter().map(door);
        let state = builder.add_sparse(transitions(&bytes, targets, doors[0])).ok()?;
        builder.patch(doors[index], state).ok()?;
    }
    Some(())
}

/// `targets` for `bytes`, in order, and `otherwise` for the bytes in between.
fn transitions(
    bytes: &[u8],
    targets: impl Iterator<Item = StateID>,
    otherwise: StateID,
) -> Vec<Transition> {
    let mut transitions = Vec::with_capacity(bytes.len() * 2 + 1);
    let mut from = Some(0);
    for (&byte, next) in bytes.iter().zip(targets) {
        match from {
            Some(start) if start < byte => {
                transitions.push(Transition { start, end: byte - 1, next: otherwise });
            }
            _ => {}
        }
        transitions.push(Transition { start: byte, end: byte, next });
        from = byte.checked_add(1);
    }
    if let Some(start) = from {
        transitions.push(Transition { start, end: u8::MAX, next: otherwise });
    }
    transitions
}

/// The bytes of `text` in order, without duplicates.
fn distinct(text: &[u8]) -> Vec<u8> {
    let mut is_in = [false; 256];
    text.iter().for_each(|byte| is_in[usize::from(*byte)] = true);
    (0..=u8::MAX).filter(|byte| is_in[usize::from(*byte)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::glob::{Shape, WildcardSpelling};
    use crate::matcher::pattern::End;

    #[test]
    fn finds_what_a_glob_finds() {
        let suffixes: [&[u8]; 8] =
            [b"*a", b"*ab", b"*aab*ab", b"*abab*b", b"*aaa", b"*abaab", b"*b*b*b", b"*\xbf*\0a"];
        for suffix in suffixes {
            let automaton = Automaton::new(suffix, 1 << 16).unwrap();
            assert!(automaton.heap_bytes() <= bytes_max(suffix), "{suffix:?}");
            for number in 0..4_u32.pow(7) {
                let letter = |digit: u32| b"ab\0\xbf"[(number >> (2 * digit) & 3) as usize];
                let text: Vec<u8> = (0..7).map(letter).collect();
                let shape = Shape {
                    prefix: b"",
                    suffix,
                    end: End::Open,
                    spelling: WildcardSpelling::Plain,
                };
                assert_eq!(automaton.is_match(&text), shape.is_match(&text), "{suffix:?} {text:?}");
            }
        }
    }

    #[test]
    fn is_bounded() {
        assert!(Automaton::new(b"*abc", 0).is_none());
        assert!(Automaton::new(b"***", 1 << 16).is_none());
        let suffix: Vec<u8> = (0..200).flat_map(|_| *b"*ab").collect();
        let automaton = Automaton::new(&suffix, 1 << 16).unwrap();
        assert!(automaton.heap_bytes() < 1 << 14, "linear: {}", automaton.heap_bytes());
    }
}
