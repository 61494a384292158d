"""What a trace of the browser says about the time of a page."""

from __future__ import annotations

import json

TRACED = ["toplevel", "disabled-by-default-devtools.timeline"]


def longest_task(trace: bytes) -> float:
    """Of the page's main thread, in milliseconds that it computed.

    Not as long as it took: other work on the machine, which has nothing to do with the page, would count too.
    """
    events = json.loads(trace)["traceEvents"]
    named = [each for each in events if each["name"] == "thread_name" and each["args"]["name"] == "CrRendererMain"]
    threads = {(each["pid"], each["tid"]) for each in named}
    run = [each for each in events if each["name"].endswith("RunTask") and (each["pid"], each["tid"]) in threads]
    tasks = [each["tdur"] for each in run if "tdur" in each]
    assert tasks
    return float(max(tasks)) / 1000
