#!/usr/bin/env python3
"""readme.py README BINARY: the configuration that the README shows is good as it stands."""

import pathlib
import re
import subprocess
import sys
import tempfile

from ops import report


def main(readme, binary):
    shown = re.findall(r"^```yaml\n(.*?)^```", pathlib.Path(readme).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    problems = [] if shown else ["the README shows no configuration"]
    for text in shown:
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            ran = subprocess.run([binary, "check", "-c", file.name], capture_output=True, text=True, check=False)
            if ran.returncode != 0:
                problems.append(f"dohmux check: exit {ran.returncode}\n{ran.stderr}")
    return problems


report(main(sys.argv[1], sys.argv[2]))
