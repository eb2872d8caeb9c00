"""#include lines and link lists against the include table of docs/architecture.md."""

import fnmatch
import re

from house import matches, table, ticked

# Which headers belong to which library of the table's third column.
LIBRARIES = {
    "fmt": ("fmt/*",),
    "spdlog": ("spdlog/*",),
    "libuv": ("uv.h", "uv/*"),
    "libcurl": ("curl/*",),
    "OpenSSL": ("openssl/*",),
    "nghttp2": ("nghttp2/*",),
    "c-ares": ("ares.h", "ares_*.h"),
    "yaml-cpp": ("yaml-cpp/*",),
    "CLI11": ("CLI/*",),
    "libsystemd": ("systemd/*",),
}
SYSTEM = ("sys/*", "netinet/*", "arpa/*", "net/*", "linux/*", "bits/*")
EVERYBODY = ("<dohmux/address.h>", "<dohmux/version.h>")


class Layer:
    """One row of the table."""

    def __init__(self, cells):
        self.name = ticked(cells[0])[0]
        self.may = ticked(cells[1])
        self.libraries = {}
        for part in cells[2].split(";"):
            words = ticked(part)
            if words:
                self.libraries[words[0]] = words[1:] or ["*"]

    def allows(self, target):
        """Target: "layer/file.h" or "<dohmux/x.h>"."""
        if target.startswith("<"):
            return any(fnmatch.fnmatchcase(target, may) for may in (*self.may, *EVERYBODY))
        folder = target.rpartition("/")[0]
        return folder == self.name or folder in self.may or target in self.may

    def allows_library(self, library, file_name):
        return library == "fmt" or library in self.libraries and matches(file_name, self.libraries[library])


def read_table(tree):
    rows = table(tree.text("docs/architecture.md"), "layer", "may include", "third party")
    return {layer.name: layer for layer in map(Layer, rows or [])}


def layer_of(name, layers):
    """The layer of src/LAYER/file; nested layers win."""
    folder = name.removeprefix("src/").rpartition("/")[0]
    return layers.get(folder)


def library_of(header):
    for library, patterns in LIBRARIES.items():
        if any(fnmatch.fnmatchcase(header, p) for p in patterns):
            return library
    return None


def is_standard(header):
    return "/" not in header or any(fnmatch.fnmatchcase(header, p) for p in SYSTEM)


def includes_of(text):
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield number, found.group(1), found.group(2)


def check_line(tree, name, layer, form, header):
    """What is wrong with one include of one file of src/, or None."""
    if form == '"':
        if "/" not in header and layer.name == "main" and tree.exists(f"src/main/{header}"):
            return None
        if not tree.exists(f"src/{header}"):
            return f'"{header}" is not a file below src/ (write "layer/file.h")'
        return None if layer.allows(header) else f"{layer.name} may not include {header}"
    if header.startswith("dohmux/"):
        return None if layer.allows(f"<{header}>") else f"{layer.name} may not include <{header}>"
    library = library_of(header)
    if library:
        allowed = layer.allows_library(library, name.rpartition("/")[2])
        return None if allowed else f"{layer.name} may not include {library} here (<{header}>)"
    return None if is_standard(header) else f"<{header}> belongs to no library that the house knows"


def check_public(name, form, header):
    if form == '"' or not (header.startswith("dohmux/") or (is_standard(header) and not library_of(header))):
        return f"a public header may only include the standard library and <dohmux/...>, not {header}"
    return None


def check_links(tree, layers):
    """The link lists of src/CMakeLists.txt must be the table, too."""
    text = re.sub(r"#[^\n]*", "", tree.text("src/CMakeLists.txt"))
    names = {}
    calls = re.findall(r"dohmux_layer\(\s*(\w+)([^)]*)\)", text)
    for name, rest in calls:
        folder = re.search(r"\bDIR\s+(\S+)", rest)
        names[name] = folder.group(1) if folder else name
    for name, rest in calls:
        layer = layers.get(names[name])
        if not layer:
            yield f"src/CMakeLists.txt: layer {name} is not in the include table"
            continue
        listed = re.search(r"\bLAYERS\s+((?:[\w/]+\s*?)+?)(?=\s*(?:LIBS|DIR|$))", rest.strip())
        may = {m if "." not in m else m.rpartition("/")[0] for m in layer.may if not m.startswith("<")}
        for other in (listed.group(1).split() if listed else []):
            if names.get(other, other) not in may:
                yield f"src/CMakeLists.txt: {name} links {other}, which the include table does not allow"


def check_independent(tree):
    """The peers that tests use share no code with what they test."""
    for name in tree.sources(("tests",)):
        if name.startswith("tests/support/lab/"):
            for number, form, header in includes_of(tree.text(name)):
                if header.startswith("dohmux/") or (form == '"' and not tree.exists(f"tests/{header}")):
                    yield f"{name}:{number}: the laboratory may not include {header}: it must not share code with the daemon"


def check(tree, _build):
    layers = read_table(tree)
    if not layers:
        return ["docs/architecture.md: the include table is missing"]
    problems = list(check_links(tree, layers)) if tree.exists("src/CMakeLists.txt") else []
    problems += check_independent(tree)
    for name in tree.sources(("src", "include")):
        layer = layer_of(name, layers)
        if name.startswith("src/") and not layer:
            problems.append(f"{name}: its folder is not in the include table")
            continue
        for number, form, header in includes_of(tree.text(name)):
            wrong = check_line(tree, name, layer, form, header) if layer else check_public(name, form, header)
            if wrong:
                problems.append(f"{name}:{number}: {wrong}")
    return problems
