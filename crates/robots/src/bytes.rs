//! Fast tests of texts: whether any byte is special, and whether two are equal.

/// Whether `is_special` holds for any byte. Usually it holds for none, so all bytes are tested, 32
/// at a time. The compiler makes about thirty instructions of that, if `is_special` consists of
/// comparisons joined by `|`.
// As a call it takes three times as many.
#[inline(always)]
pub fn any(bytes: &[u8], is_special: impl Fn(u8) -> bool + Copy) -> bool {
    if let Some(last) = bytes.last_chunk::<32>() {
        let (chunks, _) = bytes.as_chunks::<32>();
        // The remaining bytes are tested together with some bytes before them.
        return chunks.iter().chain([last]).any(|chunk| any_of(chunk, is_special));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<16>(), bytes.last_chunk::<16>()) {
        let mut both = [0; 32];
        both[..16].copy_from_slice(first);
        both[16..].copy_from_slice(last);
        return any_of(&both, is_special);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let mut both = [0; 16];
        both[..8].copy_from_slice(first);
        both[8..].copy_from_slice(last);
        return any_of(&both, is_special);
    }
    bytes.iter().any(|&byte| is_special(byte))
}

#[inline]
fn any_of<const N: usize>(chunk: &[u8; N], is_special: impl Fn(u8) -> bool) -> bool {
    // Without a branch, so that all bytes are tested at once.
    chunk.iter().fold(0, |any, &byte| any | u8::from(is_special(byte))) != 0
}

/// Whether two texts are equal. They are compared up to 32 bytes at a time, without the C library's
/// comparison, which some systems do byte by byte (musl).
#[inline]
pub fn equal(first: &[u8], second: &[u8]) -> bool {
    if first.len() != second.len() {
        return false;
    }
    match first.len() {
        0..8 => first.iter().zip(second).all(|(first, second)| first == second),
        8..16 => ends_equal::<8>(first, second),
        16..32 => ends_equal::<16>(first, second),
        _ => {
            let chunks = first.as_chunks::<32>().0.iter().zip(second.as_chunks::<32>().0);
            first.last_chunk::<32>() == second.last_chunk::<32>()
                && chunks.into_iter().all(|(first, second)| first == second)
        }
    }
}

/// Whether the first and the last `N` bytes are equal.
#[inline]
fn ends_equal<const N: usize>(first: &[u8], second: &[u8]) -> bool {
    first.first_chunk::<N>() == second.first_chunk::<N>()
        && first.last_chunk::<N>() == second.last_chunk::<N>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One byte at every position of texts of every length up to three chunks.
    #[test]
    fn one_is_found_wherever_it_stands() {
        for length in 0..=96 {
            let mut text = vec![b'a'; length];
            assert!(!any(&text, |byte| byte == b'!'), "{length}");
            for at in 0..length {
                text[at] = b'!';
                assert!(any(&text, |byte| byte == b'!'), "{at} of {length}");
                assert!(!any(&text, |byte| byte == b'?'), "{at} of {length}");
                text[at] = b'a';
            }
        }
    }

    #[test]
    fn texts_are_equal_if_all_their_bytes_are() {
        for length in 0..=96 {
            let text = vec![b'a'; length];
            assert!(equal(&text, &text.clone()), "{length}");
            assert!(
                !equal(&text, &vec![b'a'; length + 1])
                    && !equal(&[&text, &b"a"[..]].concat(), &text)
            );
            for at in 0..length {
                let mut other = text.clone();
                other[at] = b'!';
                assert!(!equal(&text, &other) && !equal(&other, &text), "{at} of {length}");
            }
        }
    }
}
