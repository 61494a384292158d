"""What the conversation of a branch must be after plain git: the rules of docs/sessions.md, each in its plainest form.

It knows which turn was made on which branch, because the histories tell it, and the parents and turn files of each
commit, because git does. It opens no file of Forge's, has no shortcuts and reads every line from its root.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Commit:
    parents: tuple[str, ...]
    turns: frozenset[str]
    """Whose files are in its tree."""
    subject: str


@dataclass(slots=True)
class Model:
    commits: dict[str, Commit] = field(default_factory=dict)
    chains: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Each turn with those before it, in the order in which they were made."""
    names: dict[str, str] = field(default_factory=dict)
    """The branch that a turn was made on; a turn of the first format does not say."""

    _lasts: dict[tuple[str, str], str | None] = field(default_factory=dict)
    _readable: dict[str, frozenset[str]] = field(default_factory=dict)

    def talk(self, turn: str, after: str | None, name: str) -> None:
        self.chains[turn] = (*(self.chains[after] if after else ()), turn)
        self.names[turn] = name

    def conversation(self, commit: str, name: str) -> tuple[str, ...]:
        last = self.last(commit, name)
        return self._shown(commit, self.chains[last] if last else ())

    def last(self, commit: str, name: str) -> str | None:
        """The last turn of the conversation that a branch of this name has at this commit."""
        if (commit, name) not in self._lasts:
            self._lasts[commit, name] = self._last(commit, name)
        return self._lasts[commit, name]

    def readable(self, commit: str) -> frozenset[str]:
        """A merge takes no turn away; any other commit that removes the file of a turn does."""
        if commit not in self._readable:
            made = self.commits[commit]
            kept = self.readable(made.parents[0]) if made.parents else frozenset()
            self._readable[commit] = made.turns | (kept if len(made.parents) > 1 else kept - self._before(commit))
        return self._readable[commit]

    def is_own(self, turns: Iterable[str], name: str) -> bool:
        return any(self.names[turn] == name for turn in turns)

    def turn_of(self, commit: str) -> str | None:
        """The turn whose own commit this is, made here or replayed."""
        made = self.commits[commit]
        new = made.turns - self._before(commit)
        found = next((turn for turn in new if made.subject == f"chat: {turn}"), None)
        return found if len(new) == len(made.parents) == 1 else None

    def _last(self, commit: str, name: str) -> str | None:
        made = self.commits[commit]
        if not made.parents:
            return None
        first, *others = made.parents
        before = self.last(first, name)
        had_own = self.is_own(self._before(commit), name)
        new = made.turns - self._before(commit)
        if others:
            for other in others:
                if before is None:
                    theirs = [t for t in self.conversation(other, name) if t in made.turns]
                    before = theirs[-1] if theirs else None
                else:
                    before = self._joined(commit, before, new & self.commits[other].turns, name, had_own=had_own)
            return before
        shown = self._shown(commit, self.chains[before]) if before else ()
        last = shown[-1] if shown else None
        turn = self.turn_of(commit)
        if turn is not None:
            return self._replayed(commit, last, turn, name, had_own=had_own)
        return self._joined(commit, last, new, name, had_own=had_own)

    def _replayed(self, commit: str, last: str | None, turn: str, name: str, *, had_own: bool) -> str:
        if last is None or last in self.chains[turn]:
            return turn
        if turn in self.chains[last]:
            return last
        if self.names[turn] == name:
            return turn
        is_here = len(self.chains[turn]) == 1 or len(self._shown(commit, self.chains[turn])) > 1
        return turn if is_here and not had_own else last

    def _joined(self, commit: str, last: str | None, new: Iterable[str], name: str, *, had_own: bool) -> str | None:
        """What comes beside a conversation stays beside it, unless it goes on from there, or is the branch's own."""
        new = set(new)
        ends = {t for t in new if not any(t in self.chains[u][:-1] for u in new)}
        ends -= {t for t in ends if last and t in self.chains[last]}
        further = {t for t in ends if last is None or last in self.chains[t]}
        if last is not None and had_own:
            is_other = self.names[last] != name
            chosen = further or {t for t in ends if is_other and self.names[t] == name}
        else:
            own = {t for t in ends if self.is_own(self._shown(commit, self.chains[t]), name)}
            chosen = own & further or own or further
        return max(chosen, key=list(self.names).index) if chosen else last

    def _shown(self, commit: str, chain: Iterable[str]) -> tuple[str, ...]:
        return tuple(turn for turn in chain if turn in self.readable(commit))

    def _before(self, commit: str) -> frozenset[str]:
        parents = self.commits[commit].parents
        return self.commits[parents[0]].turns if parents else frozenset()
