//! Many origins: each is fetched once, hosts are not overloaded, and a failing sink stops all.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use botaudit::error::Error;
use botaudit::net::batch::{FetchProgress, fetch_all};
use botaudit::net::outcome::FailureKind::{Connect, Dns};
use botaudit::net::outcome::FetchOutcome::{Failure, Status};
use botaudit::net::rate_limit::RateLimit;
use botaudit::url::origin::Origin;

use super::server::{Server, deaf_port, hasty, rate_limit, response, send};

fn origin(url: &str) -> Origin {
    Origin::parse(url.as_bytes()).unwrap()
}

#[test]
fn each_origin_has_its_own_outcome() {
    let good = Server::saying(response("200 OK", "", b"allow: /"));
    let bad = Server::saying(response("503 No", "", b""));
    let dead = origin(&format!("http://127.0.0.1:{}", deaf_port()));
    let lost = origin("https://nobody.invalid");
    let expected = HashMap::from([
        (good.origin(), Status(200)),
        (bad.origin(), Status(503)),
        (dead, Failure(Connect)),
        (lost, Failure(Dns)),
    ]);
    let origins: Vec<Origin> = expected.keys().cloned().collect();
    for jobs in [0, 1, 3, 20] {
        let mut found = HashMap::new();
        let progress = FetchProgress::default();
        fetch_all(
            origins.iter().cloned(),
            &hasty(),
            &rate_limit(),
            jobs,
            &progress,
            |origin, fetched| {
                assert!(found.insert(origin.clone(), fetched.outcome).is_none());
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(found, expected);
        assert_eq!(progress.done.load(Ordering::Relaxed), 4);
    }
}

#[test]
fn a_host_is_asked_by_one_at_a_time_with_pauses() {
    let within = Arc::new(AtomicUsize::new(0));
    let servers: Vec<Server> = (0..6)
        .map(|_| {
            let within = Arc::clone(&within);
            Server::http(move |_, stream| {
                assert_eq!(within.fetch_add(1, Ordering::SeqCst), 0, "asked twice at once");
                thread::sleep(Duration::from_millis(10));
                within.fetch_sub(1, Ordering::SeqCst);
                send(stream, &response("200 OK", "", b""));
            })
        })
        .collect();
    let start = Instant::now();
    let rate_limit = RateLimit::new(Duration::from_millis(40));
    let origins = servers.iter().map(Server::origin).collect::<Vec<_>>();
    fetch_all(
        origins.into_iter(),
        &hasty(),
        &rate_limit,
        6,
        &FetchProgress::default(),
        |_, fetched| {
            assert_eq!(fetched.outcome, Status(200), "{}", fetched.note);
            Ok(())
        },
    )
    .unwrap();
    assert!(start.elapsed() >= Duration::from_millis(5 * 50), "{:?}", start.elapsed());
}

#[test]
fn a_sink_that_fails_stops_the_rest() {
    let server = Server::saying(response("200 OK", "", b""));
    let origins = std::iter::repeat_with(|| server.origin());
    let fetched =
        fetch_all(origins, &hasty(), &rate_limit(), 2, &FetchProgress::default(), |_, _| {
            Err(Error::invalid_file(Path::new("archive"), "full"))
        });
    assert_eq!(fetched.unwrap_err().to_string(), "archive: full");
    assert!(server.requests.lock().unwrap().len() < 10);
}
