"""Use cases that begin or wake runs are done on the loop of the runs, whichever loop or face calls them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from forge.app.process.workshop import Workshop

P = ParamSpec("P")
T = TypeVar("T")


def on_work_loop(
    use_case: Callable[Concatenate[Workshop, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Workshop, P], Coroutine[Any, Any, T]]:
    @wraps(use_case)
    async def crossed(shop: Workshop, /, *args: P.args, **options: P.kwargs) -> T:
        return await shop.engine.at_work(use_case(shop, *args, **options))

    return crossed
