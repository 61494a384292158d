"""What a Node project needs: npm, pnpm or yarn, by its lock file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from forge.environment.branch_files import digests, existing, json_object, table, text
from forge.environment.machine import Machine
from forge.environment.package_index import Index, hosts_in
from forge.environment.proposal import SCRATCH, SOURCE, Need, digest
from forge.git import VFS

_TOOLS = f"{SCRATCH}/node-tools"
_DEPENDENCIES = (
    "dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "overrides", "resolutions",
    "workspaces", "packageManager", "pnpm", "bundledDependencies",
)  # fmt: skip
_INSTALL_SCRIPTS = ("preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare", "prepublish")
_LOCKS = {"npm": ("package-lock.json", "npm-shrinkwrap.json"), "pnpm": ("pnpm-lock.yaml",), "yarn": ("yarn.lock",)}
_CONFIGURATION = (".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "pnpm-workspace.yaml")


def node_need(vfs: VFS, machine: Machine) -> Need | None:
    package = json_object(vfs, "package.json")
    if not any(package.get(name) for name in _DEPENDENCIES[:3]) and not package.get("workspaces"):
        return None
    manager = _manager(vfs, str(package.get("packageManager") or ""))
    locks = existing(vfs, _LOCKS[manager])
    if machine.node is None:
        return Need(manager=manager, because=("package.json",), notes=("Node is not installed on this machine.",))
    index = machine.node_index
    scripts = {name: each for name, each in table(package, "scripts").items() if name in _INSTALL_SCRIPTS}
    configuration = digests(vfs, _CONFIGURATION)
    yarn = _yarn_path(vfs) if manager == "yarn" else ""
    return Need(
        manager=manager,
        because=("package.json", *locks),
        commands=tuple(_commands(vfs, manager, package, locked=bool(locks))),
        hosts=tuple(dict.fromkeys((*index.hosts, *(host for lock in locks for host in _lock_hosts(text(vfs, lock)))))),
        inputs={
            **digests(vfs, locks),
            **configuration,
            "package.json": digest({name: package.get(name) for name in _DEPENDENCIES} | {"scripts": scripts}),
            **_workspace_inputs(vfs, package),
        },
        executed={
            **configuration,
            **(digests(vfs, [yarn]) if yarn else {}),
            **({"package.json install scripts": digest(scripts)} if scripts else {}),
            **(digests(vfs, ["binding.gyp"])),
        },
        runtime=machine.node,
        path=(
            f"{SOURCE}/node_modules/.bin",
            *(() if str(machine.node.prefix) == "/usr" else (f"{machine.node.prefix}/bin",)),
        ),
        variables={},
        setup_variables={**index.variables, **_variables(manager), **_yarn_registry(manager, index)},
        notes=(*index.notes, *(() if locks else ("There is no lock file: each setup may get other versions.",))),
    )


def _manager(vfs: VFS, named: str) -> str:
    if existing(vfs, _LOCKS["pnpm"]) or named.startswith("pnpm@"):
        return "pnpm"
    return "yarn" if existing(vfs, _LOCKS["yarn"]) or named.startswith("yarn@") else "npm"


def _commands(vfs: VFS, manager: str, package: dict[str, object], *, locked: bool) -> Iterable[str]:
    pinned = re.fullmatch(r"\w+@(\d+\.\d+\.\d+)(\+.*)?", str(package.get("packageManager") or ""))
    install = f"npm install --no-audit --no-fund --no-save --loglevel=error --prefix {_TOOLS}"
    run = f"{_TOOLS}/node_modules/.bin"
    match manager:
        case "npm":
            yield "npm ci --no-audit --no-fund" if locked else "npm install --no-audit --no-fund --no-package-lock"
        case "pnpm":
            yield f"{install} pnpm@{pinned[1] if pinned else _pnpm_major(text(vfs, 'pnpm-lock.yaml'))}"
            how = "--frozen-lockfile" if locked else "--no-lockfile"
            yield f"{run}/pnpm install {how} --package-import-method=copy"
        case _:
            if "# yarn lockfile v1" in text(vfs, "yarn.lock")[:200] or not locked:
                yield f"{install} yarn@1"
                yield f"{run}/yarn install --non-interactive {'--frozen-lockfile' if locked else '--no-lockfile'}"
            else:
                yield f"{install} @yarnpkg/cli-dist@{pinned[1] if pinned else 4}"
                yield f"{run}/yarn install --immutable"


def _pnpm_major(lock: str) -> str:
    found = re.search(r"^lockfileVersion:\s*['\"]?(\d+)", lock, re.MULTILINE)
    return {"5": "7", "6": "8"}.get(found[1] if found else "", "9")


def _variables(manager: str) -> dict[str, str]:
    cache = {"npm_config_cache": f"{SCRATCH}/npm", "npm_config_update_notifier": "false", "CI": "1"}
    match manager:
        case "pnpm":
            return {
                **cache,
                "npm_config_store_dir": f"{SCRATCH}/pnpm",
                "npm_config_manage_package_manager_versions": "false",
            }
        case "yarn":
            return {
                **cache, "YARN_CACHE_FOLDER": f"{SCRATCH}/yarn", "YARN_GLOBAL_FOLDER": f"{SCRATCH}/yarn-global",
                "YARN_NODE_LINKER": "node-modules", "YARN_ENABLE_TELEMETRY": "0", "YARN_ENABLE_GLOBAL_CACHE": "false",
                "YARN_IGNORE_PATH": "1", "YARN_HTTPS_PROXY": "http://127.0.0.1:4572", "YARN_HTTP_PROXY": "http://127.0.0.1:4572",
            }  # fmt: skip
        case _:
            return cache


def _yarn_registry(manager: str, index: Index) -> dict[str, str]:
    """Newer yarn reads no settings of npm, and has a registry of its own."""
    registry = index.variables.get("npm_config_registry", "")
    return {"YARN_NPM_REGISTRY_SERVER": registry.rstrip("/")} if manager == "yarn" and registry else {}


def _yarn_path(vfs: VFS) -> str:
    found = re.search(r"^yarnPath:\s*(\S+)", text(vfs, ".yarnrc.yml"), re.MULTILINE)
    return found[1] if found else ""


def _lock_hosts(lock: str) -> tuple[str, ...]:
    """Of the addresses that packages are taken from, and not of home pages."""
    lines = re.findall(r"(?:\"resolved\":|\bresolved|\btarball:)\s*\"?(\S+)", lock)
    return hosts_in("\n".join(lines))


def _workspace_inputs(vfs: VFS, package: dict[str, object]) -> dict[str, str]:
    if not package.get("workspaces") and not vfs.file_exists("pnpm-workspace.yaml"):
        return {}
    members = [path for path in vfs.list_files() if path.endswith("/package.json") and "node_modules/" not in path]
    data = {path: json_object(vfs, path) for path in members[:500]}
    return {
        "workspaces": digest(
            {path: {name: each.get(name) for name in ("name", *_DEPENDENCIES)} for path, each in data.items()}
        )
    }
