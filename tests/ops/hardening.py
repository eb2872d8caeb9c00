#!/usr/bin/env python3
"""hardening.py BINARY: what the compiler and linker flags of docs/security.md must have left in the binary."""

import re
import subprocess
import sys

from ops import need, report


def readelf(*arguments):
    return subprocess.run([need("readelf"), "-W", *arguments], capture_output=True, text=True, check=True).stdout


def problems_of(binary):
    header, segments, dynamic = readelf("-h", binary), readelf("-l", binary), readelf("-d", binary)
    symbols = readelf("--dyn-syms", binary)
    stack = re.search(r"GNU_STACK.*\s([RWE ]{2,3})\s+0x", segments)
    checks = {
        "is not position independent (ELF type DYN)": re.search(r"Type:\s+DYN", header),
        "has no PIE flag": re.search(r"FLAGS_1.*\bPIE\b", dynamic),
        "has no GNU_RELRO segment": "GNU_RELRO" in segments,
        "binds lazily (no BIND_NOW)": re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", dynamic),
        "has an executable stack": stack and "E" not in stack.group(1),
        "has no stack protector": "__stack_chk_fail" in symbols,
        "has no fortified call": re.search(r"\b__\w+_chk\b", symbols),
        "has an RPATH or RUNPATH": not re.search(r"\((?:RPATH|RUNPATH)\)", dynamic),
        "has text relocations": "TEXTREL" not in dynamic,
        "has a segment that is writable and executable": not re.search(r"LOAD.*\bRWE\b", segments),
    }
    return [f"{binary} {wrong}" for wrong, good in checks.items() if not good]


report(problems_of(sys.argv[1]))
