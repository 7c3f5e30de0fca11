//! Decodes UTF-16 in pieces.

/// A decoder of UTF-16 to UTF-8, after the byte order mark. What is not valid becomes U+FFFD.
#[derive(Debug)]
pub(crate) struct Utf16 {
    is_big_endian: bool,
    /// The first byte of a unit.
    half: Option<u8>,
    /// The first unit of a pair.
    high: Option<u16>,
}

impl Utf16 {
    /// The bytes of the byte order mark.
    pub(crate) const MARK_BYTES: usize = 2;

    /// The decoder for a content that begins with `head`; `None` if it has no byte order mark.
    pub(crate) fn of(head: &[u8]) -> Option<Utf16> {
        let is_big_endian = match head {
            [0xff, 0xfe, ..] => false,
            [0xfe, 0xff, ..] => true,
            _ => return None,
        };
        Some(Utf16 { is_big_endian, half: None, high: None })
    }

    /// Whether a content with this `start` may begin with a byte order mark.
    pub(crate) fn may_begin(start: &[u8]) -> bool {
        matches!(start, [] | [0xfe | 0xff] | [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
    }

    /// Adds the text of the next `bytes` to `out`.
    pub(crate) fn decode(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        if let (Some(half), [first, rest @ ..]) = (self.half, bytes) {
            self.half = None;
            self.unit([half, *first], out);
            bytes = rest;
        }
        let (units, half) = bytes.as_chunks::<2>();
        units.iter().for_each(|unit| self.unit(*unit, out));
        self.half = half.first().copied().or(self.half);
    }

    /// Adds what stands for an unfinished character at the end.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) {
        if self.high.take().is_some() | self.half.take().is_some() {
            push(char::REPLACEMENT_CHARACTER, out);
        }
    }

    fn unit(&mut self, bytes: [u8; 2], out: &mut Vec<u8>) {
        let unit = match self.is_big_endian {
            true => u16::from_be_bytes(bytes),
            false => u16::from_le_bytes(bytes),
        };
        let is_high = (0xd800..0xdc00).contains(&unit);
        if is_high && self.high.is_none() {
            self.high = Some(unit);
            return;
        }
        let pair = self.high.take().into_iter().chain([unit]);
        for found in char::decode_utf16(pair) {
            match found {
                // The second unit of no pair may be the first of the next one.
                Err(alone)
                    if is_high && alone.unpaired_surrogate() == unit && self.high.is_none() =>
                {
                    self.high = Some(unit);
                }
                found => push(found.unwrap_or(char::REPLACEMENT_CHARACTER), out),
            }
        }
    }
}

fn push(text: char, out: &mut Vec<u8>) {
    out.extend_from_slice(text.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of `units`, decoded `step` bytes at a time.
    #[track_caller]
    fn check(units: &[u16], more: &[u8], expected: &str) {
        for step in [1, 2, 3, 100] {
            let mut bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            bytes.extend_from_slice(more);
            let mut decoder = Utf16::of(&[0xff, 0xfe]).unwrap();
            let mut text = Vec::new();
            bytes.chunks(step).for_each(|part| decoder.decode(part, &mut text));
            decoder.end(&mut text);
            assert_eq!(String::from_utf8(text).unwrap(), expected, "{step}");
        }
    }

    #[test]
    fn what_is_not_valid_is_replaced() {
        check(&[0x61, 0xd83d, 0xdd77, 0x62], b"", "a\u{1f577}b");
        check(&[0xd83d, 0x61], b"", "\u{fffd}a");
        check(&[0xdd77, 0x61], b"", "\u{fffd}a");
        check(&[0xd83d, 0xd83d, 0xdd77], b"", "\u{fffd}\u{1f577}");
        check(&[0xd83d, 0xd83d, 0x61], b"", "\u{fffd}\u{fffd}a");
        check(&[0x61], b"x", "a\u{fffd}");
        check(&[0x61, 0xd83d], b"", "a\u{fffd}");
        check(&[], b"", "");
    }

    #[test]
    fn the_mark_names_the_order_of_bytes() {
        assert!(Utf16::of(b"\xff\xfea").is_some_and(|utf16| !utf16.is_big_endian));
        assert!(Utf16::of(b"\xfe\xff").is_some_and(|utf16| utf16.is_big_endian));
        for head in [&b""[..], b"\xff", b"\xfe", b"\xff\xff", b"\xef\xbb\xbf"] {
            assert!(Utf16::of(head).is_none());
        }
        assert!(Utf16::may_begin(b"\xff") && !Utf16::may_begin(b"\xff\n"));
    }
}
