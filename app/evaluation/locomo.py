"""Reads the LoCoMo format: long conversations of two people, with questions and where their answers stand.

Both people are human, so both have the role `user` and are told apart by name. All turns of a session bear one
time in the data; here they are one second apart, so that their order shows in the times too. A turn's
`dia_id` becomes the message's external id. The times have no zone and are taken as UTC. The data's `observation`
entries, facts that a language model drew from each session, are kept as statements.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from app.domain.messages import Draft, Image, Role
from app.evaluation.datasets import (
    Conversation,
    Dataset,
    Fault,
    Noted,
    Question,
    Wrong,
    answer_of,
    faults_of,
    questions,
)
from app.evaluation.errors import BadDataset
from app.evaluation.fields import in_utc, may, need, read_bytes, read_json

SESSION = re.compile(r"session_0*(\d+)", re.ASCII)
SESSION_TIME = "%I:%M %p on %d %B, %Y"  # 1:56 pm on 8 May, 2023
TURN_STEP = timedelta(seconds=1)
ID_SEPARATORS = re.compile(r"[;,\s]+")  # several ids may stand in one string
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "unanswerable"}
UNANSWERABLE = 5


def load(path: Path) -> Dataset:
    """Read a file. Blocking. Raises BadDataset, naming the place, for what is not in the format."""
    content = read_bytes(path)
    conversations, faults = parse(read_json(content, str(path)))
    return Dataset("locomo", conversations, hashlib.sha256(content).hexdigest(), faults)


def parse(document: object) -> tuple[tuple[Conversation, ...], tuple[Fault, ...]]:
    """The conversations of a parsed file, and what is wrong with their questions. Raises BadDataset as `load` does."""
    if not isinstance(document, list) or not document:
        raise BadDataset("the file must hold a list of conversations")
    faults: list[Fault] = []
    found = tuple(_conversation(number, sample, faults) for number, sample in enumerate(document, 1))
    name, times = Counter(conversation.name for conversation in found).most_common(1)[0]
    if times > 1:
        raise BadDataset(f"the sample_id {name} stands for two conversations")
    return found, tuple(faults)


def _conversation(number: int, sample: object, faults: list[Fault]) -> Conversation:
    place = f"conversation {number}"
    held = need(sample, "conversation", dict, place)
    name = may(sample, "sample_id", place) or f"conversation-{number}"
    sessions = tuple(_sessions(held, place, faults))
    if not sessions:
        raise BadDataset(f"{place}: no session has a turn")
    ids = Counter(message.external_id or "" for session in sessions for message in session)
    id, times = ids.most_common(1)[0]
    if times > 1:
        raise BadDataset(f"{place}: the dia_id {id} stands for two turns")
    asked = tuple(questions(need(sample, "qa", list, place), _question, ids.keys(), place, faults))
    return Conversation(number, name, sessions, asked, tuple(_noted(sample, ids.keys(), place, faults)))


def _sessions(held: Mapping[str, Any], place: str, faults: list[Fault]) -> Iterator[tuple[Draft, ...]]:
    found = [match for match in map(SESSION.fullmatch, held) if match]
    for session in [match[0] for match in sorted(found, key=lambda match: (len(match[1]), match[1]))]:
        here = f"{place}, {session}"
        turns = need(held, session, list, place)
        if not turns:
            faults.append(Fault(Wrong.EMPTY_SESSION, here))
            continue
        start = _time(need(held, f"{session}_date_time", str, place), here)
        drafts = [_message(turn, start + n * TURN_STEP, f"{here}, turn {n + 1}") for n, turn in enumerate(turns)]
        blank = [draft for draft in drafts if not draft.content.strip() and not draft.images]
        faults += [Fault(Wrong.BLANK_MESSAGE, here, draft.external_id or "") for draft in blank]
        if len(blank) < len(drafts):
            yield tuple(draft for draft in drafts if draft not in blank)


def _message(turn: object, occurred_at: datetime, place: str) -> Draft:
    caption = may(turn, "blip_caption", place)
    query = may(turn, "query", place)
    return Draft(
        role=Role.USER,
        content=need(turn, "text", str, place),
        external_id=need(turn, "dia_id", str, place),
        speaker=need(turn, "speaker", str, place),
        occurred_at=occurred_at,
        images=() if caption is None else (Image(caption, query),),
    )


def _question(number: int, item: object, ids: Set[str], place: str) -> tuple[Question, list[Fault]]:
    category = need(item, "category", int, place)
    if category not in CATEGORIES:
        raise BadDataset(f"{place}: category {category} is not one of 1 to 5")
    text = need(item, "question", str, place)
    if not text.strip():
        raise BadDataset(f"{place}: question is blank")
    answerable = category != UNANSWERABLE
    answer, wrong = answer_of(item.get("answer") if isinstance(item, dict) else None, answerable=answerable)
    named = _ids(need(item, "evidence", list, place), place)
    evidence = tuple(id for id in named if id in ids)
    faults = faults_of(wrong, named, ids, place, answerable=answerable)
    return Question(number, text, CATEGORIES[category], answer, evidence, answerable), faults


def _ids(entries: list[object], place: str) -> list[str]:
    """The ids that a list names, each once; several may stand in one text."""
    named: dict[str, None] = {}
    for entry in entries:
        if not isinstance(entry, str):
            raise BadDataset(f"{place}: evidence must be a list of texts")
        named |= dict.fromkeys(filter(None, ID_SEPARATORS.split(entry)))
    return list(named)


def _noted(sample: object, ids: Set[str], place: str, faults: list[Fault]) -> Iterator[Noted]:
    """The `observation` entries: by session, by speaker, a list of [text, id or ids]."""
    if not isinstance(sample, dict) or sample.get("observation") is None:
        return
    for session, by_speaker in need(sample, "observation", dict, place).items():
        for speaker, entries in by_speaker.items() if isinstance(by_speaker, dict) else ():
            for number, entry in enumerate(entries if isinstance(entries, list) else (), 1):
                noted = _note(entry, ids)
                if noted is None:
                    here = f"{place}, {session}, {speaker}, entry {number}"
                    faults.append(Fault(Wrong.UNREADABLE_STATEMENT, here))
                else:
                    yield noted


def _note(entry: object, ids: Set[str]) -> Noted | None:
    if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str) or not entry[0].strip():
        return None
    named = entry[1] if isinstance(entry[1], list) else [entry[1]]
    if not all(isinstance(id, str) for id in named):
        return None
    there = tuple(id for id in _ids(named, "") if id in ids)
    return Noted(entry[0], there) if there else None


def _time(text: str, place: str) -> datetime:
    try:
        return in_utc(datetime.strptime(text.strip(), SESSION_TIME), place)  # noqa: DTZ007  (the format has no zone)
    except ValueError as error:
        raise BadDataset(f'{place}: "{text}" is no time like "1:56 pm on 8 May, 2023"') from error
