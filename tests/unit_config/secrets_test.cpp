// ${NAME} and passwords: where they may come from, and that nothing of them ever gets into a message.
#include <catch2/catch_test_macros.hpp>

#include "config/diagnostics.h"
#include "config/expand.h"
#include "load.h"

using namespace dohmux;  // NOLINT(google-build-using-namespace)
using test::bad;
using test::Folder;
using test::good;
using test::Variable;
using test::with;

namespace {

using Strings = std::vector<std::string>;
constexpr const char* kSecret = "hunter2";

std::string proxy(const std::string& auth) {
  return "proxies: [{name: a, url: \"http://10.0.0.1:1\", auth: {" + auth + "}}]\nupstreams: https://x.example/d\n";
}

Strings errors_of(const std::expected<LoadedConfig, ConfigErrors>& loaded) {
  Strings lines;
  if (!loaded) {
    for (const ConfigError& error : loaded.error()) {
      lines.push_back(error.to_string());
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("expansion") {
  const Variable set("DOHMUX_A", "value");
  const Variable empty("DOHMUX_EMPTY", "");
  const std::vector<std::pair<std::string, std::string>> table{
      {"plain", "plain"},
      {"${DOHMUX_A}", "value"},
      {"x${DOHMUX_A}y${DOHMUX_A}", "xvalueyvalue"},
      {"$$", "$"},
      {"$${DOHMUX_A}", "${DOHMUX_A}"},
      {"$DOHMUX_A", "$DOHMUX_A"},
      {"5$", "5$"},
      {"${DOHMUX_NO:-d}", "d"},
      {"${DOHMUX_NO:-}", ""},
      {"${DOHMUX_EMPTY}", ""},
      {"${DOHMUX_EMPTY:-d}", "d"},
      {"${DOHMUX_A:-d}", "value"},
      {"${DOHMUX_NO:-a:-b}", "a:-b"},
      {"", ""},
  };
  for (const auto& [text, value] : table) {
    CAPTURE(text);
    const auto expanded = config::expand(text);
    REQUIRE(expanded.has_value());
    CHECK(expanded->value == value);
  }
  CHECK(config::expand("${DOHMUX_NO}").error() ==
        "the environment variable DOHMUX_NO is not set; set it, or give a default with ${DOHMUX_NO:-value}");
  for (const char* text : {"${", "${A", "${}", "${1A}", "${A-b}", "${A B}", "${:-x}"}) {
    CAPTURE(text);
    REQUIRE_FALSE(config::expand(text).has_value());
    CHECK(config::expand(text).error().find("; ") != std::string::npos);
  }
}

TEST_CASE("an expanded value is not scanned again and cannot change the structure") {
  const Variable nested("DOHMUX_A", "${DOHMUX_A}, b]");
  CHECK(config::expand("${DOHMUX_A}")->value == "${DOHMUX_A}, b]");
  CHECK(bad(with("listen: [${DOHMUX_A}]")).size() == 1);
}

TEST_CASE("values may come from the environment, of every type") {
  const Variable url("DOHMUX_URL", "https://192.0.2.1/dns-query");
  const Variable port("DOHMUX_PORT", "5300");
  const Config config = good(
                            "upstreams: \"${DOHMUX_URL}\"\nlisten: \"127.0.0.1:${DOHMUX_PORT}\"\n"
                            "limits: {queries: \"${DOHMUX_PORT}\"}\nlog: {queries: \"${DOHMUX_NO:-true}\"}")
                            .config;
  CHECK(config.upstreams[0].host == "192.0.2.1");
  CHECK(config.listen[0].endpoint.port == 5300);
  CHECK(config.limits.queries == 5300);
  CHECK(config.log.queries);
}

TEST_CASE("an unset variable is named with its place") {
  CHECK(bad(with("listen: \"${DOHMUX_NO}\"")) ==
        Strings{"f:1:9: listen: the environment variable DOHMUX_NO is not set; set it, or give a default with ${DOHMUX_NO:-value}"});
}

TEST_CASE("no message shows what came from the environment") {
  const Variable secret("DOHMUX_S", kSecret);
  for (const std::string& text : {
           with("listen: \"${DOHMUX_S}\""),
           with("access: {allow: \"${DOHMUX_S}\"}"),
           with("timeouts: {query: \"${DOHMUX_S}\"}"),
           with("limits: {queries: \"${DOHMUX_S}\"}"),
           with("log: {level: \"${DOHMUX_S}\"}"),
           with("log: {queries: \"${DOHMUX_S}\"}"),
           with("transport: \"${DOHMUX_S}\""),
           with("bootstrap: {hosts: {a: \"${DOHMUX_S}\"}}"),
           with("web: {listen: \"${DOHMUX_S}\"}"),
           std::string("upstreams: \"${DOHMUX_S}\""),
           std::string("upstreams: \"https://${DOHMUX_S}/d\""),
           std::string("upstreams: [{url: https://192.0.2.1/d, via: \"${DOHMUX_S}\"}]"),
           std::string("upstreams: [{url: https://192.0.2.1/d, name: \"a b${DOHMUX_S}\"}]"),
           std::string("upstreams: [{url: https://192.0.2.1/d, tls: {ca: \"/${DOHMUX_S}\"}}]"),
           std::string("upstreams: [https://192.0.2.1/d]\ngroups: [{name: default, upstreams: \"${DOHMUX_S}\"}]"),
           std::string(
               "upstreams: [{url: \"https://${DOHMUX_S}/d\", max_streams: 2, addresses: 192.0.2.1}, {name: b, addresses: 192.0.2.1, url: "
               "\"https://${DOHMUX_S}/d\"}]"),
           std::string("upstreams: [{url: https://192.0.2.1/d, name: \"${DOHMUX_S}\"}, {url: https://192.0.2.2/d, name: hunter3}]\n"
                       "groups: [{name: default, upstreams: hunter4}]"),
           std::string("proxies: [{name: \"${DOHMUX_S}\", url: \"http://${DOHMUX_S}:1\"}]\nupstreams: [{url: https://a/d, via: hunter1}]"),
           proxy("scheme: \"${DOHMUX_S}\""),
           proxy("username: \"${DOHMUX_S}:\", password: \"${DOHMUX_S}\""),
           proxy("username: u, password: \"${DOHMUX_S}\\n\""),
           proxy("username: u, password_file: \"/${DOHMUX_S}\""),
       }) {
    CAPTURE(text);
    for (const std::string& line : bad(text)) {
      CHECK(line.find(kSecret) == std::string::npos);
    }
  }
}

TEST_CASE("no message shows a password that stands in the file, even in a wrong place") {
  for (const std::string& auth : {
           std::string("username: u, password: \"hunter2\\n\""),
           std::string("username: u, password: [hunter2]"),
           std::string("username: u, password_env: hunter2"),
           std::string("username: u, password_file: hunter2"),
           std::string("username: \"u:hunter2\", password: hunter2"),
           std::string("username: u, password: hunter2, password_env: hunter2"),
           std::string("scheme: none, password: hunter2"),
           std::string("username: u, password: \"${DOHMUX_NO:-hunter2}\\x01\""),
       }) {
    CAPTURE(auth);
    for (const std::string& line : bad(proxy(auth))) {
      CHECK(line.find(kSecret) == std::string::npos);
      CHECK(line.starts_with("f:1:"));
    }
  }
  for (const char* text :
       {"proxies: [{name: a, url: \"http://u:hunter2@10.0.0.1:1\"}]\nupstreams: https://192.0.2.1/d", "upstreams: https://u:hunter2@a/d",
        "upstreams: u:hunter2@a", "upstreams: \"https://u:hun@ter2@a b/d\"", "upstreams: \"${DOHMUX_NO:-hunter2}\""}) {
    CAPTURE(text);
    for (const std::string& line : bad(text)) {
      CHECK(line.find(kSecret) == std::string::npos);
      CHECK(line.find("hun@ter2") == std::string::npos);
    }
  }
}

TEST_CASE("password files: relative, one final line break stripped, bounded") {
  const Folder folder;
  const auto load = [&folder](const std::string& content, unsigned mode = 0600) {
    (void)folder.write("pw", content, mode);
    return load_config(folder.write("d.yaml", proxy("username: u, password_file: pw")));
  };
  for (const char* content : {"hunter2", "hunter2\n", "hunter2\r\n"}) {
    const auto loaded = load(content);
    REQUIRE(loaded.has_value());
    CHECK(loaded->config.proxies[0].auth.password == kSecret);
    CHECK(loaded->warnings.size() == 1);  // the advice about a single proxy
  }
  const auto shared = load("hunter2", 0644);
  REQUIRE(shared.has_value());
  CHECK(shared->warnings[0].message ==
        "proxies[0].auth.password_file (line 1): the password file may be read by other users; chmod 600 it");
  const std::string place = folder.path() + "/d.yaml:1:82: proxies[0].auth.password_file: ";
  CHECK(errors_of(load("")) == Strings{place + "the file named here is empty; write the password into it"});
  CHECK(errors_of(load("\n")) == Strings{place + "the file named here is empty; write the password into it"});
  CHECK(errors_of(load("a\nb\n")) ==
        Strings{place + "the password holds a control character or a line break (RFC 7617 forbids them); remove it"});
  CHECK(errors_of(load(std::string("a\0b", 3))).size() == 1);
  CHECK(errors_of(load(std::string(5000, 'x'))) ==
        Strings{place + "the file named here cannot be read: it is larger than 4096 bytes; give a file that holds the password alone"});
}

TEST_CASE("a password in the file itself needs a private file") {
  const Folder folder;
  const std::string literal = proxy("username: u, password: hunter2");
  CHECK(load_config(folder.write("a.yaml", literal, 0600)).has_value());
  for (const unsigned mode : {0640U, 0604U, 0644U}) {
    CHECK(errors_of(load_config(folder.write("a.yaml", literal, mode))) ==
          Strings{folder.path() +
                  "/a.yaml:1:77: proxies[0].auth.password: a password in a file that other users may read; chmod 600 the file, or use "
                  "password_file or password_env"});
  }
  const Variable secret("DOHMUX_S", kSecret);
  CHECK(load_config(folder.write("b.yaml", proxy("username: u, password: \"${DOHMUX_S}\""), 0644)).has_value());
  CHECK_FALSE(load_config(folder.write("b.yaml", proxy("username: u, password: \"${DOHMUX_NO:-hunter2}\""), 0644)).has_value());
}

TEST_CASE("credentials: what is missing or not allowed") {
  const Variable empty("DOHMUX_EMPTY", "");
  const auto one = [](const std::string& auth) {
    const auto lines = bad(proxy(auth));
    REQUIRE(lines.size() == 1);
    return lines[0];
  };
  const std::string path = "proxies[0].auth";
  CHECK(one("password: x") == "f:1:53: " + path + ".username: is missing; give the user name");
  CHECK(one("username: x") == "f:1:53: " + path + ": no password is given; give password_file, password_env or password");
  CHECK(one("username: x, password: ''") == "f:1:77: " + path + ".password: is empty; give the password, or better password_file");
  CHECK(one("username: \"a:b\", password: x") ==
        "f:1:64: " + path + ".username: a user name for basic holds no ':' (RFC 7617 section 2); the password goes to password_file");
  CHECK(one("username: \"a\\rb\", password: x").find("control character") != std::string::npos);
  CHECK(one("username: \"a\\0b\", password: x").find("control character") != std::string::npos);
  CHECK(one("username: x, password_env: DOHMUX_EMPTY").find("not set or empty; ") != std::string::npos);
  CHECK(one("scheme: digest, username: x, password: y") ==
        "f:1:62: " + path + ".scheme: \"digest\" does not exist yet; use basic, or none");
  CHECK(one("scheme: none, username: x") ==
        "f:1:78: " + path + ".username: has no use with `scheme: none`; remove it, or write `scheme: basic`");
  CHECK(one("username: x, pasword: y, password_env: HOME").find("(did you mean \"password\"?)") != std::string::npos);
}

TEST_CASE("values in messages are quoted, escaped and shortened") {
  CHECK(config::shown("a\"b\\c\n") == R"("a\"b\\c\x0a")");
  CHECK(config::shown("http://u:p@h/x@y") == "\"http://…@y\"");
  CHECK(config::shown("${A:-x}/${B}/${C:-y}") == "\"${A:-…}/${B}/${C:-…}\"");
  CHECK(config::shown(std::string(100, 'x')) == "\"" + std::string(60, 'x') + "…\"");
  CHECK(config::shown(std::string(59, 'x') + "ä") == "\"" + std::string(59, 'x') + "…\"");
}
