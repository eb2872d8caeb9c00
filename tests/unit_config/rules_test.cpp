// Rules between sections, all errors at once, and warnings.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "load.h"

using namespace dohmux;  // NOLINT(google-build-using-namespace)
using test::bad;
using test::good;
using test::with;

namespace {

using Strings = std::vector<std::string>;

Strings warnings(const std::string& text, WarningKind kind) {
  Strings lines;
  for (const ConfigWarning& warning : good(text).warnings) {
    if (warning.kind == kind) {
      lines.push_back(warning.message);
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("a listener off loopback needs a widened access.allow") {
  const std::string remedy =
      " is reachable from other machines, but access.allow lets only loopback ask; say who may ask, such as access: {allow: [loopback, "
      "private]}, or "
      "listen on 127.0.0.1 and [::1]";
  CHECK(bad(with("listen: \":53\"")) == Strings{"f:1:9: listen: \":53\"" + remedy});
  CHECK(bad(with("listen: [127.0.0.1:53, 192.0.2.1:53]")) == Strings{"f:1:24: listen[1]: \"192.0.2.1:53\"" + remedy});
  CHECK(bad(with("access: {allow: [loopback, 127.0.0.0/9]}\nlisten: 0.0.0.0:53")) == Strings{"f:2:9: listen: \"0.0.0.0:53\"" + remedy});
  CHECK(good(with("access: {allow: private}\nlisten: 0.0.0.0:53")).config.listen.size() == 1);
  CHECK(good(with("access: {allow: 126.0.0.0/7}\nlisten: 0.0.0.0:53")).config.listen.size() == 1);
  CHECK(good(with("listen: [\"127.0.0.2:53\", \"[::1]:53\"]")).config.listen.size() == 2);
}

TEST_CASE("direct is never implied once there is a proxies key") {
  const Config config = good("proxies: [{name: a, url: \"http://10.0.0.1:1\"}]\nupstreams: https://192.0.2.1/d").config;
  CHECK(config.upstreams[0].origin.exits == Strings{"a"});
  CHECK(bad("proxies:\nupstreams: https://192.0.2.1/d") == Strings{"f:1:1: proxies: is empty; give a list, such as [{name: fra1, url: "
                                                                   "\"http://10.0.0.11:3128\"}], or remove the key to reach resolvers "
                                                                   "directly"});
}

TEST_CASE("unknown exits get the nearest name, but not while a proxy's own name is unreadable") {
  CHECK(bad("proxies: [{name: fra1, url: \"http://10.0.0.1:1\"}]\nupstreams: [{url: https://192.0.2.1/d, via: [fra2, drect]}]") ==
        Strings{
            "f:2:46: upstreams[0].via[0]: \"fra2\" is no proxy of this file; use the name of one, or direct (did you mean \"fra1\"?)",
            "f:2:52: upstreams[0].via[1]: \"drect\" is no proxy of this file; use the name of one, or direct (did you mean \"direct\"?)"});
  CHECK(bad("proxies: [{url: \"http://10.0.0.1:1\"}]\nupstreams: [{url: https://192.0.2.1/d, via: [fra2]}]").size() == 1);
}

TEST_CASE("upstream names are unique") {
  CHECK(bad("upstreams:\n- https://192.0.2.1/a\n- https://192.0.2.1/b\n") ==
        Strings{"f:3:3: upstreams[1]: \"192.0.2.1\" is the name of another upstream already; give this one a name of its own (name: …)"});
  CHECK(bad("upstreams:\n- https://192.0.2.1/a\n- {name: 192.0.2.1, url: https://192.0.2.2/b}\n") ==
        Strings{"f:3:10: upstreams[1].name: \"192.0.2.1\" is the name of another upstream already; choose another"});
}

TEST_CASE("upstreams of one host and port that disagree are refused, both named") {
  const auto error = [](const std::string& first, const std::string& second) {
    const std::string file =
        "proxies: [{name: a, url: \"http://10.0.0.1:1\"}, {name: b, url: \"http://10.0.0.2:1\"}]\nupstreams:\n- {name: x, url: "
        "https://h.example/1, ";
    return bad(file + first + "}\n- {name: y, url: https://H.example:443/2, " + second + "}\n");
  };
  const auto expected = [](const std::string& keys) {
    return Strings{
        "f:4:18: upstreams[1].url: \"y\" and \"x\" (line 3) have the same host and port, and so share connections, but differ in " + keys +
        "; give both the same"};
  };
  CHECK(error("via: a", "via: b") == expected("via"));
  CHECK(error("via: [a, b]", "via: a") == expected("via"));
  CHECK(error("addresses: 192.0.2.1", "warm: true") == expected("addresses"));
  CHECK(error("tls: {ca: system}, max_connections: 2", "max_streams: 7") == expected("max_connections, max_streams"));
  CHECK(error("max_http1_connections: 2", "warm: false") == expected("max_http1_connections"));
}

TEST_CASE("everything that is wrong is reported, sorted by place") {
  const auto errors = bad(R"(listn: x
upstreams:
  - {url: "http://a/d", via: nowhere, warm: maybe}
  - ftp
timeouts: {query: 1, dial: 2}
limits: {queries: none}
listen: [x, ":53"]
proxies: [{name: direct, url: "http://10.0.0.1"}]
groups: [{name: g, upstreams: z, strategy: fastest}]
)");
  const Strings starts{"f:1:1: listn: ",        "f:3:11: upstreams[0].url: ",  "f:3:30: upstreams[0].via: ", "f:3:45: upstreams[0].warm: ",
                       "f:4:5: upstreams[1]: ", "f:5:19: timeouts.query: ",    "f:5:28: timeouts.dial: ",    "f:6:19: limits.queries: ",
                       "f:7:10: listen[0]: ",   "f:7:13: listen[1]: ",         "f:8:18: proxies[0].name: ",  "f:8:31: proxies[0].url: ",
                       "f:9:9: groups: ",       "f:9:44: groups[0].strategy: "};
  REQUIRE(errors.size() == starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    CAPTURE(errors[i]);
    CHECK(errors[i].starts_with(starts[i]));
    CHECK(errors[i].find("; ") != std::string::npos);
  }
}

TEST_CASE("keys of later parts are unknown keys") {
  for (const char* key : {"cache", "keepalive", "control", "workers"}) {
    CAPTURE(key);
    const auto errors = bad(with(std::string(key) + ": 1"));
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].starts_with(std::string("f:1:1: ") + key + ": unknown key; remove it, or use one of listen, "));
  }
}

TEST_CASE("risks are said at every start") {
  CHECK(warnings(with("access: {allow: [0.0.0.0/0, \"::/0\"]}"), WarningKind::Risk) ==
        Strings{"access.allow holds 0.0.0.0/0: everybody who reaches a listener may ask; name your own ranges",
                "access.allow holds ::/0: everybody who reaches a listener may ask; name your own ranges"});
  CHECK(warnings(with("web: {listen: \":9153\"}"), WarningKind::Risk).size() == 1);
  CHECK(warnings(with("web: {listen: 127.0.0.1:9153}"), WarningKind::Risk).empty());
}

TEST_CASE("advice for check") {
  const std::string two = "proxies: [{name: a, url: \"http://10.0.0.1:1\"}, {name: b, url: \"http://10.0.0.2:1\"}]\n";
  CHECK(warnings("proxies: [{name: a, url: \"http://10.0.0.1:1\"}]\nupstreams: https://x.example/d", WarningKind::Advice) ==
        Strings{"a single proxy carries everything: nothing is answered while it is down; add a second"});
  CHECK(warnings(two + "upstreams: [{url: https://x.example/d, via: b}]", WarningKind::Advice) ==
        Strings{"every upstream has the same single exit in via: nothing is answered while it is down; allow more",
                "the proxy \"a\" is in no upstream's via: it is never used"});
  CHECK(warnings(two + "upstreams: https://x.example/d", WarningKind::Advice).empty());
  CHECK(warnings("upstreams: [https://192.0.2.1/d, https://192.0.2.2/d]\ngroups: [{name: default, upstreams: 192.0.2.1}]",
                 WarningKind::Advice) ==
        Strings{"the upstream \"192.0.2.2\" is neither in the group default nor in one that a route names: it is never asked"});
}

TEST_CASE("a missing file shows a file of five lines that loads") {
  const auto loaded = load_config("/nonexistent/dohmux.yaml");
  REQUIRE_FALSE(loaded.has_value());
  REQUIRE(loaded.error().size() == 1);
  const std::string text = loaded.error()[0].to_string();
  CHECK(text.starts_with("/nonexistent/dohmux.yaml: there is no such file; write one, for example:\n"));
  const std::size_t begin = text.find('\n') + 1;
  const std::string example = text.substr(begin, text.rfind('\n') + 1 - begin);
  CHECK(std::count(example.begin(), example.end(), '\n') == 5);
  CHECK(good(example).config.upstreams.size() == 1);
  CHECK_FALSE(load_config("/").has_value());
}

TEST_CASE("a misspelt or broken proxies section never leads to advice for going direct") {
  for (const char* text : {"proxys: [{name: a, url: \"http://10.0.0.1:3128\"}]\nupstreams: [\"https://dns.example/dns-query\"]\n",
                           "proxies: [{name: direct, url: \"http://10.0.0.1:3128\"}]\nupstreams: [\"https://dns.example/dns-query\"]\n"}) {
    const auto errors = bad(text);
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].find("directly") == std::string::npos);
  }
}
