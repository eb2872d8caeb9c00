// Every key of the file: each bad value with its exact place, path and remedy.
#include <catch2/catch_test_macros.hpp>

#include "load.h"

using dohmux::test::bad;
using dohmux::test::with;

namespace {

struct Row {
  std::string line;   // the first line of a file that is good otherwise
  std::string error;  // the only error
};

void check_rows(const std::vector<Row>& table) {
  for (const Row& row : table) {
    CAPTURE(row.line);
    CHECK(bad(with(row.line)) == std::vector<std::string>{row.error});
  }
}

constexpr const char* kListen = "127.0.0.1:53, \"[::1]:53\" or \":53\" for all addresses";

}  // namespace

TEST_CASE("bad: listen and web.listen") {
  const std::string example(kListen);
  check_rows({
      {"listen: []", "f:1:9: listen: is empty; give at least one address, or remove the key for 127.0.0.1:5053 and [::1]:5053"},
      {"listen: {a: b}", "f:1:9: listen: is a map; give a list, such as [a, b]"},
      {"listen: [[a]]", "f:1:10: listen[0]: is a list; give a text"},
      {"listen: ['']", "f:1:10: listen[0]: is empty; give a value"},
      {"listen: [127.0.0.1]", "f:1:10: listen[0]: \"127.0.0.1\" has no port; give 127.0.0.1:53"},
      {"listen: \"::1\"", "f:1:9: listen: \"::1\" has no port; give [::1]:53"},
      {"listen: \"::1:5053\"", "f:1:9: listen: \"::1:5053\" has no port; give [::1]:5053"},
      {"listen: \"[::1]\"", "f:1:9: listen: \"[::1]\" has no port; give [::1]:53"},
      {"listen: 70000", "f:1:9: listen: \"70000\" is not an address and port; give " + example},
      {"listen: 127.0.0.1:x", "f:1:9: listen: \"127.0.0.1:x\" has no port from 0 to 65535; give " + example},
      {"listen: eth0:53", "f:1:9: listen: \"eth0:53\" is not an address and port; give " + example},
      {"listen: \"*:53\"", "f:1:9: listen: \"*:53\" is not an address and port; give " + example + " (did you mean \":53\"?)"},
      {"listen: localhost:53",
       "f:1:9: listen: \"localhost:53\" is a name, and names are not looked up; give [\"127.0.0.1:53\", \"[::1]:53\"]"},
      {"listen: [127.0.0.1:53, 127.0.0.1:53]", "f:1:24: listen[1]: \"127.0.0.1:53\" is listened on already; keep one of the two"},
      {"web: {listen: x}", "f:1:15: web.listen: \"x\" is not an address and port; give " + example},
      {"web: [a]", "f:1:6: web: is a list; give a map, such as {key: value}"},
  });
}

TEST_CASE("bad: access") {
  const std::string use = "use loopback, private or a range like 10.1.0.0/16";
  check_rows({
      {"access: {allow: []}", "f:1:17: access.allow: is empty, so nobody could ask; give loopback, private or ranges"},
      {"access: {allow: [pirvate]}",
       "f:1:18: access.allow[0]: \"pirvate\" is neither an address range nor a word; " + use + " (did you mean \"private\"?)"},
      {"access: {allow: any}",
       "f:1:17: access.allow: \"any\" is neither an address range nor a word; " + use + " (everybody is \"0.0.0.0/0\" and \"::/0\")"},
      {"access: {allow: 10.1.2.3/16}",
       "f:1:17: access.allow: \"10.1.2.3/16\" has bits set behind its length; give the first address of the "
       "range (did you mean \"10.1.0.0/16\"?)"},
      {"access: {allow: 10.0.0.0/40}", "f:1:17: access.allow: \"10.0.0.0/40\" is neither an address range nor a word; " + use},
      {"access: {alow: loopback}", "f:1:10: access.alow: unknown key; correct or remove it (did you mean \"allow\"?)"},
  });
}

