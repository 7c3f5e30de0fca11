//! Any bytes are replies of an FTP server: they end, and each is one of the server's lines.

#![no_main]

use std::io::Write;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use botaudit::net::ftp::{extended_port, passive_port, Control};
use botaudit::net::settings::Deadline;
use libfuzzer_sys::fuzz_target;

static LISTENER: LazyLock<TcpListener> =
    LazyLock::new(|| TcpListener::bind("0.0.0.0:0").expect("a port is free"));

/// Each connection has a host of its own, because ports stay in use for a minute.
static HOST: AtomicU32 = AtomicU32::new(0);

fuzz_target!(|data: &[u8]| {
    let data = &data[..data.len().min(8 << 10)];
    let host = 0x7f00_0001 + HOST.fetch_add(1, Ordering::Relaxed) % 0xff_fff0;
    let port = LISTENER.local_addr().expect("it is bound").port();
    let client = TcpStream::connect((Ipv4Addr::from_bits(host), port)).expect("it listens");
    let (mut server, _) = LISTENER.accept().expect("it was connected to");
    server.write_all(data).expect("the buffer of a socket has room");
    server.shutdown(Shutdown::Write).expect("it is open");
    let minute = Duration::from_secs(60);
    let mut control = Control::new(client, Deadline::new(minute, minute));
    while let Ok(reply) = control.reply() {
        assert!((100..600).contains(&reply.code));
        assert!(
            reply.line.is_empty() || data.windows(reply.line.len()).any(|part| part == reply.line)
        );
        for port in [extended_port(&reply.line), passive_port(&reply.line)] {
            assert_ne!(port, Some(0));
        }
    }
});
