"""The documentation of the API: every address with its name, and answers that are what it says, whatever is asked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from inline_snapshot import snapshot
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from forge.api.http.problems import status_of
from forge.errors import ForgeError
from forge.sessions.redaction import Redactor
from tests.api.projects import made
from tests.support.api_server import House

pytestmark = pytest.mark.req("X-02")

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = int(os.environ.get("FORGE_API_EXAMPLES", "2"))
"""For each address, of what fits and of what does not; more of them take minutes."""
ALWAYS = {
    "400": "request_malformed",
    "401": "sign_in_needed",
    "403": "scope_missing",
    "422": "request_invalid",
    "429": "rate_limited",
    "500": "internal",
}
# These take away what the others are tried on, so they get ids that nobody has.
DESTRUCTIVE = {"forget_repository", "delete_project"}


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def test_every_address_has_a_name_a_tag_and_its_problems(client: httpx.Client) -> None:
    document = client.get("/api/openapi.json").json()
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names))
    for method, path, operation in operations(document):
        assert operation["tags"], path
        assert operation["description"].startswith(operation["summary"]), path
        assert " " in operation["summary"], path
        if path != "/api/health":
            for status, name in ALWAYS.items():
                assert f"`{name}`" in operation["responses"][status]["description"], (method, path)
        for status, response in operation["responses"].items():
            if status >= "400":
                assert list(response["content"]) == ["application/problem+json"], (path, status)
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_codes_stand_at_the_status_that_they_come_with(client: httpx.Client) -> None:
    """An error knows its family, and with it its status; the documentation says the same."""
    known = {each.code: status_of(each("")) for each in _errors(ForgeError)}
    document = client.get("/api/openapi.json").json()
    for method, path, operation in operations(document):
        for status, response in operation["responses"].items():
            for name in re.findall(r"`(\w+)`", response["description"]) if status >= "400" else ():
                wanted = {known.get(name, int(status)), 412 if name == "file_changed" else 0}
                assert int(status) in wanted, (method, path, name)


def test_what_a_request_is_refused_for_stands_at_its_address(client: httpx.Client, house: House) -> None:
    repository = house.repository()
    project = client.post("/api/projects", json={"name": "Garden"}).json()["id"]
    both = {"branch": "main", "at": "main"}
    asked = {
        "/api/repositories/{repository}/files": client.get(f"/api/repositories/{repository}/files", params=both),
        "/api/repositories/{repository}/folders": client.get(f"/api/repositories/{repository}/folders", params=both),
        "/api/repositories/{repository}/graph": client.get(
            f"/api/repositories/{repository}/graph", params={"after": "x"}
        ),
        "/api/projects/{project}/actions/{action}": client.post(f"/api/projects/{project}/actions/distill"),
    }
    document = client.get("/api/openapi.json").json()
    for path, answer in asked.items():
        operation = document["paths"][path][answer.request.method.lower()]
        assert answer.status_code == 422, path
        assert f"`{answer.json()['code']}`" in operation["responses"]["422"]["description"], path


def _errors(family: type[ForgeError]) -> Iterator[type[ForgeError]]:
    for each in family.__subclasses__():
        if "__init__" not in vars(each):
            yield each
        yield from _errors(each)


def test_every_shape_has_an_example_that_fits(client: httpx.Client) -> None:
    document = client.get("/api/openapi.json").json()
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        if schema.get("type") == "object":
            assert schema.get("examples"), name
            whole = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
            for example in schema["examples"]:
                faults = list(jsonschema_rs.Draft202012Validator(whole).iter_errors(example))
                assert not faults, (name, faults)


@pytest.mark.req("X-06")
def test_no_example_looks_like_a_secret(client: httpx.Client) -> None:
    text = client.get("/api/openapi.json").text
    assert Redactor().text(text) == text
    assert not re.search(r"fk_[A-Za-z0-9]{8}", text)


def test_the_addresses_are_these(client: httpx.Client) -> None:
    document = client.get("/api/openapi.json").json()
    found = sorted(f"{path} {method} {operation['operationId']}" for method, path, operation in operations(document))
    assert found == snapshot(
        [
            "/api/audit get list_audit",
            "/api/board get show_board",
            "/api/connectors get list_connectors",
            "/api/costs get show_costs",
            "/api/deliverable-types get list_deliverable_types",
            "/api/doctor get show_doctor",
            "/api/events get list_events",
            "/api/health get health",
            "/api/keys get list_keys",
            "/api/keys post create_key",
            "/api/keys/{key}/revoke post revoke_key",
            "/api/mcp/build/{build}/contracts get read_build_contracts",
            "/api/mcp/context/{project} get show_agent_context",
            "/api/mcp/context/{project}/{contract_type} get read_agent_contract",
            "/api/memory get read_memory",
            "/api/memory/checkpoints post add_checkpoint",
            "/api/memory/confidence post add_confidence",
            "/api/memory/initiative post start_initiative",
            "/api/memory/lines post add_memory_line",
            "/api/memory/milestones/{milestone} put start_milestone",
            "/api/memory/milestones/{milestone}/complete post complete_milestone",
            "/api/memory/milestones/{milestone}/tasks post complete_task",
            "/api/memory/resume post resume_memory",
            "/api/memory/status put change_memory_status",
            "/api/models get list_models",
            "/api/models/{provider} get list_provider_models",
            "/api/notifications/test post test_notifications",
            "/api/projects get list_projects",
            "/api/projects post create_project",
            "/api/projects/example post run_example",
            "/api/projects/{project} delete delete_project",
            "/api/projects/{project} get show_project",
            "/api/projects/{project} patch change_project",
            "/api/projects/{project}/actions/{action} post perform_action",
            "/api/projects/{project}/artifacts get list_artifacts",
            "/api/projects/{project}/artifacts/{name} get download_artifact",
            "/api/projects/{project}/contracts get list_contracts",
            "/api/projects/{project}/contracts/check get check_contracts",
            "/api/projects/{project}/contracts/check post check_drafts",
            "/api/projects/{project}/contracts/generation delete stop_contract_generation",
            "/api/projects/{project}/contracts/generation get show_contract_generation",
            "/api/projects/{project}/contracts/generation post generate_contracts",
            "/api/projects/{project}/contracts/history/{batch} get read_pinned_contracts",
            "/api/projects/{project}/contracts/leaks get find_contract_leaks",
            "/api/projects/{project}/contracts/pictures get show_contract_pictures",
            "/api/projects/{project}/contracts/questions get list_contract_questions",
            "/api/projects/{project}/contracts/questions put answer_contract_questions",
            "/api/projects/{project}/contracts/reads get list_contract_reads",
            "/api/projects/{project}/contracts/reads/summary get sum_contract_reads",
            "/api/projects/{project}/contracts/schema/{contract_type} get read_contract_schema",
            "/api/projects/{project}/contracts/summary get summarize_contracts",
            "/api/projects/{project}/contracts/window/{number} get read_phase_window",
            "/api/projects/{project}/contracts/{contract_type} get read_contract",
            "/api/projects/{project}/contracts/{contract_type} put edit_contract",
            "/api/projects/{project}/contracts/{contract_type}/diff get diff_contract",
            "/api/projects/{project}/contracts/{contract_type}/restore post restore_contract",
            "/api/projects/{project}/contracts/{contract_type}/versions get list_contract_versions",
            "/api/projects/{project}/documents get list_documents",
            "/api/projects/{project}/documents/{name} get read_document",
            "/api/projects/{project}/documents/{name}/diff get diff_document",
            "/api/projects/{project}/documents/{name}/versions get list_document_versions",
            "/api/projects/{project}/earlier-messages get list_earlier_messages",
            "/api/projects/{project}/explore get show_exploration",
            "/api/projects/{project}/explore/brain-dump post hand_over_exploration",
            "/api/projects/{project}/explore/changes post change_exploration",
            "/api/projects/{project}/explore/exports/{name} get export_exploration",
            "/api/projects/{project}/explore/mode put enter_mode",
            "/api/projects/{project}/explore/stop post stop_exploring",
            "/api/projects/{project}/explore/tools get list_exploration_tools",
            "/api/projects/{project}/explore/turns post answer_exploration",
            "/api/projects/{project}/log get list_log",
            "/api/projects/{project}/messages get list_project_messages",
            "/api/projects/{project}/messages post say_to_project",
            "/api/projects/{project}/note get show_note",
            "/api/projects/{project}/note put save_note",
            "/api/projects/{project}/papers get list_papers",
            "/api/projects/{project}/papers/{key} delete delete_paper",
            "/api/projects/{project}/papers/{key} get get_paper",
            "/api/projects/{project}/papers/{key} patch pin_paper",
            "/api/projects/{project}/papers/{key} put store_paper",
            "/api/projects/{project}/press/{action} post press_action",
            "/api/projects/{project}/resources get list_resources",
            "/api/projects/{project}/resources post add_resource",
            "/api/projects/{project}/resources/{name} delete remove_resource",
            "/api/projects/{project}/resources/{name} get download_resource",
            "/api/projects/{project}/runs/{run} get show_project_run",
            "/api/projects/{project}/stop post stop_project_work",
            "/api/projects/{project}/tests get show_project_tests",
            "/api/projects/{project}/tests put set_project_test_command",
            "/api/projects/{project}/tests/accept post accept_tests",
            "/api/prompts get list_prompts",
            "/api/prompts/{name} get show_prompt",
            "/api/prompts/{name} put save_prompt",
            "/api/prompts/{name}/diff get diff_prompt",
            "/api/prompts/{name}/reset post reset_prompt",
            "/api/provider-keys get list_provider_keys",
            "/api/provider-keys/{provider} delete remove_provider_key",
            "/api/provider-keys/{provider} put set_provider_key",
            "/api/questions get list_questions",
            "/api/questions/{question} get show_question",
            "/api/questions/{question}/answer post answer_question",
            "/api/repositories get list_repositories",
            "/api/repositories post add_repository",
            "/api/repositories/{repository} delete forget_repository",
            "/api/repositories/{repository} get show_repository",
            "/api/repositories/{repository}/blame get show_blame",
            "/api/repositories/{repository}/branches get list_branches",
            "/api/repositories/{repository}/branches post create_branch",
            "/api/repositories/{repository}/branches/{branch} delete delete_branch",
            "/api/repositories/{repository}/branches/{branch} get show_branch",
            "/api/repositories/{repository}/branches/{branch} patch change_branch",
            "/api/repositories/{repository}/commits get list_commits",
            "/api/repositories/{repository}/commits/{commit} get show_commit",
            "/api/repositories/{repository}/diffs get show_diff",
            "/api/repositories/{repository}/environment delete clear_environment",
            "/api/repositories/{repository}/environment get show_environment",
            "/api/repositories/{repository}/environment/approve post approve_environment",
            "/api/repositories/{repository}/environment/log get show_environment_log",
            "/api/repositories/{repository}/environment/setup post set_up_environment",
            "/api/repositories/{repository}/exports post export_branch",
            "/api/repositories/{repository}/exports/preview post preview_export",
            "/api/repositories/{repository}/files get list_files",
            "/api/repositories/{repository}/files/{path} delete delete_file",
            "/api/repositories/{repository}/files/{path} get read_file",
            "/api/repositories/{repository}/files/{path} put save_file",
            "/api/repositories/{repository}/folder-renames post rename_folder",
            "/api/repositories/{repository}/folders delete delete_folder",
            "/api/repositories/{repository}/folders get list_folder",
            "/api/repositories/{repository}/graph get show_graph",
            "/api/repositories/{repository}/kept-branches get list_kept_branches",
            "/api/repositories/{repository}/merges post perform_merge",
            "/api/repositories/{repository}/merges/indicators get list_merge_indicators",
            "/api/repositories/{repository}/merges/preview post preview_merge",
            "/api/repositories/{repository}/operations get list_operations",
            "/api/repositories/{repository}/operations/undo post undo_last_operation",
            "/api/repositories/{repository}/operations/{operation}/undo post undo_operation",
            "/api/repositories/{repository}/patches get show_patch",
            "/api/repositories/{repository}/paths get list_paths",
            "/api/repositories/{repository}/pushes post push_branch",
            "/api/repositories/{repository}/pushes/preview post preview_push",
            "/api/repositories/{repository}/remotes get list_remotes",
            "/api/repositories/{repository}/renames post rename_file",
            "/api/repositories/{repository}/searches post search_files",
            "/api/repositories/{repository}/session get show_session",
            "/api/repositories/{repository}/session/attachments post attach_file",
            "/api/repositories/{repository}/session/cancel post cancel_turn",
            "/api/repositories/{repository}/session/context get show_context",
            "/api/repositories/{repository}/session/context patch change_context",
            "/api/repositories/{repository}/session/fork post fork_session",
            "/api/repositories/{repository}/session/messages post send_message",
            "/api/repositories/{repository}/session/rewind post rewind_session",
            "/api/repositories/{repository}/session/runs/{run} get show_turn_run",
            "/api/repositories/{repository}/session/turns get list_turns",
            "/api/repositories/{repository}/session/turns/{turn} get show_turn",
            "/api/repositories/{repository}/sessions get list_sessions",
            "/api/repositories/{repository}/tests get show_tests",
            "/api/repositories/{repository}/tests put set_test_command",
            "/api/repositories/{repository}/tests/cancel post cancel_test_run",
            "/api/repositories/{repository}/tests/runs get show_test_runs",
            "/api/repositories/{repository}/tests/runs post begin_test_run",
            "/api/repositories/{repository}/tests/runs/{run} get show_test_run",
            "/api/repositories/{repository}/tools get list_tools",
            "/api/repositories/{repository}/tools/{name}/approve post approve_tool",
            "/api/repositories/{repository}/tools/{name}/revoke post revoke_tool",
            "/api/settings get list_settings",
            "/api/settings/{name} get show_setting",
            "/api/settings/{name} put change_setting",
            "/api/sign-in delete sign_out",
            "/api/sign-in get show_who",
            "/api/sign-in post sign_in",
            "/api/users get list_users",
            "/api/users post add_user",
            "/api/users/{user}/disable post disable_user",
            "/api/{kind}/{id}/shares get list_shares",
            "/api/{kind}/{id}/shares/{user} delete unshare",
            "/api/{kind}/{id}/shares/{user} put share",
        ]
    )


@pytest.mark.slow
# The server draws random numbers in a thread of this process, which hypothesis takes for its own strategies.
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")
def test_whatever_is_asked_the_answer_is_as_documented(client: httpx.Client, house: House) -> None:
    document = client.get("/api/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    repository = house.repository()
    client.post(f"/api/repositories/{repository}/branches", json={"name": "ai/one"})
    known = {"repository": repository, "project": made(client)["id"], "branch": "ai/one", "id": repository}
    known |= {"path": "README.md", "commit": "HEAD", "name": "chat", "kind": "repositories"}
    asked = count()
    for result in schema.get_all_operations():
        operation = result.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

            @given(case=operation.as_strategy(generation_mode=mode))
            @settings(
                max_examples=EXAMPLES,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate],
            )
            def ask(case: Case) -> None:
                _place(case, known, next(asked))
                case.call_and_validate(base_url=house.url, headers=house.bearer, checks=CHECKS, timeout=30)

            ask()
    assert next(asked) > 2 * EXAMPLES * len(operations(document)) * 0.5


def _place(case: Case, known: dict[str, str], number: int) -> None:
    """Most requests are about something that is there: what does not exist is answered soon."""
    if number % 3 == 0 or case.operation.definition.raw["operationId"] in DESTRUCTIVE:
        return
    for name in case.path_parameters or {}:
        if name in known:
            case.path_parameters[name] = known[name]
    if number % 3 == 1 and isinstance(case.query, dict):
        for name in ("branch", "rev", "new", "path", "project", "target"):
            if name in case.query:
                case.query[name] = {"rev": "main", "new": "ai/one", "target": "main"}.get(name, known.get(name))
