//! The HTTP method of a request.

use botaudit_robots::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// A method of RFC 9110 section 9 or RFC 5789. Methods are case-sensitive, and any client can
    /// invent one, so all others are one.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "UPPERCASE")]
    pub enum Method {
        /// Asks for the resource.
        Get = "GET",
        /// Asks for its header only.
        Head = "HEAD",
        /// Sends data to it.
        Post = "POST",
        /// Replaces it.
        Put = "PUT",
        /// Removes it.
        Delete = "DELETE",
        /// Opens a tunnel.
        Connect = "CONNECT",
        /// Asks what can be done with it.
        Options = "OPTIONS",
        /// Asks for the request itself.
        Trace = "TRACE",
        /// Changes it.
        Patch = "PATCH",
        /// Any other, or none.
        Other = "other",
    }
}

impl Method {
    /// The method that a log names.
    #[inline]
    pub(crate) fn of(method: &[u8]) -> Method {
        match method {
            b"GET" => Method::Get,
            b"HEAD" => Method::Head,
            b"POST" => Method::Post,
            b"PUT" => Method::Put,
            b"DELETE" => Method::Delete,
            b"CONNECT" => Method::Connect,
            b"OPTIONS" => Method::Options,
            b"TRACE" => Method::Trace,
            b"PATCH" => Method::Patch,
            _ => Method::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_known_as_sent() {
        for method in Method::ALL.into_iter().filter(|method| *method != Method::Other) {
            assert_eq!(Method::of(method.as_str().as_bytes()), method);
        }
        for other in [&b"get"[..], b"-", b"", b"PROPFIND", b"GETT"] {
            assert_eq!(Method::of(other), Method::Other, "{other:?}");
        }
    }
}
