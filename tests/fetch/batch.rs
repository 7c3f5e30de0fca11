//! Many origins: each is fetched once, hosts are not overloaded, and a failing sink stops all.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use botaudit::error::Error;
use botaudit::net::host_queue::{FetchBatch, FetchProgress, fetch_all};
use botaudit::net::outcome::FailureKind::{Connect, Dns};
use botaudit::net::outcome::FetchOutcome::{Failure, GivenUp, Status};
use botaudit::net::settings::Settings;
use botaudit::url::origin::Origin;

use super::server::{PATIENCE, Server, deaf_port, listen, relaxed, response, send};

fn origin(url: &str) -> Origin {
    Origin::parse(url.as_bytes()).unwrap()
}

fn batch(origins: Vec<Origin>, settings: &Settings) -> FetchBatch<'_> {
    FetchBatch { origins, settings, until: None }
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
            &[batch(origins.clone(), &relaxed())],
            Duration::ZERO,
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
    let pause = Duration::from_millis(40);
    let origins = servers.iter().map(Server::origin).collect::<Vec<_>>();
    fetch_all(&[batch(origins, &relaxed())], pause, 6, &FetchProgress::default(), |_, fetched| {
        assert_eq!(fetched.outcome, Status(200), "{}", fetched.note);
        Ok(())
    })
    .unwrap();
    assert!(start.elapsed() >= Duration::from_millis(5 * 50), "{:?}", start.elapsed());
}

#[test]
fn a_sink_that_fails_stops_the_rest() {
    let server = Server::saying(response("200 OK", "", b""));
    let settings = relaxed();
    let batches = [batch(vec![server.origin(); 1000], &settings)];
    let fetched = fetch_all(&batches, Duration::ZERO, 2, &FetchProgress::default(), |_, _| {
        Err(Error::invalid_file(Path::new("archive"), "full"))
    });
    assert_eq!(fetched.unwrap_err().to_string(), "archive: full");
    assert!(server.requests.lock().unwrap().len() < 10);
}

/// A server that answers after each of `others` was asked, and tells if it waited in vain.
fn slow(others: &Arc<Vec<Server>>, was_in_vain: &Arc<AtomicBool>) -> Server {
    let (others, was_in_vain) = (Arc::clone(others), Arc::clone(was_in_vain));
    Server::http(move |_, stream| {
        let start = Instant::now();
        while others.iter().any(|other| other.requests.lock().unwrap().is_empty()) {
            if start.elapsed() > PATIENCE / 3 {
                was_in_vain.store(true, Ordering::SeqCst);
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        send(stream, &response("200 OK", "", b""));
    })
}

/// `localhost` and `127.0.0.1` are two hosts. The first has many slow ports, and redirects lead there,
/// too; meanwhile the second is served.
#[test]
fn a_slow_host_keeps_no_thread_from_other_hosts() {
    let quick: Vec<Server> = (0..10).map(|_| Server::saying(response("200 OK", "", b""))).collect();
    let quick = Arc::new(quick);
    let was_in_vain = Arc::new(AtomicBool::new(false));
    let ports: Vec<Server> = (0..5).map(|_| slow(&quick, &was_in_vain)).collect();
    let slow_origin = |server: &Server| origin(&format!("http://localhost:{}", server.port));
    let to = format!("Location: {}/robots.txt\r\n", slow_origin(&ports[0]));
    let redirecting = Server::saying(response("301 Moved", &to, b""));
    let mut origins: Vec<Origin> = ports.iter().map(slow_origin).collect();
    origins.push(redirecting.origin());
    origins.extend(quick.iter().map(Server::origin));
    let mut answers = 0;
    fetch_all(
        &[batch(origins, &relaxed())],
        Duration::ZERO,
        2,
        &FetchProgress::default(),
        |_, fetched| {
            assert_eq!(fetched.outcome, Status(200), "{}", fetched.note);
            answers += 1;
            Ok(())
        },
    )
    .unwrap();
    assert_eq!(answers, 16);
    assert!(!was_in_vain.load(Ordering::SeqCst), "a slow port kept threads from other hosts");
}

#[test]
fn when_the_time_is_over_the_rest_is_given_up() {
    let silent = listen(|stream| {
        thread::sleep(2 * PATIENCE);
        drop(stream);
    });
    let named = Server::saying(response("200 OK", "", b""));
    let patient =
        Settings { read_timeout: 2 * PATIENCE, total_timeout: 2 * PATIENCE, ..Settings::default() };
    let start = Instant::now();
    let until = Some(start + Duration::from_millis(500));
    let origins = vec![origin(&format!("http://127.0.0.1:{silent}")); 20];
    let batches =
        [batch(vec![named.origin()], &patient), FetchBatch { origins, settings: &patient, until }];
    let mut outcomes = Vec::new();
    let pause = Duration::from_millis(100);
    fetch_all(&batches, pause, 3, &FetchProgress::default(), |_, fetched| {
        outcomes.push((fetched.outcome, fetched.note));
        Ok(())
    })
    .unwrap();
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    assert_eq!(outcomes.len(), 21);
    assert_eq!(outcomes[0].0, Status(200));
    for (outcome, note) in &outcomes[1..] {
        assert_eq!(*outcome, GivenUp, "{note}");
        assert!(note.contains("--fetch-budget"), "{note}");
    }
}
