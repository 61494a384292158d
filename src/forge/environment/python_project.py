"""What a Python project needs: uv, poetry, pdm or pip, by its lock files and its metadata."""

from __future__ import annotations

import configparser
import re
import shlex
from collections.abc import Iterable
from contextlib import suppress

from forge.environment.branch_files import digests, existing, table, text, toml
from forge.environment.machine import Machine
from forge.environment.package_index import hosts_in
from forge.environment.proposal import SCRATCH, VENV, Need, Runtime, digest
from forge.git import VFS
from forge.tools.suites.discovery import suites

_PYPROJECT = "pyproject.toml"
_REQUIREMENTS = re.compile(
    r"((dev|tests?|testing)[-_])?requirements([-_](dev|tests?|testing))?\.txt|requirements/(dev|tests?|testing|base)\.txt"
)
_FOR_TESTS = ("test", "tests", "testing")
_FOR_WORK = ("dev", "develop", "development")
_HARMLESS = (
    "ruff", "mypy", "pytest", "coverage", "black", "isort", "pyright", "basedpyright", "pylint", "tox", "towncrier",
    "codespell", "interrogate", "commitizen", "bandit", "typos", "importlinter", "deptry", "cibuildwheel",
)  # fmt: skip
"""Tables of tools that change nothing in what is installed."""
_NATIVE_BACKENDS = re.compile(r"maturin|scikit.build|mesonpy|meson-python|setuptools.rust|cffi|cython", re.IGNORECASE)
_EXTENSION = re.compile(r"ext_modules|\bExtension\s*\(|cythonize|CMakeExtension")
_NATIVE_FILE = re.compile(
    r"\.(c|cc|cpp|cxx|h|hpp|pyx|pxd|rs|f90?)\Z|(^|/)(Cargo\.(toml|lock)|meson\.build|CMakeLists\.txt)\Z"
)
_SCM = re.compile(r"setuptools.scm|hatch.vcs|versioningit|pdm-backend|poetry-dynamic-versioning", re.IGNORECASE)
_EXTRAS = {"pdm": "[locked]"}
"""pdm with the versions it was released with: it names no upper bounds, and newer ones break it."""
_TOOLS = f"{SCRATCH}/tools"


def python_need(vfs: VFS, machine: Machine, *, pinned: str = "") -> Need | None:
    """None where the branch holds no Python project."""
    project = _Project(vfs)
    if not project.files:
        return None
    wanted = str(table(project.data, "project").get("requires-python") or "")
    exact = pinned or text(vfs, ".python-version").strip().partition("\n")[0].removeprefix("python-").removeprefix(
        "cpython-"
    )
    python = machine.python(wanted, exact)
    if python is None:
        note = f"No Python for `{wanted or exact or 'any version'}` is installed that can make a virtual environment."
        return Need(manager=project.manager, because=tuple(project.files), notes=(note,))
    index = machine.python_index
    hosts = (*index.hosts, *(hosts_in(text(vfs, "uv.lock")) if project.manager == "uv" else ()))
    pin = exact and python.version[:1].isdigit() and not f"{python.version}.".startswith(f"{exact}.")
    return Need(
        manager=project.manager,
        because=tuple(project.files),
        commands=tuple(project.commands(python)),
        hosts=tuple(dict.fromkeys(hosts)),
        inputs=project.inputs(),
        executed=project.executed(),
        runtime=python,
        path=(f"{VENV}/bin",),
        variables={"VIRTUAL_ENV": VENV, "PYTHONDONTWRITEBYTECODE": "1"},
        setup_variables={**index.variables, **project.variables(python)},
        notes=(*index.notes, *([f"Python {exact} is not installed; {python.version} is used."] if pin else [])),
    )


