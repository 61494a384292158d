"""Plans: documents with fixed sections and an objective, plan and assessment in each of them."""

from forge.deliverables.plan.document import Plan, StructureChanged, parse, render
from forge.deliverables.plan.outlines import Outline, Section, chosen, outline, outlines
from forge.deliverables.plan.plan_type import PlanType
from forge.deliverables.plan.review import PlanReview
from forge.deliverables.plan.safety import PlanSafety

__all__ = [
    "Outline",
    "Plan",
    "PlanReview",
    "PlanSafety",
    "PlanType",
    "Section",
    "StructureChanged",
    "chosen",
    "outline",
    "outlines",
    "parse",
    "render",
]
