//! Many origins: each is fetched once, hosts are not overloaded, and a failing sink stops all.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use botaudit::error::Error;
use botaudit::net::host_queue::{FetchBatch, FetchProgress, fetch_all};
use botaudit::net::outcome::FailureKind::{Connect, Dns};
use botaudit::net::outcome::FetchOutcome::{Failure, GivenUp, Status};
use botaudit::net::settings::Settings;
use botaudit::url::origin::Origin;

use super::server::{Server, deaf_port, hasty, listen, response, send};

fn origin(url: &str) -> Origin {
    Origin::parse(url.as_bytes()).unwrap()
}

fn batch(origins: Vec<Origin>, settings: &Settings) -> FetchBatch<'_> {
    FetchBatch { origins, settings, until: None }
}

/// A server that answers after `delay`.
fn slow(delay: Duration) -> Server {
    Server::http(move |_, stream| {
        thread::sleep(delay);
        send(stream, &response("200 OK", "", b""));
    })
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
            &[batch(origins.clone(), &hasty())],
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
    fetch_all(&[batch(origins, &hasty())], pause, 6, &FetchProgress::default(), |_, fetched| {
        assert_eq!(fetched.outcome, Status(200), "{}", fetched.note);
        Ok(())
    })
    .unwrap();
    assert!(start.elapsed() >= Duration::from_millis(5 * 50), "{:?}", start.elapsed());
}

#[test]
fn a_sink_that_fails_stops_the_rest() {
    let server = Server::saying(response("200 OK", "", b""));
    let settings = hasty();
    let batches = [batch(vec![server.origin(); 1000], &settings)];
    let fetched = fetch_all(&batches, Duration::ZERO, 2, &FetchProgress::default(), |_, _| {
        Err(Error::invalid_file(Path::new("archive"), "full"))
    });
    assert_eq!(fetched.unwrap_err().to_string(), "archive: full");
    assert!(server.requests.lock().unwrap().len() < 10);
}

/// `localhost` and `127.0.0.1` are two hosts. The first has many slow ports, and redirects lead there,
/// too; meanwhile the second is served.
#[test]
fn a_slow_host_keeps_no_thread_from_other_hosts() {
    let ports: Vec<Server> = (0..5).map(|_| slow(Duration::from_millis(200))).collect();
    let slow_origin = |server: &Server| origin(&format!("http://localhost:{}", server.port));
    let to = format!("Location: {}/robots.txt\r\n", slow_origin(&ports[0]));
    let redirecting = Server::saying(response("301 Moved", &to, b""));
    let quick: Vec<Server> = (0..10).map(|_| Server::saying(response("200 OK", "", b""))).collect();
    let mut origins: Vec<Origin> = ports.iter().map(slow_origin).collect();
    origins.push(redirecting.origin());
    origins.extend(quick.iter().map(Server::origin));
    let start = Instant::now();
    let mut order = Vec::new();
    fetch_all(
        &[batch(origins, &hasty())],
        Duration::ZERO,
        2,
        &FetchProgress::default(),
        |origin, fetched| {
            assert_eq!(fetched.outcome, Status(200), "{}", fetched.note);
            order.push((origin.host() == "localhost", start.elapsed()));
            Ok(())
        },
    )
    .unwrap();
    assert_eq!(order.len(), 16);
    let of_quick = order.iter().rposition(|(is_slow, _)| !is_slow);
    let is_quick = |(is_slow, _): &&(bool, Duration)| !is_slow;
    // All of the ten, before more than two of the slow ports; then only the redirect is left.
    let first_slow = order.iter().filter(|(is_slow, _)| *is_slow).nth(2).unwrap().1;
    let done = order.iter().filter(is_quick).filter(|(_, at)| *at < first_slow).count();
    assert!(done >= 10, "{done} {of_quick:?} {order:?}");
}

#[test]
fn when_the_time_is_over_the_rest_is_given_up() {
    let silent = listen(|stream| {
        thread::sleep(Duration::from_secs(20));
        drop(stream);
    });
    let named = Server::saying(response("200 OK", "", b""));
    let patient = Settings {
        read_timeout: Duration::from_secs(15),
        total_timeout: Duration::from_secs(15),
        ..Settings::default()
    };
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
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    assert_eq!(outcomes.len(), 21);
    assert_eq!(outcomes[0].0, Status(200));
    for (outcome, note) in &outcomes[1..] {
        assert_eq!(*outcome, GivenUp, "{note}");
        assert!(note.contains("--fetch-budget"), "{note}");
    }
}
