"""What becomes of candidates, and what the extractive form draws from a chat."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.backing import Backing
from app.domain.dates import Granularity
from app.domain.extraction import MAX_TOKENS, extract
from app.domain.ids import ConversationId, MessageId, StatementId
from app.domain.messages import Image, Message, Role
from app.domain.screening import Candidate, Kind, RefusalReason, screen
from app.domain.statements import Known, decide
from app.domain.text import count_tokens

NOON = datetime(2023, 5, 8, 12, tzinfo=UTC)


def say(number: int, speaker: str, content: str, *images: Image, role: Role = Role.USER) -> Message:
    at = NOON + timedelta(minutes=number)
    return Message(
        id=MessageId(UUID(int=number)),
        conversation=ConversationId(UUID(int=1)),
        sequence=number,
        role=role,
        content=content,
        occurred_at=at,
        recorded_at=at,
        speaker=speaker,
        images=images,
    )


def chat(*lines: tuple[str, str]) -> list[Message]:
    return [say(number, speaker, content) for number, (speaker, content) in enumerate(lines, 1)]


def texts(*lines: tuple[str, str]) -> list[str]:
    return [candidate.text for candidate in extract(chat(*lines))]


def cited(candidate: Candidate) -> list[int]:
    return [message.int for message in candidate.messages]


def by_id(messages: list[Message]) -> Mapping[MessageId, Message]:
    return {message.id: message for message in messages}


def test_a_sentence_is_noted_with_its_speaker() -> None:
    assert texts(("Rosa", "I have worked at Lumen for 5 years.")) == ["Rosa: I have worked at Lumen for 5 years."]


def test_a_relative_date_is_resolved_beside_its_phrase() -> None:
    said = "I went to a LGBTQ support group yesterday and it was so powerful."
    [candidate] = extract(chat(("Caroline", said)))
    assert candidate.text == (
        "Caroline: I went to a LGBTQ support group yesterday (7 May 2023) and it was so powerful."
    )
    assert candidate.kind is Kind.EVENT
    assert candidate.when is not None
    assert (candidate.when.start, candidate.when.granularity) == (date(2023, 5, 7), Granularity.DAY)
    assert candidate.text[slice(*candidate.when.span)] == "yesterday"
    assert candidate.occurred_at == NOON + timedelta(minutes=1)


def test_a_date_with_its_year_is_left_as_it_is() -> None:
    assert texts(("Rosa", "I moved to Bern on 3 April 2021.")) == ["Rosa: I moved to Bern on 3 April 2021."]


@pytest.mark.parametrize(
    "content",
    [
        "ok",
        "👍",
        "Hey, how are you?",
        "Wow, that's great!",
        "Thanks, Rosa! That's so sweet of you.",
        "Good morning!",
        "You're doing great, Rosa!",
        "Bye, talk to you soon!",
        "Where did you buy the lamp?",
        "谢谢！",
        "ありがとうございます！",
        "Merci!",
        "???",
        "",
    ],
)
def test_small_talk_gives_nothing(content: str) -> None:
    assert texts(("Rosa", "My bike is called Rosinante."), ("Tom", content)) == ["Rosa: My bike is called Rosinante."]


@pytest.mark.parametrize("role", [Role.SYSTEM, Role.TOOL])
def test_only_people_and_assistants_are_quoted(role: Role) -> None:
    assert extract([say(1, "Botty", "You are Botty, an assistant who loves tea.", role=role)]) == []


@pytest.mark.parametrize("answer", ["Three.", "Yes, last week.", "Yes!", "It was in Bern."])
def test_a_short_answer_carries_its_question(answer: str) -> None:
    messages = chat(("Rosa", "Hi Tom! How many dogs did you adopt?"), ("Tom", answer))
    [candidate] = extract(messages)
    assert candidate.text.startswith(f"Tom: {answer[:-1]}")
    assert candidate.text.endswith("[Rosa asked: How many dogs did you adopt?]")
    assert cited(candidate) == [1, 2]
    assert decide(screen([candidate], Backing(by_id(messages))), []).new == (candidate,)


@pytest.mark.parametrize(
    "content",
    [
        "I got a new job.",
        "Mom died.",
        "Rosa is pregnant.",
        "This is my new job.",
        "That's my sister.",
        "No, I never smoke.",
        "You owe me 50 francs.",
        "It's Shia Lane!",
        "I'm vegetarian.",
        "She is a doctor.",
        "Need new tyres before winter.",
        "昨天我辞职了。",
        "Sie ist schwanger.",
    ],
)
def test_short_facts_are_kept(content: str) -> None:
    assert len(texts(("Ann", content))) == 1


def test_a_fragment_without_a_question_says_nothing() -> None:
    assert texts(("Rosa", "I like rye bread."), ("Tom", "Three.")) == ["Rosa: I like rye bread."]
    assert texts(("Rosa", "How are you?"), ("Tom", "Good!")) == []


def test_what_goes_on_from_a_sentence_stands_with_it() -> None:
    assert texts(("Rosa", "I ran a charity race. It was so powerful. My sister has a farm in Ticino.")) == [
        "Rosa: I ran a charity race. It was so powerful.",
        "Rosa: My sister has a farm in Ticino.",
    ]


def test_pictures_stand_with_what_was_said_about_them() -> None:
    picture = Image("a photo of a lake", "sunrise")
    [first, second] = extract([say(1, "Mel", "I painted this at the lake. My children sing in a choir.", picture)])
    assert first.text == "Mel: I painted this at the lake. [image: a photo of a lake; sunrise]"
    assert "image" not in second.text
    [alone] = extract([say(1, "Mel", "", picture)])
    assert alone.text == "Mel: [image: a photo of a lake; sunrise]"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("我下周三要去大阪出差，住在难波的酒店。", "我下周三 (2023-05-17)要去大阪出差，住在难波的酒店。"),
        ("難波のホテルに泊まります。", "難波のホテルに泊まります。"),
        ("Ich wohne seit Jahren in Bern.", "Ich wohne seit Jahren in Bern."),
    ],
)
def test_every_language_is_kept(content: str, expected: str) -> None:
    assert texts(("李", content)) == [f"李: {expected}"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("I love strong coffee in bed.", Kind.PREFERENCE),
        ("I'm going to open a bakery.", Kind.PLAN),
        ("The bakery opens tomorrow in Bern.", Kind.PLAN),
        ("I opened a bakery last week.", Kind.EVENT),
        ("My sister owns a bakery.", Kind.FACT),
    ],
)
def test_kinds(content: str, kind: Kind) -> None:
    assert [candidate.kind for candidate in extract(chat(("Rosa", content)))] == [kind]


def test_a_long_message_gives_many_bounded_candidates() -> None:
    words = " ".join(f"word{number}" for number in range(2_000))
    candidates = extract(chat(("Rosa", f"{words}. The safe code word is heron. {words}.")))
    assert all(count_tokens(candidate.text) <= MAX_TOKENS for candidate in candidates)
    assert any("code word is heron" in candidate.text for candidate in candidates)
    assert len(candidates) > 40


@given(st.lists(st.tuples(st.sampled_from(["Rosa", "Tom"]), st.text(max_size=60)), max_size=4))
def test_any_chat_gives_supported_candidates_of_its_own_words(lines: list[tuple[str, str]]) -> None:
    messages = chat(*lines)
    candidates = extract(messages)
    assert all(count_tokens(candidate.text) <= MAX_TOKENS for candidate in candidates)
    assert all(candidate.text.startswith(("Rosa: ", "Tom: ")) for candidate in candidates)
    assert not decide(screen(candidates, Backing(by_id(messages))), []).refused


def test_the_same_sentence_twice_is_one_statement_with_both_messages() -> None:
    messages = chat(("Rosa", "I have worked at Lumen for 5 years."), ("Rosa", "i have worked at lumen for 5 years!"))
    plan = decide(screen(extract(messages), Backing(by_id(messages))), [])
    [candidate] = plan.new
    assert cited(candidate) == [1, 2]
    assert candidate.occurred_at == messages[0].occurred_at
    assert not plan.reinforced


def test_the_same_words_of_another_speaker_are_another_statement() -> None:
    messages = chat(("Rosa", "I work at Lumen in Bern."), ("Tom", "I work at Lumen in Bern."))
    assert len(decide(screen(extract(messages), Backing(by_id(messages))), []).new) == 2


def test_a_known_statement_is_reinforced_and_a_changed_number_is_new() -> None:
    known = Known(StatementId(UUID(int=9)), "Rosa: I have worked at Lumen for 5 years.", NOON)
    messages = chat(("Rosa", "I have worked at Lumen for 5 years."), ("Rosa", "I have worked at Lumen for 6 years."))
    same, changed = extract(messages)
    plan = decide(screen([same, changed], Backing(by_id(messages))), [known])
    assert plan.reinforced == ((known.id, same),)
    assert plan.new == (changed,)


def candidate(text: str, *messages: int) -> Candidate:
    return Candidate(text, Kind.FACT, tuple(MessageId(UUID(int=number)) for number in messages), NOON, None)


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        (candidate(" … ", 1), RefusalReason.BLANK),
        (candidate("Rosa: I have three dogs."), RefusalReason.NO_CITATION),
        (candidate("Rosa: I have three dogs.", 1, 7), RefusalReason.UNKNOWN_MESSAGE),
        (candidate("Alice moved to Berlin to study physics.", 1), RefusalReason.NOT_SUPPORTED),
        (candidate("Rosa: I have adopted three dogs in Bern in 2019.", 1), RefusalReason.NOT_SUPPORTED),
    ],
)
def test_what_its_messages_do_not_carry_is_refused(refused: Candidate, reason: RefusalReason) -> None:
    messages = by_id(chat(("Rosa", "I have adopted three dogs in Bern.")))
    plan = decide(screen([refused], Backing(messages)), [])
    assert [(refusal.candidate, refusal.reason) for refusal in plan.refused] == [(refused, reason)]
    assert not plan.new


def test_a_close_rewording_with_its_resolved_date_is_supported() -> None:
    messages = by_id(chat(("Rosa", "I adopted three dogs in Bern yesterday.")))
    reworded = candidate("Rosa adopted three dogs in Bern on 7 May 2023.", 1)
    assert decide(screen([reworded], Backing(messages)), []).new == (reworded,)
