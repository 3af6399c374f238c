import copy
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.domain.messages import Image, Role
from app.evaluation.datasets import Conversation, Fault, Noted, Wrong
from app.evaluation.errors import BadDataset
from app.evaluation.locomo import load, parse

TWO_SESSIONS: dict[str, Any] = {
    "sample_id": "conv-7",
    "conversation": {
        "speaker_a": "Ines",
        "speaker_b": "Tom",
        "session_10_date_time": "12:05 am on 1 January, 2024",
        "session_10": [{"speaker": "Ines", "dia_id": "D10:1", "text": "Happy new year!"}],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
            {
                "speaker": "Ines",
                "dia_id": "D2:1",
                "text": "Look at this!",
                "blip_caption": "a red kite",
                "query": "kite",
            },
            {"speaker": "Tom", "dia_id": "D2:2", "text": "Nice.", "blip_caption": " ", "img_url": ["x"]},
        ],
        "session_99_date_time": "1:00 pm on 9 May, 2025",
    },
    "observation": {
        "session_2_observation": {"Ines": [["Ines likes kites.", "D2:1"], ["Tom was there.", ["D2:1", "D2:2"]]]},
        "session_10_observation": {"Ines": [["No message.", "D9:9"], "no pair", ["", "D2:1"]]},
    },
    "qa": [
        {"question": "When?", "answer": 2023, "evidence": ["D2:1; D10:1", "D2:1,D7:9", "D"], "category": 2},
        {"question": "Who?", "adversarial_answer": "Tom", "evidence": [], "category": 5},
    ],
}


def changed(path: str, value: object) -> list[dict[str, Any]]:
    """TWO_SESSIONS with the value at a path such as `qa.0.category` replaced, or removed by ...."""
    sample = copy.deepcopy(TWO_SESSIONS)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    holder: Any = sample
    for part in parents:
        holder = holder[part]
    if value is ...:
        del holder[last]
    else:
        holder[last] = value
    return [sample]


def read(document: object) -> tuple[Conversation, list[Fault]]:
    """Its first conversation, and what is wrong with it."""
    (conversation, *_), faults = parse(document)
    return conversation, list(faults)


def test_sessions_come_in_the_order_of_their_numbers() -> None:
    conversation, _ = read([TWO_SESSIONS])
    assert (conversation.number, conversation.name) == (1, "conv-7")
    assert [message.external_id for message in conversation.messages] == ["D2:1", "D2:2", "D10:1"]


def test_turns_of_a_session_are_a_second_apart() -> None:
    conversation, _ = read([TWO_SESSIONS])
    assert [message.occurred_at for message in conversation.messages] == [
        datetime(2023, 5, 8, 13, 56, 0, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 56, 1, tzinfo=UTC),
        datetime(2024, 1, 1, 0, 5, 0, tzinfo=UTC),
    ]


def test_both_people_are_users_and_pictures_keep_their_words() -> None:
    first, second, _ = read([TWO_SESSIONS])[0].messages
    assert (first.role, first.speaker, first.content) == (Role.USER, "Ines", "Look at this!")
    assert first.images == (Image("a red kite", "kite"),)
    assert (second.role, second.speaker, second.images) == (Role.USER, "Tom", ())


def test_evidence_is_split_deduplicated_and_checked() -> None:
    conversation, faults = read([TWO_SESSIONS])
    question, trap = conversation.questions
    assert question.evidence == ("D2:1", "D10:1")
    assert (question.answer, question.category, question.answerable) == ("2023", "temporal", True)
    assert (trap.number, trap.category, trap.answer, trap.evidence) == (2, "unanswerable", None, ())
    assert not trap.answerable
    here = "conversation 1, question 1"
    assert faults[:3] == [
        Fault(Wrong.EVIDENCE_NOT_THERE, here, "D7:9"),
        Fault(Wrong.EVIDENCE_NOT_THERE, here, "D"),
        Fault(Wrong.ANSWER_NOT_TEXT, here),
    ]


def test_observations_are_statements_with_the_messages_they_rest_on() -> None:
    conversation, faults = read([TWO_SESSIONS])
    assert conversation.noted == (
        Noted("Ines likes kites.", ("D2:1",)),
        Noted("Tom was there.", ("D2:1", "D2:2")),
    )
    assert [fault.kind for fault in faults[3:]] == [Wrong.UNREADABLE_STATEMENT] * 3
    assert faults[3].place == "conversation 1, session_10_observation, Ines, entry 1"


