"""Settings: read from the environment, refused where they cannot work."""

import pytest
from pydantic import ValidationError

from app.settings import Settings


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in [name for name in os.environ if name.startswith("XMEMORY_")]:
        monkeypatch.delenv(name)


def _settings(**given: object) -> Settings:
    return Settings(_env_file=None, **given)


def test_defaults_are_those_of_the_first_five_minutes() -> None:
    settings = _settings()
    assert settings.database_url == "sqlite+aiosqlite:///./xmemory.db"
    assert (settings.host, settings.port, settings.worker) == ("127.0.0.1", 8000, "inline")
    assert (settings.embedder, settings.chat) == ("minilm", "extractive")
    assert (settings.segment.max_messages, settings.segment.max_tokens, settings.segment.gap_seconds) == (
        25,
        2048,
        1800,
    )
    assert (settings.read.max_tokens, settings.limits.body_bytes) == (2000, 8 * 1024 * 1024)


def test_the_environment_is_read_with_its_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XMEMORY_PORT", "9000")
    monkeypatch.setenv("XMEMORY_SEGMENT__MAX_MESSAGES", "10")
    monkeypatch.setenv("XMEMORY_READ__MAX_TOKENS", "500")
    settings = _settings()
    assert (settings.port, settings.segment.max_messages, settings.read.max_tokens) == (9000, 10, 500)
    assert settings.segment.max_tokens == 2048


@pytest.mark.parametrize(
    "given",
    [
        {"database_url": "postgres://host/db"},
        {"database_url": "sqlite:///memory.db"},
        {"embedder": "word2vec"},
        {"embedder": "hf:"},
        {"embedder": "hf:sentence-transformers/all-MiniLM-L6-v2"},
        {"chat": "magic"},
        {"worker": "many"},
        {"port": 70_000},
        {"log_level": "loud"},
        {"segment": {"max_messages": 0}},
        {"segment": {"max_message": 5}},
        {"read": {"max_tokens": 63}},
    ],
)
def test_what_cannot_work_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        _settings(**given)


@pytest.mark.parametrize("name", ["minilm", "scripted", "hf:some/model@abc123", "hf:./folder@1"])
def test_embedders(name: str) -> None:
    assert _settings(embedder=name).embedder == name


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.1.2.3"])
def test_loopback_needs_nothing(host: str) -> None:
    assert _settings(host=host).host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_other_addresses_need_to_be_allowed(host: str) -> None:
    with pytest.raises(ValidationError, match="XMEMORY_ALLOW_UNAUTHENTICATED_BIND"):
        _settings(host=host)
    assert _settings(host=host, allow_unauthenticated_bind=True).host == host
    assert _settings(host=host, auth="keys").host == host


def test_only_this_machine_is_answered_while_nobody_asks_for_a_key() -> None:
    assert _settings().local_only
    assert not _settings(auth="keys").local_only
    assert not _settings(allow_unauthenticated_bind=True).local_only


LONG_ENOUGH = "k" * 32


def test_an_admin_key_is_hard_to_guess_and_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("k" * 31, "k" * 31 + " ", "ü" * 40):
        with pytest.raises(ValidationError, match="32 characters or more"):
            _settings(auth="keys", admin_key=key)
    with pytest.raises(ValidationError, match="set XMEMORY_AUTH=keys as well"):
        _settings(admin_key=LONG_ENOUGH)
    found = _settings(auth="keys", admin_key=LONG_ENOUGH)
    assert found.admin_key is not None
    assert LONG_ENOUGH not in repr(found)
    monkeypatch.setenv("XMEMORY_ADMIN_KEY", "")
    assert _settings().admin_key is None  # empty, as compose files and `embedded` say "none"


def test_a_password_is_not_shown() -> None:
    assert "hunter2" not in repr(_settings(database_url="postgresql+psycopg://ada:hunter2@db/memory"))


@pytest.mark.parametrize(
    "values",
    [{"admit": {"mode": "direct"}}, {"admit": {"mode": "predict"}}, {"segment": {"mode": "model"}}],
)
def test_what_needs_a_language_model_is_refused_without_one(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="XMEMORY_CHAT"):
        Settings(_env_file=None, **values)
    assert Settings(_env_file=None, chat="scripted", **values).chat == "scripted"


@pytest.mark.parametrize(
    ("chat", "mode", "expected"),
    [("extractive", None, "extractive"), ("scripted", None, "direct"), ("scripted", "off", "off")],
)
def test_statements_are_drawn_by_the_model_if_there_is_one(chat: str, mode: str | None, expected: str) -> None:
    assert Settings(_env_file=None, chat=chat, admit={"mode": mode}).admit_mode == expected
