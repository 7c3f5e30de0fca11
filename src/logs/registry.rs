//! The built-in formats, one per row.

use std::sync::Arc;

use memchr::memmem;

use crate::error::Result;

use super::combined::{
    is_gandi, is_haproxy_json, is_ingress_nginx, is_lighttpd, is_most_of, is_traefik, is_varnish,
};
use super::json::{Json, dialect::JsonDialect};
use super::named_columns::{Csv, Ltsv};
use super::template::{TemplateToken, compile};
use super::w3c::{W3c, W3cDialect};
use super::{apache_format, cdx::Cdx, escape::Escaping, format::Hints, nginx_format};
use super::{parser::LineParser, proxies::Captures, reject::Limitation};

/// Makes a parser from the first lines of a file and the settings of the user.
pub(crate) type MakeParser = fn(&[&[u8]], &Hints) -> Option<LineParser>;

/// A built-in format.
#[derive(Debug)]
pub struct BuiltinFormat {
    /// The name on the command line and in reports.
    pub name: &'static str,
    /// The program that writes it, in a few words.
    pub about: &'static str,
    /// Lines of this format: directives, if it has any, and one record.
    pub sample: &'static str,
    /// Its limitations.
    pub limitations: &'static [Limitation],
    /// The layout of a file that begins with these lines, without blank ones. `None` if the file
    /// obviously has another format; whether it has this one is decided by reading the lines.
    /// Without lines, the default layout.
    pub parser: MakeParser,
}

/// Makes [`ENTRIES`] from rows: name, writer and limitations, then the parser, then the sample.
macro_rules! formats {
    ($($name:literal $about:literal [$($limitation:ident)*] $parser:expr; $sample:literal)*) => {
        /// All formats. If two read equally many lines, the one that explains more of a line comes
        /// first.
        pub const ENTRIES: &[BuiltinFormat] = &[
            $(BuiltinFormat {
                name: $name,
                about: $about,
                sample: $sample,
                limitations: &[$(Limitation::$limitation),*],
                parser: $parser,
            },)*
        ];
    };
}

