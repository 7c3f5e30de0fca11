//! The tokens of a format from a server configuration.

/// The content of a field.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Slot {
    /// Not needed.
    Ignored,
    /// The address of the client.
    Client,
    /// X-Forwarded-For.
    ForwardedFor,
    /// A time in one of the usual forms.
    Time,
    /// A time with this strftime pattern.
    TimeOf(Box<str>),
    /// The whole request line.
    Request,
    /// The method.
    Method,
    /// Path and query as sent.
    Target,
    /// The path as decoded by the server, without the query.
    DecodedPath,
    /// The decoded path with the query.
    DecodedTarget,
    /// The query, with or without its `?`.
    Query,
    /// The status.
    Status,
    /// The size of the answer.
    Bytes,
    /// The user agent.
    UserAgent,
    /// The Referer header.
    Referer,
    /// The requested host.
    Host,
    /// The server's configured name.
    ServerName,
    /// The port of the server.
    Port,
    /// `http` or `https`.
    Scheme,
    /// The Signature-Agent header.
    SignatureAgent,
    /// The Signature-Input header.
    SignatureInput,
    /// The Signature header.
    Signature,
}

/// A token of a format.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum TemplateToken {
    /// Literal text.
    Literal(Vec<u8>),
    /// A field, with the name that the user gave it.
    Field(Slot, String),
}
