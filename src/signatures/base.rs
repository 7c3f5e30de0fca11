//! The signature base: the text that a signature signs (RFC 9421, section 2.5), from what a log has of
//! a request.

use std::collections::BTreeSet;

use crate::url::path::Target;

use super::fields::{BareItem, Dictionary, Item, Member};

/// The headers of a signature as sent; empty if the log does not have one.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct SignatureHeaders<'a> {
    /// Signature-Agent.
    pub agent: &'a [u8],
    /// Signature-Input.
    pub input: &'a [u8],
    /// Signature.
    pub signature: &'a [u8],
}

/// A request as its log shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignedRequest<'a> {
    /// The method.
    pub method: &'a [u8],
    /// The target as sent.
    pub target: &'a [u8],
    /// The host and port that may have been requested, the likeliest first: in lower case, without the
    /// usual port.
    pub authorities: &'a [&'a str],
    /// Whether the log names the host, so that it must be one of these.
    pub has_host: bool,
    /// The schemes that it may have had.
    pub schemes: &'a [&'a str],
    /// The User-Agent header, if there was one.
    pub user_agent: Option<&'a [u8]>,
    /// The headers.
    pub headers: SignatureHeaders<'a>,
}

/// Why a base is not known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NoBase {
    /// The log lacks a part of the request that the signature covers.
    NotLogged,
    /// The list of what the signature covers is not valid.
    Unreadable,
}

/// The headers of a request, read.
#[derive(Debug)]
pub(crate) struct ReadHeaders {
    pub inputs: Dictionary,
    pub signatures: Dictionary,
    pub agents: Option<Dictionary>,
}

/// One choice of what is uncertain about a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    pub authority: &'a str,
    pub scheme: &'a str,
}

/// The base of a signature that covers the `components`; `covered` is their list with its parameters.
pub(crate) fn signature_base(
    components: &[Item],
    covered: &str,
    request: &SignedRequest<'_>,
    headers: &ReadHeaders,
    reading: Reading<'_>,
) -> Result<Vec<u8>, NoBase> {
    let (mut base, mut identifiers) = (Vec::new(), BTreeSet::new());
    for component in components {
        let identifier = component.to_text();
        base.extend_from_slice(identifier.as_bytes());
        base.extend_from_slice(b": ");
        if !identifiers.insert(identifier) {
            return Err(NoBase::Unreadable);
        }
        value(component, request, headers, reading, &mut base)?;
        base.push(b'\n');
    }
    base.extend_from_slice(b"\"@signature-params\": ");
    base.extend_from_slice(covered.as_bytes());
    Ok(base)
}

/// Appends the value of a component to `base`.
fn value(
    component: &Item,
    request: &SignedRequest<'_>,
    headers: &ReadHeaders,
    reading: Reading<'_>,
    base: &mut Vec<u8>,
) -> Result<(), NoBase> {
    let BareItem::String(name) = &component.value else { return Err(NoBase::Unreadable) };
    let mut parameters = component.parameters.names();
    match (name.as_str(), parameters.next()) {
        ("signature-agent" | "signature-input" | "signature", Some("key"))
            if parameters.next().is_none() =>
        {
            let key = component.parameters.string("key").ok_or(NoBase::Unreadable)?;
            let text = headers.of(name).and_then(|of| of.get(key)).map(Member::to_text);
            base.extend_from_slice(text.ok_or(NoBase::Unreadable)?.as_bytes());
            return Ok(());
        }
        // `sf`, `bs`, `req` and others need what logs do not have.
        (_, Some(_)) => return Err(NoBase::NotLogged),
        (_, None) => {}
    }
    let target = Target::of(request.method, request.target);
    let whole = || target.path().map(path_and_query).ok_or(NoBase::NotLogged);
    match name.as_str() {
        "@method" => base.extend_from_slice(request.method),
        "@authority" | "host" => base.extend_from_slice(reading.authority.as_bytes()),
        "@scheme" => base.extend_from_slice(reading.scheme.as_bytes()),
        "@request-target" => base.extend_from_slice(request.target),
        "@path" => base.extend_from_slice(whole()?.0),
        "@query" => {
            base.push(b'?');
            base.extend_from_slice(whole()?.1.unwrap_or_default());
        }
        "@target-uri" => {
            let (path, query) = whole()?;
            base.extend_from_slice(
                format!("{}://{}", reading.scheme, reading.authority).as_bytes(),
            );
            base.extend_from_slice(path);
            if let Some(query) = query {
                base.push(b'?');
                base.extend_from_slice(query);
            }
        }
        "signature-agent" => append_header(request.headers.agent, base)?,
        "signature-input" => append_header(request.headers.input, base)?,
        "signature" => append_header(request.headers.signature, base)?,
        "user-agent" => append_header(request.user_agent.unwrap_or_default(), base)?,
        // An answer has it, or the rule for lists forbids it.
        "@status" | "@signature-params" => return Err(NoBase::Unreadable),
        _ => return Err(NoBase::NotLogged),
    }
    Ok(())
}

