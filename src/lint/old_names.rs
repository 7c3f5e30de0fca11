//! Names in real robots.txt files that no known crawler has, and that are no typos.

/// Names of small or old programs of their own, which are similar to those of known crawlers.
const OWN: [&str; 8] =
    ["Aboundex", "Buddy", "DISCo", "factbot", "LinkChecker", "Roverbot", "Verity", "YodaoBot"];

/// Names that a crawler had, with what became of it.
const RETIRED: [(&str, &str); 5] = [
    ("Googlebot-Mobile", "Googlebot crawls for phones, too, so write 'User-agent: Googlebot'"),
    ("DuplexWeb-Google", "Google closed the service"),
    ("googleweblight", "Google closed the service"),
    ("Scooter", "it was AltaVista's, which closed in 2013"),
    ("Twiceler", "it was Cuil's, which closed in 2010"),
];

/// Whether a program of its own has this name.
pub(super) fn is_own(name: &[u8]) -> bool {
    OWN.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(name))
}

/// What became of the crawler with this name; `None` if it is not known to be retired.
pub(super) fn retired(name: &[u8]) -> Option<&'static str> {
    let found = RETIRED.iter().find(|(retired, _)| retired.as_bytes().eq_ignore_ascii_case(name));
    found.map(|(_, what)| *what)
}