TEST_CASE("bad: timeouts, limits, log, transport") {
  const std::string give = "give one from 10ms to 10m, such as 250ms, 5s or 1m30s";
  const std::string give_query = "give one from 100ms to 10m, such as 250ms, 5s or 1m30s";
  check_rows({
      {"timeouts: {query: 5}", "f:1:19: timeouts.query: \"5\" is not a duration; " + give_query + " (did you mean \"5s\" or \"5ms\"?)"},
      {"timeouts: {dial: 1s1m}", "f:1:18: timeouts.dial: \"1s1m\" is not a duration; " + give},
      {"timeouts: {dial: 11m}", "f:1:18: timeouts.dial: \"11m\" is out of range; give a duration from 10ms to 10m"},
      {"timeouts: {tcp_idle: 0s}", "f:1:22: timeouts.tcp_idle: \"0s\" is out of range; give a duration from 10ms to 1d"},
      {"timeouts: {drain: [1s]}", "f:1:19: timeouts.drain: is a list; give a text"},
      {"timeouts: {drian: 1s}", "f:1:12: timeouts.drian: unknown key; correct or remove it (did you mean \"drain\"?)"},
      {"timeouts: {attempt: 5s}",
       "f:1:21: timeouts.attempt: \"5s\" is not shorter than timeouts.query (4500ms, the default); change one of them"},
      {"timeouts: {exit_race: 3s, dial: 2s}",
       "f:1:23: timeouts.exit_race: \"3s\" is not shorter than timeouts.dial (\"2s\"); change one of them"},
      {"limits: {queries: 0}", "f:1:19: limits.queries: \"0\" is out of range; give a whole number from 1 to 1000000"},
      {"limits: {queries: 1e3}", "f:1:19: limits.queries: \"1e3\" is not a whole number; give a whole number from 1 to 1000000"},
      {"limits: {querys: 1}", "f:1:10: limits.querys: unknown key; correct or remove it (did you mean \"queries\"?)"},
      {"log: {level: verbose}", "f:1:14: log.level: \"verbose\" is not known here; use one of error, warning, warn, info, debug, trace"},
      {"log: {format: jsn}", "f:1:15: log.format: \"jsn\" is not known here; use one of text, json (did you mean \"json\"?)"},
      {"log: {queries: 1}", "f:1:16: log.queries: \"1\" is not known here; use one of true, false"},
      {"log: {file: x}", "f:1:7: log.file: unknown key; remove it, or use one of level, format, queries"},
      {"transport: native", "f:1:12: transport: \"native\" does not exist yet; use curl, or remove the key"},
      {"transport: crul", "f:1:12: transport: \"crul\" is not known here; use one of curl (did you mean \"curl\"?)"},
  });
}

TEST_CASE("bad: proxies") {
  const std::string good = "proxies: [{name: a, url: \"http://10.0.0.1:1\"}";
  const std::string remedy = "give its address in bootstrap: {hosts: {NAME: [ADDRESS]}}, or a numeric host in the url";
  check_rows({
      {"proxies: []", "f:1:10: proxies: is an empty list; add a proxy, or remove the key to reach resolvers directly"},
      {"proxies: [a]", "f:1:11: proxies[0]: is a single value; give a map, such as {name: fra1, url: \"http://10.0.0.11:3128\"}"},
      {"proxies: [{url: \"http://10.0.0.1:1\"}]", "f:1:11: proxies[0].name: is missing; give a short name; upstreams refer to it in via"},
      {good + ", {name: b}]", "f:1:48: proxies[1].url: is missing; give http://HOST:PORT"},
      {good + ", {name: a, url: \"http://10.0.0.2:1\"}]",
       "f:1:55: proxies[1].name: \"a\" is the name of another proxy already; choose another"},
      {"proxies: [{name: direct, url: \"http://10.0.0.1:1\"}]",
       "f:1:18: proxies[0].name: a proxy cannot be called direct, which means no proxy; choose another name"},
      {"proxies: [{name: a b, url: \"http://10.0.0.1:1\"}]",
       "f:1:18: proxies[0].name: \"a b\" is not a name; use letters, digits and . _ : - (at most 253 of them)"},
      {"proxies: [{name: a, url: \"https://10.0.0.1:1\"}]",
       "f:1:26: proxies[0].url: \"https://10.0.0.1:1\": https proxies come in a later version; use the proxy's http://HOST:PORT"},
      {"proxies: [{name: a, url: \"socks5h://10.0.0.1:1\"}]",
       "f:1:26: proxies[0].url: \"socks5h://10.0.0.1:1\": socks5h proxies come in a later version; use the proxy's http://HOST:PORT"},
      {"proxies: [{name: a, url: \"http://p.example:1\"}]",
       "f:1:26: proxies[0].url: the proxy's host \"p.example\" would have to be looked up, which this version cannot do; " + remedy},
      {"proxies: [{name: a, url: \"http://10.0.0.1:1\", backup: true}]",
       "f:1:47: proxies[0].backup: unknown key; remove it, or use one of name, url, auth"},
      {"proxy_defaults: {atuh: x}", "f:1:18: proxy_defaults.atuh: unknown key; correct or remove it (did you mean \"auth\"?)"},
  });
}

