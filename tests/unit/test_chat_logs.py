"""Chat logs as other assistants give them out: what was said comes over, once, and what is broken is named."""

import gzip
import json
import re
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from app.domain.messages import Role
from app.domain.namespaces import NAME_PATTERN
from app.evaluation.errors import BadDataset
from app.transfer import chatgpt, claude, formats, openai_messages
from app.transfer.chats import CONTENT_LENGTH, Log, named
from app.transfer.formats import Format

T0 = 1_700_000_000.25


def _node(id_: str, parent: str | None, role: str = "user", text: object = "hi", **message: object) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    full = {"id": id_, "author": {"role": role}, "create_time": T0, "content": content, "recipient": "all", **message}
    return {"id": id_, "message": full, "parent": parent, "children": []}


def _chatgpt(*nodes: dict[str, Any], current: str | None, **more: object) -> dict[str, Any]:
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": ["a"]}}
    mapping |= {node["id"]: node for node in nodes}
    for node in nodes:
        if node["parent"] in mapping and node["id"] not in mapping[node["parent"]]["children"]:
            mapping[node["parent"]]["children"].append(node["id"])
    return {
        "conversation_id": "c1",
        "title": "T",
        "create_time": T0,
        "mapping": mapping,
        "current_node": current,
        **more,
    }


def _said(log: Log) -> list[tuple[str, str]]:
    return [(message.role.value, message.content) for chat in log.chats for message in chat.messages]


def test_chatgpt_is_read_along_the_branch_that_was_shown_last() -> None:
    log = chatgpt.read(
        [
            _chatgpt(
                _node("a", "root", text="Where is Lisbon?"),
                _node("b1", "a", "assistant", "In Spain."),
                _node("b2", "a", "assistant", "In Portugal."),
                _node("c", "b2", text="Thanks"),
                current="c",
            )
        ]
    )
    assert _said(log) == [("user", "Where is Lisbon?"), ("assistant", "In Portugal."), ("user", "Thanks")]
    [chat] = log.chats
    assert chat.name == "c1"
    assert [message.external_id for message in chat.messages] == ["a", "b2", "c"]
    assert chat.messages[0].occurred_at == datetime(2023, 11, 14, 22, 13, 20, 250000, UTC)
    assert (log.malformed, log.silent) == ([], 0)


def test_chatgpt_without_a_current_node_ends_at_its_newest_leaf() -> None:
    nodes = _node("a", "root"), _node("old", "a", text="old"), _node("new", "a", text="new", create_time=T0 + 9)
    assert _said(chatgpt.read([_chatgpt(*nodes, current=None)])) == [("user", "hi"), ("user", "new")]


def test_chatgpt_keeps_pictures_and_voices_and_leaves_out_what_nobody_said() -> None:
    picture = {
        "content_type": "image_asset_pointer",
        "asset_pointer": "file-1",
        "metadata": {"dalle": {"prompt": "a cat"}},
    }
    voice = {"content_type": "audio_transcription", "text": "spoken"}
    parts = {"content_type": "multimodal_text", "parts": ["look", picture, {**picture, "metadata": None}, voice]}
    log = chatgpt.read(
        [
            _chatgpt(
                _node("s", "root", "system", ""),
                _node("u", "s", content={"content_type": "user_editable_context", "user_profile": "x"}),
                _node("h", "u", metadata={"is_visually_hidden_from_conversation": True}),
                _node("a", "h", content=parts),
                _node("call", "a", "assistant", "print(1)", recipient="python"),
                _node("tool", "call", "tool", "1"),
                _node("think", "tool", "assistant", content={"content_type": "thoughts", "thoughts": []}),
                _node("b", "think", "assistant", "A cat.", create_time=None),
                current="b",
            )
        ]
    )
    assert _said(log) == [("user", "look\n\nspoken"), ("assistant", "A cat.")]
    look, answer = log.chats[0].messages
    assert [(image.caption, image.url) for image in look.images] == [("a cat", "file-1"), ("a picture", "file-1")]
    assert answer.occurred_at == look.occurred_at
    assert (log.silent, log.malformed) == (6, [])


def test_what_is_broken_costs_itself_only() -> None:
    circle = _chatgpt(_node("a", "b"), _node("b", "a"), current="b")
    log = chatgpt.read(
        [
            7,
            {"mapping": {}},
            {"conversation_id": "x", "mapping": []},
            circle,
            _chatgpt(_node("a", "gone"), current="a"),
            _chatgpt(
                _node("a", "root", text="fine"),
                _node("b", "a", author=None),
                _node("c", "b", content={"content_type": "text", "parts": None}),
                _node("d", "c", id=None),
                _node("e", "d", text="x" * (CONTENT_LENGTH + 1)),
                _node("f", "e", text="too"),
                current="f",
            ),
        ]
    )
    assert _said(log) == [("user", "fine"), ("user", "too")]
    assert [item.place for item in log.malformed] == [
        *(f"conversation {number}" for number in range(1, 6)),
        *(f"conversation 6, message {number}" for number in range(3, 7)),
    ]


