"""Public headers compile alone, twice in one file, and drag in nothing of a third party."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import tempfile

from includes import library_of

COMPILER = os.environ.get("CXX", "g++")


def compile_alone(tree, build, header, folder):
    """Compiles a file that only includes the header; returns what the compiler says, and the files it read."""
    source = pathlib.Path(folder) / (re.sub(r"\W", "_", header) + ".cpp")
    source.write_text(f"#include <{header}>\n#include <{header}>\n", encoding="utf-8")
    listed = source.with_suffix(".d")
    ran = subprocess.run(
        [COMPILER, "-std=c++23", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{tree.path('include')}",
         f"-I{pathlib.Path(build) / 'generated'}", "-MD", "-MF", str(listed), str(source)],
        capture_output=True, text=True, check=False)
    read = listed.read_text(encoding="utf-8").replace("\\\n", " ").split()[1:] if listed.exists() else []
    return ran.stderr, read


def third_party(path):
    """The library that owns a system header, if it is one the house knows."""
    found = re.search(r"/include/(?:[^/]+-linux-[^/]+/)?(.+)$", path)
    return library_of(found.group(1)) if found else None


def check(tree, build):
    headers = [n.removeprefix("include/") for n in tree.sources(("include",)) if n.endswith(".h")]
    problems = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        ran = pool.map(lambda header: compile_alone(tree, build, header, folder), headers)
        for header, (said, read) in zip(headers, ran):
            if said:
                problems.append(f"include/{header}: does not compile alone\n{said}")
            for library in sorted({third_party(path) for path in read} - {None}):
                problems.append(f"include/{header}: drags in {library}")
    return problems
