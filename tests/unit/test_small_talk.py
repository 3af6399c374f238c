"""What tells nothing: small talk, replies that answer nothing, an assistant's advice, context that came back."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.assistants import tells
from app.domain.extraction import extract
from app.domain.ids import ConversationId, EpisodeId, MessageId
from app.domain.levels import Level
from app.domain.messages import Message, Role
from app.domain.packing import Item, render_context
from app.domain.recalled import own_words

NOON = datetime(2025, 1, 6, 12, tzinfo=UTC)


def say(number: int, speaker: str | None, content: str, role: Role = Role.USER) -> Message:
    return Message(
        id=MessageId(UUID(int=number)),
        conversation=ConversationId(UUID(int=1)),
        sequence=number,
        role=role,
        content=content,
        occurred_at=NOON,
        recorded_at=NOON,
        speaker=speaker,
        episode=EpisodeId(UUID(int=1)),
    )


@pytest.mark.parametrize(
    "reply",
    [
        "Sorry, gotta run, talk later!",
        "No idea, sorry.",
        "I don't know.",
        "Hm, let me check.",
        "Not sure yet 🤔",
        "Keine Ahnung.",
        "Sorry, muss los, bis später!",
        "不知道。",
        "わかりません。",
    ],
)
def test_a_reply_that_answers_nothing_leaves_the_question_open(reply: str) -> None:
    question = say(1, "Hana", "What's the code for the bike shed?")
    assert extract([question, say(2, "Noor", reply)]) == []
    [candidate] = extract([question, say(2, "Noor", reply), say(3, "Noor", "4417.")])
    assert candidate.text == "Noor: 4417. [Hana asked: What's the code for the bike shed?]"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you prefer a morning or an evening train?", "Morning"),
        ("When do you leave?", "Tomorrow."),
        ("Can you swim?", "No, I don't know how to swim."),
        ("What do you do?", "I look after my mother."),
        ("Kommst du mit?", "Ja, genau."),
    ],
)
def test_an_answer_is_no_small_talk(question: str, answer: str) -> None:
    assert len(extract([say(1, "Ann", question), say(2, "Ben", answer)])) == 1


def test_a_question_is_answered_in_the_next_episode() -> None:
    before = say(1, "Olu", "Did you send the offer to Fenwick?")
    [candidate] = extract([say(2, "Jana", "Yes.")], before)
    assert candidate.messages == (MessageId(UUID(int=1)), MessageId(UUID(int=2)))


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("I've booked you a seat on NX 214.", True),
        ("I could not cancel your subscription, because the site was down.", True),
        ("I'll remind you on Friday.", True),
        ("Your appointment with Dr. Abara is at 14:00.", True),
        ("Ich habe dir einen Platz im NX 214 gebucht.", True),
        ("The Moon is about 384,400 km from Earth on average.", False),
        ("It can help to keep the bedroom cool.", False),
        ("You should try a cooler bedroom.", False),
        ("Light clothes, sunscreen, and something to read.", False),
        ("Please take an umbrella!", False),
        ("I'm sorry to hear that.", False),
        ("I'd suggest the earlier train to Velmar.", False),
        ("Let's set up your profile.", False),
    ],
)
def test_of_an_assistant_acts_and_facts_about_the_user_are_kept(sentence: str, kept: bool) -> None:
    assert tells(sentence) is kept


def test_an_assistant_that_repeats_the_user_is_no_evidence() -> None:
    told = say(1, None, "I moved to Brackwater in 2019.")
    echo = say(2, None, "Got it, you moved to Brackwater in 2019.", Role.ASSISTANT)
    assert [candidate.messages for candidate in extract([told, echo])] == [(told.id,)]


TEXTS = st.lists(st.text(st.characters(exclude_characters="\n\r"), min_size=1, max_size=30), min_size=1, max_size=4)


@given(TEXTS, st.sampled_from(("", "From memory:\n", "As far as I know: ", "<memory>\n")))
def test_handed_out_context_is_recognised_by_its_form(texts: list[str], before: str) -> None:
    items = [
        Item(Level.MESSAGE, UUID(int=place), f"Ann: x{text}", 0.5, NOON, None, place)
        for place, text in enumerate(texts)
    ]
    context = render_context(items)
    assert own_words(f"{before}{context}") == ""
    after = "</memory>\n" if "<" in before else "\n"
    assert own_words(f"{before}{context}\n{after}The bees gave honey.") == "The bees gave honey."


@pytest.mark.parametrize("content", ["Monday, 8 May 2023", "See you on\nMonday, 8 May 2023\nat noon.", "Ann: hello"])
def test_a_date_or_a_name_alone_is_no_context(content: str) -> None:
    assert own_words(content) == content
