//! The headers of a signature in a line (RFC 9421, and Web Bot Auth).
//!
//! Most requests have none, and most layouts cannot carry them, so that a line without them costs one
//! comparison.

use crate::signatures::{base::SignatureHeaders, check::SignatureState};

use super::field::RawField;

/// The end of a line, its signature, or the place of its record; no layout has several of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rest<'a> {
    /// The rest of the line; a quoted list of addresses in it is X-Forwarded-For.
    Tail(&'a [u8]),
    /// The headers of a signature, or unset ones.
    Signature(SignatureFields<'a>),
    /// The offset of a record in the archive of a crawl, a number or unset.
    Offset(&'a [u8]),
}

/// The headers of a signature in a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SignatureFields<'a> {
    pub agent: RawField<'a>,
    pub input: RawField<'a>,
    pub signature: RawField<'a>,
    /// What a server in front said of it.
    pub edge: RawField<'a>,
}

impl<'a> SignatureFields<'a> {
    /// Whether a request had a signature.
    pub(super) fn of(self) -> Rest<'a> {
        match self.input.is_unset() {
            true => Rest::Tail(b""),
            false => Rest::Signature(self),
        }
    }

    /// What a server in front said of the signature; `None` if it said nothing.
    pub(super) fn edge(&self) -> Option<SignatureState> {
        SignatureState::of_edge(self.edge.raw)
    }

    /// The headers as sent; `None` if the request had no signature.
    pub(super) fn read<'s>(
        &self,
        [agent, input, signature]: &'s mut [Vec<u8>; 3],
    ) -> Option<SignatureHeaders<'s>>
    where
        'a: 's,
    {
        // An unset header is empty.
        let value = |field: &RawField<'a>, scratch: &'s mut Vec<u8>| match field.is_unset() {
            true => &b""[..],
            false => field.value(scratch),
        };
        let headers = SignatureHeaders {
            agent: value(&self.agent, agent),
            input: value(&self.input, input),
            signature: value(&self.signature, signature),
        };
        (!headers.input.is_empty()).then_some(headers)
    }
}

#[cfg(test)]
mod tests {
    use crate::logs::LineContent;
    use crate::logs::detect::named;
    use crate::logs::format::Hints;
    use crate::logs::format::{Format, Reader};
    use crate::logs::json::own_names::OwnNames;
    use crate::logs::own_format;
    use crate::logs::proxies::Captures;
    use crate::logs::record::Scratch;
    use crate::signatures::base::SignatureHeaders;

    const AGENT: &str = r#"a="https://x.example""#;
    const INPUT: &str = r#"a=("@authority" "signature-agent";key="a");tag="web-bot-auth""#;
    const SIGNATURE: &str = "a=:AQ+/:";

    /// `line` with the headers, escaped by `escape`, in place of `AGENT`, `INPUT` and `SIGNATURE`.
    fn with_headers(line: &str, escape: impl Fn(&str) -> String) -> String {
        let line = line.replace("AGENT", &escape(AGENT)).replace("INPUT", &escape(INPUT));
        line.replace("SIGNATURE", &escape(SIGNATURE))
    }

    #[track_caller]
    fn check(mut reader: Reader, line: &str, expected: Option<[&str; 3]>) {
        let mut scratch = Scratch::default();
        let LineContent::Fields(fields) = reader.line(line.as_bytes()) else {
            panic!("not a record: {line}")
        };
        let record = fields.record(&mut scratch).unwrap();
        let expected = expected
            .map(|texts| texts.map(str::as_bytes))
            .map(|[agent, input, signature]| SignatureHeaders { agent, input, signature });
        assert_eq!(record.signature, expected, "{line}");
    }

