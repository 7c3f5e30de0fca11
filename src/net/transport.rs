//! Connections of the HTTP client: to checked addresses only, and with a reset as an error.

use std::io;
use std::net::SocketAddr;

use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, DefaultConnector, NextTimeout, Transport,
};
use ureq::{Error, config::Config, http::Uri};

/// Resolves to addresses that were looked up and checked before, whatever a name server answers
/// later.
#[derive(Debug)]
pub(crate) struct Pinned(pub Vec<SocketAddr>);

impl Resolver for Pinned {
    fn resolve(
        &self,
        _uri: &Uri,
        _config: &Config,
        _timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let mut found = self.empty();
        for address in &self.0 {
            if found.try_push(*address).is_err() {
                break;
            }
        }
        if found.is_empty() { Err(Error::HostNotFound) } else { Ok(found) }
    }
}

/// The client's own connections, with TLS for https, on which a reset is an error.
pub(crate) fn connector() -> impl Connector {
    DefaultConnector::new().chain(StrictConnector)
}

#[derive(Debug)]
struct StrictConnector;

impl<In: Transport> Connector<In> for StrictConnector {
    type Out = Strict<In>;

    fn connect(
        &self,
        _details: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<Strict<In>>, Error> {
        Ok(chained.map(Strict))
    }
}

/// Without a length and chunks, the client would take a reset for the end of the body.
#[derive(Debug)]
struct Strict<T>(T);

impl<T: Transport> Transport for Strict<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.0.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.0.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.0.await_input(timeout).map_err(|err| match err {
            Error::Io(err) if is_reset(&err) => {
                Error::Io(io::Error::new(io::ErrorKind::BrokenPipe, err))
            }
            err => err,
        })
    }

    fn is_open(&mut self) -> bool {
        self.0.is_open()
    }

    fn is_tls(&self) -> bool {
        self.0.is_tls()
    }
}

fn is_reset(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted)
}
