"""The labelled dialogues are well-formed, and the scorer counts what README.md in their folder says."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from tests.dialogues.loading import DATA, Dialogue, load, parse
from tests.dialogues.matching import Row
from tests.dialogues.scoring import DECISIONS, Tally, score
from tests.dialogues.spans import Span, read_spans

AT_LEAST = {"en": 100, "de": 25, "zh": 15, "ja": 10}  # dialogues of a language

RENT = """
topic: example
language: en
held_out: false
dialogues:
- id: rent
  said:
    - 2025-02-01 09:00
    - Ann: My rent is 900 francs.
    - 2025-02-02 09:00
    - Ann: My rent is 900 francs!
    - Ann Lee: Thanks!
    - 2025-08-01 09:00, import
    - Ann: How much is your rent?
      at: 2025-08-01 08:00
    - Ann Lee: "950."
  facts:
    old: {has: [rent, 900|nine hundred], not: [950], by: Ann, cites: [1, 2], superseded_by: new}
    new: {has: [rent, 950], by: Ann Lee, cites: [5], with: [4], when: 2025-08-01, kind: fact}
  nothing: {pleasantry: [3]}
"""


def example() -> Dialogue:
    [dialogue] = parse(RENT)
    return dialogue


def at(day: int, month: int = 2) -> datetime:
    return datetime(2025, month, day, 9, tzinfo=UTC)


def row(id_: str, text: str, *cites: int, **fields: object) -> Row:
    made = Row(id_, text, frozenset(cites), len(cites), "fact", at(1), None, None, None)
    return replace(made, **fields)


LATER = "reworded"  # begins the topics that were added to build by, when the held-out ones had been measured
OLD = row("old", "Ann: My rent is 900 francs.", 1, 2, superseded_by="new", valid_to=at(1, 8))
NEW = row("new", "Ann Lee: 950. [Ann asked: How much is your rent?]", 4, 5, occurred_at=at(1, 8), valid_from=at(1, 8))


def counts(*rows: Row) -> dict[str, tuple[int, int, int]]:
    """Right, wrong and missed of every kind that has any."""
    tallies = score(example(), rows).tallies.items()
    return {kind: (tally.right, tally.wrong, tally.missed) for kind, tally in tallies if tally != Tally()}


# The set ---------------------------------------------------------------------------------------------------


def test_the_set_is_large_and_in_several_languages() -> None:
    dialogues = load()
    assert len({dialogue.id for dialogue in dialogues}) == len(dialogues) >= 300
    languages = Counter(dialogue.language for dialogue in dialogues)
    assert all(languages[language] >= count for language, count in AT_LEAST.items())
    assert sum(dialogue.needs_model or dialogue.needs_embedder for dialogue in dialogues) < len(dialogues) / 8


def test_a_third_of_every_topic_is_held_out_and_lies_apart() -> None:
    topics = Counter(dialogue.topic for dialogue in load() if not dialogue.topic.startswith(LATER))
    held_out = Counter(dialogue.topic for dialogue in load(held_out=True))
    assert {topic: abs(held_out[topic] - count / 3) < 1 for topic, count in topics.items()} == dict.fromkeys(
        topics, True
    )
    for folder, expected in (("open", False), ("held_out", True)):
        files = sorted((DATA / folder).glob("*.yaml"))
        assert files
        assert all(one.held_out is expected for path in files for one in parse(path.read_text(encoding="utf-8")))


def test_the_blind_dialogues_are_well_formed_and_lie_apart() -> None:
    blind, others = load(blind=True), load()
    assert Counter(dialogue.language for dialogue in blind) == {"en": 70, "de": 20, "zh": 15, "ja": 15}
    assert all(dialogue.held_out for dialogue in blind)
    assert len({dialogue.id for dialogue in (*blind, *others)}) == len(blind) + len(others)


def test_every_kind_of_decision_is_asked_for() -> None:
    facts = [fact for dialogue in load() for fact in dialogue.facts.values()]
    assert sum(len(fact.cites) > 1 for fact in facts) >= 40
    assert sum(fact.superseded_by is not None for fact in facts) >= 80
    assert sum(fact.when is not None for fact in facts) >= 80
    reasons = Counter(reason for one in load() for reason, numbers in one.nothing.items() for _ in numbers)
    assert min(reasons[reason] for reason in ("pleasantry", "question", "system", "tool", "recalled", "advice")) >= 2


@pytest.mark.parametrize(
    ("right", "broken"),
    [
        ("nothing: {pleasantry: [3]}", "nothing: {pleasantry: [6]}"),
        ("nothing: {pleasantry: [3]}", "nothing: {}"),
        ("nothing: {pleasantry: [3]}", "nothing: {pleasantry: [3, 5]}"),
        ("nothing: {pleasantry: [3]}", "nothing: {boredom: [3]}"),
        ("superseded_by: new", "superseded_by: newer"),
        ("superseded_by: new", "superseded_by: old"),
        ("by: Ann,", "by: Anna,"),
        ("when: 2025-08-01", "when: August"),
        ("kind: fact", "kinds: fact"),
    ],
)
def test_labels_that_contradict_themselves_are_refused(right: str, broken: str) -> None:
    assert right in RENT
    with pytest.raises(ValueError, match=r"."):
        parse(RENT.replace(right, broken))


def test_a_dialogue_is_read_as_it_is_written() -> None:
    dialogue = example()
    assert [(batch.conversation, [m.number for m in batch.messages]) for batch in dialogue.batches] == [
        ("chat", [1]),
        ("chat", [2, 3]),
        ("import", [4, 5]),
    ]
    assert dialogue.messages[3].occurred_at == datetime(2025, 2, 2, 9, 1, tzinfo=UTC)
    assert dialogue.messages[4].occurred_at == datetime(2025, 8, 1, 8, tzinfo=UTC)
    assert dialogue.messages[5].who == "Ann Lee"


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("2025-06-09", [Span(date(2025, 6, 9), date(2025, 6, 9))]),
        ("2024-02", [Span(date(2024, 2, 1), date(2024, 2, 29))]),
        ("2016/", [Span(date(2016, 1, 1), None, still_holds=True)]),
        ("/2025-04-30", [Span(None, date(2025, 4, 30))]),
        ("2025-05-01|2025-05-02", [Span(date(2025, 5, day), date(2025, 5, day)) for day in (1, 2)]),
        ("none", []),
    ],
)
def test_labelled_times(label: str, expected: list[Span]) -> None:
    assert list(read_spans(label)) == expected


# The scorer ------------------------------------------------------------------------------------------------


def test_what_is_right_in_every_way() -> None:
    assert counts(OLD, NEW) == {
        "new": (2, 0, 0),
        "reinforces": (1, 0, 0),
        "updates": (1, 0, 0),
        "refused": (1, 0, 0),
        "dates": (2, 0, 0),
        "kinds": (1, 0, 0),
        "support": (1, 0, 0),
    }
    assert score(example(), [OLD, NEW]).is_right


def test_nothing_at_all() -> None:
    assert counts() == {"new": (0, 0, 2), "reinforces": (0, 0, 1), "updates": (0, 0, 1), "refused": (1, 2, 0)}


def test_a_duplicate_that_was_not_merged() -> None:
    first, second = (replace(OLD, id=f"rent {cited}", cites=frozenset({cited}), support=1) for cited in (1, 2))
    found = counts(first, second, NEW)
    assert found["new"] == (2, 1, 0)
    assert found["reinforces"] == (0, 0, 1)
    assert found["support"] == (0, 1, 0)


def test_messages_that_were_merged_but_say_different_things() -> None:
    found = counts(replace(OLD, cites=frozenset({1, 2, 5}), superseded_by=None, valid_to=None))
    assert found["new"] == (1, 0, 1)
    assert found["reinforces"] == (1, 1, 0)
    assert found["updates"] == (0, 0, 1)


def test_an_update_the_wrong_way_round() -> None:
    found = counts(replace(OLD, superseded_by=None), replace(NEW, superseded_by="old"))
    assert found["updates"] == (0, 1, 1)


def test_a_greeting_that_was_kept() -> None:
    found = counts(OLD, NEW, row("thanks", "Ann Lee: Thanks!", 3))
    assert found["new"] == (2, 1, 0)
    assert found["refused"] == (0, 0, 1)


@pytest.mark.parametrize(
    ("text", "is_new"),
    [
        ("Ann Lee: My rent is 950 francs.", True),
        ("Ann Lee pays a rent of 950 francs.", True),
        ("Ann: How much is your rent? 950.", True),  # joined by whoever asked
        ("Ann pays a rent of 950 francs.", False),
        ("Ann Lee: My rent is 1950 francs.", False),
        ("Ann Lee: My rental car is from 950.", False),
    ],
)
def test_form_is_free_and_facts_are_not(text: str, *, is_new: bool) -> None:
    assert counts(OLD, replace(NEW, text=text))["new"] == ((2, 0, 0) if is_new else (1, 1, 1))


@pytest.mark.parametrize(
    ("valid_from", "valid_to", "expected"),
    [
        (at(1, 8), at(2, 8), (2, 0, 0)),
        (at(1, 8), at(9, 8), (1, 1, 0)),
        (at(2, 8), None, (1, 1, 0)),
        (None, None, (1, 0, 1)),
    ],
)
def test_dates(valid_from: datetime | None, valid_to: datetime | None, expected: tuple[int, int, int]) -> None:
    assert counts(OLD, replace(NEW, valid_from=valid_from, valid_to=valid_to))["dates"] == expected


def test_a_tally_of_nothing_has_no_shares() -> None:
    assert Tally().precision is None
    assert Tally().recall is None
    assert Tally(right=3, wrong=1, missed=2).precision == 0.75
    assert Tally(right=3, wrong=1, missed=2).recall == 0.6
    assert set(DECISIONS) == {"new", "reinforces", "updates", "refused"}
