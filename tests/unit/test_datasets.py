"""The other data sets: LongMemEval's format, conversations of one's own, and the sample that comes with the project."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.domain.messages import Role
from app.evaluation import jsonlines, longmemeval
from app.evaluation.datasets import Fault, Noted, Wrong
from app.evaluation.errors import BadDataset, ToolError
from app.evaluation.loading import Format, load, wrong_answers

LATER = [{"role": "user", "content": "I moved to Bern.", "has_answer": True}, {"role": "assistant", "content": "Nice!"}]
EARLIER = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": " "}]
ASKED: dict[str, Any] = {
    "question_id": "q1",
    "question_type": "single-session-user",
    "question": "Where do I live?",
    "answer": "Bern",
    "question_date": "2023/05/30 (Tue) 23:40",
    "haystack_session_ids": ["late", "early", "early", "none"],
    "haystack_dates": [
        "2023/05/20 (Sat) 02:21",
        "2023/05/01 (Mon) 10:00",
        "2023/05/02 (Tue) 10:00",
        "2023/05/03 10:00",
    ],
    "haystack_sessions": [LATER, EARLIER, EARLIER, []],
    "answer_session_ids": ["late"],
}
ABSTENTION = {**ASKED, "question_id": "q2_abs", "answer": "You did not say."}

OWN: dict[str, Any] = {
    "conversation": "c1",
    "messages": [
        {
            "id": "m1",
            "speaker": "Ada",
            "content": "I live in Bern.",
            "occurred_at": "2026-03-01T10:00:00",
            "session": "a",
        },
        {
            "id": "m2",
            "role": "assistant",
            "content": "Nice.",
            "occurred_at": "2026-03-01T12:00:00+02:00",
            "session": "a",
        },
        {"id": "m3", "content": "Bye.", "occurred_at": "2026-03-02T10:00:00Z"},
    ],
    "questions": [
        {"question": "Where?", "answer": "Bern", "evidence": ["m1", "m1", "m9"], "asked_at": "2026-04-01T00:00:00Z"},
        {"question": "Who?", "answerable": False},
        {"question": "How many?", "answer": 3, "category": "count"},
        {"answer": "no question"},
    ],
    "statements": [{"text": "Ada lives in Bern.", "messages": ["m1", "m9"]}, {"text": "Nothing", "messages": []}, 5],
}


def own(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    return path


def test_longmemeval_gives_each_question_a_conversation_in_the_order_of_dates() -> None:
    (conversation, abstention), faults = longmemeval.parse([ASKED, ABSTENTION])
    assert conversation.name == "q1"
    assert [[message.external_id for message in session] for session in conversation.sessions] == [
        ["early/1"],
        ["late/1", "late/2"],
    ]
    first = conversation.sessions[1][0]
    assert (first.role, first.occurred_at) == (Role.USER, datetime(2023, 5, 20, 2, 21, tzinfo=UTC))
    (question,) = conversation.questions
    assert (question.category, question.answer, question.evidence) == ("single-session-user", "Bern", ("late/1",))
    assert question.asked_at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    (trap,) = abstention.questions
    assert (trap.category, trap.answerable, trap.answer) == ("abstention", False, None)
    assert list(faults[:3]) == [
        Fault(Wrong.BLANK_MESSAGE, "question 1, session 2, turn 2", "early/2"),
        Fault(Wrong.REPEATED_SESSION, "question 1, session 3", "early"),
        Fault(Wrong.EMPTY_SESSION, "question 1, session 4"),
    ]


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"answer": 5}, Wrong.ANSWER_NOT_TEXT),
        ({"answer": ""}, Wrong.NO_ANSWER),
        ({"question": 5}, Wrong.UNREADABLE_QUESTION),
        ({"question_date": "today"}, Wrong.UNREADABLE_QUESTION),
        ({"haystack_sessions": [EARLIER, EARLIER, EARLIER, []]}, Wrong.NO_EVIDENCE),
    ],
)
def test_longmemeval_names_what_is_wrong_with_a_question(changes: dict[str, object], kind: Wrong) -> None:
    _, faults = longmemeval.parse([{**ASKED, **changes}])
    assert kind in [fault.kind for fault in faults]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "a list of questions"),
        ([{"sample_id": "x", "conversation": {}, "qa": []}], "question 1: question_id is missing"),
        ([ASKED, ASKED], "the question_id q1 stands for two questions"),
        ([{**ASKED, "haystack_dates": []}], "4 session ids, 0 dates, 4 sessions"),
        ([{**ASKED, "haystack_sessions": [[], [], [], []]}], "question 1: no session has a turn"),
        (
            [{**ASKED, "haystack_sessions": [[{"role": "x", "content": "y"}], [], [], []]}],
            "role must be user or assistant",
        ),
        ([{**ASKED, "haystack_dates": ["x", "x", "x", "x"]}], "is no time like"),
    ],
)
def test_longmemeval_refuses_another_schema(document: object, said: str) -> None:
    with pytest.raises(BadDataset, match=said):
        longmemeval.parse(document)


def test_conversations_of_ones_own(tmp_path: Path) -> None:
    data = jsonlines.load(own(tmp_path, OWN, {**OWN, "conversation": "c2"}))
    conversation, second = data.conversations
    assert (conversation.name, second.number) == ("c1", 2)
    assert [len(session) for session in conversation.sessions] == [2, 1]
    assert conversation.messages[1].occurred_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert conversation.noted == (Noted("Ada lives in Bern.", ("m1",)),)
    place, trap, count = conversation.questions
    assert (place.category, place.evidence, place.answer) == ("other", ("m1",), "Bern")
    assert (trap.category, trap.answerable) == ("unanswerable", False)
    assert (count.number, count.category, count.answer) == (3, "count", "3")
    assert [fault.kind for fault in data.faults[:6]] == [
        Wrong.EVIDENCE_NOT_THERE,
        Wrong.ANSWER_NOT_TEXT,
        Wrong.NO_EVIDENCE,
        Wrong.UNREADABLE_QUESTION,
        Wrong.UNREADABLE_STATEMENT,
        Wrong.UNREADABLE_STATEMENT,
    ]
    assert conversation.first(1).questions == (place,)
    assert conversation.without(frozenset((1, 3))).questions == (trap,)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"messages": []}, "line 1: there are no messages"),
        ({"messages": [OWN["messages"][0]] * 2}, "the id m1 stands for two messages"),
        ({"messages": [{**OWN["messages"][0], "role": "tool"}]}, "message 1: role must be user or assistant"),
        ({"messages": [{**OWN["messages"][0], "content": ""}]}, "message 1: content is blank"),
        ({"messages": [{**OWN["messages"][0], "occurred_at": "x"}]}, "is no time like"),
        ({"questions": 5}, "questions must be a JSON array"),
    ],
)
def test_another_memory_is_refused(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    with pytest.raises(BadDataset, match=said):
        jsonlines.load(own(tmp_path, {**OWN, **changes}))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(BadDataset, match="two lines"):
        jsonlines.load(own(tmp_path, OWN, OWN))
    path = tmp_path / "empty.jsonl"
    path.write_text("\n")
    with pytest.raises(BadDataset, match="holds no conversation"):
        jsonlines.load(path)
    path.write_text("[")
    with pytest.raises(BadDataset, match="line 1 is not JSON"):
        jsonlines.load(path)
    with pytest.raises(BadDataset, match="is not JSON"):
        longmemeval.load(path)


def test_the_sample_has_all_categories_and_no_fault() -> None:
    sample = load(Format.SAMPLE, None)
    questions = [question for conversation in sample.conversations for question in conversation.questions]
    assert sample.name == "sample"
    assert sample.faults == ()
    assert {question.category for question in questions} == {
        "multi-hop", "temporal", "open-domain", "single-hop", "unanswerable",
    }  # fmt: skip
    assert all(conversation.noted for conversation in sample.conversations)
    assert all(question.answer or not question.answerable for question in questions)


def test_a_data_set_is_read_from_its_file(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="comes with the project"):
        load(Format.SAMPLE, tmp_path)
    with pytest.raises(ToolError, match="--dataset jsonl needs --data FILE"):
        load(Format.JSONL, None)
    data = load(Format.JSONL, own(tmp_path, OWN))
    with pytest.raises(ToolError, match="no list of wrong answers for jsonl"):
        wrong_answers(data)


def test_the_list_of_wrong_answers_holds_numbers_only() -> None:
    path = Path(__file__).parents[2] / "app" / "evaluation" / "data" / "wrong-answers.json"
    for numbers in json.loads(path.read_text())["questions"]["locomo"].values():
        assert numbers == sorted(set(numbers))
        assert all(isinstance(number, int) for number in numbers)
