"""What a model states is remembered only if the messages it cites carry it."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.domain.accounts import Noted, candidates
from app.domain.backing import Backing
from app.domain.ids import ConversationId, MessageId, StatementId
from app.domain.messages import Message, Role
from app.domain.screening import Kind, RefusalReason, screen
from app.domain.statements import Known, decide
from app.domain.text import terms

MONDAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
CHAT = [
    ("Rosa", "Hi Tom! I went to a support group yesterday, it was so powerful."),
    ("Tom", "Great. My sister Ines has three dogs and I am not allergic to them."),
    ("Rosa", "Gonna continue my edu and check out career options, maybe counseling!"),
    ("Tom", "I've worked at Lumen for 5 years. Last year we moved to Bern."),
    ("Mei", "我下周三要去大阪出差，住在难波的酒店。"),
    ("Uwe", "Ich fange am Montag bei Siemens in München an und mag Kuchen."),
]
MESSAGES = {
    number: Message(
        MessageId(UUID(int=number)), ConversationId(UUID(int=99)), number, Role.USER, text, MONDAY, MONDAY, speaker=who
    )
    for number, (who, text) in enumerate(CHAT, 1)
}
KNOWN = StatementId(UUID(int=500))
BACKING = Backing(
    {message.id: message for message in MESSAGES.values()},
    rephrased=True,
    also=frozenset(terms("Rosa's brother Luca lives in Porto.")),
)


def carried(text: str, *numbers: int) -> bool:
    return BACKING.carries(text, [MESSAGES[number].id for number in numbers])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Rosa attended a support group on 7 May 2023 and found it powerful.", 1),
        ("Rosa went to a support group on 2023-05-07.", 1),
        ("On May 8, 2023 Rosa said that she had been to a support group.", 1),
        ("Rosa went to a support group on Sunday, 7 May 2023.", 1),
        ("Tom's sister Ines owns 3 dogs.", 2),
        ("Tom is not allergic to Ines's dogs.", 2),
        ("Rosa plans to continue her education and to check career options in counseling.", 3),
        ("Tom has been working at Lumen for five years.", 4),
        ("Tom moved to Bern in 2022.", 4),
        ("Mei将于2023年5月17日去大阪出差，住在难波的酒店。", 5),
        ("Uwe beginnt am Montag eine neue Stelle bei Siemens in München.", 6),
        ("Rosa told Tom and Luca of a support group.", 1),  # a name from what was known
    ],
)
def test_a_normal_paraphrase_is_carried(text: str, number: int) -> None:
    assert carried(text, number)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Alice works as a software engineer at Google.", 1),  # an example learnt by heart
        ("The user prefers dark mode in all editors.", 2),
        ("Rosa went to a support group with Priya.", 1),  # a name that nobody said
        ("Rosa went to a support group on 9 June 2023.", 1),
        ("Tom's sister Ines has 4 dogs.", 2),
        ("Rosa is not going to continue her edu.", 3),  # turned round
        ("Rosa broke her leg in a car crash last winter.", 3),
        ("Tom has worked at Lumen for 6 years.", 4),
        ("Rosa went to a support group.", 2),  # another message's words
        ("Mei住在京都的医院，喜欢打网球和游泳。", 5),
        ("Rosa Tom.", 1),  # nothing but names
    ],
)
def test_what_was_not_said_is_refused(text: str, number: int) -> None:
    assert not carried(text, number)


def test_a_fact_spread_over_two_messages_needs_both() -> None:
    text = "Tom, who has worked at Lumen for 5 years, has a sister Ines with three dogs."
    assert carried(text, 2, 4)
    assert not carried(text, 2)


# From notes to candidates ----------------------------------------------------------------------------------


def note(text: str, *numbers: int, date: str = "", updates: str = "") -> Noted:
    return Noted(text, Kind.FACT, numbers, date, updates)


def test_numbers_and_aliases_that_do_not_exist_are_refused() -> None:
    notes = [
        note("Tom moved to Bern.", 4),
        note("Tom moved to Bern.", 4, 7),
        note("Tom moved to Bern.", 0),
        note("Tom moved to Bern."),
        note("Tom moved to Bern.", 4, updates="s9"),
        note("Tom works at Lumen.", 4, 4, updates="s1"),
    ]
    made, refused = candidates(notes, MESSAGES, {"s1": KNOWN})
    assert [(one.text, one.messages, one.updates) for one in made] == [
        ("Tom moved to Bern.", (MESSAGES[4].id,), None),
        ("Tom works at Lumen.", (MESSAGES[4].id,), KNOWN),
    ]
    assert refused == {
        RefusalReason.UNKNOWN_MESSAGE: 2,
        RefusalReason.NO_CITATION: 1,
        RefusalReason.UNKNOWN_STATEMENT: 1,
    }


@pytest.mark.parametrize(
    ("text", "date", "start"),
    [
        ("Rosa went to a support group on 7 May 2023.", "", "2023-05-07"),
        ("Rosa went to a support group.", "2023-05-07", "2023-05-07"),
        ("Rosa went to a support group.", "2023-05", "2023-05-07"),
        ("Rosa went to a support group.", "2023", "2023-05-07"),
        ("Rosa went to a support group.", "2021-01-01", None),  # nobody said so
        ("Rosa went to a support group.", "2023-13-45", None),
        ("Rosa went to a support group.", "soon", None),
    ],
)
def test_a_date_counts_if_the_messages_name_it(text: str, date: str, start: str | None) -> None:
    [made], _ = candidates([note(text, 1, date=date)], MESSAGES, {})
    assert (made.when.start.isoformat() if made.when else None) == start


@pytest.mark.parametrize(("year", "ended"), [(2022, [KNOWN]), (2024, [0])])
def test_an_update_takes_the_place_of_what_was_said_before_it(year: int, ended: list[object]) -> None:
    said = datetime(year, 5, 1, tzinfo=UTC)
    former = Known(KNOWN, "Tom has worked at Lumen for 4 years.", said, messages=frozenset({MessageId(UUID(int=50))}))
    made, _ = candidates([note("Tom has worked at Lumen for 5 years.", 4, updates="s1")], MESSAGES, {"s1": KNOWN})
    plan = decide(screen(made, BACKING), [former])
    assert plan.new == tuple(made)
    assert [ending.ref for ending in plan.ended] == ended, "whichever was said later holds"
