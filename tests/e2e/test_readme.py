"""What the README tells a new user to type works as it stands there."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from app.evaluation.server import embedded

README = (Path(__file__).parents[2] / "README.md").read_text()


def _curl_lines() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    joined = "\n".join(block for block in blocks if "curl" in block)
    # A command goes on while its quotes are open or a line ends in a backslash.
    commands = re.split(r"\n(?=curl )", joined)
    return [command.strip() for command in commands if command.startswith("curl")]


@pytest.mark.models
@pytest.mark.slow
async def test_every_curl_line_of_the_readme_works(tmp_path: Path) -> None:
    async with embedded() as url:
        replies: list[tuple[str, dict[str, Any]]] = []
        statement = ""  # the one that the README calls ID
        for command in _curl_lines():
            typed = command.replace("localhost:8000", url.removeprefix("http://")).replace("/ID", f"/{statement}")
            process = await asyncio.create_subprocess_exec(
                "bash", "-c", typed,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=tmp_path,
            )  # fmt: skip
            out, err = await process.communicate()
            assert process.returncode == 0, err
            replies.append((command, json.loads(out or "{}")))  # a withdrawal answers without a word
            if "/statements " in command:
                [decided] = replies[-1][1]["statements"]
                statement = decided["statement"]["id"]
    assert len(replies) >= 12  # so many were found at least
    assert not [reply for _, reply in replies if "/problems/" in str(reply.get("type"))]
    by_route = {
        re.search(r"/(messages|flush|answer|search|episodes|jobs|status)\b", command): reply
        for command, reply in replies
    }
    named = {match[1]: reply for match, reply in by_route.items() if match}
    assert named["messages"]["accepted"] == 2
    assert named["flush"]["settled"]
    assert "27 February 2026" in named["answer"]["answer"]
    assert named["answer"]["citations"][0]["external_id"] == "m1"
    assert "peanuts" in named["search"]["context"]
    assert named["search"]["tokens"] <= 500
    assert named["episodes"]["items"]
    assert named["status"]["failed_jobs"] == 0
    assert {job["kind"] for job in named["jobs"]["items"]} == {"segment", "admit", "maintain", "forget"}
