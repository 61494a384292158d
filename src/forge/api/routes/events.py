"""What happened: by request, and live over a WebSocket."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, WebSocket
from starlette.concurrency import run_in_threadpool

from forge.api.access.gate import Gate, who_of
from forge.api.event_socket import Stream
from forge.api.http.dependencies import Asking, Shop
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes.house import EventsShape
from forge.app.events import heard_after, topic_for
from forge.events import to_json

router = router_for(tag="events")

_LAST = (1 << 62) - 1
_DIGITS = 20
TopicName = Annotated[str, Query(min_length=1, max_length=600, examples=["project:20261116-4f2a", "board"])]
AfterId = Annotated[int, Query(ge=0, le=_LAST, description="The id that was seen last.")]


@router.get(
    "/events",
    response_model=EventsShape,
    responses=may_end({404: ["project_missing", "repository_missing"], 422: ["topic_unknown"]}),
)
def list_events(
    shop: Shop, who: Asking, *, topic: TopicName, after: AfterId = 0, limit: Annotated[int, Query(ge=1, le=1000)] = 500
) -> Any:
    """Recorded events of a topic, each once and in order."""
    found, last = heard_after(shop, topic_for(shop, who, topic), after, limit)
    items = [{"topic": topic, "id": each.id, "time": each.time, "event": to_json(each.event)} for each in found]
    return {"items": items, "next": last}


@router.websocket("/stream")
async def stream(
    socket: WebSocket,
    shop: Shop,
    topic: Annotated[list[str] | None, Query()] = None,
    after: str = "0",
) -> None:
    """Subscribe by messages `{"subscribe": topic, "after": id}`, or to the topics of the address at once."""
    who = who_of(socket.scope)
    gate: Gate = socket.app.state.gate
    await socket.accept()
    made = Stream(
        socket,
        shop,
        who,
        may_stay=lambda: run_in_threadpool(gate.still_holds, socket.scope),
        counted=lambda: gate.count(who),
        refused=lambda error: gate.note_refusal(error, socket.scope, who),
    )
    with gate.watched(made.look_again):
        await made.run(topic or (), int(after) if after.isdecimal() and len(after) < _DIGITS else after)
