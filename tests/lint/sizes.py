"""Files stop at 600 lines, functions at 60."""

from house import blocks, line_of

FILE_LINES = 600
FUNCTION_LINES = 60
SCRIPTS = (".py", ".sh")


def long_functions(text):
    for block in blocks(text):
        if block.kind == "function":
            first = line_of(text, block.start)
            length = line_of(text, block.close) - first + 1
            if length > FUNCTION_LINES:
                yield first, block.name, length


def check(tree, _build):
    problems = []
    sources = tree.sources()
    scripts = [n for n in tree.files() if n.endswith(SCRIPTS) or n in ("dev", ".ci/run")]
    for name in [*sources, *scripts]:
        lines = tree.text(name).count("\n")
        if lines > FILE_LINES:
            problems.append(f"{name}: {lines} lines; split it (stop at {FILE_LINES})")
    for name in sources:
        for first, function, length in long_functions(tree.text(name)):
            problems.append(f"{name}:{first}: {function}() has {length} lines (stop at {FUNCTION_LINES})")
    return problems
