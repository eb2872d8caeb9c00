"""What the scripts of this folder share."""

import os
import shutil
import sys


def need(tool):
    """Path of a tool; without it the script ends as skipped, or failed where nothing may be skipped."""
    path = shutil.which(tool)
    if not path:
        print(f"{tool} is missing")
        sys.exit(1 if os.environ.get("DOHMUX_CI") == "1" else 77)
    return path


def report(problems):
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
