"""Answers without a language model: spans, dates, citations, abstention."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.answers import NO_EVIDENCE, WRONG_PERSON, Answer, Evidence, answer
from app.domain.ids import ConversationId, EpisodeId, MessageId, StatementId
from app.domain.messages import Message, Role
from app.domain.questions import read
from app.domain.support import About, Passage, about, saying, weigh

SPEAKERS = ["Caroline", "Melanie"]
MAY_8 = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
ASKED = datetime(2024, 1, 1, tzinfo=UTC)


def said(number: int, line: str, score: float = 0.7, at: datetime = MAY_8) -> Passage:
    speaker, _, content = line.partition(": ")
    message = Message(
        id=MessageId(UUID(int=number)),
        conversation=ConversationId(UUID(int=0)),
        sequence=number,
        role=Role.USER,
        content=content,
        occurred_at=at,
        recorded_at=at,
        speaker=speaker,
    )
    return Passage(message, score, StatementId(UUID(int=100 + number)), EpisodeId(UUID(int=200 + number)))


def ask(text: str, *lines: str | Passage) -> Answer:
    passages = [said(n, line) if isinstance(line, str) else line for n, line in enumerate(lines, 1)]
    return answer(read(text, SPEAKERS, ASKED), Evidence(passages, SPEAKERS), ASKED.date())


SUPPORT_GROUP = "Caroline: Hi! I went to a LGBTQ support group yesterday and it was so powerful."


def test_when_resolves_a_relative_date_against_its_message_and_cites_it() -> None:
    reply = ask("When did Caroline go to the LGBTQ support group?", SUPPORT_GROUP, "Melanie: I love painting.")
    assert reply.text is not None
    assert "7 May 2023" in reply.text
    [citation] = reply.citations
    assert citation.message == UUID(int=1)
    assert citation.quote == "I went to a LGBTQ support group yesterday and it was so powerful."
    assert (citation.statement, citation.episode) == (UUID(int=101), UUID(int=201))
    assert not reply.abstained
    assert reply.reason is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How long has Caroline worked at Lumen?", "6 years"),
        ("How long had Caroline worked there before?", "5 years"),
    ],
)
def test_what_was_superseded_gives_way_unless_the_past_is_asked_for(question: str, expected: str) -> None:
    over = frozenset([saying("Caroline: I have worked at Lumen for 5 years.", MAY_8)])
    old = replace(said(1, "Caroline: I have worked at Lumen for 5 years. I like it.", 0.8), outdated=over)
    assert ask(question, old, said(2, "Caroline: I have worked at Lumen for 6 years now.", 0.7)).text == expected


def test_a_verb_is_known_in_its_past_form() -> None:
    assert ask("When did I go?", said(1, "Caroline: I went to the support group yesterday.", 0.0)).text == "7 May 2023"


def test_when_an_undated_event_was_told_it_happened_by_that_day() -> None:
    reply = ask("When did Caroline join the choir?", "Caroline: I joined the local choir and love it.")
    assert reply.text == "by 8 May 2023"


def test_a_wish_without_a_date_gets_no_date() -> None:
    sentence = "I want to join the local choir some day."
    assert ask("When did Caroline join the choir?", f"Caroline: {sentence}").text == sentence


def test_a_question_about_the_future_prefers_the_date_ahead() -> None:
    line = "Caroline: I got the ticket yesterday and leave for Ireland on 3 June 2023, at last."
    assert "3 June 2023" in (ask("When will Caroline leave for Ireland?", line).text or "")
    assert "7 May 2023" in (ask("When did Caroline get the ticket?", line).text or "")


@pytest.mark.parametrize(
    ("question", "line", "expected"),
    [
        ("How many turtles does Caroline have?", "Caroline: I have three turtles at home now.", "three"),
        ("How many books did Caroline read in 2022?", "Caroline: In 2022 I read 41 books.", "41"),
        ("How often does Caroline swim?", "Caroline: I swim twice a week, mostly mornings.", "twice a week"),
        (
            "How long has Caroline known her friends?",
            "Caroline: I've known these friends for 4 years.",
            "4 years",
        ),
        (
            "How old is Caroline's dog?",
            "Caroline: My dog turned 12 years old and still runs.",
            "12 years old",
        ),
        ("Where did Caroline travel?", "Caroline: I travelled alone from Bergen, it was great.", "Bergen"),
        (
            "Where did Caroline meet Tom?",
            "Caroline: I met Tom at the old library, reading.",
            "the old library",
        ),
        (
            "Who taught Caroline to swim?",
            "Caroline: I was taught to swim by my grandmother.",
            "my grandmother",
        ),
        ("Who did Caroline meet?", "Caroline: I met Priya Nair, Melanie!", "Priya Nair"),
        ("Does Caroline drink tea or coffee?", "Caroline: I only drink coffee these days.", "coffee"),
        (
            "What did Caroline research?",
            "Caroline: Researching adoption agencies — a dream.",
            "adoption agencies",
        ),
        (
            "What is Caroline's favorite dance?",
            "Caroline: My favorite dance is contemporary ballet.",
            "contemporary ballet",
        ),
        (
            "Why did Caroline move?",
            "Caroline: I moved here because the sea air is good for me.",
            "because the sea air is good for me",
        ),
    ],
)
def test_the_shortest_span_of_the_kind_asked_for(question: str, line: str, expected: str) -> None:
    assert ask(question, line).text == expected


def test_without_a_span_the_best_sentence_answers() -> None:
    sentence = "The woman in the painting stands for acceptance."
    reply = ask("What does the woman in the painting mean?", f"Caroline: Thanks! {sentence} Anyway, bye!")
    assert reply.text == sentence


def test_who_without_a_name_is_the_speaker_of_the_first_person() -> None:
    assert ask("Who went to the support group?", SUPPORT_GROUP).text == "Caroline"


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ("Caroline: I adopted a puppy from the shelter.", "Yes. "),
        ("Caroline: I never adopted a puppy from the shelter.", "No. "),
        ("Caroline: I would love to adopt a puppy from the shelter.", "I would"),
    ],
)
def test_yes_and_no_are_said_only_of_what_is_stated(line: str, start: str) -> None:
    assert (ask("Did Caroline adopt a puppy from the shelter?", line).text or "").startswith(start)


def test_a_list_joins_items_from_several_messages_and_cites_each() -> None:
    reply = ask(
        "What instruments does Caroline play?",
        "Caroline: I play the violin, an old instrument.",
        "Caroline: These days I play the bass guitar, too, another instrument.",
        "Caroline: I play the violin, an instrument.",
    )
    assert reply.text is not None
    assert "violin" in reply.text
    assert "bass guitar" in reply.text
    assert {citation.message.int for citation in reply.citations} == {1, 2}


def test_a_question_about_a_day_is_answered_by_what_was_told_of_it() -> None:
    june = datetime(2023, 6, 9, tzinfo=UTC)
    told = said(1, "Caroline: I planted the first tulips and slept badly.", at=june)
    later = said(2, "Caroline: I repaired the old bike yesterday afternoon.", at=june)
    assert ask("What did Caroline do on 9 June 2023?", later, told).citations[0].message == UUID(int=1)
    assert ask("What did Caroline do on 8 June 2023?", told, later).citations[0].message == UUID(int=2)
    assert ask("What did Caroline do on 1 May 2023?", said(1, "Caroline: I slept badly.", 0.5)).abstained


# Whose words they are


def test_the_person_asked_about_is_believed_before_another() -> None:
    lines = "Melanie: I painted the harbour on Sunday.", "Caroline: I painted the old mill on Sunday."
    assert ask("What did Caroline paint on Sunday?", *lines).citations[0].message == UUID(int=2)


def test_you_belongs_to_the_other_speaker() -> None:
    assert about("You painted the mill so well!", "Melanie", ["Caroline"]) is About.TOLD
    assert about("You painted the mill so well!", "Caroline", ["Caroline"]) is About.OTHER
    assert about("I painted the mill.", "Melanie", ["Caroline"]) is About.OTHER
    assert about("Caroline painted the mill.", "Melanie", ["Caroline"]) is About.TOLD
    assert about("I painted the mill.", "Melanie", []) is About.NAMED
    reply = ask("Who recommended the book to Caroline?", "Melanie: You got that book from Priya, it was recommended.")
    assert reply.text == "Priya"


def test_another_persons_deed_is_not_an_answer() -> None:
    reply = ask(
        "What did Caroline paint at the pottery workshop?",
        "Melanie: I painted a blue bowl at the pottery workshop.",
        "Caroline: I am so tired of the rain this week.",
    )
    assert (reply.text, reply.abstained, reply.reason) == (None, True, WRONG_PERSON)
    assert reply.citations == ()


# Abstaining


def test_nothing_found_is_said() -> None:
    reply = ask("When did Caroline marry?")
    assert (reply.text, reply.abstained, reply.reason, reply.confidence) == (None, True, NO_EVIDENCE, 0.0)


def test_what_was_never_mentioned_is_not_answered() -> None:
    reply = ask("What is the quarterly tax form of the moon base?", said(1, SUPPORT_GROUP, 0.3))
    assert (reply.abstained, reply.reason) == (True, NO_EVIDENCE)


def test_a_shared_word_of_many_is_not_support() -> None:
    line = said(1, "Caroline: The moon was bright over the lake tonight.", 0.35)
    assert ask("What is the quarterly tax form of the moon base?", line).abstained


def test_other_wording_answers_where_search_is_sure() -> None:
    passage = said(1, "Caroline: 我下周三要去大阪出差，住在难波的酒店。", 0.9)
    assert ask("Where will Caroline stay?", passage).text == passage.message.content


def test_confidence_falls_with_support() -> None:
    sure = ask("When did Caroline go to the LGBTQ support group?", SUPPORT_GROUP)
    unsure = ask("When did Caroline go to the LGBTQ support group?", said(1, SUPPORT_GROUP, 0.3))
    assert 0 < unsure.confidence < sure.confidence <= 1


# Sentences


def test_a_message_met_twice_counts_once_with_its_best_score() -> None:
    found = weigh(
        read("choir?", [], ASKED),
        [said(1, "Ann: My choir sings.", 0.9), said(1, "Ann: My choir sings.", 0.2)],
    )
    assert [sentence.passage.score for sentence in found] == [0.9]


def test_courtesies_and_questions_support_less_than_facts() -> None:
    found = weigh(
        read("What does Caroline think of the choir?", SPEAKERS, ASKED),
        [said(1, "Caroline: Have you heard the choir? Nice choir! I think the choir sings like angels.")],
    )
    assert found[0].text == "I think the choir sings like angels."


def test_a_text_without_full_stops_is_quoted_in_parts() -> None:
    reply = ask("What did Caroline say of the choir?", "Caroline: " + "and so on and on " * 400 + "the choir sings")
    assert all(len(citation.quote) < 600 for citation in reply.citations)


LINES = st.tuples(
    st.sampled_from(SPEAKERS),
    st.one_of(
        st.text(max_size=80),
        st.sampled_from([SUPPORT_GROUP, "I have two dogs. You know Rex!", "Yes… 我很好。"]),
    ),
    st.floats(0, 1),
)
QUESTIONS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "When did Caroline go to the support group?",
            "How many dogs does Melanie have?",
            "Who knows Rex?",
            "What things has Caroline done?",
            "Is Rex a dog?",
            "???",
        ]
    ),
)


@given(QUESTIONS, st.lists(LINES, max_size=6))
def test_every_reply_is_cited_word_for_word_or_abstains(text: str, lines: list[tuple[str, str, float]]) -> None:
    passages = [said(n, f"{who}: {content}", score) for n, (who, content, score) in enumerate(lines, 1)]
    passages.sort(key=lambda passage: -passage.score)
    reply = answer(read(text, SPEAKERS, ASKED), Evidence(passages, SPEAKERS), ASKED.date())
    held = {passage.message.id: passage.message.content for passage in passages}
    assert all(citation.quote and citation.quote in held[citation.message] for citation in reply.citations)
    assert reply.abstained == (reply.text is None) == (reply.reason is not None) == (not reply.citations)
    assert 0 <= reply.confidence <= 1
