"""Operations: every move of a ref, with who made it and why, recorded before it happens."""

from forge.git.refs.operations.log import OperationLog
from forge.git.refs.operations.operation import Claim, Operation, RefMove, moved

__all__ = ["Claim", "Operation", "OperationLog", "RefMove", "moved"]
