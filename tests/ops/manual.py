#!/usr/bin/env python3
"""manual.py PAGE...: mandoc has nothing to say about the manual pages."""

import subprocess
import sys

from ops import need, report

mandoc = need("mandoc")
said = [subprocess.run([mandoc, "-Tlint", "-Wwarning", page], capture_output=True, text=True, check=False) for page in sys.argv[1:]]
report([ran.stdout + ran.stderr for ran in said if ran.returncode != 0])