formats! {
    "haproxy" "HAProxy's HTTP log (option httplog), in syslog or without its header" [Truncated NoZone]
        |head, hints| {
            Some(LineParser::Haproxy(hints.haproxy_captures.unwrap_or_else(|| Captures::detected_from(head))))
        };
        r#"192.0.2.7:53332 [25/Feb/2019:16:19:48.143] www~ app/app1 0/0/7/1457/1487 200 11394 - - ---- 2/1/0/0/0 0/0 {example.com|Mozilla/5.0 (compatible; Examplebot/1.2)} {} "GET /music/ HTTP/1.1""#
    "envoy" "Envoy's default format, and Istio's" []
        |_, _| Some(LineParser::Envoy);
        r#"[2025-04-17T05:10:56.310Z] "GET /music/ HTTP/2" 200 - 0 10353 226 100 "192.0.2.7" "Examplebot/1.2" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "example.com" "10.0.2.1:80""#
    "traefik" "Traefik's common log format" []
        |head, _| is_most_of(head, is_traefik).then_some(LineParser::Combined);
        r#"192.0.2.7 - - [17/Apr/2025:05:10:56 +0000] "GET /music/ HTTP/2.0" 200 10353 "-" "Examplebot/1.2" 1 "web@docker" "http://10.0.2.1:80" 12ms"#
    "ingress-nginx" "Kubernetes' ingress-nginx" []
        |head, _| is_most_of(head, is_ingress_nginx).then_some(LineParser::Combined);
        r#"192.0.2.7 - - [17/Apr/2025:05:10:56 +0000] "GET /music/ HTTP/2.0" 200 10353 "-" "Examplebot/1.2" 412 0.005 [default-web-80] [] 10.0.2.1:80 10353 0.004 200 cc21d9b0cf5c432b8c7e98aeb7988cd2"#
    "varnish" "varnishncsa's default: combined with absolute targets" []
        |head, hints| is_most_of(head, is_varnish).then(|| varnish(head, hints));
        r#"192.0.2.7 - - [17/Apr/2025:05:10:56 +0000] "GET http://example.com/music/ HTTP/1.1" 200 10353 "-" "Examplebot/1.2""#
    "lighttpd" "lighttpd's default: combined with the host in the second column" []
        |head, _| is_most_of(head, is_lighttpd).then_some(LineParser::Lighttpd);
        r#"192.0.2.7 example.com - [17/Apr/2025:05:10:56 +0000] "GET /music/ HTTP/1.1" 200 10353 "-" "Examplebot/1.2""#
    "nginx_proxy_manager" "Nginx Proxy Manager" []
        |head, _| proxy_manager(head);
        r#"[17/Apr/2025:05:10:56 +0000] - 200 200 - GET https example.com "/music/" [Client 192.0.2.7] [Length 10353] [Gzip -] [Sent-to 10.0.2.1] "Examplebot/1.2" "-""#
    "vhost_combined" "Apache's vhost_combined, and others that put the host in front of combined" []
        |_, _| Some(LineParser::VhostCombined);
        r#"example.com:443 192.0.2.7 - - [17/Apr/2025:05:10:56 +0100] "GET /music/ HTTP/2.0" 200 10353 "-" "Examplebot/1.2""#
    "combined" "nginx's default and Apache's combined, with any fields behind" []
        |_, _| Some(LineParser::Combined);
        r#"192.0.2.7 - - [17/Apr/2025:05:10:56 +0100] "GET /music/ HTTP/2.0" 200 10353 "-" "Examplebot/1.2""#
    "common" "Apache's common, with any fields behind" [NoUserAgent]
        |_, _| Some(LineParser::Common);
        r#"192.0.2.7 - - [17/Apr/2025:05:10:56 +0100] "GET /music/ HTTP/2.0" 200 10353"#
    "gandi" "Gandi's web hosting: vhost_combined with the duration before the request" []
        |head, _| is_most_of(head, is_gandi).then(gandi).flatten();
        r#"example.com 192.0.2.7 - - [17/Apr/2025:05:10:56 +0100] (0 s) "GET /music/ HTTP/1.1" 200 10353 "-" "Examplebot/1.2""#
    "uwsgi" "uWSGI's default" [NoUserAgent NoZone]
        |_, _| uwsgi();
        "[pid: 88185|app: 0|req: 1/1] 192.0.2.7 () {38 vars in 696 bytes} [Thu Apr 17 05:10:56 2025] GET /music/ => generated 10353 bytes in 129 msecs (HTTP/1.1 200) 9 headers in 378 bytes (1 switches on core 3)"
    "squid" "Squid's native format" [NoUserAgent]
        |_, _| Some(LineParser::Squid);
        "1744866656.123    310 192.0.2.7 TCP_MISS/200 10353 GET http://example.com/music/ - HIER_DIRECT/192.0.2.80 text/html"
    "iis" "The native format of IIS" [NoUserAgent NoZone DecodedTargets]
        |_, _| Some(LineParser::Iis);
        "192.0.2.7, -, 04/17/2025, 5:10:56, W3SVC1, WEB, 192.0.2.80, 283, 242, 10353, 200, 0, GET, /music/, -,"
    "caddy" "Caddy's access log" []
        |head, _| json(JsonDialect::Caddy, head);
        r#"{"level":"info","ts":1744866656.25,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"192.0.2.7","remote_port":"4711","client_ip":"192.0.2.7","proto":"HTTP/2.0","method":"GET","host":"example.com","uri":"/music/","headers":{"User-Agent":["Examplebot/1.2"]},"tls":{"version":772}},"duration":0.01,"size":10353,"status":200}"#
    "caddy_console" "Caddy's console format, whose lines end in an object" []
        |head, _| match json(JsonDialect::CaddyConsole, head)? {
            LineParser::Json(json) => Some(LineParser::CaddyConsole(json)),
            _ => None,
        };
        "2025/04/17 05:10:56.123\tinfo\thttp.log.access.log0\thandled request\t{\"request\": {\"remote_ip\": \"192.0.2.7\", \"remote_port\": \"4711\", \"client_ip\": \"192.0.2.7\", \"proto\": \"HTTP/2.0\", \"method\": \"GET\", \"host\": \"example.com\", \"uri\": \"/music/\", \"headers\": {\"User-Agent\": [\"Examplebot/1.2\"]}, \"tls\": {\"version\": 772}}, \"duration\": 0.017, \"size\": 10353, \"status\": 200}"
    "traefik_json" "Traefik's access log in JSON" []
        |head, _| json(JsonDialect::Traefik, head);
        r#"{"ClientAddr":"192.0.2.7:4711","ClientHost":"192.0.2.7","DownstreamContentSize":10353,"DownstreamStatus":200,"RequestAddr":"example.com","RequestHost":"example.com","RequestMethod":"GET","RequestPath":"/music/","RequestPort":"-","RequestProtocol":"HTTP/2.0","RequestScheme":"https","StartUTC":"2025-04-17T05:10:56.123456789Z","level":"info","msg":"","request_User-Agent":"Examplebot/1.2","time":"2025-04-17T05:10:56Z"}"#
    "cloudflare" "Cloudflare Logpush, HTTP requests" []
        |head, _| json(JsonDialect::Cloudflare, head);
        r#"{"ClientIP":"192.0.2.7","ClientRequestHost":"example.com","ClientRequestMethod":"GET","ClientRequestScheme":"https","ClientRequestSource":"eyeball","ClientRequestURI":"/music/","ClientRequestUserAgent":"Examplebot/1.2","EdgeResponseBytes":10353,"EdgeResponseStatus":200,"EdgeStartTimestamp":"2025-04-17T05:10:56Z"}"#
    "google_cloud" "Google Cloud's load balancers, as exported from Cloud Logging" [Sampled]
        |head, _| json(JsonDialect::GoogleCloud, head);
        r#"{"httpRequest":{"remoteIp":"192.0.2.7","requestMethod":"GET","requestUrl":"https://example.com/music/","responseSize":"10353","status":200,"userAgent":"Examplebot/1.2"},"insertId":"1","logName":"projects/p/logs/requests","timestamp":"2025-04-17T05:10:56.123Z"}"#
    "azure" "Azure Front Door, Application Gateway and App Service, from diagnostic settings" []
        |head, _| json(JsonDialect::Azure, head);
        r#"{"time":"2025-04-17T05:10:56.123Z","resourceId":"/SUBSCRIPTIONS/X","category":"FrontDoorAccessLog","operationName":"Microsoft.Cdn/Profiles/AccessLog/Write","properties":{"httpMethod":"GET","httpVersion":"2.0.0.0","requestUri":"https://example.com:443/music/","responseBytes":"10353","userAgent":"Examplebot/1.2","clientIp":"192.0.2.7","httpStatusCode":"200","hostName":"example.com"}}"#
    "aws_waf" "AWS WAF's logs of web ACLs" [NoAnswers BestEffort]
        |head, _| json(JsonDialect::AwsWaf, head);
        r#"{"timestamp":1744866656123,"formatVersion":1,"webaclId":"arn:aws:wafv2:us-east-1:123456789012:global/webacl/web/1","terminatingRuleId":"Default_Action","terminatingRuleType":"REGULAR","action":"ALLOW","httpSourceName":"CF","httpSourceId":"E1","ruleGroupList":[],"rateBasedRuleList":[],"nonTerminatingMatchingRules":[],"requestHeadersInserted":null,"responseCodeSent":null,"httpRequest":{"clientIp":"192.0.2.7","country":"US","headers":[{"name":"Host","value":"example.com"},{"name":"User-Agent","value":"Examplebot/1.2"}],"uri":"/music/","args":"","httpVersion":"HTTP/2.0","httpMethod":"GET","requestId":"1-58337281"},"labels":[{"name":"awswaf:managed:aws:bot-control:signal:automated"}]}"#
    "akamai" "Akamai DataStream 2 in JSON" []
        |head, _| json(JsonDialect::Akamai, head);
        r#"{"version":2,"cp":"123456","reqTimeSec":"1744866656.123","bytes":"10353","cliIP":"192.0.2.7","statusCode":"200","proto":"HTTPS/HTTP2","reqHost":"example.com","reqMethod":"GET","reqPath":"music/","reqPort":"443","UA":"Examplebot%2F1.2","queryStr":"-"}"#
    "haproxy_json" "HAProxy with a log-format in JSON, with keys that are usual" [NoZone]
        |head, _| match is_most_of(head, is_haproxy_json) {
            true => json(JsonDialect::Haproxy, head),
            false => None,
        };
        r#"{"type":"haproxy","timestamp":1744866656,"http_status":200,"http_request":"GET /music/ HTTP/1.1","remote_addr":"192.0.2.7","bytes_read":10353,"backend_name":"app","http_host":"example.com","http_user_agent":"Examplebot/1.2"}"#
    "json" "JSON of nginx, Apache and others, with keys that are usual or that --json-fields names" []
        |head, hints| Json::detected(JsonDialect::CommonNames, head, hints.json_fields.as_ref()).map(LineParser::Json);
        r#"{"time_iso8601":"2025-04-17T05:10:56+01:00","remote_addr":"192.0.2.7","host":"example.com","scheme":"https","request":"GET /music/ HTTP/2.0","status":"200","body_bytes_sent":"10353","http_user_agent":"Examplebot/1.2"}"#
    "csv" "CSV with a header: time, client, host, method, path, status, user_agent and the like" []
        |head, _| Some(LineParser::Csv(Arc::new(Csv::detected(head)?)));
        "time,client_ip,host,method,uri,status,bytes,user_agent\n2025-04-17T05:10:56Z,192.0.2.7,example.com,GET,/music/,200,10353,Examplebot/1.2"
    "ltsv" "labelled tab-separated values, with the labels of ltsv.org or usual keys" []
        |head, _| Some(LineParser::Ltsv(Arc::new(Ltsv::detected(head)?)));
        "time:[17/Apr/2025:05:10:56 +0000]\thost:192.0.2.7\treq:GET /music/ HTTP/1.1\tstatus:200\tsize:10353\treferer:-\tua:Examplebot/1.2\tvhost:example.com"
    "cloudfront" "CloudFront's standard logs (v1, and v2 in W3C format)" [BestEffort]
        |head, _| w3c(W3cDialect::CloudFront, head);
        "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol\n2025-04-17\t05:10:56\tFRA2\t10353\t192.0.2.7\tGET\td111111abcdef8.cloudfront.net\t/music/\t200\t-\tExamplebot/1.2\t-\t-\tHit\tSOX4xwn4XV6Q4rgb7XiVGOHms_BGlTAC4KyHmureZmBNrjGdRLiNIQ==\texample.com\thttps"
    "w3c" "W3C extended logs, as IIS writes them" []
        |head, _| w3c(W3cDialect::Extended, head);
        "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status sc-bytes cs-bytes time-taken\n2025-04-17 05:10:56 192.0.2.80 GET /music/ - 443 - 192.0.2.7 Examplebot/1.2 - 200 0 0 10353 242 283"
    "zeek" "Zeek's http.log as tab-separated values" []
        |head, _| w3c(W3cDialect::Zeek, head);
        "#separator \\x09\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\ttrans_depth\tmethod\thost\turi\treferrer\tversion\tuser_agent\torigin\trequest_body_len\tresponse_body_len\tstatus_code\tstatus_msg\n1744866656.123456\tCx1\t192.0.2.7\t4711\t192.0.2.80\t80\t1\tGET\texample.com\t/music/\t-\t1.1\tExamplebot/1.2\t-\t0\t10353\t200\tOK"
    "aws_alb" "AWS's application load balancer" [BestEffort]
        |_, _| Some(LineParser::AwsAlb);
        r#"https 2025-04-17T05:10:56.123456Z app/web/50dc6c495c0c9188 192.0.2.7:4711 10.0.0.66:9000 0.086 0.048 0.037 200 200 0 10353 "GET https://example.com:443/music/ HTTP/2.0" "Examplebot/1.2" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/web/73e2d6bc24d8a067 "Root=1-58337281-1d84f3d73c47ec4e58577259" "example.com" "-" 1 2025-04-17T05:10:56.037000Z "forward" "-" "-" "10.0.0.66:9000" "200" "-" "-""#
    "aws_elb" "AWS's classic load balancer" [BestEffort]
        |_, _| Some(LineParser::AwsElb);
        r#"2025-04-17T05:10:56.123456Z web 192.0.2.7:4711 10.0.0.66:9000 0.000086 0.001048 0.001337 200 200 0 10353 "GET https://example.com:443/music/ HTTP/1.1" "Examplebot/1.2" DHE-RSA-AES128-SHA TLSv1.2"#
    "aws_s3" "AWS S3 server access logs" [BestEffort]
        |_, _| Some(LineParser::AwsS3);
        r#"79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be bucket [17/Apr/2025:05:10:56 +0000] 192.0.2.7 - 3E57427F3EXAMPLE WEBSITE.GET.OBJECT music/index.html "GET /music/ HTTP/1.1" 200 - 10353 10353 12 11 "-" "Examplebot/1.2" - s9lzHYrFp76ZVxRcpX9+5cjAnEH2ROuNkd2BHfIa6UkFVdtjf5mKR3/eTPFvsiP/XV/VLi31234= - - - example.com - - -"#
    "cdx" "WARC files, and their indexes (CDX, CDXJ): requests of a crawl" []
        |head, hints| Cdx::detected(head, hints.user_agent.as_ref()).map(LineParser::Cdx);
        r#"com,example)/music/ 20250417051056 {"url": "https://example.com/music/", "mime": "text/html", "status": "200", "digest": "AAAA", "length": "1043", "offset": "4711", "filename": "a.warc.gz"}"#
}

