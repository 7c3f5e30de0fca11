//! Responses with random damage: every fetch ends soon.

use crate::random::Random;
use std::time::Instant;

use botaudit::net::fetch::fetch;
use botaudit::net::settings::Settings;

use super::server::{PATIENCE, Server, hasty, response};

#[test]
fn random_damage_never_harms() {
    let gzip: &[u8] =
        b"\x1f\x8b\x08\0\0\0\0\0\0\xffK\xcc\xc9\xc9\x2f\xb7\x52\xd0\x07\0\0\0\0\0\0\0\0\0";
    let whole: [Vec<u8>; 4] = [
        response(
            "200 OK",
            "Cache-Control: max-age=60\r\nX: y\r\n",
            b"User-agent: *\nDisallow: /\n",
        ),
        response("301 Moved", "Location: http://127.0.0.1:1/robots.txt\r\n", b""),
        response("200 OK", "Content-Encoding: gzip\r\n", gzip),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nallow\r\n3\r\n: /\r\n0\r\n\r\n"
            .to_vec(),
    ];
    let mut random = Random::new();
    // A damaged redirect may lead anywhere, and no test uses the outside network.
    let settings = Settings { redirects_max: 0, ..hasty() };
    for _ in 0..400 {
        let mut damaged = whole[random.below(whole.len())].clone();
        for _ in 0..=random.below(4) {
            let at = random.below(damaged.len());
            match random.below(4) {
                0 => damaged[at] = u8::try_from(random.below(256)).unwrap(),
                1 if damaged.len() > 1 => drop(damaged.remove(at)),
                2 => damaged.insert(at, b"0\r\n:, \xff"[random.below(7)]),
                _ => damaged.truncate(at.max(1)),
            }
        }
        let shown = String::from_utf8_lossy(&damaged).into_owned();
        let once = Instant::now();
        let fetched = fetch(&Server::saying(damaged).origin(), &settings);
        assert!(once.elapsed() < PATIENCE, "{shown}\n{}", fetched.outcome);
    }
}
