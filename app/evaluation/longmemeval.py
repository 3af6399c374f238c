"""Reads the LongMemEval format: each question has sessions of its own, between a user and an assistant.

So each question is a conversation with one question. Sessions are put in the order of their dates; the turns of one
are a second apart. A turn's external id is `SESSION/NUMBER`, numbers from 1. The evidence are the turns marked
`has_answer`. Questions whose id ends in `_abs` have no answer: their category is `abstention`. The times have no
zone and are taken as UTC.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from app.domain.messages import Draft, Role
from app.evaluation.datasets import Conversation, Dataset, Fault, Question, Wrong, answer_of
from app.evaluation.errors import BadDataset
from app.evaluation.fields import in_utc, need, read_bytes, read_json

TIME = "%Y/%m/%d %H:%M"  # 2023/05/20 (Sat) 02:21, without its day of the week
WEEKDAY = re.compile(r"\(\w+\)\s*")
TURN_STEP = timedelta(seconds=1)
ABSTENTION, ABSTENTION_SUFFIX = "abstention", "_abs"


def load(path: Path) -> Dataset:
    """Read a file. Blocking. Raises BadDataset, naming the place, for what is not in the format."""
    content = read_bytes(path)
    conversations, faults = parse(read_json(content, str(path)))
    return Dataset("longmemeval", conversations, hashlib.sha256(content).hexdigest(), faults)


def parse(document: object) -> tuple[tuple[Conversation, ...], tuple[Fault, ...]]:
    """The questions of a parsed file with their sessions, and what is wrong with them. Raises BadDataset."""
    if not isinstance(document, list) or not document:
        raise BadDataset("the file must hold a list of questions")
    faults: list[Fault] = []
    found = tuple(_conversation(number, item, faults) for number, item in enumerate(document, 1))
    name, times = Counter(conversation.name for conversation in found).most_common(1)[0]
    if times > 1:
        raise BadDataset(f"the question_id {name} stands for two questions")
    return found, tuple(faults)


@dataclass(frozen=True, slots=True)
class _Session:
    drafts: tuple[Draft, ...]
    evidence: tuple[str, ...]
    start: datetime


def _conversation(number: int, item: object, faults: list[Fault]) -> Conversation:
    place = f"question {number}"
    name = need(item, "question_id", str, place)
    sessions = sorted(_sessions(item, place, faults), key=lambda session: session.start)
    if not sessions:
        raise BadDataset(f"{place}: no session has a turn")
    evidence = tuple(id for session in sessions for id in session.evidence)
    questions: tuple[Question, ...] = ()
    try:
        questions = (_question(item, name, evidence, place, faults),)
    except BadDataset as error:
        faults.append(Fault(Wrong.UNREADABLE_QUESTION, place, str(error).removeprefix(f"{place}: ")))
    return Conversation(number, name, tuple(session.drafts for session in sessions), questions)


def _question(item: object, name: str, evidence: tuple[str, ...], place: str, faults: list[Fault]) -> Question:
    text = need(item, "question", str, place)
    if not text.strip():
        raise BadDataset(f"{place}: question is blank")
    answerable = not name.endswith(ABSTENTION_SUFFIX)
    category = need(item, "question_type", str, place) if answerable else ABSTENTION
    asked_at = _time(need(item, "question_date", str, place), place)
    given = item.get("answer") if isinstance(item, dict) else None
    answer, wrong = answer_of(given if answerable else None, answerable=answerable)  # there it says why there is none
    faults += [] if wrong is None else [Fault(wrong, place)]
    faults += [] if evidence or not answerable else [Fault(Wrong.NO_EVIDENCE, place)]
    return Question(1, text, category, answer, evidence, answerable, asked_at)


def _sessions(item: object, place: str, faults: list[Fault]) -> Iterator[_Session]:
    names, dates, held = (need(item, f"haystack_{key}", list, place) for key in ("session_ids", "dates", "sessions"))
    if not len(names) == len(dates) == len(held):
        raise BadDataset(f"{place}: there are {len(names)} session ids, {len(dates)} dates, {len(held)} sessions")
    seen: set[str] = set()
    for number, (name, date, turns) in enumerate(zip(names, dates, held, strict=True), 1):
        here = f"{place}, session {number}"
        if not isinstance(name, str) or not isinstance(date, str) or not isinstance(turns, list):
            raise BadDataset(f"{here}: its id and date must be texts, its turns a list")
        if name in seen:
            faults.append(Fault(Wrong.REPEATED_SESSION, here, name))
            continue
        seen.add(name)
        session = _session(name, _time(date, here), turns, here, faults)
        if session.drafts:
            yield session
        else:
            faults.append(Fault(Wrong.EMPTY_SESSION, here))


def _session(name: str, start: datetime, turns: list[object], place: str, faults: list[Fault]) -> _Session:
    drafts, evidence = [], []
    for number, turn in enumerate(turns, 1):
        here, id = f"{place}, turn {number}", f"{name}/{number}"
        role, content = need(turn, "role", str, here), need(turn, "content", str, here)
        if role not in (Role.USER, Role.ASSISTANT):
            raise BadDataset(f"{here}: role must be user or assistant")
        if not content.strip():
            faults.append(Fault(Wrong.BLANK_MESSAGE, here, id))
            continue
        drafts.append(Draft(Role(role), content, id, occurred_at=start + (number - 1) * TURN_STEP))
        if isinstance(turn, dict) and turn.get("has_answer") is True:
            evidence.append(id)
    return _Session(tuple(drafts), tuple(evidence), start)


def _time(text: str, place: str) -> datetime:
    try:
        return in_utc(datetime.strptime(WEEKDAY.sub("", text.strip()), TIME), place)  # noqa: DTZ007  (it has no zone)
    except ValueError as error:
        raise BadDataset(f'{place}: "{text}" is no time like "2023/05/20 (Sat) 02:21"') from error
