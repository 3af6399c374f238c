"""Reads the LoCoMo format: long conversations of two people, with questions and where their answers stand.

Both people are human, so both have the role `user` and are told apart by name. All turns of a session bear one
time in the data; here they are one second apart, so that their order shows in the times too. A turn's
`dia_id` becomes the message's external id. The times have no zone and are taken as UTC.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from app.domain.messages import Draft, Image, Role
from app.evaluation.errors import BadDataset

SESSION = re.compile(r"session_(\d+)")
SESSION_TIME = "%I:%M %p on %d %B, %Y"  # 1:56 pm on 8 May, 2023
TURN_STEP = timedelta(seconds=1)
ID_SEPARATORS = re.compile(r"[;,\s]+")  # several ids may stand in one string
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "unanswerable"}
UNANSWERABLE = 5


@dataclass(frozen=True, slots=True)
class Question:
    """A question. `number` counts from 1 in its conversation.

    `evidence` are the external ids of the messages that carry the answer, each once; `dropped` those that the
    data names but that do not exist. `answer` is None for the unanswerable ones.
    """

    number: int
    text: str
    category: int
    answer: str | None
    evidence: tuple[str, ...]
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with its questions. `number` counts from 1 in the file."""

    number: int
    name: str
    messages: tuple[Draft, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A file's conversations. `sha256` is of the file's bytes, in hex."""

    conversations: tuple[Conversation, ...]
    sha256: str

    def pick(self, numbers: Sequence[int]) -> tuple[Conversation, ...]:
        """The conversations with these numbers; all of them for none. Raises BadDataset for one not there."""
        there = {conversation.number: conversation for conversation in self.conversations}
        missing = [number for number in numbers if number not in there]
        if missing:
            raise BadDataset(f"there is no conversation {missing[0]}: the file has 1 to {len(there)}")
        return tuple(there[number] for number in dict.fromkeys(numbers)) if numbers else self.conversations


def load(path: Path) -> Dataset:
    """Read a file. Blocking. Raises BadDataset, naming the place, for what is not in the format."""
    try:
        content = path.read_bytes()
        document = json.loads(content)
    except OSError as error:
        raise BadDataset(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadDataset(f"{path} is not JSON: {error}") from error
    return Dataset(parse(document), hashlib.sha256(content).hexdigest())


def parse(document: object) -> tuple[Conversation, ...]:
    """The conversations of a parsed file. Raises BadDataset as `load` does."""
    if not isinstance(document, list) or not document:
        raise BadDataset("the file must hold a list of conversations")
    return tuple(_conversation(number, sample) for number, sample in enumerate(document, 1))


def _conversation(number: int, sample: object) -> Conversation:
    place = f"conversation {number}"
    held = _need(sample, "conversation", dict, place)
    name = sample.get("sample_id", f"conversation-{number}") if isinstance(sample, dict) else ""
    messages = tuple(_messages(held, place))
    if not messages:
        raise BadDataset(f"{place}: no session has a turn")
    ids = Counter(message.external_id or "" for message in messages)
    id, times = ids.most_common(1)[0]
    if times > 1:
        raise BadDataset(f"{place}: the dia_id {id} stands for two turns")
    asked = _need(sample, "qa", list, place)
    questions = tuple(
        _question(count, item, ids.keys(), f"{place}, question {count}") for count, item in enumerate(asked, 1)
    )
    return Conversation(number, str(name), messages, questions)


def _messages(held: Mapping[str, Any], place: str) -> Iterator[Draft]:
    found = [int(match[1]) for match in map(SESSION.fullmatch, held) if match]
    for session in sorted(found):
        here = f"{place}, session_{session}"
        start = _time(_need(held, f"session_{session}_date_time", str, place), here)
        for count, turn in enumerate(_need(held, f"session_{session}", list, place)):
            yield _message(turn, start + count * TURN_STEP, f"{here}, turn {count + 1}")


def _message(turn: object, occurred_at: datetime, place: str) -> Draft:
    caption = _may(turn, "blip_caption", place)
    query = _may(turn, "query", place)
    return Draft(
        role=Role.USER,
        content=_need(turn, "text", str, place),
        external_id=_need(turn, "dia_id", str, place),
        speaker=_need(turn, "speaker", str, place),
        occurred_at=occurred_at,
        images=() if caption is None else (Image(caption, query),),
    )


def _question(number: int, item: object, ids: Set[str], place: str) -> Question:
    category = _need(item, "category", int, place)
    if category not in CATEGORIES:
        raise BadDataset(f"{place}: category {category} is not one of 1 to 5")
    answer = item.get("answer") if isinstance(item, dict) else None
    named: dict[str, None] = {}
    for entry in _need(item, "evidence", list, place):
        if not isinstance(entry, str):
            raise BadDataset(f"{place}: evidence must be a list of texts")
        named |= dict.fromkeys(filter(None, ID_SEPARATORS.split(entry)))
    return Question(
        number=number,
        text=_need(item, "question", str, place),
        category=category,
        answer=None if answer is None else str(answer),
        evidence=tuple(id for id in named if id in ids),
        dropped=tuple(id for id in named if id not in ids),
    )


def _time(text: str, place: str) -> datetime:
    try:
        return datetime.strptime(text.strip(), SESSION_TIME).replace(tzinfo=UTC)
    except ValueError as error:
        raise BadDataset(f'{place}: "{text}" is no time like "1:56 pm on 8 May, 2023"') from error


def _need(holder: object, key: str, kind: type, place: str) -> Any:  # noqa: ANN401  (JSON)
    if not isinstance(holder, dict):
        raise BadDataset(f"{place}: must be an object")
    if key not in holder:
        raise BadDataset(f"{place}: {key} is missing")
    value = holder[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadDataset(f"{place}: {key} must be a JSON {_JSON_NAMES[kind]}")
    return value


def _may(holder: object, key: str, place: str) -> str | None:
    """A text that may be missing; a blank one counts as missing."""
    if not isinstance(holder, dict) or holder.get(key) is None:
        return None
    text: str = _need(holder, key, str, place)
    return text if text.strip() else None


_JSON_NAMES: Mapping[type, str] = {dict: "object", list: "array", str: "string", int: "integer"}
