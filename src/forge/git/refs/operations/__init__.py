"""Operations: every move of a ref, with who made it and why, recorded before it happens."""

from forge.git.refs.operations.log import OperationLog
from forge.git.refs.operations.operation import Claim, Operation, RefMove, moved
from forge.git.refs.operations.tail import LogPosition, LogTail

__all__ = ["Claim", "LogPosition", "LogTail", "Operation", "OperationLog", "RefMove", "moved"]
