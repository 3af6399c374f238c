"""Entries of a list: one a message, alike, and each with something new."""

import pytest

from app.domain import listing
from app.domain.questions import read
from app.domain.support import About, Supported
from tests.unit.test_answers import ASKED, SPEAKERS, ask, said


def entries(question: str, *lines: str, step: float = 0.05) -> list[str]:
    """The entries of Caroline's sentences, each of which supports the answer a little less than the one before."""
    ranked = [
        Supported(said(n, f"Caroline: {line}"), line, About.NAMED, 1.0, 1.0, 0.0, on_time=True, support=0.9 - n * step)
        for n, line in enumerate(lines)
    ]
    return [entry for entry, _ in listing.entries(read(question, SPEAKERS, ASKED), SPEAKERS, ranked)]


@pytest.mark.parametrize(
    ("question", "lines", "expected"),
    [
        (
            "What activities has Caroline done?",
            ("I just signed up for a pottery class.", "I think a lot about activities.", "I went to a poetry reading."),
            "pottery class, poetry reading",
        ),
        (
            "Which cities has Caroline been to?",
            ("I went to Velmar last week.", "Exploring new cities is great fun.", "I was in Port Orsk with Melanie."),
            "Velmar, Port Orsk",
        ),
        (
            "What are Caroline's goals?",
            ("My goal is to learn Greek.", "Goals are awesome.", "Opening a bakery is my other goal."),
            "learn Greek, Opening a bakery",
        ),
        (
            "What are the names of Caroline's cats?",
            ("My cat is called Miso.", "Cats are awesome.", "The name of my other cat is Bruno."),
            "Miso, Bruno",
        ),
        (
            "What instruments does Caroline play?",
            ("I play the clarinet.", 'The band played "Summer Rain" on their instruments.', "I also play the violin."),
            "clarinet, violin",
        ),
    ],
)
def test_entries_come_from_several_messages(question: str, lines: tuple[str, ...], expected: str) -> None:
    assert entries(question, *lines) == expected.split(", ")


def test_what_supports_much_less_is_no_entry() -> None:
    lines = "I play the clarinet.", "I also play the violin.", "I play the harp."
    assert entries("What instruments does Caroline play?", *lines, step=0.25) == ["clarinet", "violin"]
    assert entries("What instruments does Caroline play?", "I play the harp.", "I play the harp.") == ["harp"]
    many = (f"I play the {thing}." for thing in ("harp", "flute", "horn", "viola", "tuba", "oboe", "lute"))
    assert len(entries("What instruments does Caroline play?", *many)) == listing.ITEMS


def test_the_answer_joins_the_entries_and_cites_each() -> None:
    lines = "Caroline: I play the clarinet.", "Caroline: I also play the violin."
    reply = ask("What instruments does Caroline play?", *lines)
    assert reply.text == "clarinet, violin"
    assert [citation.message.int for citation in reply.citations] == [1, 2]


def test_a_list_without_an_entry_is_answered_by_the_best_sentence() -> None:
    reply = ask("What activities has Caroline done with her friends?", "Caroline: My friends are the best of friends!")
    assert reply.abstained or reply.text == "My friends are the best of friends!"


def test_lists_in_another_language_are_answered_by_a_sentence() -> None:
    reply = ask("Was hat Caroline gekauft und welche Bücher hat sie?", "Caroline: Ich habe zwei Bücher gekauft.")
    assert reply.abstained or reply.text == "Ich habe zwei Bücher gekauft."