TEST_CASE("bad: bootstrap") {
  check_rows({
      {"bootstrap: {hosts: {a: [x]}}",
       "f:1:25: bootstrap.hosts.a[0]: \"x\" is not a numeric address; give one such as 192.0.2.1 or 2001:db8::1, without port and "
       "brackets"},
      {"bootstrap: {hosts: {a: []}}", "f:1:24: bootstrap.hosts.a: is empty; give at least one address, or remove the key"},
      {"bootstrap: {hosts: {a: [10.0.0.1, 10.0.0.1]}}", "f:1:35: bootstrap.hosts.a[1]: \"10.0.0.1\" is given twice; keep one"},
      {"bootstrap: {hosts: {10.0.0.1: 10.0.0.1}}",
       "f:1:21: bootstrap.hosts.\"10.0.0.1\": this key is an address already; give a name here"},
      {"bootstrap: {hosts: {a: 10.0.0.1, a: 10.0.0.1}}",
       "f:1:34: bootstrap.hosts.a: this key was given above already; keep one of the two"},
      {"bootstrap: {hosts: {a: 10.0.0.1, A: 10.0.0.1}}",
       "f:1:37: bootstrap.hosts.A: this name was given above already (case does not matter); keep one of the two"},
      {"bootstrap: {servers: 10.0.0.1}", "f:1:13: bootstrap.servers: unknown key; remove it, or use one of hosts"},
  });
}

TEST_CASE("bad: upstreams and upstream_defaults") {
  const auto line = [](const std::string& more) { return "upstreams: [{url: https://192.0.2.1/d, " + more + "}]"; };
  const std::vector<Row> table{
      {"upstreams: []", "f:1:12: upstreams: is empty; give at least one, such as https://HOST/dns-query"},
      {"upstreams: {url: x}", "f:1:12: upstreams: is a map; give a list, such as [a, b]"},
      {"upstreams: [[x]]", "f:1:13: upstreams[0]: is a list; give a URL, or a map such as {url: https://HOST/dns-query}"},
      {"upstreams: [{name: x}]", "f:1:13: upstreams[0].url: is missing; give https://HOST/dns-query"},
      {"upstreams: http://a/d", "f:1:12: upstreams: \"http://a/d\": only https is spoken to resolvers; write https://HOST/dns-query"},
      {line("via: []"), "f:1:45: upstreams[0].via: is empty; name proxies or direct, or remove the key for all proxies"},
      {line("via: [drect]"),
       "f:1:46: upstreams[0].via[0]: \"drect\" is no proxy of this file; use the name of one, or direct (did you mean \"direct\"?)"},
      {line("via: [direct, direct]"), "f:1:54: upstreams[0].via[1]: \"direct\" is named twice; keep one"},
      {line("name: a/b"), "f:1:46: upstreams[0].name: \"a/b\" is not a name; use letters, digits and . _ : - (at most 253 of them)"},
      {line("method: put"), "f:1:48: upstreams[0].method: \"put\" is not known here; use one of post, get"},
      {line("warm: yes"), "f:1:46: upstreams[0].warm: \"yes\" is not known here; use one of true, false"},
      {line("max_connections: 257"), "f:1:57: upstreams[0].max_connections: \"257\" is out of range; give a whole number from 1 to 256"},
      {line("max_streams: 0"), "f:1:53: upstreams[0].max_streams: \"0\" is out of range; give a whole number from 1 to 10000"},
      {line("max_http1_connections: x"),
       "f:1:63: upstreams[0].max_http1_connections: \"x\" is not a whole number; give a whole number from 1 to 256"},
      {line("tls: {ca: []}"), "f:1:50: upstreams[0].tls.ca: is empty, so no certificate would be trusted; give system or a PEM file"},
      {line("tls: {ca: /nonexistent/x.pem}"),
       "f:1:50: upstreams[0].tls.ca: \"/nonexistent/x.pem\" cannot be read: there is no such file; give a "
       "readable PEM file, or system"},
      {line("tls: {ca: /dev/null}"),
       "f:1:50: upstreams[0].tls.ca: \"/dev/null\" holds no certificate; give a PEM file with BEGIN CERTIFICATE lines"},
      {line("tls: {pins: x}"), "f:1:46: upstreams[0].tls.pins: unknown key; remove it, or use one of ca"},
      {line("adresses: x"), "f:1:40: upstreams[0].adresses: unknown key; correct or remove it (did you mean \"addresses\"?)"},
      {line("addresses: 1.2.3.4:53"),
       "f:1:51: upstreams[0].addresses: \"1.2.3.4:53\" is not a numeric address; give one such as 192.0.2.1 or "
       "2001:db8::1, without port and brackets"},
      {"upstreams: https://dns.example/d",
       "f:1:12: upstreams: \"dns.example\" is reached directly, but would have to be looked up, which this version cannot do; give "
       "addresses: "
       "[ADDRESS] here, or bootstrap: {hosts: {NAME: [ADDRESS]}}, or reach it via proxies"},
      {"listen: 127.0.0.1:1", "f:1:1: upstreams: is missing; give at least one, such as [https://HOST/dns-query]"},
  };
  for (const Row& row : table) {
    CAPTURE(row.line);
    CHECK(bad(row.line) == std::vector<std::string>{row.error});
  }
}

