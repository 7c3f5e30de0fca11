//! Error logs, which lie beside access logs: their lines are not requests.

/// Whether most of `head`, the first lines of a file, are lines of an error log.
pub(super) fn is_error_log(head: &[&[u8]]) -> bool {
    let count = head.iter().filter(|line| is_nginx(line) || is_apache(line)).count();
    count * 2 > head.len()
}

/// `2026/03/02 10:11:12 [error] 123#123: *45 ...`; from PHP-FPM or lighttpd, without the process.
fn is_nginx(line: &[u8]) -> bool {
    let Some((time, rest)) = line.split_at_checked(b"2026/03/02 10:11:12".len()) else {
        return false;
    };
    is_like(time, b"0000/00/00 00:00:00") && rest.starts_with(b" [") && rest.contains(&b':')
}

/// `[Mon Mar 02 10:11:12.123456 2026] [core:error] [pid 12] ...`; older ones without the fraction.
fn is_apache(line: &[u8]) -> bool {
    let Some((time, rest)) = line.split_at_checked(b"[Mon Mar 02 10:11:12".len()) else {
        return false;
    };
    is_like(&time[9..], b"00 00:00:00")
        && time[0] == b'['
        && rest.windows(3).take(16).any(|part| part == b"] [")
}

/// Whether `text` has digits where `pattern` has, and otherwise the same bytes.
fn is_like(text: &[u8], pattern: &[u8]) -> bool {
    text.iter().zip(pattern).all(|(byte, like)| match like {
        b'0' => byte.is_ascii_digit(),
        _ => byte == like,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_logs_are_known_by_their_lines() {
        for line in [
            "2026/03/02 10:11:12 [error] 123#123: *45 open() \"/x\" failed (2: No such file)",
            "[Mon Mar 02 10:11:12.123456 2026] [core:error] [pid 12:tid 34] AH00037: link",
            "[Mon Mar 02 10:11:12 2026] [error] [client 192.0.2.1] File does not exist: /x",
        ] {
            assert!(is_error_log(&[line.as_bytes()]), "{line}");
            assert!(is_error_log(&[line.as_bytes(), line.as_bytes(), b"\tat PHP"]), "{line}");
            assert!(!is_error_log(&[line.as_bytes(), b"x"]), "{line}");
            (0..line.len()).for_each(|end| {
                is_error_log(&[&line.as_bytes()[..end]]);
            });
        }
        let access = "192.0.2.1 - - [02/Mar/2026:10:11:12 +0000] \"GET / HTTP/1.1\" 200 5";
        assert!(!is_error_log(&[access.as_bytes()]) && !is_error_log(&[]));
    }
}
