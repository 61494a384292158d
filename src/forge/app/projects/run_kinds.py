"""The kinds of a project's runs: which run does the work of a phase."""

from __future__ import annotations

from forge.projects.status import Phase

# Runs in the database have these names, so they stay as they are.
DISTILL, SPECIFY, DELIVER = "distil", "specify", "deliver"
KINDS = {Phase.DISTILLING: DISTILL, Phase.SPEC_BUILDING: SPECIFY, Phase.BUILDING: DELIVER, Phase.POLISHING: DELIVER}
