#!/usr/bin/env python3
"""clang-tidy over src/, in parallel; a file that was clean is not looked at again until something it includes changes.

    tidy.py --build build/tidy [--jobs N] [FILE...]
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDY = os.environ.get("CLANG_TIDY", "clang-tidy-19")


@functools.cache
def text_of(path):
    return path.read_text(encoding="utf-8", errors="replace")


@functools.cache
def included_by(path, build):
    """Files of this tree that `path` includes directly."""
    found = []
    for name in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text_of(path), flags=re.MULTILINE):
        for folder in (ROOT / "src", ROOT / "include", build / "generated", path.parent):
            if (folder / name).is_file():
                found.append(folder / name)
                break
    return found


def read_with(path, build):
    """`path` and all of this tree that it includes, directly or not."""
    seen, todo = set(), [path]
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo += included_by(one, build)
    return sorted(seen)


def stamp_of(path, command, build, version):
    digest = hashlib.sha256()
    for part in (version, command, text_of(ROOT / ".clang-tidy"), *(text_of(p) for p in read_with(path, build))):
        digest.update(part.encode() + b"\0")
    return build / "tidy-clean" / digest.hexdigest()


def tidy(path, build):
    ran = subprocess.run([TIDY, "--quiet", "-p", str(build), str(path)], capture_output=True, text=True, check=False)
    said = ran.stdout if ran.returncode == 0 else ran.stdout + ran.stderr
    return ran.returncode == 0 and "warning:" not in said, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", type=lambda p: pathlib.Path(p).resolve())
    options = parser.parse_args()
    version = subprocess.run([TIDY, "--version"], capture_output=True, text=True, check=True).stdout
    commands = {pathlib.Path(c["file"]): c["command"] for c in json.loads(text_of(options.build / "compile_commands.json"))}
    wanted = {p: c for p, c in commands.items() if p.is_relative_to(ROOT / "src") and (not options.files or p in options.files)}
    stamps = {p: stamp_of(p, c, options.build, version) for p, c in wanted.items()}
    due = [p for p, stamp in stamps.items() if not stamp.exists()]
    (options.build / "tidy-clean").mkdir(exist_ok=True)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, (clean, said) in zip(due, pool.map(lambda p: tidy(p, options.build), due)):
            if clean:
                stamps[path].touch()
            else:
                bad += 1
                print(said.strip(), flush=True)
    print(f"clang-tidy: {len(due)} of {len(wanted)} files looked at, {bad} not clean")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
