// URLs of resolvers and proxies: what is accepted, what is refused, and with which remedy.
#include "config/url.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

using namespace dohmux::config;  // NOLINT(google-build-using-namespace)

TEST_CASE("resolver URLs") {
  struct Row {
    std::string text, host, path;
    int port;
  };
  const std::vector<Row> table{
      {"https://dns.quad9.net/dns-query", "dns.quad9.net", "/dns-query", 443},
      {"HTTPS://DNS.Quad9.NET:8443/A/b", "dns.quad9.net", "/A/b", 8443},
      {"https://192.0.2.1/", "192.0.2.1", "/", 443},
      {"https://[2001:DB8::1]/dns-query", "2001:db8::1", "/dns-query", 443},
      {"https://[::1]:8443/dns-query{?dns}", "::1", "/dns-query", 8443},
      {"https://a/dns-query?token=x%20y&b", "a", "/dns-query?token=x%20y&b", 443},
      {"https://a_b.example/{?dns}", "a_b.example", "/", 443},
  };
  for (const auto& row : table) {
    CAPTURE(row.text);
    const auto url = parse_upstream_url(row.text);
    REQUIRE(url.has_value());
    CHECK(url->host == row.host);
    CHECK(url->port == row.port);
    CHECK(url->path == row.path);
  }
}

TEST_CASE("resolver URLs that are refused, and the remedy") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"", "write it like https://HOST/dns-query"},
      {"dns.quad9.net", "no scheme"},
      {"http://a/dns-query", "only https"},
      {"tls://a/", "only https"},
      {"https://a", "no path"},
      {"https://a{?dns}", "no path"},
      {"https://a?x", "no path"},
      {"https:///dns-query", "host is missing"},
      {"https://u:p@a/dns-query", "before the @"},
      {"https://a/#x", "fragment"},
      {"https://a/x y", "space"},
      {"https://b\xc3\xbc/d", "xn--"},
      {"https://a:/d", "port is missing"},
      {"https://a:0/d", "1 to 65535"},
      {"https://a:65536/d", "1 to 65535"},
      {"https://a:44x/d", "1 to 65535"},
      {"https://::1/d", "brackets"},
      {"https://[::1/d", "brackets"},
      {"https://[a]/d", "brackets"},
      {"https://[fe80::1%25eth0]/d", "zone"},
      {"https://127.1/d", "four numbers"},
      {"https://0x7f.1/d", "four numbers"},
      {"https://1.2.3.256/d", "four numbers"},
      {"https://a..b/d", "single dots"},
      {"https://a./d", "dot at the end"},
      {"https://-a/d", "host name"},
      {"https://a/{x}", "{?dns}"},
      {"https://a/%zz", "%25"},
      {"https://a/b%2", "%25"},
      {"https://a/x/../y", ".."},
      {"https://a/.", ". or .."},
      {"https://a/\"", "may not have"},
  };
  for (const auto& [text, remedy] : table) {
    CAPTURE(text);
    const auto url = parse_upstream_url(text);
    REQUIRE_FALSE(url.has_value());
    CHECK(url.error().find(remedy) != std::string::npos);
    CHECK(url.error().find("; ") != std::string::npos);
    CHECK(url.error().find("u:p") == std::string::npos);
    CAPTURE(url.error());
  }
}

TEST_CASE("proxy URLs") {
  CHECK(parse_proxy_url("http://10.0.0.1:3128")->port == 3128);
  CHECK(parse_proxy_url("http://Proxy.example:8080/")->host == "proxy.example");
  CHECK(parse_proxy_url("http://[::1]:3128")->host == "::1");
  const std::vector<std::pair<std::string, std::string>> table{
      {"http://10.0.0.1", "port is missing"},
      {"https://a:1", "later version"},
      {"socks5h://a:1", "later version"},
      {"socks5://a:1", "only http proxies"},
      {"http://u:p@a:1", "password_file"},
      {"http://a:1/x", "no path"},
      {"http://a:1?x", "no path"},
      {"a:1", "no scheme"},
      {"http://:1", "host is missing"},
  };
  for (const auto& [text, remedy] : table) {
    CAPTURE(text);
    const auto url = parse_proxy_url(text);
    REQUIRE_FALSE(url.has_value());
    CHECK(url.error().find(remedy) != std::string::npos);
  }
}

TEST_CASE("host names keep to the limits of RFC 1035") {
  const std::string label(63, 'a');
  CHECK(parse_host(label + ".example").has_value());
  CHECK_FALSE(parse_host(label + "a.example").has_value());
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'b');
  CHECK(longest.size() == 253);
  CHECK(parse_host(longest).has_value());
  CHECK_FALSE(parse_host(longest + "b").has_value());
  CHECK(parse_host("XN--Bcher-KVA.Example") == "xn--bcher-kva.example");
}
