"""Requests that nobody thought of: schemathesis, over the whole document; more in tests/benchmarks/fuzz.py."""

from pathlib import Path

from app.settings import Settings
from tests.conftest import serving
from tests.fuzzing import fuzz, fuzzed


async def test_no_generated_request_finds_a_fault(settings: Settings, tmp_path: Path) -> None:
    async with serving(fuzzed(settings)) as api:
        outcome = await fuzz(api, tmp_path, "fuzzing", examples=2, seed=1)
    assert outcome.ok, outcome.printed
    assert outcome.generated > 80