fn json(dialect: JsonDialect, head: &[&[u8]]) -> Option<LineParser> {
    Json::detected(dialect, head, None).map(LineParser::Json)
}

/// The hosts of absolute targets are our own only if the user says so, with the format or with their names: in a log of
/// another server, clients can write any host.
fn varnish(head: &[&[u8]], hints: &Hints) -> LineParser {
    let is_named = head.is_empty() || hints.format.is_some();
    if is_named { LineParser::Varnish } else { LineParser::Combined }
}

/// Gandi has one format for all sites.
fn gandi() -> Option<LineParser> {
    template(nginx_format::parse(
        "$host $remote_addr - $remote_user [$time_local] ($seconds s) \"$request\" $status \
         $body_bytes_sent \"$http_referer\" \"$http_user_agent\"",
    ))
}

/// The time is in the zone of the server, and the target is as sent.
fn uwsgi() -> Option<LineParser> {
    let tokens = apache_format::parse(
        "[pid: %{pid}e|app: %{app}e|req: %{number}e] %h (%u) {%{vars}e} [%{%a %b %e %H:%M:%S %Y}t] \
         %r => generated %B bytes in %{duration}e (%{protocol}e %s) %{rest}e",
    );
    template(tokens.map(|tokens| (tokens, Escaping::None)))
}

fn template(parsed: Result<(Vec<TemplateToken>, Escaping)>) -> Option<LineParser> {
    let (tokens, escaping) = parsed.ok()?;
    Some(LineParser::Template(Arc::new(compile(tokens, escaping).ok()?)))
}

/// Nginx Proxy Manager has one format for proxy hosts, and one for all others.
fn proxy_manager(head: &[&[u8]]) -> Option<LineParser> {
    let has_server = |line: &[u8]| Some(memmem::find(line, b" [Sent-to ").is_some());
    let (upstream, server) = match is_most_of(head, has_server) {
        true => ("$upstream_cache_status $upstream_status ", " [Sent-to $server]"),
        false => ("", ""),
    };
    let text = format!(
        "[$time_local] {upstream}$status - $request_method $scheme $host \"$request_uri\" [Client \
         $remote_addr] [Length $body_bytes_sent] [Gzip $gzip_ratio]{server} \"$http_user_agent\" \
         \"$http_referer\""
    );
    template(nginx_format::parse(&text))
}

fn w3c(dialect: W3cDialect, head: &[&[u8]]) -> Option<LineParser> {
    W3c::detected(dialect, head).map(|w3c| LineParser::W3c(Arc::new(w3c)))
}
