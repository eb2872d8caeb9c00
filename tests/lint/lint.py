#!/usr/bin/env python3
"""The house rules that a compiler does not check.

    lint.py [--root DIR] [--build DIR] [CHECK...]      without names: all of them
"""

import argparse
import pathlib
import sys

import docs
import headers
import includes
import sizes
import words
from house import Tree

CHECKS = {"includes": includes.check, "sizes": sizes.check, "words": words.check, "docs": docs.check, "headers": headers.check}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--build", required=True, help="build folder that has generated/")
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=", ".join(CHECKS))
    options = parser.parse_args()
    unknown = set(options.checks) - set(CHECKS)
    if unknown:
        parser.error(f"no such check: {', '.join(sorted(unknown))}")
    tree = Tree(options.root)
    problems = [p for name in options.checks or CHECKS for p in CHECKS[name](tree, options.build)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
