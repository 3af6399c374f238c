from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.ids import ConversationId, MessageId
from app.domain.messages import Image, Message, Role
from app.domain.narration import MAX_NARRATIVE, MAX_TITLE, narrative, title
from app.domain.text import count_tokens

START = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def said(*lines: tuple[str | None, str], images: tuple[Image, ...] = ()) -> list[Message]:
    """Messages a minute apart; `images` go with the last."""
    messages = []
    for index, (speaker, content) in enumerate(lines):
        at = START + timedelta(minutes=index)
        shown = images if index == len(lines) - 1 else ()
        messages.append(
            Message(
                MessageId(UUID(int=index + 1)),
                ConversationId(UUID(int=1)),
                index + 1,
                Role.USER,
                content,
                at,
                at,
                speaker=speaker,
                images=shown,
            )
        )
    return messages


TALK = said(
    ("Rosa", "Hey Ben! Good to see you! How have you been?"),
    ("Ben", "Hey Rosa! I'm swamped with the kids and work. What's up with you? Anything new?"),
    ("Rosa", "I went to an LGBTQ support group yesterday and the stories there were so powerful."),
    ("Ben", "Wow, that's cool, Rosa! What happened at the support group?"),
    ("Rosa", "The transgender stories were inspiring. I am going to study counselling in Lund."),
    ("Ben", "Awesome! Thanks for telling me."),
)


def test_a_title_names_the_speakers_and_what_they_talk_about() -> None:
    made = title(TALK)
    assert made.startswith("Rosa and Ben: ")
    assert "support group" in made


def test_a_narrative_opens_with_the_day_and_gives_the_telling_sentences_in_order() -> None:
    made = narrative(TALK)
    assert made.startswith("On 8 May 2023, Rosa and Ben talked. ")
    assert "Rosa: I went to an LGBTQ support group yesterday" in made
    assert made.index("support group yesterday") < made.index("counselling in Lund")


def test_greetings_and_small_talk_are_not_chosen() -> None:
    made = narrative(TALK)
    assert not any(words in made for words in ("Hey", "Good to see you", "What's up", "Awesome"))


def test_small_talk_is_told_where_there_is_nothing_else() -> None:
    assert narrative(said(("Rosa", "Hey Ben!"), ("Ben", "Hey!"))).endswith("Rosa: Hey Ben! Ben: Hey!")


def test_one_speaker_writes() -> None:
    made = said((None, "I am flying to Lisbon with my brother in June."))
    assert narrative(made) == "On 8 May 2023, User wrote. User: I am flying to Lisbon with my brother in June."
    assert title(made).startswith("User: ")


def test_many_speakers_are_counted() -> None:
    made = said(*[(name, "We are painting the old barn door.") for name in ("Ada", "Bo", "Cy", "Di", "Eve")])
    assert title(made).startswith("Ada, Bo, Cy and 2 more: ")
    assert "barn door" in title(made)


def test_long_names_leave_room_for_the_topic() -> None:
    names = [f"{letter * 30} the Elder" for letter in "ABCDE"]
    made = title(said(*[(name, "We are painting the barn of the old mill.") for name in names]))
    assert len(made) <= MAX_TITLE
    assert "barn" in made


@pytest.mark.parametrize(
    "text",
    [
        "我下周三要去大阪出差，住在难波的酒店。",
        "来週の水曜日に大阪へ出張します。",
        "Ayer compré una bicicleta roja.",
    ],
)
def test_another_language_gets_no_english_words(text: str) -> None:
    made = said(("小林", text), ("Ana", text))
    assert narrative(made).startswith("2023-05-08 · 小林, Ana. ")
    assert text in narrative(made)
    assert title(made).startswith("小林, Ana: ")


def test_a_message_that_is_a_picture_is_told_by_its_caption() -> None:
    made = said(("Rosa", ""), images=(Image("a photo of a red bicycle", "red bicycle"),))
    assert narrative(made).endswith("Rosa: [image: a photo of a red bicycle; red bicycle]")
    assert "bicycle" in title(made)


def test_a_long_sentence_is_cut() -> None:
    made = narrative(said(("Rosa", "The harbour festival has " + "boats, lanterns, drummers, " * 200)))
    assert made.endswith("…")
    assert "boats, lanterns" in made
    assert count_tokens(made) <= MAX_NARRATIVE


def test_an_episode_without_messages_is_refused() -> None:
    for tell in (title, narrative):
        with pytest.raises(ValueError, match="at least one message"):
            tell([])


@given(st.lists(st.tuples(st.none() | st.text(max_size=90), st.text(max_size=300)), min_size=1, max_size=8))
def test_titles_and_narratives_are_bounded_on_one_line_and_never_empty(
    lines: list[tuple[str | None, str]],
) -> None:
    messages = said(*lines)
    assert 0 < len(title(messages)) <= MAX_TITLE
    assert 0 < count_tokens(narrative(messages)) <= MAX_NARRATIVE
    assert len(title(messages).splitlines()) == len(narrative(messages).splitlines()) == 1
    assert title(messages) == title(messages)
