"""What a key opens."""

import pytest
from pydantic import ValidationError

from app.api.schemas.keys import CreateKey
from app.domain.access import ANYBODY, Caller, Scope, is_loopback


def caller(*namespaces: str, scopes: tuple[Scope, ...] = (Scope.READ,)) -> Caller:
    return Caller(None, "x", frozenset(scopes), namespaces)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("ada", ["ada"], ["ada2", "ad", "Ada", "ada*", "*"]),
        ("team-*", ["team-", "team-a", "team-*"], ["team", "Team-a", "xteam-a"]),
        ("*", ["ada", "*", "ß"], []),
        ("a*b", ["a*b"], ["ab", "axb", "a*bc"]),
        ("a**", ["a*", "a*b"], ["ab", "a"]),
        ("größe*", ["größe", "größer"], ["grosse", "gr\u006f\u0308ße"]),
        ("a_c%", ["a_c%"], ["abc%", "a_cd"]),
        ("a_*", ["a_", "a_b"], ["ab"]),
    ],
)
def test_namespaces_by_name_or_prefix(pattern: str, inside: list[str], outside: list[str]) -> None:
    assert all(caller(pattern).covers(name) for name in inside)
    assert not any(caller(pattern).covers(name) for name in outside)


def test_without_namespaces_nothing_is_covered() -> None:
    assert not caller().covers("ada")
    assert caller("bob", "ad*").covers("ada")


def test_scopes() -> None:
    reader, admin = caller("*"), caller("*", scopes=(Scope.ADMIN,))
    assert reader.may({Scope.READ})
    assert reader.may({Scope.READ, Scope.DELETE})  # one of them will do
    assert not reader.may({Scope.WRITE})
    assert not reader.may({Scope.ADMIN})
    assert not reader.may({Scope.METRICS})
    for scope in Scope:
        assert admin.may({scope})
        assert ANYBODY.may({scope})


ORDER = {"name": "agent", "scopes": ["read"], "namespaces": ["ada"]}


@pytest.mark.parametrize(
    "change",
    [
        {"namespaces": ["ada", "team-*", "*"]},
        {"scopes": ["admin"], "namespaces": ["*"]},
        {"scopes": ["admin", "read"], "namespaces": ["*"]},
        {"scopes": ["metrics"], "namespaces": []},
        {"expires_at": "2030-01-01"},
    ],
)
def test_keys_that_can_be_made(change: dict[str, object]) -> None:
    CreateKey.model_validate(ORDER | change)


@pytest.mark.parametrize(
    "change",
    [
        {"scopes": []},
        {"scopes": ["everything"]},
        {"scopes": ["admin"]},
        {"scopes": ["admin"], "namespaces": ["*", "ada"]},
        {"scopes": ["admin"], "namespaces": []},
        {"namespaces": []},
        {"scopes": ["read", "metrics"], "namespaces": []},
        {"namespaces": ["a b"]},
        {"namespaces": ["../x"]},
        {"namespaces": [".hidden"]},
        {"namespaces": [""]},
        {"namespaces": ["x" * 201]},
        {"namespaces": ["x"] * 101},
        {"name": ""},
        {"name": "x" * 201},
        {"expires_at": 1893456000},
        {"id": "mine"},
    ],
)
def test_keys_that_cannot(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        CreateKey.model_validate(ORDER | change)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "::1"])
def test_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["", "0.0.0.0", "10.0.0.1", "::", "example.org", "localhost.example.org", "127.0.0.1.x"]
)
def test_others(host: str) -> None:
    assert not is_loopback(host)