def test_sessions_of_one_conversation_stay_apart() -> None:
    conversation, faults = read(changed("conversation.session_10", []))
    assert [len(session) for session in conversation.sessions] == [2]
    assert Fault(Wrong.EMPTY_SESSION, "conversation 1, session_10") in faults


@pytest.mark.parametrize(
    ("path", "value", "kind", "detail"),
    [
        ("qa.0.category", 6, Wrong.UNREADABLE_QUESTION, "category 6 is not one of 1 to 5"),
        ("qa.0.category", True, Wrong.UNREADABLE_QUESTION, "category must be a JSON integer"),
        ("qa.0.evidence", [7], Wrong.UNREADABLE_QUESTION, "evidence must be a list of texts"),
        ("qa.0.question", ..., Wrong.UNREADABLE_QUESTION, "question is missing"),
        ("qa.0.question", " ", Wrong.UNREADABLE_QUESTION, "question is blank"),
        ("qa.0", "x", Wrong.UNREADABLE_QUESTION, "must be an object"),
        ("qa.0.answer", ..., Wrong.NO_ANSWER, ""),
        ("qa.0.answer", ["x"], Wrong.ANSWER_NOT_TEXT, ""),
        ("qa.0.evidence", [], Wrong.NO_EVIDENCE, ""),
        ("qa.1.answer", "Tom", Wrong.ANSWER_TO_UNANSWERABLE, ""),
        ("conversation.session_2.1.text", "  ", Wrong.BLANK_MESSAGE, "D2:2"),
    ],
)
def test_what_is_wrong_with_one_question_is_named_and_the_rest_is_used(
    path: str, value: object, kind: Wrong, detail: str
) -> None:
    conversation, faults = read(changed(path, value))
    assert (kind, detail) in [(fault.kind, fault.detail) for fault in faults]
    assert len(conversation.questions) == (1 if kind is Wrong.UNREADABLE_QUESTION else 2)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("conversation", ..., "conversation 1: conversation is missing"),
        ("conversation.session_2", "x", "conversation 1: session_2 must be a JSON array"),
        ("conversation.session_2_date_time", ..., "conversation 1: session_2_date_time is missing"),
        ("conversation.session_2_date_time", "8 May", 'session_2: "8 May" is no time like'),
        ("conversation.session_2.1.text", 5, "session_2, turn 2: text must be a JSON string"),
        ("conversation.session_2.1", "hi", "session_2, turn 2: must be an object"),
        ("conversation.session_2.1.dia_id", "D2:1", "conversation 1: the dia_id D2:1 stands for two turns"),
        ("qa", {}, "conversation 1: qa must be a JSON array"),
    ],
)
def test_what_would_make_another_memory_refuses_the_file(path: str, value: object, said: str) -> None:
    with pytest.raises(BadDataset) as caught:
        parse(changed(path, value))
    assert said in str(caught.value)


@pytest.mark.parametrize("document", [{}, [], "x", None, [1], [{"conversation": {}, "qa": []}]])
def test_other_documents_are_refused(document: object) -> None:
    with pytest.raises(BadDataset):
        parse(document)


def test_two_conversations_of_one_name_are_refused() -> None:
    with pytest.raises(BadDataset, match="the sample_id conv-7 stands for two conversations"):
        parse([TWO_SESSIONS, TWO_SESSIONS])


def test_conversations_are_picked_by_their_place() -> None:
    second = {**TWO_SESSIONS, "sample_id": "conv-8"}
    conversations, _ = parse([TWO_SESSIONS, second])
    assert [conversation.name for conversation in conversations] == ["conv-7", "conv-8"]


def test_a_file_is_known_by_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(json.dumps([TWO_SESSIONS, {**TWO_SESSIONS, "sample_id": "conv-8"}]))
    data = load(path)
    assert data.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert [conversation.number for conversation in data.pick([2, 2])] == [2]
    assert data.pick([]) == data.conversations
    with pytest.raises(BadDataset, match="no conversation 3: the file has 1 to 2"):
        data.pick([3])


def test_a_file_that_is_not_there_or_not_json(tmp_path: Path) -> None:
    with pytest.raises(BadDataset, match="cannot be read"):
        load(tmp_path / "none.json")
    path = tmp_path / "data.json"
    path.write_text("{")
    with pytest.raises(BadDataset, match="is not JSON"):
        load(path)
