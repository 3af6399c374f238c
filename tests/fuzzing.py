"""schemathesis over the whole OpenAPI document of a running service, with all of its checks.

The service has memory to work on: half of what is generated names things that exist. Deletions are given things of
their own, so that the rest stays.
"""

import asyncio
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from pydantic import SecretStr

from app.api.schemas.common import encode_cursor
from app.settings import ReadSettings, Settings
from tests.conftest import Api

ADMIN_KEY = "fuzz-" + "0" * 43
HEADERS = {"Authorization": f"Bearer {ADMIN_KEY}"}
SAID = ("I moved to Lisbon last week.", "I adopted a cat named Miso.", "My sister Ida works at the harbour.")
HOME = "/v1/namespaces/fuzz"

# What a schema cannot say, by operation id: there a valid request may be refused with 422 all the same.
BEYOND_SCHEMA: Mapping[str, str] = {
    "append_messages": "a message without an image must say something; how deep metadata is",
    "create_key": "which scopes need which namespaces",
    "reembed_namespace": "the profiles that are configured",
    "answer_question": "json_schema and gate=model need a language model",
    "answer_stream": "the same",
    "answer_by_query": "gate=model needs a language model",
    "search_memory": "the same",
    "search_by_query": "the same",
    "export_namespace": "after needs revision",
    "import_namespace": "the lines of a file",
    "correct_statement": "whether it is current",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: what schemathesis printed, and how many requests it made."""

    ok: bool
    generated: int
    printed: str


def fuzzed(settings: Settings) -> Settings:
    """Settings of a service to be fuzzed: with keys, and no long waiting for what does not come."""
    given = {"auth": "keys", "admin_key": SecretStr(ADMIN_KEY), "read": ReadSettings(wait_seconds=0.1)}
    return settings.model_copy(update=given)


async def fuzz(api: Api, folder: Path, *phases: str, examples: int, seed: int) -> Outcome:
    """Generate `examples` of each kind for every operation. The same seed finds the same things."""
    api.headers.update(HEADERS)
    config = folder / "schemathesis.toml"
    config.write_text(_configuration(await _remember(api)), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config)),
        *("run", f"{str(api.base_url).rstrip('/')}/openapi.json"),
        *("--checks", "all", "--phases", ",".join(phases), "--max-examples", str(examples), "--seed", str(seed)),
        *("--header", f"Authorization: {HEADERS['Authorization']}", "--continue-on-failure", "--no-color"),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed = (await process.communicate())[0].decode(errors="replace")
    generated = re.search(r"(\d+) generated", printed)
    return Outcome(process.returncode == 0, int(generated[1]) if generated else 0, printed)


async def _remember(api: Api) -> dict[str, list[str]]:
    """Memory in the namespace `fuzz`; the names and ids of what is in it, by parameter. The last of each is spare."""
    await api.say("fuzz", *SAID, speaker="Ada", conversation="chat")
    await api.say("fuzz", *SAID, speaker="Ben", conversation="spare")
    await api.settle("fuzz")
    found = {
        noun.removesuffix("s"): [one["id"] for one in await api.all(f"{HOME}/{noun}")]
        for noun in ("episodes", "statements", "themes", "jobs")
    }
    found["message"] = [one["id"] for one in await api.all(f"{HOME}/conversations/chat/messages")]
    return {**found, "namespace": ["fuzz", "spare"], "conversation": ["chat", "spare"]}


def _configuration(known: Mapping[str, Sequence[str]]) -> str:
    """schemathesis' configuration: mostly what exists, and which checks do not apply where."""
    accepted = ["2xx", 401, 403, 404, 409]
    lines = ["[checks.positive_data_acceptance]"]
    lines += [f"expected-statuses = {json.dumps(accepted)}"]
    for name, values in known.items():
        lines += [f"[dictionaries.{name}]", f"values = {json.dumps(values[:-1] or values)}"]
        lines += [f"[dictionaries.spare-{name}]", f"values = {json.dumps(values[-1:])}"]
    lines += ["[parameters]", f'"query.cursor" = "{encode_cursor(uuid4())}"']
    lines += [f'"path.{name}" = {{dictionary = "{name}", probability = 0.5}}' for name in known]
    lines += _operation("list_messages", f'"query.cursor" = "{encode_cursor(0)}"')
    for noun in ("namespace", "conversation", "message", "statement"):
        lines += _operation(f"delete_{noun}", f'"path.{noun}" = {{dictionary = "spare-{noun}", probability = 0.9}}')
    for operation in BEYOND_SCHEMA:
        lines += [*_operation(operation), "[operations.checks.positive_data_acceptance]"]
        lines += [f"expected-statuses = {json.dumps([*accepted, 422])}"]
    # `GET …/themes/rebuild` is `GET …/themes/{theme}` with a wrong id: 422, and not 405.
    lines += [*_operation("rebuild_themes"), "[operations.phases.coverage]"]
    lines += ['unexpected-methods = ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"]']
    return "\n".join(lines) + "\n"


def _operation(id_: str, *parameters: str) -> list[str]:
    found = ["[[operations]]", f'include-operation-id = "{id_}"']
    return [*found, "[operations.parameters]", *parameters] if parameters else found
