#!/usr/bin/env python3
"""The rules catch what they are for, and nothing else: small trees made here, each with one fault."""

import pathlib
import tempfile
import textwrap
import unittest

import docs
import headers
import includes
import sizes
import words
from house import Tree, blocks, code_of

ARCHITECTURE = """
| layer | may include | third party |
|---|---|---|
| `base` | – | `spdlog` in `log.cpp` |
| `dns` | `base` | – |
| `upstream` | `dns/query.h`, `base`, `<dohmux/config.h>` | – |
| `event/curl` | `base` | `libcurl` |

| word | allowed in | why |
|---|---|---|
| `shared_ptr` | – | one owner |
| `throw, catch` | `src/base/parse*.cpp` | a library throws |
| `void*` | `src/event/` | C callbacks |
| `wall clock` | `src/base/log.cpp` | - |
| `getaddrinfo` | – | - |
| `std::format, std::print` | – | - |
| `plain enum` | – | - |
| `getenv` | – | - |
| `detach` | – | - |
| `unfinished` | – | - |

| interface | declared in | why |
|---|---|---|
| `Door` | `src/base/door.h` | two doors |
"""
HEAD = "// What it is for.\n// What it must not know.\n"


class Lint(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Tree(folder.name)
        self.write("docs/architecture.md", ARCHITECTURE)
        self.write("src/base/door.h", "class Door {\n  virtual void open() = 0;\n};\n")
        self.write("src/dns/query.h", "")
        self.write("include/dohmux/config.h", "#include <string>\n")

    def write(self, name, text):
        path = self.tree.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")

    def found(self, check, *parts):
        """The check's problems: exactly one for each part, which names it."""
        problems = check(self.tree, self.tree.root)
        self.assertEqual(len(problems), len(parts), problems)
        for problem, part in zip(problems, parts):
            self.assertIn(part, problem)


class Includes(Lint):
    def test_good_tree(self):
        self.write("src/upstream/a.cpp", '#include <vector>\n#include <sys/socket.h>\n#include <dohmux/config.h>\n#include "dns/query.h"\n')
        self.write("src/base/log.cpp", "#include <spdlog/spdlog.h>\n#include <fmt/format.h>\n")
        self.write("src/event/curl/m.cpp", '#include <curl/curl.h>\n#include "base/door.h"\n')
        self.found(includes.check)

    def test_upwards(self):
        self.write("src/base/a.cpp", '#include "dns/query.h"\n')
        self.found(includes.check, "src/base/a.cpp:1: base may not include dns/query.h")

    def test_only_the_listed_header(self):
        self.write("src/dns/wire.h", "")
        self.write("src/upstream/a.cpp", '// x\n#include "dns/wire.h"\n')
        self.found(includes.check, "src/upstream/a.cpp:2: upstream may not include dns/wire.h")

    def test_third_party(self):
        self.write("src/dns/a.cpp", "#include <fmt/format.h>\n#include <uv.h>\n#include <boost/asio.hpp>\n")
        self.write("src/base/other.cpp", "#include <spdlog/spdlog.h>\n")
        self.found(includes.check, "spdlog", "libuv", "no library that the house knows")

    def test_relative_and_missing(self):
        self.write("src/dns/a.cpp", '#include "query.h"\n')
        self.found(includes.check, "not a file below src/")

    def test_public_configuration_is_not_for_everybody(self):
        self.write("src/dns/a.cpp", "#include <dohmux/config.h>\n#include <dohmux/address.h>\n")
        self.found(includes.check, "dns may not include <dohmux/config.h>")

    def test_public_headers(self):
        self.write("include/dohmux/x.h", '#include <dohmux/config.h>\n#include <uv.h>\n#include "base/door.h"\n')
        self.found(includes.check, "not uv.h", "not base/door.h")

    def test_the_laboratory_is_independent(self):
        self.write("tests/support/lab/dns.h", "")
        self.write("tests/support/lab/a.cpp", '#include "support/lab/dns.h"\n#include "dns/query.h"\n#include <dohmux/config.h>\n')
        self.found(includes.check, "may not include dns/query.h", "may not include dohmux/config.h")

    def test_unknown_folder(self):
        self.write("src/helpers/a.cpp", "")
        self.found(includes.check, "not in the include table")

    def test_link_lists(self):
        self.write("src/CMakeLists.txt", "dohmux_layer(base LIBS fmt::fmt)\ndohmux_layer(dns LAYERS base upstream)\n"
                   "dohmux_layer(event_curl DIR event/curl LAYERS base LIBS x)\ndohmux_layer(upstream LAYERS dns base)\n")
        self.found(includes.check, "dns links upstream")


class Sizes(Lint):
    @staticmethod
    def names(text):
        return [(b.kind, b.name) for b in blocks(text)]

    def test_long_function(self):
        body = "  step();\n" * 59
        self.write("src/dns/a.cpp", f"namespace dohmux {{\nint Reader::next(int n) const {{\n{body}}}\n}}\n")
        self.found(sizes.check, "src/dns/a.cpp:2: Reader::next() has 61 lines")

    def test_sixty_lines_are_fine(self):
        body = "  step();\n" * 58
        self.write("src/dns/a.cpp", f"int next() {{\n{body}}}\n")
        self.found(sizes.check)

    def test_signature_counts(self):
        body = "  step();\n" * 57
        self.write("src/dns/a.cpp", f"int next(int a,\n         int b,\n         int c) {{\n{body}}}\n")
        self.found(sizes.check, "src/dns/a.cpp:1: next() has 61 lines")

    def test_constructor_with_braced_members(self):
        body = "  step();\n" * 55
        self.write("src/dns/a.cpp", f"A::A(int a)\n  : a_{{a}},\n    b_{{1}} {{\n{body}}}\nint after() {{ return 1; }}\n")
        self.found(sizes.check)
        self.write("src/dns/a.cpp", f"A::A(int a)\n  : a_{{a}},\n    b_{{1}} {{\n{body * 2}}}\n")
        self.found(sizes.check, "src/dns/a.cpp:1: A::A() has 114 lines")

    def test_braces_in_text_do_not_count(self):
        text = 'int f() {\n  char c = \'{\'; auto s = "}{"; auto r = R"x(}}{)x"; int n = 1\'000;  // {\n  /* { */ return n;\n}\nint g() { return 2; }\n'
        self.assertEqual(self.names(text), [("function", "f"), ("function", "g")])

    def test_kinds(self):
        text = """
            namespace dohmux::x { namespace {
            enum class Kind : int { A, B };
            struct Point final : Base<int(int)> { int x{0}; Point() : x{1} {} bool operator==(const Point&) const = default; };
            constexpr std::array<int, 2> kTable = {1, 2};
            const std::vector<std::function<void(int)>> kList{f(1)};
            template <typename T, std::size_t N = (1 > 0)>
            [[nodiscard]] auto make(T value) -> std::expected<T, int> { if (value) { while (true) { } } return {}; }
            struct sockaddr* raw(int x) { return nullptr; }
            auto square = [](int a) { return a * a; };
            Timer::operator bool() const noexcept { return true; }
            extern "C" { void hook(void) {} }
            } }
        """
        self.assertEqual([n for n in self.names(text) if n[0] == "function"],
                         [("function", "Point"), ("function", "make"), ("function", "raw"), ("function", "lambda"),
                          ("function", "bool"), ("function", "hook")])
        self.assertIn(("type", "Point"), self.names(text))
        self.assertIn(("type", "Kind"), self.names(text))

    def test_long_test_cases_count(self):
        self.write("tests/unit/a.cpp", 'TEST_CASE("x", "[y]") {\n' + '  SECTION("a") {\n    step();\n  }\n' * 20 + "}\n")
        self.found(sizes.check, "TEST_CASE() has 62 lines")

    def test_long_file(self):
        self.write("src/dns/a.cpp", "int a;\n" * 601)
        self.found(sizes.check, "601 lines")


class Words(Lint):
    def test_good_tree(self):
        self.write("src/base/parse_x.cpp", HEAD + "void f() { try { } catch (const E& e) { } }\n// shared_ptr, void* and getaddrinfo are only talked about\n")
        self.write("src/event/a.h", "void* data;\nenum class A { B };\n")
        self.write("src/base/log.cpp", HEAD + "auto t = std::chrono::system_clock::now();\n")
        self.found(words.check)

    def test_words(self):
        for code, word in (("std::shared_ptr<int> p;", "shared_ptr"), ("void f() { throw 1; }", "throw, catch"), ("void* p;", "void*"),
                           ("auto t = std::chrono::system_clock::now();", "wall clock"), ("::getaddrinfo(0, 0, 0, 0);", "getaddrinfo"),
                           ('auto s = std::format("x");', "std::format"), ("enum Old { A };", "plain enum"), ('getenv("X");', "getenv"),
                           ("thread.detach();", "detach"), ("int a;  // TODO later".replace("TODO", "TO" + "DO"), "unfinished")):
            with self.subTest(word):
                self.write("src/dns/a.h", code + "\n")
                self.found(words.check, f"src/dns/a.h:1: {word}")

    def test_interfaces(self):
        self.write("src/dns/a.h", "namespace x {\nclass Outer {\n  class Window {\n   public:\n    virtual void look() = 0;\n  };\n};\n}\n")
        self.found(words.check, "src/dns/a.h:3: Window is not in the list")

    def test_stale_list(self):
        self.write("src/base/door.h", "")
        self.found(words.check, "no interface Door")

    def test_bool_parameter(self):
        self.write("include/dohmux/a.h", "void open(int a, bool wide);\nstruct A { bool fine = true; bool too(); };\n")
        self.found(words.check, "no bool parameters")

    def test_heads(self):
        self.write("src/dns/a.cpp", "int a;\n")
        self.found(words.check, "src/dns/a.cpp:1: begin with")

    def test_suppressions(self):
        self.write("src/dns/a.h", "int a;  // NO" + "LINT\nint b;  // NO" + "LINT(bugprone-x): reason\n")
        self.found(words.check, "src/dns/a.h:1")

    def test_places(self):
        host = (words.machine_hosts() or ["none"])[0]
        self.write("a.txt", "see /" + "work/main and /home/" + "joe/x\n")
        self.write("b.txt", "get it from " + host + "\nhttps://example.org/work/x is fine\n")
        self.write("c.txt", f"{self.tree.root}/x\n")
        self.found(words.check, "a.txt:1", *(["b.txt:1"] if host != "none" else []), "c.txt:1")


class Docs(Lint):
    def setUp(self):
        super().setUp()
        self.write("src/event/poll.h", "")
        self.write("src/base/log.cpp", HEAD)

    def test_links(self):
        self.write("docs/a.md", "# One, *two*\n[good](architecture.md) [good](#one-two) [out](https://example.org/x)\n`[not](a-link)`\n")
        self.found(docs.check)
        self.write("README.md", "[bad](docs/none.md) [bad](docs/a.md#three)\n")
        self.found(docs.check, "docs/none.md", "no such heading")

    def test_references(self):
        self.write("src/dns/q.cpp", "// gone()\nint Query::parse() { return 1; }\n")
        self.write("docs/a.md", "`src/dns/q.cpp:Query::parse`, `src/dns/q.cpp:parse`, `src/dns/`\n")
        self.found(docs.check)
        self.write("docs/a.md", "`src/dns/q.cpp:gone` `src/dns/z.cpp`\n")
        self.found(docs.check, "has no gone", "src/dns/z.cpp is not there")


class Headers(Lint):
    def test_alone(self):
        self.found(headers.check)
        self.write("include/dohmux/a.h", "#pragma once\ninline std::string f() { return {}; }\n")
        self.write("include/dohmux/b.h", "inline int twice() { return 1; }\n")
        self.found(headers.check, "dohmux/a.h: does not compile alone", "dohmux/b.h: does not compile alone")

    def test_third_party(self):
        self.assertEqual(headers.third_party("/usr/include/x86_64-linux-gnu/curl/curl.h"), "libcurl")
        self.assertEqual(headers.third_party("/usr/include/uv.h"), "libuv")
        self.assertIsNone(headers.third_party("/usr/include/c++/12/vector"))


class Code(unittest.TestCase):
    def test_offsets_stay(self):
        text = 'int a; // "x\nauto b = "/* no */"; /* yes\n */ int c;\n'
        self.assertEqual(len(code_of(text)), len(text))
        self.assertEqual(code_of(text).count("\n"), 3)
        self.assertNotIn("yes", code_of(text))
        self.assertIn("int c;", code_of(text))


if __name__ == "__main__":
    unittest.main()