def test_claude_is_read_with_its_attachments() -> None:
    messages = [
        {"uuid": "1", "sender": "human", "text": "old form", "created_at": "2024-05-01T10:00:00.123456Z"},
        {
            "uuid": "2",
            "sender": "assistant",
            "text": "",
            "content": [{"type": "tool_use"}, {"type": "text", "text": "Yes."}],
        },
        {"uuid": "3", "sender": "assistant", "text": "", "content": [{"type": "thinking", "thinking": "hm"}]},
        {
            "uuid": "4",
            "sender": "human",
            "content": [{"type": "text", "text": "see"}],
            "attachments": [{"file_name": "a.txt", "extracted_content": "pasted"}, {"file_name": "b"}, 3],
        },
        {"uuid": "5", "sender": "robot", "text": "x"},
        "broken",
    ]
    log = claude.read(
        [{"uuid": "c/1", "name": "T", "chat_messages": messages}, {"uuid": "c2"}, {"uuid": "c3", "chat_messages": []}]
    )
    assert _said(log) == [("user", "old form"), ("assistant", "Yes."), ("user", "see\n\na.txt:\npasted")]
    assert log.chats[0].name == "c-1"
    assert log.chats[0].messages[0].occurred_at == datetime(2024, 5, 1, 10, 0, 0, 123456, UTC)
    assert log.silent == 1
    assert [item.place for item in log.malformed] == [
        "conversation 1, message 5",
        "conversation 1, message 6",
        "conversation 2",
    ]


def test_messages_of_openai_are_read_in_any_of_their_forms() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    items = [
        {"role": "developer", "content": "Be kind."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "look"}, picture],
            "name": "Ada",
            "timestamp": 1_700_000_000,
        },
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "content": "42", "id": "t1", "created_at": "2024-05-01T10:00:00+02:00"},
        {"speaker": "Bob", "content": "Hello", "conversation": "other", "occurred_at": "2024-05-01"},
        {"messages": [{"role": "user", "content": "in one line"}], "id": "whole"},
        {"role": "king", "content": "x"},
        {"role": "user", "content": 3},
        None,
    ]
    log = openai_messages.read([(f"line {number}", item) for number, item in enumerate(items, 1)], "chat")
    told = {chat.name: chat.messages for chat in log.chats}
    assert {name: len(messages) for name, messages in told.items()} == {"chat": 3, "other": 1, "whole": 1}
    system, user, tool = told["chat"]
    assert (system.role, user.role, tool.role) == (Role.SYSTEM, Role.USER, Role.TOOL)
    assert (user.speaker, user.images[0].url) == ("Ada", "https://example.org/a.png")
    assert (tool.external_id, tool.occurred_at) == ("t1", datetime(2024, 5, 1, 8, tzinfo=UTC))
    assert told["other"][0].role is Role.USER
    assert log.silent == 1
    assert [item.place for item in log.malformed] == ["line 7", "line 8", "line 9"]
    grown = openai_messages.read(
        [("line 1", items[0]), ("line 2", items[1]), ("line 3", items[3] | {"id": None})], "chat"
    )
    assert [one.external_id for one in grown.chats[0].messages][:2] == [system.external_id, user.external_id]


FILES: list[tuple[str, Any, Format]] = [
    ("conversations.json", [_chatgpt(_node("a", "root"), current="a")], Format.CHATGPT),
    (
        "conversations.json",
        [{"uuid": "1", "chat_messages": [{"uuid": "2", "sender": "human", "text": "hi"}]}],
        Format.CLAUDE,
    ),
    ("chat.json", [{"role": "user", "content": "hi"}], Format.JSONL),
]


@pytest.mark.parametrize(("name", "document", "format"), FILES)
def test_files_are_known_by_what_is_in_them(tmp_path: Path, name: str, document: object, format: Format) -> None:
    content = json.dumps(document)
    plain, packed, zipped = tmp_path / name, tmp_path / f"{name}.gz", tmp_path / "export.zip"
    plain.write_text(content)
    packed.write_bytes(gzip.compress(content.encode()))
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("export/conversations.json", content)
    for path in (plain, packed, zipped):
        for chosen in (Format.AUTO, format):
            assert [content for _, content in _said(formats.load(path, chosen))] == ["hi"]
        assert not formats.is_namespace(path)


def test_a_line_that_is_no_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text('{"role": "user", "content": "one"}\n{oops\n\n{"role": "user", "content": "two"}\n')
    log = formats.load(path, Format.AUTO)
    assert _said(log) == [("user", "one"), ("user", "two")]
    assert [(item.place, item.reason) for item in log.malformed] == [("line 2", "it is no JSON")]


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"[]", b"[[[[", b"\xff\xfe", b'{"a": 1}', b"\x1f\x8bbroken", b"[" * 50_000]
)
def test_a_file_of_nothing_known_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "what.bin"
    path.write_bytes(content)
    with pytest.raises(BadDataset):
        formats.load(path, Format.AUTO)


KEYS = (
    *("mapping", "message", "author", "role", "content", "parts", "id", "uuid", "chat_messages", "sender", "text"),
    *("parent", "children", "current_node", "content_type", "messages", "create_time", "conversation_id", "type"),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=6,
        )
    ),
    max_leaves=30,
)


@hypothesis.given(st.lists(ANYTHING, max_size=5))
def test_no_document_is_a_crash(document: list[Any]) -> None:
    for log in (
        chatgpt.read(document),
        claude.read(document),
        openai_messages.read([(str(number), item) for number, item in enumerate(document)], "x"),
    ):
        for chat in log.chats:
            assert chat.messages
            assert len({message.external_id for message in chat.messages}) == len(chat.messages)


@hypothesis.given(st.text())
def test_every_name_is_one_that_the_service_takes(text: str) -> None:
    name = named(text)
    assert 1 <= len(name) <= 200
    assert re.match(NAME_PATTERN, name)
    assert named(text) == name
