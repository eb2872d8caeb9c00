#!/usr/bin/env python3
"""container.py SOURCE: the Dockerfile keeps its promises. (That it builds is proved by building it, see CONTRIBUTING.md.)"""

import pathlib
import re
import sys

from ops import report


def instructions(text):
    """(word, rest) of each instruction, continuation lines joined, comments dropped."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", lines)
    return [tuple((line.strip().split(None, 1) + [""])[:2]) for line in joined.splitlines() if line.strip()]


def main(source):
    root = pathlib.Path(source)
    found = instructions((root / "Dockerfile").read_text(encoding="utf-8"))
    stages = [at for at, (word, _) in enumerate(found) if word == "FROM"]
    last = found[stages[-1]:]
    value = dict(last)
    ignored = (root / ".dockerignore").read_text(encoding="utf-8").split()
    checks = {
        "has two stages": len(stages) == 2,
        "takes its base as an argument": ("ARG", "BASE=debian:trixie-slim") in found,
        "runs as a numeric user that is not root": re.fullmatch(r"[1-9]\d*:[1-9]\d*", value.get("USER", "")),
        "starts the program without a shell": value.get("ENTRYPOINT", "").startswith('["/usr/sbin/dohmux"'),
        "stops on SIGTERM": value.get("STOPSIGNAL") == "SIGTERM",
        "names its ports": {"53/udp", "53/tcp"} <= set(value.get("EXPOSE", "").split()),
        "has no instruction of unknown name": all(word in KNOWN for word, _ in found),
        "has no ADD (COPY does it) and no MAINTAINER": not {"ADD", "MAINTAINER"} & {word for word, _ in found},
        "installs without recommended packages": all(
            "--no-install-recommends" in rest for word, rest in found if word == "RUN" and "apt-get install" in rest),
        "leaves no package lists behind": all(
            "rm -rf /var/lib/apt/lists/*" in rest for word, rest in last if word == "RUN" and "apt-get update" in rest),
        "ignores build folders and history": {"build/", ".git/"} <= set(ignored),
    }
    return [f"Dockerfile: not true that it {wanted}" for wanted, good in checks.items() if not good]


KNOWN = {"ARG", "FROM", "RUN", "COPY", "WORKDIR", "USER", "EXPOSE", "ENTRYPOINT", "CMD", "STOPSIGNAL", "LABEL", "ENV", "HEALTHCHECK", "VOLUME", "SHELL"}

report(main(sys.argv[1]))
