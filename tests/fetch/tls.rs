//! HTTPS: only a certificate of a trusted authority is accepted.

use std::fs;
use std::net::TcpStream;
use std::sync::Arc;

use botaudit::net::fetch::{Fetched, fetch};
use botaudit::net::outcome::FailureKind::Tls;
use botaudit::net::outcome::FetchOutcome;
use botaudit::net::outcome::FetchOutcome::{Failure, Status};
use botaudit::net::settings::{Settings, Trust};
use botaudit::url::origin::Origin;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::server::{Server, listen, read_head, relaxed, response, send};

const RULES: &[u8] = b"User-agent: *\nDisallow: /\n";

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn certificate_for(
    hosts: &[&str],
    issuer: &Authority,
    years: (i32, i32),
) -> (Certificate, KeyPair) {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut params = CertificateParams::new(hosts).unwrap();
    params.not_before = date_time_ymd(years.0, 1, 1);
    params.not_after = date_time_ymd(years.1, 1, 1);
    let key = KeyPair::generate().unwrap();
    (params.signed_by(&key, issuer).unwrap(), key)
}

/// A server with `certificate` that returns the rules.
fn serve((certificate, key): (Certificate, KeyPair)) -> u16 {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    listen(move |stream: TcpStream| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        if !read_head(&mut stream).is_empty() {
            send(&mut stream, &response("200 OK", "", RULES));
            stream.conn.send_close_notify();
            send(&mut stream, b"");
        }
    })
}

/// The port of a server without a trusted certificate.
pub fn untrusted() -> u16 {
    serve(certificate_for(&["127.0.0.1"], &authority(), (2020, 2999)))
}

fn trusting(pem: &str) -> Settings {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ca.pem");
    fs::write(&path, pem).unwrap();
    Settings { trust: Trust::from_pem_file(&path).unwrap(), ..relaxed() }
}

fn get(host: &str, port: u16, settings: &Settings) -> Fetched {
    let origin = Origin::new(b"https", host.as_bytes(), Some(port)).unwrap();
    fetch(&origin, settings)
}

#[track_caller]
fn check(host: &str, port: u16, settings: &Settings, outcome: FetchOutcome) {
    let fetched = get(host, port, settings);
    assert_eq!(fetched.outcome, outcome, "{}", fetched.note);
    assert_eq!(fetched.body.is_empty(), outcome != Status(200));
}

#[test]
fn a_certificate_proves_the_host_it_names() {
    let authority = authority();
    let settings = trusting(&authority.pem());
    let port = serve(certificate_for(&["127.0.0.1", "localhost"], &authority, (2020, 2999)));
    check("127.0.0.1", port, &settings, Status(200));
    check("localhost", port, &settings, Status(200));
    assert_eq!(get("localhost", port, &settings).body, RULES);

    let wrong = serve(certificate_for(&["example.com"], &authority, (2020, 2999)));
    check("localhost", wrong, &settings, Failure(Tls));
    let expired = serve(certificate_for(&["localhost"], &authority, (2019, 2020)));
    check("localhost", expired, &settings, Failure(Tls));
    let early = serve(certificate_for(&["localhost"], &authority, (2900, 2999)));
    check("localhost", early, &settings, Failure(Tls));
}

#[test]
fn nobody_vouches_for_a_stranger() {
    let (known, unknown) = (authority(), authority());
    let port = serve(certificate_for(&["localhost"], &unknown, (2020, 2999)));
    check("localhost", port, &trusting(&known.pem()), Failure(Tls));
    // The built-in authorities do not trust it either.
    check("localhost", port, &relaxed(), Failure(Tls));
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    check("localhost", serve((own, key)), &relaxed(), Failure(Tls));
}

#[test]
fn what_does_not_speak_tls_fails() {
    let plain = listen(|mut stream| {
        send(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\nspeak plainly");
        read_head(&mut stream);
    });
    check("127.0.0.1", plain, &relaxed(), Failure(Tls));
    let garbage = listen(|mut stream| {
        send(&mut stream, &[0x16; 5000]);
        read_head(&mut stream);
    });
    check("127.0.0.1", garbage, &relaxed(), Failure(Tls));
}

#[test]
fn a_redirect_may_change_to_https() {
    let authority = authority();
    let port = serve(certificate_for(&["localhost"], &authority, (2020, 2999)));
    let location = format!("Location: https://localhost:{port}/robots.txt\r\n");
    let server = Server::saying(response("301 Moved", &location, b""));
    let fetched = fetch(&server.origin(), &trusting(&authority.pem()));
    assert_eq!((fetched.outcome, fetched.body.as_slice()), (Status(200), RULES));
    let fetched = fetch(&server.origin(), &relaxed());
    assert_eq!((fetched.outcome, fetched.chain.len()), (Failure(Tls), 1));
}

#[test]
fn a_file_without_certificates_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ca.pem");
    for text in ["", "nothing", "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n"] {
        fs::write(&path, text).unwrap();
        let message = Trust::from_pem_file(&path).unwrap_err().to_string();
        assert!(message.contains("ca.pem: "), "{message}");
    }
    assert!(Trust::from_pem_file(&dir.path().join("none.pem")).is_err());
}
