"""Date words, resolved against the day they were said."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.dates import Granularity, resolve, spoken

MONDAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def read(text: str, said_at: datetime = MONDAY) -> list[tuple[str, str]]:
    return [(when.phrase, spoken(when)) for when in resolve(text, said_at)]


@pytest.mark.parametrize(
    ("text", "phrase", "time"),
    [
        ("I went yesterday.", "yesterday", "7 May 2023"),
        ("Last night was fun", "Last night", "7 May 2023"),
        ("we met the day before yesterday", "the day before yesterday", "6 May 2023"),
        ("I'm off today!", "today", "8 May 2023"),
        ("see you tonight", "tonight", "8 May 2023"),
        ("tomorrow's class", "tomorrow", "9 May 2023"),
        ("3 days ago", "3 days ago", "5 May 2023"),
        ("a week ago", "a week ago", "the week of 1 May 2023"),
        ("two weekends ago", "two weekends ago", "the weekend of 29 April 2023"),
        ("a couple of months ago", "a couple of months ago", "March 2023"),
        ("5 years ago", "5 years ago", "2018"),
        ("10 days from now", "10 days from now", "18 May 2023"),
        ("last week", "last week", "the week of 1 May 2023"),
        ("the week before last", "the week before last", "the week of 24 April 2023"),
        ("last weekend", "last weekend", "the weekend of 6 May 2023"),
        ("this month", "this month", "May 2023"),
        ("next month", "next month", "June 2023"),
        ("last year", "last year", "2022"),
        ("last Friday", "last Friday", "5 May 2023"),
        ("last Monday", "last Monday", "1 May 2023"),
        ("this past Saturday", "this past Saturday", "6 May 2023"),
        ("this Monday", "this Monday", "8 May 2023"),
        ("next Monday", "next Monday", "15 May 2023"),
        ("last May", "last May", "May 2022"),
        ("next March", "next March", "March 2024"),
        ("last summer", "last summer", "summer 2022"),
        ("this summer", "this summer", "summer 2023"),
        ("next winter", "next winter", "winter 2023"),
        ("on 8 May 2022", "8 May 2022", "8 May 2022"),
        ("on the 8th of May, 2022", "8th of May, 2022", "8 May 2022"),
        ("May 8th, 2022", "May 8th, 2022", "8 May 2022"),
        ("on 30 april", "30 april", "30 April 2023"),
        ("on December 31", "December 31", "31 December 2022"),
        ("in June", "June", "June 2023"),
        ("in december", "december", "December 2022"),
        ("May 2022", "May 2022", "May 2022"),
        ("summer of 2022", "summer of 2022", "summer 2022"),
        ("since 2016", "2016", "2016"),
        ("at 2023-05-08T10:00", "2023-05-08", "8 May 2023"),
        ("我昨天去了医院", "昨天", "7 May 2023"),
        ("我下周三要去大阪出差", "下周三", "17 May 2023"),
        ("上周很忙", "上周", "the week of 1 May 2023"),
        ("三天前", "三天前", "5 May 2023"),
        ("去年", "去年", "2022"),
        ("2022年5月8日", "2022年5月8日", "8 May 2022"),
        ("5月9号见", "5月9号", "9 May 2023"),
        ("来週の水曜日に大阪へ", "来週の水曜日", "17 May 2023"),
        ("先週末", "先週末", "the weekend of 6 May 2023"),
        ("今月", "今月", "May 2023"),
        ("明日行きます", "明日", "9 May 2023"),
    ],
)
def test_a_phrase_and_its_time(text: str, phrase: str, time: str) -> None:
    assert read(text) == [(phrase, time)]


@pytest.mark.parametrize(
    "text",
    [
        "I may go, if we may",
        "May I ask?",
        "they march on; we sat in the sun for a second",
        "March 5 miles",
        "of the 5 may come",
        "port 9077, room 2023, model 2016",
        "in 2000 steps",
        "100,000 years ago",
        "9999 years ago",
        "a few days ago",
        "over the last year",
        "my last year of college",
        "see you on Friday",
        "30 February 2023-02-30",
        "ticket 12-2023-05-08-9",
        "以前天气很好",
    ],
)
def test_what_is_no_certain_date(text: str) -> None:
    assert read(text) == []


def test_times_come_in_order_of_the_text_and_know_their_place() -> None:
    text = "Yesterday I ran; on 3 May 2023 I swam, and last week I slept."
    found = resolve(text, MONDAY)
    assert [when.phrase for when in found] == ["Yesterday", "3 May 2023", "last week"]
    assert all(text[slice(*when.span)] == when.phrase for when in found)


def test_winter_runs_over_the_new_year() -> None:
    january = datetime(2023, 1, 15, tzinfo=UTC)
    [when] = resolve("this winter", january)
    assert (when.start, when.end) == (date(2022, 12, 1), date(2023, 2, 28))
    assert read("last winter", january) == [("last winter", "winter 2021")]


def test_weeks_are_monday_to_sunday() -> None:
    [when] = resolve("last week", datetime(2023, 5, 7, tzinfo=UTC))
    assert (when.start, when.end, when.granularity) == (
        date(2023, 4, 24),
        date(2023, 4, 30),
        Granularity.WEEK,
    )


PHRASES = st.sampled_from(
    [
        "yesterday",
        "tomorrow",
        "last week",
        "next weekend",
        "last winter",
        "this winter",
        "next year",
        "last May",
        "29 February",
        "9999 years ago",
        "12 months from now",
        "in June",
        "31 June",
        "next Friday",
        "December 31, 2199",
        "上周日",
        "来年",
        "9999年前",
        "5月31日",
    ]
)


@given(PHRASES, st.datetimes())
def test_never_a_crash_anywhere_in_the_calendar(phrase: str, said_at: datetime) -> None:
    for when in resolve(phrase, said_at):
        assert when.start <= when.end
        assert spoken(when)


@given(st.lists(PHRASES | st.text(max_size=8)), st.datetimes())
def test_times_are_ordered_and_apart_in_any_text(parts: list[str], said_at: datetime) -> None:
    text = " ".join(parts)
    end = 0
    for when in resolve(text, said_at):
        assert end <= when.span[0] < when.span[1]
        assert text[slice(*when.span)] == when.phrase
        end = when.span[1]


@given(st.dates(date(2, 1, 1), date(9998, 1, 1)), st.integers(1, 300))
def test_a_period_contains_the_day_it_is_counted_to(today: date, count: int) -> None:
    said_at = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    for phrase, days in (
        ("yesterday", 1),
        ("last night", 1),
        (f"{count} days ago", count),
        ("a week ago", 7),
    ):
        [when] = resolve(phrase, said_at)
        assert when.start <= today - timedelta(days=days) <= when.end
    [friday] = resolve("last Friday", said_at)
    assert friday.start.weekday() == 4
    assert 1 <= (today - friday.start).days <= 7
