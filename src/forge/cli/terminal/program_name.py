"""By what words the person started Forge, so that a command which is shown to be pasted works when it is."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

_NAME = "forge"


def called() -> str:
    """`forge` where the shell finds this very program by that name, else the way to it, quoted for a shell.

    FORGE_CALLED is set by the checkout's own script, which starts another program than the one that was called.
    """
    told = os.environ.get("FORGE_CALLED") or sys.argv[0]
    if Path(told).name != _NAME:
        return _NAME
    found = shutil.which(_NAME)
    return _NAME if found is not None and Path(found).resolve() == Path(told).resolve() else shlex.quote(told)
