"""A turn that a model does: a loop at a desk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from forge.agents.desk import Stopped, TurnDesk
from forge.agents.loop import Cancelled, Failed, Finished, Loop, Submitted, TurnLimit, run_loop
from forge.agents.steps import Steps
from forge.sessions.turns import TurnStatus


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """Fills a desk until the model has nothing more to do; `Stopped` where it ends without that."""

    loop: Loop

    async def __call__(self, desk: TurnDesk, steps: Steps) -> None:
        match (await run_loop(self.loop, desk, steps)).end:
            case Finished() | Submitted():
                return
            case TurnLimit(reason=reason):
                raise Stopped(TurnStatus.LIMITED, reason)
            case Failed(reason=reason):
                raise Stopped(TurnStatus.FAILED, reason)
            case Cancelled():
                raise Stopped(TurnStatus.CANCELLED, "Cancelled by the person.")
            case end:
                assert_never(end)