    fn check_layout(format: &Format, line: &str, escape: impl Fn(&str) -> String) {
        check(format.reader(), &with_headers(line, &escape), Some([AGENT, INPUT, SIGNATURE]));
        // An old header without the one that says what it covers is that of another protocol.
        let without = line.replace("AGENT", "-").replace("INPUT", "-");
        check(format.reader(), &with_headers(&without, &escape), None);
        let alone = line.replace("AGENT", "-").replace("SIGNATURE", "-");
        check(format.reader(), &with_headers(&alone, &escape), Some(["", INPUT, ""]));
    }

    fn json(text: &str) -> String {
        text.replace('"', "\\\"")
    }

    #[test]
    fn each_layout_that_can_carry_a_signature_gives_it() {
        let nginx = r#"$remote_addr [$time_local] "$request" $status $body_bytes_sent "$http_user_agent" "$http_signature_agent" "$http_signature_input" "$http_signature""#;
        let apache = r#"%h %t "%r" %>s %b "%{User-Agent}i" "%{Signature-Agent}i" "%{Signature-Input}i" "%{Signature}i""#;
        let line = r#"192.0.2.1 [17/Apr/2025:05:10:56 +0000] "GET / HTTP/1.1" 200 1 "UA" "AGENT" "INPUT" "SIGNATURE""#;
        for (format, quote) in [(nginx, "\\x22"), (apache, "\\\"")] {
            let format = own_format::parse(format, &Hints::default()).unwrap();
            check_layout(&format, line, |text| text.replace('"', quote));
        }
        let caddy = r#"{"ts":1744866656,"logger":"http.log.access","request":{"remote_ip":"192.0.2.1","method":"GET","host":"example.com","uri":"/","headers":{"Signature-Agent":["AGENT"],"Signature-Input":["INPUT"],"Signature":["SIGNATURE"]}},"status":200}"#;
        let traefik = r#"{"StartUTC":"2025-04-17T05:10:56Z","ClientHost":"192.0.2.1","RequestMethod":"GET","RequestPath":"/","request_Signature-Agent":"AGENT","request_Signature-Input":"INPUT","request_Signature":"SIGNATURE"}"#;
        let logpush = r#"{"EdgeStartTimestamp":"2025-04-17T05:10:56Z","ClientIP":"192.0.2.1","ClientRequestMethod":"GET","ClientRequestURI":"/","EdgeResponseStatus":200,"RequestHeaders":{"signature-agent":"AGENT","signature-input":"INPUT","signature":"SIGNATURE"}}"#;
        let common = r#"{"time_iso8601":"2025-04-17T05:10:56Z","remote_addr":"192.0.2.1","request":"GET / HTTP/1.1","status":200,"http_signature_agent":"AGENT","http_signature_input":"INPUT","http_signature":"SIGNATURE"}"#;
        for (name, line) in
            [("caddy", caddy), ("traefik_json", traefik), ("cloudflare", logpush), ("json", common)]
        {
            let format = named(name, &Hints::default()).unwrap();
            check_layout(&format, line, json);
        }
        let names = "time=t,target=u,signature-agent=h.a,signature_input=h.i,signature=h.s";
        let hints =
            Hints { json_fields: Some(OwnNames::parse(names).unwrap()), ..Hints::default() };
        let own =
            r#"{"t":"2025-04-17T05:10:56Z","u":"/","h":{"a":"AGENT","i":"INPUT","s":"SIGNATURE"}}"#;
        check_layout(&named("json", &hints).unwrap(), own, json);
        let captures = Captures::parse("user-agent,signature-agent,signature-input,signature");
        let hints = Hints { haproxy_captures: Some(captures.unwrap()), ..Hints::default() };
        let haproxy = r#"192.0.2.1:5 [25/Feb/2019:16:19:48.143] in~ bk/s 0/0/7/1/1 200 1 - - ---- 2/1/0/0/0 0/0 {UA|AGENT|INPUT|SIGNATURE} "GET / HTTP/1.1""#;
        check_layout(&named("haproxy", &hints).unwrap(), haproxy, |text| text.replace('"', "#22"));
    }
}
