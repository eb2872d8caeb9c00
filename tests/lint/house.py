"""What the house rules have in common: the tree's files, C++ text without comments and strings, its blocks."""

import dataclasses
import fnmatch
import pathlib
import re
import subprocess

SOURCE_FOLDERS = ("src", "include", "tests")
SOURCE_ENDINGS = (".cpp", ".h", ".in")
SKIPPED = {".git", "build", "__pycache__", "node_modules"}


class Tree:
    """A work tree; paths in it are posix strings relative to its root."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()

    def path(self, name):
        return self.root / name

    def text(self, name):
        return self.path(name).read_text(encoding="utf-8", errors="replace")

    def exists(self, name):
        return self.path(name).exists()

    def files(self):
        """Everything that git would track; without git, everything but build folders."""
        if (self.root / ".git").exists():
            listed = subprocess.run(
                ["git", "-c", f"safe.directory={self.root}", "ls-files", "-z", "-co", "--exclude-standard"],
                cwd=self.root, capture_output=True, check=False)
            if listed.returncode == 0:
                names = sorted(set(listed.stdout.decode().split("\0")) - {""})
                return [name for name in names if self.path(name).is_file()]
        found = (p.relative_to(self.root) for p in self.root.rglob("*") if p.is_file())
        return sorted(p.as_posix() for p in found if not SKIPPED & set(p.parts))

    def sources(self, folders=SOURCE_FOLDERS):
        """C++ files below these folders."""
        return [n for n in self.files() if n.split("/")[0] in folders and n.endswith(SOURCE_ENDINGS)]


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def matches(name, patterns):
    """A pattern is a glob; one that ends in '/' means everything below that folder."""
    return any(name.startswith(p) if p.endswith("/") else fnmatch.fnmatchcase(name, p) for p in patterns)


_TOKEN = re.compile(
    r"""(?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)
      |(?P<raw>\b(?:u8|[uUL])?R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)")
      |(?P<string>\b(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|"(?:[^"\\\n]|\\.)*")
      |(?P<number>\b\d(?:'?[\w.])*)
      |(?P<char>'(?:[^'\\\n]|\\.)+')""",
    re.DOTALL | re.VERBOSE)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def code_of(text):
    """The text with comments and literals blanked; offsets and line numbers stay."""
    return _TOKEN.sub(lambda m: m.group(0) if m.lastgroup == "number" else blank(m.group(0)), text)


def without_preprocessor(code):
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: blank(m.group(0)), code, flags=re.MULTILINE | re.DOTALL)


@dataclasses.dataclass
class Block:
    kind: str  # namespace, type, function, init, constructor-init, block
    name: str
    start: int  # offset where its head begins
    open: int  # offset of its brace
    close: int = -1


def _drop_template_arguments(head):
    while True:
        shorter = re.sub(r"<[^<>(){};]*(?:\([^<>(){};]*\)[^<>(){};]*)*>", " ", head)
        if shorter == head:
            return head
        head = shorter


def _after_template(head):
    """Drops leading "template <...>"; a '>' inside parentheses does not end it."""
    found = re.match(r"\s*template\s*(?=<)", head)
    if not found:
        return head
    depth = parens = 0
    for at in range(found.end(), len(head)):
        parens += {"(": 1, ")": -1}.get(head[at], 0)
        depth += 0 if parens else {"<": 1, ">": -1}.get(head[at], 0)
        if depth == 0 and not parens:
            return _after_template(head[at + 1:])
    return head


_LAMBDA = re.compile(r"\]\s*(?:\([^{}]*\))?\s*(?:mutable|noexcept|\s)*(?:->[^{}=]*)?$")
_TYPE = re.compile(r"^(?:(?:inline|constexpr|static|typedef|friend|export)\s+)*(class|struct|union|enum)\b(?:\s+class\b)?\s*(?:alignas\s*\([^)]*\)\s*)?([\w:]*)")
_AFTER_PARAMETERS = {"const", "noexcept", "override", "final", "mutable", "try", "volatile"}


def _classify(head, inherited):
    """Kind and name of a block at namespace or class scope, from what stands before its brace."""
    flat = _drop_template_arguments(_after_template(re.sub(r"\[\[.*?\]\]", " ", head, flags=re.DOTALL))).strip()
    if re.match(r"^(inline\s+)?namespace\b|^extern$", flat):
        return "namespace", flat
    found = _TYPE.match(flat)
    if found and "(" not in flat[found.end():].replace("...", ""):
        return "type", found.group(2)
    if _LAMBDA.search(flat):
        return "function", "lambda"
    outside = re.sub(r"\([^()]*\)", " ", re.sub(r"\([^()]*\)", " ", flat))
    if re.search(r"(?<![=!<>+\-*/|&^%])=(?!=)", outside) and "operator" not in outside:
        return "init", ""
    last = re.search(r"(\w+)\s*$", flat)
    if inherited or re.search(r"\)[\w\s]*:(?!:)", flat):
        ends_in_member = last and last.group(1) not in _AFTER_PARAMETERS and not flat.endswith(")")
        return ("constructor-init", "") if ends_in_member else ("function", _function_name(flat))
    return ("function", _function_name(flat)) if "(" in flat else ("init", "")


def _function_name(flat):
    found = re.search(r"([~\w:]+|operator[^\s(]+)\s*\(", flat)
    return found.group(1) if found else "?"


def blocks(text):
    """All namespaces, types and functions of a file, outermost first; the inside of functions is not split."""
    code = without_preprocessor(code_of(text))
    done, stack, head, inherited = [], [], 0, None
    for mark in re.finditer(r"[{};]", code):
        at, sign = mark.start(), mark.group()
        inside = any(b.kind == "function" for b in stack)
        if sign == "{":
            if inside:
                stack.append(Block("block", "", at, at))
            else:
                words = re.sub(r"^(\s*(?:public|private|protected)\s*:(?!:))+", lambda m: blank(m.group(0)), code[head:at])
                start = head + len(words) - len(words.lstrip())
                kind, name = _classify(words, inherited)
                if inherited:
                    start, name = inherited.start, inherited.name
                block = Block(kind, name, start, at)
                if kind == "constructor-init":
                    block.name = name or _function_name(words.strip())
                stack.append(block)
                inherited = None
        elif sign == "}" and stack:
            block = stack.pop()
            block.close = at
            inherited = block if block.kind == "constructor-init" else None
            if block.kind in ("namespace", "type", "function"):
                done.append(block)
        elif not inside:
            inherited = None
        if not any(b.kind == "function" for b in stack):
            head = at + 1
    return sorted(done, key=lambda b: b.open)


def table(markdown, *header):
    """Rows of the table with that header line, as lists of cells; None when there is no such table."""
    rows, seen = [], False
    for line in markdown.splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")] if line.lstrip().startswith("|") else None
        if not seen:
            seen = cells == list(header)
        elif cells is None:
            break
        elif not all(re.fullmatch(r":?-+:?", c) for c in cells):
            rows.append(cells)
    return rows if seen else None


def ticked(cell):
    """The words in backticks of a table cell."""
    return re.findall(r"`([^`]+)`", cell)
