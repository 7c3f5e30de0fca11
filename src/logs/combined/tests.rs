use super::*;

#[test]
fn any_bytes_in_the_fields() {
    let line = b"1.2.3.4 - \xff\0 [t] \"GET /\xe9\0 HTTP/1.1\" 200 1 \"\xff\" \"\0\xe9\" x";
    let LineContent::Fields(fields) = combined(line) else { panic!("it is combined") };
    let RequestFields::Line(request) = fields.request else { panic!("a request line") };
    assert_eq!(request.raw, b"GET /\xe9\0 HTTP/1.1");
    assert_eq!(fields.user_agent.raw, b"\0\xe9");
}

/// The fast path gives the same result as the slow one for lines that begin nearly like all
/// others.
#[test]
fn the_short_way_finds_what_the_long_one_does() {
    let pieces = ["c", "", " ", "-", "- ", "[", "]", "] ", "\"", "\\\"", "x,", "::1", "\u{e9}"];
    let usual = ["192.0.2.1", " - - [", "17/Apr/2025:05:10:56 +0100", "] \"", "GET / HTTP/1.1"];
    let mut lines = vec![usual.concat()];
    for index in 0..usual.len() {
        for piece in pieces {
            for at in 0..=usual[index].len() {
                let mut parts = usual.map(str::to_owned);
                parts[index].insert_str(at, piece);
                lines.push(parts.concat());
                // Here the length must not change.
                let mut bytes = usual[index].as_bytes().to_vec();
                bytes.splice(at..(at + piece.len()).min(usual[index].len()), piece.bytes());
                parts[index] = String::from_utf8_lossy(&bytes).into_owned();
                lines.push(parts.concat());
            }
        }
    }
    let mut count = 0;
    for line in lines {
        let line = [line.as_bytes(), b"\" 200 1 \"-\" \"ua\""].concat();
        let shown = line.escape_ascii().to_string();
        let found = |(client, front): (&[u8], Front<'_>)| {
            let request = (front.request.raw.to_vec(), front.request.escaping);
            let before = (client.to_vec(), front.columns.to_vec(), front.time.to_vec());
            (before, request, front.rest.to_vec())
        };
        let long = front(&line).and_then(|front| Ok((client(front.columns)?, front)));
        count += usize::from(nameless_head(&line).is_some());
        let short = client_and_front(&line);
        assert_eq!(short.map(found), long.map(found), "{shown}");
        for host in ["h", "h:80", "h]", "\"h", "h]\"", "-"] {
            let line = [host.as_bytes(), b" ", &line].concat();
            let long = front(&line).and_then(|front| {
                let (host, columns) = split_column(front.columns)?;
                Ok((host, client(columns)?, front))
            });
            let found = |(host, client, front): (&[u8], &[u8], Front<'_>)| {
                (host.to_vec(), client.to_vec(), front.time.to_vec(), front.rest.to_vec())
            };
            let short = host_and_front(&line);
            assert_eq!(short.map(found), long.map(found), "{host} {shown}");
        }
    }
    assert!(count > 100);
}

#[test]
fn no_prefix_of_a_line_panics() {
    let line = b"h:1 1.2.3.4 - \\\" [[t] \"GET /\\\" HTTP/1.1\" 200 1 \"r\\\"\" \"ua\" \"x\"";
    for end in 0..line.len() {
        for start in [0, 4, 12] {
            let line = line[..end].get(start..).unwrap_or_default();
            let _ = (common(line), combined(line), vhost_combined(line));
        }
    }
}
