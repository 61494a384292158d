"""Another process that publishes or follows events; started by the tests with `python -m`."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import aclosing

from forge.events import BranchChanged, TextStreamed
from forge.store.database import Database
from forge.store.events import Events
from forge.store.listeners import Live


def append(events: Events, name: str, count: int) -> None:
    for number in range(count):
        events.append("t", BranchChanged(name, str(number), "somebody"))


async def follow(events: Events, count: int) -> None:
    """Prints when each of `count` recorded events came, after saying that it listens."""
    print("ready", flush=True)
    seen = 0
    async with aclosing(events.follow("t")) as items:
        async for item in items:
            print("live" if isinstance(item, Live) else item.id, time.time(), flush=True)
            seen += not isinstance(item, Live)
            if seen == count:
                return


def stream(events: Events, count: int) -> None:
    for number in range(count):
        events.publish("t", TextStreamed("turn", f"{number} "))
        time.sleep(0.01)
    events.publish("t", BranchChanged("end", None, "somebody"))


def main() -> None:
    url, what, *rest = sys.argv[1:]
    database = Database.open(url)
    events = Events(database)
    match what:
        case "append":
            append(events, rest[0], int(rest[1]))
        case "follow":
            asyncio.run(follow(events, int(rest[0])))
        case "stream":
            stream(events, int(rest[0]))
    events.close()
    database.close()


if __name__ == "__main__":
    main()
