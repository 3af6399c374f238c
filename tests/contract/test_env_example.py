"""`.env.example` lists every setting, and copying it changes nothing."""

import os

import pytest
from pydantic import BaseModel

from app.settings import Settings
from tests.contract import env_example


def test_the_example_is_up_to_date() -> None:
    shown = env_example.FILE.read_text(encoding="utf-8")
    assert shown == env_example.render(), "run: python -m tests.contract.update"


def test_copying_the_example_gives_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("XMEMORY_")]:
        monkeypatch.delenv(name)
    given = Settings(_env_file=env_example.FILE)
    assert given == Settings(_env_file=None)
    assert {"database_url", "host", "port", "segment", "limits"} <= given.model_fields_set


def _described(model: type[BaseModel]) -> list[tuple[str, str | None]]:
    found = []
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            found += _described(field.annotation)
        else:
            found.append((name, field.description))
    return found


def test_every_setting_says_what_it_is_for() -> None:
    assert [name for name, description in _described(Settings) if not description] == []
