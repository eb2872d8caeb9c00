"""Links between the pages, and the `file:function` references of the pages, lead somewhere."""

import re

from house import code_of


def anchors(markdown):
    """Anchors of a page's headings, as the usual renderers make them."""
    found = set()
    for heading in re.findall(r"^#+\s+(.*?)\s*$", without_code(markdown), flags=re.MULTILINE):
        plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


def without_code(markdown):
    return re.sub(r"^```.*?^```", "", markdown, flags=re.MULTILINE | re.DOTALL)


def check_link(tree, page, target):
    if re.match(r"[a-z]+:", target):
        return None
    path, _, anchor = target.partition("#")
    there = tree.path(page).parent / path if path else tree.path(page)
    if not there.exists():
        return f"{page}: link to {target}, which is not there"
    if anchor and there.suffix == ".md" and anchor not in anchors(there.read_text(encoding="utf-8")):
        return f"{page}: link to {target}: no such heading"
    return None


def check_reference(tree, page, reference):
    """`src/x/y.cpp:Type::function` or `src/x/y.cpp`."""
    path, _, function = reference.partition(":")
    if not tree.exists(path):
        return f"{page}: {path} is not there"
    if function and tree.path(path).is_file():
        last = re.escape(function.rpartition("::")[2].removesuffix("()"))
        if not re.search(rf"\b{last}\b", code_of(tree.text(path))):
            return f"{page}: {path} has no {function}"
    return None


def check(tree, _build):
    problems = []
    for page in (n for n in tree.files() if n.endswith(".md")):
        text = without_code(tree.text(page))
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
            problems.append(check_link(tree, page, target))
        for reference in re.findall(r"`((?:src|include|tests|docs|cmake|config|systemd)/[^`\s*<>{}]+)`", text):
            problems.append(check_reference(tree, page, reference))
    return [p for p in problems if p]
