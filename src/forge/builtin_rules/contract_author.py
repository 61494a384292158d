"""Contracts without a model: rules fetch with the same tools, write the text from what is named, and submit it."""

from __future__ import annotations

from forge.agents.model import OnText, Prompt
from forge.agents.models.names import BUILTIN
from forge.builtin_rules.contract_texts import written
from forge.builtin_rules.prior_names import as_agreed
from forge.builtin_rules.product import product
from forge.contracts.author import SUBMIT, Work
from forge.contracts.kinds import Kind
from forge.sessions.messages import AssistantMessage, ToolCall, ToolResult, Usage

_NEEDS = {
    Kind.MANIFESTO: (),
    Kind.BLUEPRINT: (Kind.MANIFESTO,),
    Kind.STACK: (Kind.BLUEPRINT,),
    Kind.SCHEMA: (Kind.BLUEPRINT, Kind.STACK),
    Kind.PHYSICS: (Kind.SCHEMA,),
    Kind.BOUNDARIES: (Kind.STACK, Kind.PHYSICS),
    Kind.UI: (Kind.BLUEPRINT, Kind.PHYSICS),
    Kind.PHASES: (Kind.BLUEPRINT, Kind.SCHEMA, Kind.PHYSICS, Kind.UI),
    Kind.BUILDER_DIRECTIVE: (Kind.STACK, Kind.PHASES),
}
"""Which contracts each one follows from: when they change, it is stale."""
_CANNOT = (
    "Rules cannot mend this: the contracts before it say something else than the project. Edit it, or use a model."
)


class ContractRules:
    """Deterministic: the same material gives the same text, in any process."""

    def __init__(self, work: Work) -> None:
        self._work = work

    @property
    def name(self) -> str:
        return BUILTIN

    @property
    def context_window(self) -> int:
        return 1_000_000

    async def answer(self, prompt: Prompt, *, on_text: OnText) -> AssistantMessage:
        results = [each for each in prompt.messages if isinstance(each, ToolResult)]
        if any(each.name == SUBMIT for each in results):
            on_text(_CANNOT)
            return AssistantMessage(_CANNOT, (), BUILTIN, Usage(requests=1, cost=0.0))
        calls = self._submission() if results else self._questions()
        return AssistantMessage("", calls, BUILTIN, Usage(requests=1, cost=0.0))

    def _questions(self) -> tuple[ToolCall, ...]:
        prior = [each for each in _NEEDS[self._work.kind] if each in self._work.prior]
        asked = [("get_prior_contract", {"contract_type": each.value, "part": "outline"}) for each in prior]
        asked += [("get_project_intent", {})]
        return tuple(ToolCall(f"rules-{place}", name, given) for place, (name, given) in enumerate(asked))

    def _submission(self) -> tuple[ToolCall, ...]:
        known = as_agreed(product(self._work.material), self._work.prior)
        text = written(self._work.kind, known, self._work.prior, mini=self._work.mini)
        return (ToolCall("rules-submit", SUBMIT, {"content": text}),)
