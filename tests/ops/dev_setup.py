#!/usr/bin/env python3
"""dev_setup.py DEV: on Debian 12, `./dev setup` derives the backports source from whatever mirror is configured."""

import pathlib
import subprocess
import sys
import tempfile

from ops import report

DEB822 = """# a comment
Types: deb deb-src
URIs: http://mirror.example/security
Suites: bookworm-security
Components: main
Signed-By: /k/a.gpg

Enabled: no
Types: deb
URIs: http://switched-off.example/debian
Suites: bookworm
Components: main

Types: deb-src
URIs: http://sources-only.example/debian
Suites: bookworm
Components: main

Types: deb
URIs: http://mirror.example/debian
 http://second.example/debian
Suites: bookworm bookworm-updates
Components: main
 contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abcd
 -----END PGP PUBLIC KEY BLOCK-----
"""
DEB822_WANTED = """Types: deb
URIs: http://mirror.example/debian
 http://second.example/debian
Suites: bookworm-backports
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abcd
 -----END PGP PUBLIC KEY BLOCK-----
"""
ONE_LINE = """# deb http://comment.example/debian bookworm main
deb-src http://sources-only.example/debian bookworm main
deb [arch=amd64 signed-by=/k/a.gpg] http://mirror.example/security bookworm-security main
deb [ arch=amd64 signed-by=/k/a.gpg ] http://mirror.example/debian bookworm main contrib
"""
CASES = (
    ("deb822", "sources.list.d/debian.sources", DEB822, DEB822_WANTED),
    ("one line with spaced options", "sources.list", ONE_LINE, "deb [ arch=amd64 signed-by=/k/a.gpg ] http://mirror.example/debian bookworm-backports main\n"),
    ("one line with one option", "sources.list.d/x.list", "deb [trusted=yes] http://m.example/d bookworm main\n", "deb [trusted=yes] http://m.example/d bookworm-backports main\n"),
    ("one line without options", "sources.list", "deb http://m.example/d bookworm main\n", "deb http://m.example/d bookworm-backports main\n"),
    ("no source at all", "sources.list", "deb http://m.example/d trixie main\n", None),
)


def derived(dev, name, text):
    """What the script's own function prints, with /etc/apt somewhere else; None when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text, encoding="utf-8")
        functions = pathlib.Path(dev).read_text(encoding="utf-8").replace("/etc/apt/", folder + "/").partition("\nword=")[0]
        script = pathlib.Path(folder) / "functions.sh"
        script.write_text(functions, encoding="utf-8")
        ran = subprocess.run(["sh", "-c", f". {script}; derived_source bookworm bookworm-backports"], capture_output=True, text=True, check=False)
        return ran.stdout if ran.returncode == 0 else None


report([f"{case}: got {got!r}, want {want!r}" for case, name, text, want in CASES if (got := derived(sys.argv[1], name, text)) != want])
