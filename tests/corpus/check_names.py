#!/usr/bin/env python3
"""Every test that docs/conformance.md and docs/dns.md name exists, every row names one, and rows marked ◆ have cases in the corpus."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WITHOUT_TESTS = {"E10", "S8"}  # not built; nothing to test


def test_names():
    text = "".join(p.read_text(encoding="utf-8") for p in sorted((ROOT / "tests").rglob("*.cpp")))
    found = re.findall(r'\b(?:TEST_CASE|CONTRACT_TEST|SECTION)\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', text)
    return {"".join(re.findall(r'"((?:[^"\\]|\\.)*)"', name)) for name in found}


def rows(page):
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        head = re.fullmatch(r"([HNTEUCDSA]\d+)( ◆)?", cells[0])
        if head:
            yield head[1], bool(head[2]), cells


def main():
    known = test_names()
    cases = re.findall(r"^case ([A-Z]\d+)-", (ROOT / "tests/corpus/odd_packets.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)
    problems = []
    for name in ("docs/conformance.md", "docs/dns.md"):
        page = (ROOT / name).read_text(encoding="utf-8")
        problems += [f"{name}: no test {quoted!r}" for quoted in re.findall(r'"([^"\n]+)"', page) if quoted not in known]
        for row, in_corpus, cells in rows(page):
            if in_corpus and row not in cases:
                problems.append(f"{name}: the corpus has no case of {row}")
            if '"' not in cells[-1] and row not in WITHOUT_TESTS:
                problems.append(f"{name}: {row} names no test")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
