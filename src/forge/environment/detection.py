"""What a branch needs, found by reading its files: nothing of the branch runs here."""

from __future__ import annotations

from dataclasses import replace

from forge.environment.branch_files import digests
from forge.environment.configuration import Configured, configured
from forge.environment.hints import hints
from forge.environment.image import NONE, ImageEngine
from forge.environment.machine import Machine, MachineInImage
from forge.environment.node_project import node_need
from forge.environment.other_projects import other_needs
from forge.environment.proposal import Need, Proposal
from forge.environment.services import missing
from forge.git import VFS


def proposal(vfs: VFS, machine: Machine, *, own: str = "", image: str = "") -> Proposal:
    """`own` is what the person set for this repository, in the form of `.forge/environment.yaml`; it comes first.

    `image` is the base where neither names one.
    """
    from forge.environment.python_project import python_need  # noqa: PLC0415 - loads packaging

    told = hints(vfs)
    setting = configured(vfs, own)
    wanted = setting.image or image
    base = ImageEngine(machine.environ).find(wanted) if wanted not in ("", NONE) else None
    if base is not None:
        machine = MachineInImage(machine.environ, machine.home, machine.cache)
    found = (python_need(vfs, machine, pinned=setting.python or told.python), node_need(vfs, machine))
    tried = [need for need in found if need is not None]
    needs = (*tried, *other_needs(vfs, machine, beside=bool(tried)))
    if not needs and setting.is_empty and base is None:
        return Proposal(origin="none", system=machine.system, notes=told.notes)
    joined = _joined(vfs, needs, setting, machine, notes=told.notes)
    if base is not None:
        return replace(joined, image=base)
    return replace(joined, notes=(*joined.notes, *_absent(setting.services)))


def _joined(
    vfs: VFS, needs: tuple[Need, ...], setting: Configured, machine: Machine, *, notes: tuple[str, ...]
) -> Proposal:
    commands = setting.setup
    if commands is None:
        commands = tuple(command for need in needs for command in need.commands)
    else:
        # Its own commands install; what Forge knows of the project still gives interpreters, hosts and variables.
        needs = tuple(replace(need, commands=(), untried=False) for need in needs)
    hosts = [host for need in needs for host in need.hosts]
    return Proposal(
        origin=setting.origin or "files",
        needs=needs,
        commands=commands,
        hosts=tuple(dict.fromkeys((*hosts, *setting.hosts))),
        services=setting.services,
        variables=setting.variables,
        caches=setting.caches,
        test_command=setting.test,
        system=machine.system,
        inputs=digests(vfs, setting.inputs),
        notes=(*(note for need in needs for note in need.notes), *notes),
    )


def _absent(services: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{name} is not installed on this machine." for name in missing(services))
