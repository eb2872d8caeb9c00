#!/usr/bin/env python3
"""unit.py UNIT BINARY: systemd knows every key of the unit, and its sandbox is tight."""

import pathlib
import subprocess
import sys
import tempfile

from ops import need, report

INSTALLED = "/usr/sbin/dohmux"
EXPOSURE = 16  # tenths; what is left is the network and the one capability


def main(unit, binary):
    analyze = need("systemd-analyze")
    text = pathlib.Path(unit).read_text(encoding="utf-8")
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "dohmux.service"
        copy.write_text(text.replace(INSTALLED, binary), encoding="utf-8")
        for arguments in (["verify", "--man=no"], ["security", "--offline=true", "--no-pager", f"--threshold={EXPOSURE}"]):
            ran = subprocess.run([analyze, *arguments, str(copy)], capture_output=True, text=True, check=False)
            said = "\n".join(line for line in (ran.stderr + ran.stdout).splitlines() if "dohmux.service" in line)
            if ran.returncode != 0 or (arguments[0] == "verify" and said):
                problems.append(f"systemd-analyze {arguments[0]}: exit {ran.returncode}\n{said}")
    return problems


report(main(sys.argv[1], sys.argv[2]))
