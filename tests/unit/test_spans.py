"""Spans: the shortest part of a sentence that answers, by the kind of the question."""

from datetime import UTC, datetime

import pytest

from app.domain import phrases, spans
from app.domain.phrases import Sort
from app.domain.questions import read

ASKED = datetime(2024, 1, 1, tzinfo=UTC)
SPEAKERS = ["Ann", "Bob"]


def span(question: str, sentence: str) -> str | None:
    return spans.find(read(question, SPEAKERS, ASKED), sentence, SPEAKERS)


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        # a thing of the kind asked for, with its modifiers
        (
            "What workshop did Ann attend?",
            "I went to a glass blowing workshop and loved it.",
            "a glass blowing workshop",
        ),
        (
            "What kind of place does Ann want to open?",
            "I dream of a quiet, sunny place with books.",
            "a quiet, sunny place",
        ),
        ("Which instrument does Ann play?", "I play the bass clarinet these days.", "the bass clarinet"),
        # a title stands in quotes
        ("Which book did Ann finish?", 'I just finished "The Long Way" and cried.', '"The Long Way"'),
        ("What film did Ann see?", "We watched “Night Train” on Sunday.", "“Night Train”"),
        # a name
        ("What is the name of Ann's cat?", "We have a cat, his name is Oskar!", "Oskar"),
        ("What are Ann's dogs' names?", "Her name's Freckle and she's adorable.", "Freckle"),
        ("Which composers does Ann like?", "I like composers such as Ravel and Fauré.", "Ravel and Fauré"),
        # what a verb is done to, without what follows it
        ("What did Ann donate to the museum?", "I donated my old loom to the museum yesterday.", "old loom"),
        ("What did Ann paint?", "I painted that harbour last year.", "harbour"),
        ("What did Ann plant?", "I planted tulips, crocuses and a tree in March.", "tulips, crocuses and a tree"),
        ("What does Ann blog about?", "I've been blogging about bridges and tunnels.", "bridges and tunnels"),
        # one side of "A is B"
        ("What is Ann's main goal?", "Running a bakery is my main goal.", "Running a bakery"),
        ("How did Ann describe the hike?", "The hike was exhausting, but I would go again.", "exhausting"),
        # places, people, reasons, numbers
        ("Where did the cat hide its toy?", "The cat hid its toy in my boot!", "in my boot"),
        ("Where did Ann travel?", "I travelled from Bergen, alone.", "Bergen"),
        ("Who taught Ann to swim?", "I was taught to swim by my aunt.", "my aunt"),
        ("Why did Ann move?", "I moved 'cause the air is better here.", "'cause the air is better here"),
        ("How long does Ann rest?", "I usually rest for 20-30 minutes.", "20-30 minutes"),
        ("How often does Ann swim?", "I swim at least twice a week.", "at least twice a week"),
        ("How often does Ann swim?", "We help each other a lot.", None),
        ("How many books has Ann read?", "I have been reading for a few weeks.", None),
        ("What is Ann's main goal?", "My main goal is clear, Bob.", "clear"),
        ("What is Ann's main goal?", "That is my main goal, Bob.", None),
        # nothing new, or nothing sure
        ("Which instrument does Ann play?", "I play an instrument.", None),
        ("What does the drawing mean?", "It stands for hope.", None),
        ("What did Ann paint?", "", None),
    ],
)
def test_the_span_that_answers(question: str, sentence: str, expected: str | None) -> None:
    assert span(question, sentence) == expected


def test_no_speaker_and_no_month_passes_for_a_name() -> None:
    assert span("What is the name of Ann's cat?", "No worries, Bob, see you in May!") is None


def test_words_have_sorts_and_quotes_are_one_word() -> None:
    found = phrases.words('I\'ve read "A Year Off", twice - and you?')
    assert [(word.text, word.sort) for word in found[:4]] == [
        ("I've", Sort.AUXILIARY),
        ("read", Sort.CONTENT),
        ('"A Year Off"', Sort.CONTENT),
        (",", Sort.COMMA),
    ]
    assert found[5].sort is Sort.MARK  # a dash between spaces


@pytest.mark.parametrize(
    ("text", "at", "is_verb"),
    [
        ("I play chess", 1, True),
        ("to play", 1, True),
        ("She was painting", 2, True),
        ("the play", 1, False),
        ("We made jam", 1, True),
    ],
)
def test_verbs_are_known_by_their_form_or_place(text: str, at: int, is_verb: bool) -> None:
    assert phrases.is_verb(phrases.words(text), at) is is_verb
