//! What a format is made of that is written as in a server's configuration.

/// What a field holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Slot {
    /// Nothing that is asked for.
    Ignored,
    /// The address of the client.
    Client,
    /// X-Forwarded-For.
    ForwardedFor,
    /// A time in one of the usual forms.
    Time,
    /// A time as this pattern of strftime writes it.
    TimeOf(Box<str>),
    /// The whole request line.
    Request,
    /// The method.
    Method,
    /// Path and query as sent.
    Target,
    /// The path as the server understood it: decoded, and without a query.
    DecodedPath,
    /// The same, with the query behind it.
    DecodedTarget,
    /// The query, with or without its `?`.
    Query,
    /// The status.
    Status,
    /// The size of the answer.
    Bytes,
    /// The user agent.
    UserAgent,
    /// The host that was asked for.
    Host,
    /// The server's own name for itself.
    ServerName,
    /// The port of the server.
    Port,
    /// `http` or `https`.
    Scheme,
}

/// A piece of a format, as its dialect's parser gives it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TemplateToken {
    /// Text that stands there as it is.
    Literal(Vec<u8>),
    /// A field, with the name that the user gave it.
    Field(Slot, String),
}
