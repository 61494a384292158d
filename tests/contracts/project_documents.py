"""Intent, specification and review constraints of a small project, as its documents have them."""

from __future__ import annotations

INTENT = """# Task list

## Deliverable Type

Code

## Objective

A team wants one list of its tasks. Today they are lost in e-mails.

## Assumptions

- Everybody has a browser.

## Constraints

- No data leaves Europe.

## Unknowns

- Who hosts it?

## Open Questions

- None
"""
SPEC = """# Task list — Specification

## Deliverable Overview

A small web service for tasks.

## Deliverable Structure

One process.

- Language: Python 3.12
- Framework: FastAPI
- Tools: none

### Tasks

1. Create and list tasks (tests)
2. Comments below a task (tests)

## Key Decisions

- **SQLite**: one file is enough

## Scope Boundaries

Included:

- Create tasks
- Write comments

Excluded:

- E-mail
"""
CONSTRAINTS = (
    "# Task list — Review Constraints\n\n## Acceptance Criteria\n\n1. A task is saved.\n2. A comment is shown.\n"
)