/// Appends the value of a header without the space around it.
fn append_header(header: &[u8], base: &mut Vec<u8>) -> Result<(), NoBase> {
    let header = header.trim_ascii();
    if header.is_empty() || header.contains(&b'\n') {
        return Err(NoBase::NotLogged);
    }
    base.extend_from_slice(header);
    Ok(())
}

/// The path, `/` if it is empty, and the query without its question mark.
fn path_and_query(target: &[u8]) -> (&[u8], Option<&[u8]>) {
    let end = target.iter().position(|&byte| byte == b'#').unwrap_or(target.len());
    let target = &target[..end];
    let (path, query) = match memchr::memchr(b'?', target) {
        Some(at) => (&target[..at], Some(&target[at + 1..])),
        None => (target, None),
    };
    (if path.is_empty() { b"/" } else { path }, query)
}

impl ReadHeaders {
    /// Reads all three; `None` if the signatures cannot be read.
    pub(crate) fn read(headers: &SignatureHeaders<'_>) -> Option<ReadHeaders> {
        Some(ReadHeaders {
            inputs: Dictionary::read(headers.input)?,
            signatures: Dictionary::read(headers.signature)?,
            agents: Dictionary::read(headers.agent),
        })
    }

    fn of(&self, name: &str) -> Option<&Dictionary> {
        match name {
            "signature-agent" => self.agents.as_ref(),
            "signature-input" => Some(&self.inputs),
            _ => Some(&self.signatures),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signatures::fields::Dictionary;

    #[track_caller]
    fn check(components: &str, expected: Result<&str, NoBase>) {
        let inputs = Dictionary::read(format!("s={components}").as_bytes()).unwrap();
        let Some(Member::List(items, _)) = inputs.get("s") else { panic!("{components}") };
        let headers = SignatureHeaders {
            agent: b" a=\"https://a.example\" ;  type=jwks_uri, b=x ",
            input: b"s=()",
            signature: b"s=:AQI:",
        };
        let request = SignedRequest {
            method: b"GET",
            target: b"/p/%7e?q=1&r",
            authorities: &["example.com"],
            has_host: true,
            schemes: &["https"],
            user_agent: Some(b"Bot/1"),
            headers,
        };
        let read = ReadHeaders::read(&headers);
        let reading = Reading { authority: "example.com", scheme: "https" };
        let Some(read) = read else { panic!("readable") };
        let base = signature_base(items, "()", &request, &read, reading);
        let base = base.map(|base| String::from_utf8(base).unwrap());
        let all = |values: &str| match values {
            "" => "\"@signature-params\": ()".to_owned(),
            _ => format!("{values}\n\"@signature-params\": ()"),
        };
        assert_eq!(base, expected.map(all), "{components}");
    }

    #[test]
    fn parts_of_a_request_are_as_the_rfc_wants_them() {
        check("()", Ok(""));
        check(
            r#"("@method" "@authority" "host" "@scheme")"#,
            Ok(
                "\"@method\": GET\n\"@authority\": example.com\n\"host\": example.com\n\"@scheme\": https",
            ),
        );
        check(
            r#"("@path" "@query" "@request-target" "@target-uri")"#,
            Ok(
                "\"@path\": /p/%7e\n\"@query\": ?q=1&r\n\"@request-target\": /p/%7e?q=1&r\n\"@target-uri\": https://example.com/p/%7e?q=1&r",
            ),
        );
        check(r#"("user-agent")"#, Ok("\"user-agent\": Bot/1"));
        // The member is written again, the whole header is not.
        check(r#"("signature-agent";key="b" "signature";key="s")"#, Err(NoBase::Unreadable));
        check(r#"("signature-input";key="s")"#, Ok("\"signature-input\";key=\"s\": ()"));
        check(r#"("signature";key="s")"#, Ok("\"signature\";key=\"s\": :AQI=:"));
        for (components, expected) in [
            (r#"("date")"#, NoBase::NotLogged),
            (r#"("@query-param";name="q")"#, NoBase::NotLogged),
            (r#"("@method";req)"#, NoBase::NotLogged),
            (r#"("@status")"#, NoBase::Unreadable),
            (r#"("@method" "@method")"#, NoBase::Unreadable),
            (r#"("signature";key="x")"#, NoBase::Unreadable),
            ("(x)", NoBase::Unreadable),
        ] {
            check(components, Err(expected));
        }
    }

    #[test]
    fn paths_and_queries() {
        for (target, expected) in [
            ("/a?b?c#d", ("/a", Some("b?c"))),
            ("/a", ("/a", None)),
            ("?", ("/", Some(""))),
            ("", ("/", None)),
        ] {
            let (path, query) = path_and_query(target.as_bytes());
            let expected = (expected.0.as_bytes(), expected.1.map(str::as_bytes));
            assert_eq!((path, query), expected, "{target}");
        }
    }
}
