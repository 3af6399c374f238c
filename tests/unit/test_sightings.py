"""Looking for a text in values of any column."""

import json
from uuid import UUID

import pytest

from app.domain.sightings import Sighting, Sought

SOME = UUID("01900000-0000-7000-8000-000000000001")


@pytest.mark.parametrize(
    "value",
    [
        "The Blue  Bicycle stands outside.",
        "BLUE\nBICYCLE",
        b"blue bicycle",
        b"\xff\x00blue bicycle\x80",
        {"note": ["a blue bicycle"]},
        json.dumps({"note": "the blue bicycle"}),
        memoryview(b"blue bicycle"),
    ],
)
def test_it_is_seen_in_any_form(value: object) -> None:
    assert Sought.of("blue bicycle").stands_in(value)


@pytest.mark.parametrize("value", [None, 12, "blue", "bluebicycle", {"blue": "bicycle"}, b"\x00\x01", SOME])
def test_it_is_not_seen_elsewhere(value: object) -> None:
    assert not Sought.of("blue bicycle").stands_in(value)


def test_accents_are_seen_however_they_are_written() -> None:
    sought = Sought.of("Zürich")
    assert all(sought.stands_in(form) for form in ("ZÜRICH", "Zu\u0308rich", json.dumps({"a": "Zürich"})))
    assert {"Zürich".encode(), b"Z\\u00fcrich"} <= sought.spellings()


def test_there_must_be_something_to_look_for() -> None:
    with pytest.raises(ValueError, match="nothing to look for"):
        Sought.of(" \n ")


def test_a_sighting_keeps_a_few_ids() -> None:
    sighting = Sighting("messages.content")
    for id_ in (SOME, SOME, None, SOME):
        sighting.add(id_, 2)
    assert (sighting.count, sighting.ids) == (4, [SOME, SOME])