TEST_CASE("bad: upstream_defaults knows the shared keys only") {
  check_rows({
      {"upstream_defaults: {adresses: 192.0.2.1}",
       "f:1:21: upstream_defaults.adresses: unknown key; remove it, or use one of via, method, warm, "
       "tls, max_connections, max_streams, max_http1_connections"},
      {"upstream_defaults: {via: nowhere}",
       "f:1:26: upstream_defaults.via: \"nowhere\" is no proxy of this file; use the name of one, or direct"},
      {"upstream_defaults: {max_conections: 1}",
       "f:1:21: upstream_defaults.max_conections: unknown key; correct or remove it (did you mean \"max_connections\"?)"},
  });
}

TEST_CASE("bad: groups") {
  const std::string first = "groups: [{name: default, upstreams: 192.0.2.1}";
  check_rows({
      {"groups: []", "f:1:9: groups: is an empty list; add a group, or remove the key for one group of all upstreams"},
      {"groups: x",
       "f:1:9: groups: is a single value; give a list, such as [{name: default, upstreams: [a, b]}], or remove the key for one group of "
       "all upstreams"},
      {"groups: [x]", "f:1:10: groups[0]: is a single value; give a map, such as {name: default, upstreams: [a, b], strategy: failover}"},
      {"groups: [{upstreams: 192.0.2.1}]", "f:1:10: groups[0].name: is missing; give a name; the group named default answers"},
      {"groups: [{name: a, upstreams: 192.0.2.1}]",
       "f:1:9: groups: no group is named default, and that one answers; name one so, or remove the key"},
      {"groups: [{name: default, upstreams: 192.0.2.2}]",
       "f:1:37: groups[0].upstreams: \"192.0.2.2\" is no upstream of this file; use the name of "
       "one (did you mean \"192.0.2.1\"?)"},
      {"groups: [{name: default, upstreams: []}]", "f:1:37: groups[0].upstreams: is empty; name at least one upstream"},
      {"groups: [{name: default}]", "f:1:10: groups[0].upstreams: is missing; name at least one upstream"},
      {first + ", {name: default, upstreams: 192.0.2.1}]",
       "f:1:56: groups[1].name: \"default\" is the name of another group already; choose another"},
      {"groups: [{name: default, upstreams: 192.0.2.1, strategy: hedge}]",
       "f:1:58: groups[0].strategy: \"hedge\" does not exist yet; use failover or round_robin"},
      {"groups: [{name: default, upstreams: 192.0.2.1, strategy: roundrobin}]",
       "f:1:58: groups[0].strategy: \"roundrobin\" is not known here; use one of failover, round_robin (did you mean \"round_robin\"?)"},
  });
}
