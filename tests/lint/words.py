"""Words that have their place: shared_ptr, virtual, throw, void*... and places that no file may name."""

import functools
import glob
import re
import subprocess

from house import blocks, code_of, line_of, matches, table, ticked

# What the word stands for -> how it looks in code. Where each is allowed is said in docs/architecture.md.
WORDS = {
    "shared_ptr": r"\b(?:shared_ptr|make_shared|weak_ptr|enable_shared_from_this)\b",
    "throw, catch": r"\b(?:throw|catch)\b",
    "void*": r"\bvoid\s*(?:const\s*)?\*",
    "wall clock": r"\bsystem_clock\b|\bgettimeofday\b|\bCLOCK_REALTIME\b|\bstd::time\b",
    "getaddrinfo": r"\b(?:getaddrinfo|gethostbyname\w*|getnameinfo)\b",
    "std::format, std::print": r"\bstd::(?:v?format(?:_to)?|print|println)\b",
    "plain enum": r"\benum\s+(?!class\b)\w",
    "getenv": r"\b(?:secure_)?getenv\b|\benviron\b",
    "detach": r"\.detach\s*\(",
    "unfinished": r"\b(?:TODO|FIXME|XXX)\b",
}
IN_COMMENTS_TOO = {"unfinished"}


def allowed_places(markdown):
    rows = table(markdown, "word", "allowed in", "why") or []
    return {ticked(row[0])[0]: ticked(row[1]) for row in rows}


def check_words(tree):
    places = allowed_places(tree.text("docs/architecture.md"))
    for word in WORDS.keys() - places.keys():
        yield f"docs/architecture.md: the list of words does not say where `{word}` may stand"
    for name in tree.sources(("src", "include")):
        text = tree.text(name)
        code = code_of(text)
        for word, pattern in WORDS.items():
            if not matches(name, places.get(word, [])):
                for found in re.finditer(pattern, text if word in IN_COMMENTS_TOO else code):
                    yield f"{name}:{line_of(text, found.start())}: {word} is not allowed here"


def interfaces(text):
    """(offset, class) of each class that declares something virtual itself."""
    types = [b for b in blocks(text) if b.kind == "type"]
    seen = set()
    for found in re.finditer(r"\bvirtual\b", code_of(text)):
        around = [b for b in types if b.open < found.start() < b.close]
        if around and around[-1].name not in seen:
            seen.add(around[-1].name)
            yield around[-1].start, around[-1].name


def check_interfaces(tree):
    listed = {ticked(row[0])[0] for row in table(tree.text("docs/architecture.md"), "interface", "declared in", "why") or []}
    met = set()
    for name in tree.sources(("src", "include")):
        text = tree.text(name)
        for offset, interface in interfaces(text):
            met.add(interface)
            if interface not in listed:
                yield f"{name}:{line_of(text, offset)}: {interface} is not in the list of interfaces"
    for interface in sorted(listed - met):
        yield f"docs/architecture.md: no interface {interface} in the code"


def check_public_signatures(tree):
    for name in tree.sources(("include",)):
        text = tree.text(name)
        for found in re.finditer(r"[(,]\s*(?:const\s+)?bool\s+\w+\s*(?=[,)=])", code_of(text)):
            yield f"{name}:{line_of(text, found.start())}: no bool parameters in the public door; use an enum class"


def check_heads(tree):
    """Each .cpp says in its first lines what it is for."""
    for name in tree.sources():
        if name.endswith(".cpp"):  # a test's first line may be short
            comment = re.match(r"(?://[^\n]*\n)*", tree.text(name)).group()
            if len(comment) < (40 if name.startswith("src/") else 1) or comment.count("\n") > 6:
                yield f"{name}:1: begin with one to six lines: what it is for, what it must not know"


def check_suppressions(tree):
    """NOLINT names its check."""
    for name in tree.sources(("src", "include")):
        for number, line in enumerate(tree.text(name).splitlines(), 1):
            if re.search(r"\bNOLINT(?:NEXTLINE|BEGIN|END)?\b(?!\([\w.,\- *]+\))", line):
                yield f"{name}:{number}: NOLINT without the name of the check"


@functools.cache
def machine_hosts():
    """Hosts of the package mirrors configured on this machine."""
    text = ""
    for path in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*")]:
        try:
            with open(path, encoding="utf-8", errors="replace") as source:
                text += source.read()
        except OSError:
            pass
    for command in (["npm", "config", "get", "registry"], ["pip", "config", "list"]):
        try:
            text += subprocess.run(command, capture_output=True, text=True, timeout=20, check=False).stdout
        except (OSError, subprocess.TimeoutExpired):
            pass
    return sorted(set(re.findall(r"https?://(?:[^/@\s]*@)?([\w.\-]+)", text)) - {"localhost"})


def check_places(tree):
    """No registry host and no path of somebody's machine in any file."""
    words = [(re.escape(host), "names a package mirror") for host in machine_hosts()]
    homes = "|".join(("work", "root", "home/[a-z]+", "Users/[A-Za-z]+"))
    words.append((rf"(?<![\w./:\-])/(?:{homes})/", "is a path of one machine"))
    words.append((re.escape(str(tree.root)) + r"\b", "is a path of one machine"))
    for name in tree.files():
        text = tree.text(name)
        for pattern, wrong in words:
            found = re.search(pattern, text)
            if found:
                yield f"{name}:{line_of(text, found.start())}: {found.group()} {wrong}"


def check(tree, _build):
    rules = (check_words, check_interfaces, check_public_signatures, check_heads, check_suppressions, check_places)
    return [problem for rule in rules for problem in rule(tree)]
