"""Reading a question: its kind, its names, its dates, its words."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.questions import Asks, kind, named, read

NOW = datetime(2024, 3, 6, 9, 0, tzinfo=UTC)

KINDS = {
    "When did Ann go to the support group?": Asks.WHEN,
    "Since when has Ann been a vegetarian?": Asks.WHEN,
    "When Ann moved to Rome?": Asks.WHEN,
    "In which month was Ann in Italy?": Asks.WHEN,
    "What year did Ann start surfing?": Asks.WHEN,
    "Ann moved to Rome when?": Asks.WHEN,
    "Who gave Ann the necklace?": Asks.WHO,
    "With whom did Ann travel?": Asks.WHO,
    "Whose birthday was it?": Asks.WHO,
    "Where did Ann grow up?": Asks.WHERE,
    "When Ann was young, where did she live?": Asks.WHERE,
    "Which city has Ann been to?": Asks.WHERE,
    "How many children does Ann have?": Asks.HOW_MANY,
    "How often does Ann swim?": Asks.HOW_MANY,
    "How long has Ann been married?": Asks.HOW_LONG,
    "For how long did Ann live in Oslo?": Asks.HOW_LONG,
    "Did Ann like Rome?": Asks.YES_NO,
    "Hasn't Ann been to Rome?": Asks.YES_NO,
    "Is it Ann who sings? Answer yes or no.": Asks.YES_NO,
    "Does Ann prefer tea or coffee?": Asks.WHICH,
    "Which of her dogs is older?": Asks.WHICH,
    "Why did Ann leave?": Asks.WHY,
    "What was the reason for the move?": Asks.WHY,
    "What books has Ann read?": Asks.LIST,
    "What are Ann's hobbies?": Asks.LIST,
    "List Ann's pets": Asks.LIST,
    "What did Ann research?": Asks.WHAT,
    "What does Thomas do?": Asks.WHAT,
    "What helps Ann relax?": Asks.WHAT,
    "What was Ann's job when she lived in Rome?": Asks.WHAT,
    "How does Ann feel about it?": Asks.WHAT,
    "Can you tell me when Ann left?": Asks.WHEN,
    "Do you know where Ann lives?": Asks.WHERE,
    "So, who's Ann's boss?": Asks.WHO,
    "Последний раз, где была Анна?": Asks.WHAT,
    "小明什么时候去大阪？": Asks.WHEN,
    "小明住在哪里？": Asks.WHERE,
    "他有几个孩子？": Asks.HOW_MANY,
    "她喜欢喝茶吗？": Asks.YES_NO,
    "谁送了他这本书？": Asks.WHO,
    "Wann ist Anna umgezogen?": Asks.WHEN,
    "Seit wann lebt Anna in Rom?": Asks.WHEN,
    "Wie lange lebt Anna in Rom?": Asks.HOW_LONG,
    "Wie viele Kinder hat Anna?": Asks.HOW_MANY,
    "Hat Anna einen Hund?": Asks.YES_NO,
    "Wo wohnt Anna?": Asks.WHERE,
    "Wer hat Anna das Buch geschenkt?": Asks.WHO,
    "花子はいつ大阪に行きますか？": Asks.WHEN,
    "花子はどこに住んでいますか？": Asks.WHERE,
    "誰が来ましたか？": Asks.WHO,
    "花子は猫が好きですか？": Asks.YES_NO,
}


@pytest.mark.parametrize(("text", "expected"), KINDS.items())
def test_the_kind_of_a_question(text: str, expected: Asks) -> None:
    assert kind(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where does Ann live?", ("Ann",)),
        ("Where does Anna live?", ()),
        ("what is ann's job?", ("Ann",)),
        ("What is Ann’s job?", ("Ann",)),
        ("What is ANN doing?", ("Ann",)),
        ("Where is Jo-Ann?", ()),
        ("Did Bob meet Ann?", ("Ann", "Bob Ray")),
        ("Did Bob Ray call?", ("Bob Ray",)),
        ("Is Robert here?", ()),
        ("When will it rain?", ()),
        ("Where did Will go?", ("Will",)),
        ("小明什么时候去大阪?", ("小明",)),
    ],
)
def test_the_speakers_that_a_question_names(text: str, expected: tuple[str, ...]) -> None:
    assert named(text, ["Ann", "Bob Ray", "Will", "小明"]) == expected


def test_a_first_name_that_two_share_names_both_unless_one_is_named_in_full() -> None:
    speakers = ["Ann Lee", "Ann Ray"]
    assert named("Where is Ann?", speakers) == ("Ann Lee", "Ann Ray")
    assert named("Where is Ann Ray?", speakers) == ("Ann Ray",)


def test_a_lower_case_name_is_found_as_it_is_written_only() -> None:
    assert named("Is agent_7 up?", ["agent_7"]) == ("agent_7",)
    assert named("Is AGENT_7 up?", ["agent_7"]) == ()


def test_the_words_are_stems_without_names_dates_and_stop_words() -> None:
    question = read("When did Ann visit the museums of Rome in May 2023?", ["Ann", "Bob"], NOW)
    assert question.words == ("visit", "museum", "rome")
    assert question.names == ("Ann",)
    assert [(when.start.year, when.start.month) for when in question.dates] == [(2023, 5)]


def test_the_shape_of_a_question_is_not_among_its_words() -> None:
    assert read("How long has Ann had her turtles?", ["Ann"], NOW).words == ("turtl",)
    assert read("What kind of tea does Ann drink?", ["Ann"], NOW).words == ("tea", "drink")


def test_relative_dates_count_from_the_moment_of_asking() -> None:
    [yesterday] = read("What did Ann do yesterday?", ["Ann"], NOW).dates
    assert yesterday.start.isoformat() == "2024-03-05"


@pytest.mark.parametrize("text", ["", "???", 'NEAR("x") AND OR NOT *', " " * 300, "🦊" * 40, "\x00", "what " * 2000])
def test_hostile_texts_are_read_like_any_other(text: str) -> None:
    assert read(text, ["Ann", "", " "], NOW).names == ()


@given(st.text(), st.lists(st.text(max_size=12), max_size=4))
def test_no_text_and_no_name_raises(text: str, speakers: list[str]) -> None:
    question = read(text, speakers, NOW)
    assert set(question.names) <= set(speakers)
    assert question == read(text, speakers, NOW)
