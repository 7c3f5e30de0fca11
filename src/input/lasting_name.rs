//! The part of a log's name that rotation and compression do not change.

/// `name` without the suffixes of rotation and compression: `access.log` for `access.log.2.gz` and
/// `access.log-20261120.zst`.
pub(crate) fn lasting_name(name: &str) -> String {
    let mut name = name;
    loop {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let shorter = match name.rsplit_once('.') {
            Some((start, "gz" | "zst" | "bz2" | "xz" | "old")) => Some(start),
            Some((start, end)) if is_number(end) && end.len() <= 5 => Some(start),
            _ => name.rsplit_once('-').and_then(|(start, end)| {
                let is_date = is_number(end) && (8..=14).contains(&end.len());
                is_date.then_some(start)
            }),
        };
        match shorter.filter(|name| !name.is_empty() && !name.ends_with('/')) {
            Some(shorter) => name = shorter,
            None => return name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_last_over_rotation() {
        for name in [
            "/var/log/access.log",
            "/var/log/access.log.1",
            "/var/log/access.log.12.gz",
            "/var/log/access.log-20261120",
            "/var/log/access.log-20261120.zst",
            "/var/log/access.log-20261120-1763600000.bz2",
            "/var/log/access.log.old",
        ] {
            assert_eq!(lasting_name(name), "/var/log/access.log", "{name}");
        }
        assert_eq!(lasting_name("logs/.1"), "logs/.1");
        assert_eq!(lasting_name("u_ex261120.log"), "u_ex261120.log");
    }
}