class _Project:
    def __init__(self, vfs: VFS) -> None:
        self._vfs = vfs
        self.data = toml(vfs, _PYPROJECT)
        self._requirements = _in_order(_requirement_files(vfs))
        self._installable = bool(
            table(self.data, "project") or table(self.data, "build-system") or table(self.data, "tool", "poetry")
        ) or bool(existing(vfs, ("setup.py",)) or "metadata" in _sections(text(vfs, "setup.cfg")))
        self.manager = self._manager()

    @property
    def files(self) -> list[str]:
        """Those that show that there is something to install."""
        if not self._installable and not self._requirements and self.manager == "pip":
            return []
        locks = {"uv": ["uv.lock"], "poetry": ["poetry.lock"], "pdm": ["pdm.lock"], "pip": self._requirements}
        return existing(self._vfs, (_PYPROJECT, "setup.py", "setup.cfg", *locks[self.manager]))

    def _manager(self) -> str:
        if existing(self._vfs, ("uv.lock",)):
            return "uv"
        if existing(self._vfs, ("pdm.lock",)):
            return "pdm"
        poetry = table(self.data, "tool", "poetry")
        if existing(self._vfs, ("poetry.lock",)) or "dependencies" in poetry:
            return "poetry"
        return "pip"

    def commands(self, python: Runtime) -> Iterable[str]:
        executable = shlex.quote(str(python.executable))
        if self.manager != "pip":
            yield f"{executable} -m venv {_TOOLS}"
            yield f"{_TOOLS}/bin/python -m pip install -q {shlex.quote(self.manager + _EXTRAS.get(self.manager, ''))}"
        yield f"{executable} -m venv {VENV}"
        match self.manager:
            case "uv":
                chosen = [*self._options("--group", self._groups()), *self._options("--extra", self._extras())]
                lone = [] if self._is_package() else ["--no-install-project"]
                yield " ".join([f"{_TOOLS}/bin/uv sync --locked", *chosen, *lone])
                yield from self._pytest_by_pip(f"{_TOOLS}/bin/uv pip install --python {VENV}/bin/python")
            case "poetry":
                groups = [
                    name for name in table(self.data, "tool", "poetry", "group") if name in (*_FOR_TESTS, *_FOR_WORK)
                ]
                words = [
                    *([f"--with {','.join(groups)}"] if groups else []),
                    *self._options("--extras", self._extras()),
                ]
                yield " ".join([f"{_TOOLS}/bin/poetry install --no-interaction", *words])
                yield from self._pytest_by_pip(f"{VENV}/bin/python -m pip install")
            case "pdm":
                yield " ".join(
                    [f"{_TOOLS}/bin/pdm sync --no-self" if not self._is_package() else f"{_TOOLS}/bin/pdm sync", "-d"]
                )
                yield from self._pytest_by_pip(f"{VENV}/bin/python -m pip install")
            case _:
                yield from self._pip_commands()

    def _pip_commands(self) -> Iterable[str]:
        groups, extras = self._groups(), self._extras()
        words = [f"-r {shlex.quote(path)}" for path in self._requirements]
        words += [f"--group {name}" for name in groups]
        if self._installable:
            words.append(f"-e '.[{','.join(extras)}]'" if extras else "-e .")
        if self._lacks_pytest():
            words.append("pytest")
        if groups:
            yield f"{VENV}/bin/python -m pip install -q --upgrade pip"
        if words:
            yield " ".join([f"{VENV}/bin/python -m pip install", *words])

    def _pytest_by_pip(self, install: str) -> Iterable[str]:
        if self._lacks_pytest():
            yield f"{install} pytest"

    def _is_package(self) -> bool:
        own = table(self.data, "tool", "uv").get("package")
        return (
            bool(own)
            if own is not None
            else bool(table(self.data, "build-system") or existing(self._vfs, ("setup.py",)))
        )

    def _groups(self) -> list[str]:
        return _chosen([name for name, each in table(self.data, "dependency-groups").items() if isinstance(each, list)])

    def _extras(self) -> list[str]:
        listed = [*table(self.data, "project", "optional-dependencies"), *table(self.data, "tool", "poetry", "extras")]
        parser = _sections(text(self._vfs, "setup.cfg"))
        if "options.extras_require" in parser:
            listed += parser["options.extras_require"]
        return _chosen(listed)

    def _options(self, option: str, names: Iterable[str]) -> list[str]:
        return [f"{option} {shlex.quote(name)}" for name in names]

    def _lacks_pytest(self) -> bool:
        """Whether tests are written for pytest and nothing that is installed names it."""
        if not any("pytest" in suite.command for suite in suites(self._vfs)):
            return False
        named = [text(self._vfs, path) for path in self._requirements]
        named += [str(table(self.data, "dependency-groups").get(name)) for name in self._groups()]
        named += [str(table(self.data, "project", "optional-dependencies").get(name)) for name in self._extras()]
        named += [
            str(table(self.data, "tool", "poetry", "group")),
            str(table(self.data, "tool", "poetry").get("dev-dependencies")),
        ]
        named += [str(table(self.data, "tool", "pdm", "dev-dependencies")), text(self._vfs, "setup.cfg")]
        named += [str(table(self.data, "project").get("dependencies"))]
        if self.manager == "uv":
            named += [
                str(table(self.data, "dependency-groups").get("dev")),
                str(table(self.data, "tool", "uv").get("dev-dependencies")),
            ]
        return not any(re.search(r"\bpytest\b", each) for each in named)

    def inputs(self) -> dict[str, str]:
        vfs = self._vfs
        found = digests(vfs, ("uv.lock", "poetry.lock", "pdm.lock", "setup.py", *self._requirements))
        if self.manager == "pip":
            found = {name: each for name, each in found.items() if name in ("setup.py", *self._requirements)}
        data = {name: each for name, each in self.data.items() if name != "tool"}
        data["tool"] = {name: each for name, each in table(self.data, "tool").items() if name not in _HARMLESS}
        project = dict(table(data, "project"))
        found[_PYPROJECT] = digest({**data, "project": project})
        sections = _sections(text(vfs, "setup.cfg"))
        found["setup.cfg"] = digest({n: dict(sections[n]) for n in sections if n.startswith(("metadata", "options"))})
        if self._builds_native():
            native = [path for path in vfs.list_files() if _NATIVE_FILE.search(path)]
            found["native sources"] = digest({path: str(vfs.entry(path)) for path in native})
        return found

    def executed(self) -> dict[str, str]:
        """The branch's own code that an installation runs."""
        found = digests(
            self._vfs, ("setup.py", "hatch_build.py", "build.py", "pdm_build.py") if self._installable else ()
        )
        if build := table(self.data, "build-system"):
            found["pyproject.toml [build-system]"] = digest(build)
        for folder in table(self.data, "build-system").get("backend-path", ()) or ():
            found |= digests(self._vfs, self._vfs.list_files(f"{str(folder).strip('./')}/".lstrip("/"))[:500])
        return found

    def variables(self, python: Runtime) -> dict[str, str]:
        common = {
            "PIP_NO_CACHE_DIR": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INPUT": "1",
            "PIP_PROGRESS_BAR": "off",
        }
        if _SCM.search(str(table(self.data, "build-system").get("requires"))) and not existing(
            self._vfs, ("PKG-INFO",)
        ):
            common |= {"SETUPTOOLS_SCM_PRETEND_VERSION": "0.0.0", "PDM_BUILD_SCM_VERSION": "0.0.0"}
        match self.manager:
            case "uv":
                own = {
                    "UV_PROJECT_ENVIRONMENT": VENV, "UV_PYTHON": str(python.executable), "UV_PYTHON_DOWNLOADS": "never",
                    "UV_LINK_MODE": "hardlink", "UV_COMPILE_BYTECODE": "1", "UV_CACHE_DIR": f"{SCRATCH}/uv",
                    "UV_NO_PROGRESS": "1", "UV_SYSTEM_CERTS": "1",
                }  # fmt: skip
            case "poetry":
                own = {
                    "POETRY_VIRTUALENVS_CREATE": "false", "POETRY_CACHE_DIR": f"{SCRATCH}/poetry", "VIRTUAL_ENV": VENV,
                    "POETRY_KEYRING_ENABLED": "false",
                }  # fmt: skip
            case "pdm":
                own = {
                    "VIRTUAL_ENV": VENV,
                    "PDM_IGNORE_SAVED_PYTHON": "1",
                    "PDM_CACHE_DIR": f"{SCRATCH}/pdm",
                    "PDM_CHECK_UPDATE": "0",
                }
            case _:
                own = {}
        return common | own

    def _builds_native(self) -> bool:
        build = str(table(self.data, "build-system"))
        setuptools = str(table(self.data, "tool", "setuptools"))
        return bool(
            _NATIVE_BACKENDS.search(build)
            or "ext-modules" in setuptools
            or _EXTENSION.search(text(self._vfs, "setup.py"))
        )


def _requirement_files(vfs: VFS) -> list[str]:
    names = [entry.name for entry in vfs.list_dir("")]
    if "requirements" in names:
        names += [f"requirements/{entry.name}" for entry in vfs.list_dir("requirements")]
    return [name for name in names if _REQUIREMENTS.fullmatch(name) and vfs.file_exists(name)]


def _in_order(found: list[str]) -> list[str]:
    """Of several files for work and tests, those for tests; the plain one always."""
    plain = [name for name in found if name in ("requirements.txt", "requirements/base.txt")]
    tests = [name for name in found if name not in plain and re.search(r"tests?|testing", name)]
    work = [name for name in found if name not in plain and name not in tests]
    return sorted(plain) + (sorted(tests) or sorted(work))


def _chosen(names: Iterable[str]) -> list[str]:
    listed = [name for name in names if isinstance(name, str) and re.fullmatch(r"[\w.-]+", name)]
    return [name for name in listed if name in _FOR_TESTS] or [name for name in listed if name in _FOR_WORK]


def _sections(content: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    with suppress(configparser.Error):
        parser.read_string(content)
    return parser
