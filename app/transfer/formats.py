"""What a file is, and what is in it: also inside a .zip, as assistants give them out, and .gz."""

import gzip
import json
import re
import zipfile
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

from app.evaluation import locomo
from app.evaluation.errors import BadDataset
from app.evaluation.fields import read_json
from app.services.transfer.lines import FORMAT
from app.transfer import chatgpt, claude, openai_messages
from app.transfer.chats import Chat, Log, Malformed

CONVERSATIONS = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")  # of an export, inside its .zip
LOOKED_AT = 20  # items that tell what a file is: some may be broken
GZIP_MAGIC = b"\x1f\x8b"
HEAD_BYTES = 4096  # of a first line: a namespace's header is shorter


class Format(StrEnum):
    """Formats that are read."""

    AUTO = "auto"
    XMEMORY = "xmemory"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    JSONL = "jsonl"
    LOCOMO = "locomo"


def is_namespace(path: Path) -> bool:
    """Whether a file is an exported namespace. Blocking. Raises BadDataset if it cannot be read."""
    try:
        with opened(path) as file:
            head = json.loads(file.readline(HEAD_BYTES))
    except (OSError, EOFError) as error:
        raise BadDataset(f"{path} cannot be read: {error}") from error
    except (ValueError, RecursionError):
        return False
    return isinstance(head, dict) and head.get("format") == FORMAT


def opened(path: Path) -> BinaryIO:
    """The file's content as it was before it was compressed, if it was."""
    file = path.open("rb")
    magic = file.read(len(GZIP_MAGIC))
    file.seek(0)
    if magic != GZIP_MAGIC:
        return file
    file.close()
    return gzip.open(path, "rb")  # type: ignore[return-value]  # it reads like one


def load(path: Path, format: Format) -> Log:
    """The conversations of a chat log. Blocking. Raises BadDataset if the file is none, or not of this format."""
    if format is Format.LOCOMO:
        return _of_locomo(path)
    items = list(_items(path))
    found = format if format is not Format.AUTO else _detected([item for _, item in items], path)
    if found is Format.LOCOMO:
        return _of_locomo(path)
    whole = [(place, item) for place, item in items if not isinstance(item, _Broken)]
    if found is Format.JSONL:
        log = openai_messages.read(whole, path.name.split(".")[0] or "import")
    else:
        log = (chatgpt if found is Format.CHATGPT else claude).read([item for _, item in whole])
    log.malformed[:0] = [Malformed(place, str(item)) for place, item in items if isinstance(item, _Broken)]
    return log


class _Broken(str):
    """What is wrong with a line that is no JSON."""

    __slots__ = ()


def _detected(items: list[Any], path: Path) -> Format:
    for item in items[:LOOKED_AT]:
        if chatgpt.is_one(item):
            return Format.CHATGPT
        if claude.is_one(item):
            return Format.CLAUDE
        if isinstance(item, dict) and isinstance(item.get("conversation"), dict):
            return Format.LOCOMO
        if openai_messages.is_one(item):
            return Format.JSONL
    raise BadDataset(f"{path} is of none of the formats that are read: name one with --format")


def _of_locomo(path: Path) -> Log:
    found = [one for content in _contents(path) for one in locomo.parse(read_json(content, str(path)))[0]]
    return Log([Chat(one.name, one.messages) for one in found])


def _items(path: Path) -> Iterator[tuple[str, Any]]:
    """The items of a file with their places: the elements of an array, or a JSON text each line."""
    for content in _contents(path):
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            yield from _lines(content)
            continue
        items = document if isinstance(document, list) else [document]
        yield from ((f"item {number}", item) for number, item in enumerate(items, 1))


def _lines(content: bytes) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            yield place, json.loads(line)
        except (ValueError, RecursionError):
            yield place, _Broken("it is no JSON")


def _contents(path: Path) -> Iterator[bytes]:
    try:
        if not zipfile.is_zipfile(path):
            with opened(path) as file:
                yield file.read()
            return
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if CONVERSATIONS.fullmatch(name))
            if not names:
                raise BadDataset(f"{path} holds no conversations.json")
            for name in names:
                yield archive.read(name)
    except (OSError, EOFError, zipfile.BadZipFile) as error:
        raise BadDataset(f"{path} cannot be read: {error}") from error
