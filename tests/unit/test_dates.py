"""Date words, resolved against the day they were said: the tables of cases, and how times are written again."""

import calendar
import re
from datetime import UTC, date, datetime

import pytest

from app.domain.dates import MOST_READINGS, Granularity, Open, When, resolve, spoken, written
from tests.unit import date_cases, date_cases_languages

MONDAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
POSITIVE = (
    *(date_cases.ENGLISH, date_cases.NUMBERS, date_cases_languages.GERMAN, date_cases_languages.FRENCH),
    *(date_cases_languages.SPANISH, date_cases_languages.CHINESE, date_cases_languages.JAPANESE),
)
Time = tuple[str, date, date, str, str | None]


def lines(*tables: str) -> list[str]:
    return [line for table in tables for line in table.strip().splitlines()]


def parsed(case: str) -> tuple[str, datetime, list[Time]]:
    """The text of a case without its brackets, when it was said, and its times with their phrases."""
    marked, _, times = case.rpartition(" | ")
    said_at = MONDAY
    if stated := re.match(r"(\d{4}-\d\d-\d\d): ", marked):
        said_at, marked = datetime.fromisoformat(stated[1]).replace(tzinfo=UTC), marked[stated.end() :]
    phrases = re.findall(r"\[(.*?)\]", marked)
    expected = [(phrase, *period(time)) for phrase, time in zip(phrases, times.split("; "), strict=True)]
    return re.sub(r"[\[\]]", "", marked), said_at, expected


def period(time: str) -> tuple[date, date, str, str | None]:
    """2023-05-07, 2023-05, 2023 or 2023-05-01/2023-05-07 week; with since or until."""
    words = time.split()
    side = words.pop() if words[-1] in ("since", "until") else None
    start, _, end = words[0].partition("/")
    if end:
        return date.fromisoformat(start), date.fromisoformat(end), words[1], side
    numbers = [int(number) for number in start.split("-")]
    year, month, day = (*numbers, None, None)[:3]
    if day:
        return date(year, month, day), date(year, month, day), "day", side
    if month:
        return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]), "month", side
    return date(year, 1, 1), date(year, 12, 31), "year", side


def found(text: str, said_at: datetime = MONDAY) -> list[Time]:
    return [(when.phrase, when.start, when.end, when.granularity, when.open) for when in resolve(text, said_at)]


@pytest.mark.parametrize("case", lines(*POSITIVE))
def test_a_text_and_its_times(case: str) -> None:
    text, said_at, times = parsed(case)
    assert found(text, said_at) == times


@pytest.mark.parametrize("text", lines(date_cases_languages.NO_DATE))
def test_what_is_no_certain_date(text: str) -> None:
    assert found(text) == []


def test_times_come_in_order_of_the_text_and_know_their_place() -> None:
    text = "Yesterday I ran; on 3 May 2023 I swam, and the week before 1 May I slept."
    times = resolve(text, MONDAY)
    assert [when.phrase for when in times] == ["Yesterday", "3 May 2023", "the week before 1 May"]
    assert all(text[slice(*when.span)] == when.phrase for when in times)


def test_days_are_those_of_the_zone_in_which_a_text_was_said() -> None:
    [when] = resolve("yesterday", datetime.fromisoformat("2023-05-08T01:00:00+09:00"))
    assert when.start == date(2023, 5, 7)


def test_a_time_knows_its_language_and_its_open_side() -> None:
    [when] = resolve("seit letzter Woche", MONDAY)
    assert (when.language, when.open) == ("de", Open.SINCE)


def test_a_long_text_is_read_like_a_short_one() -> None:
    sentence = "On 3 May 2023 we swam, and I have rested since last Friday. "
    times = resolve(sentence * 50 + "And so on. " * 50, MONDAY)
    assert [when.phrase for when in times] == ["3 May 2023", "last Friday"] * 50


@pytest.mark.parametrize("text", ["We met on 3 May 2023. ", "in June ", "2023年5月8日，"])
def test_of_a_text_that_is_a_table_of_dates_the_first_are_read(text: str) -> None:
    times = resolve(text * (MOST_READINGS + 100), MONDAY)
    assert MOST_READINGS // 3 < len(times) <= MOST_READINGS
    assert [when.span for when in times[:9]] == [when.span for when in resolve(text * 9, MONDAY)]


@pytest.mark.parametrize(
    ("text", "plain", "beside"),
    [
        ("yesterday", "7 May 2023", "7 May 2023"),
        ("last week", "the week of 1 May 2023", "the week of 1 May 2023"),
        ("last weekend", "the weekend of 6 May 2023", "the weekend of 6 May 2023"),
        ("the week before 9 June", "2–8 June 2023", "2–8 June 2023"),
        ("last month", "April 2023", "April 2023"),
        ("on 16 March", "16 March 2023", "2023"),
        ("March 16th", "16 March 2023", "2023"),
        ("in Sept", "September 2023", "2023"),
        ("last May", "May 2022", "2022"),
        ("last summer", "summer 2022", "2022"),
        ("last fall", "autumn 2022", "2022"),
        ("this winter", "winter 2023", "2023–2024"),
        ("from 12 to 15 June", "12–15 June 2023", "2023"),
        ("28 December to 2 January", "28 December 2022 – 2 January 2023", "2022–2023"),
        ("from 30 May to 2 June 2022", "30 May – 2 June 2022", "30 May – 2 June 2022"),
        ("from May to July", "May–July 2023", "2023"),
        ("early May", "early May 2023", "2023"),
        ("mid-2021", "mid-2021", "mid-2021"),
        ("the late nineties", "late 1990s", "late 1990s"),
        ("in the 90s", "the 1990s", "the 1990s"),
        ("the 21st century", "the 21st century", "the 21st century"),
        ("the 12th century", "the 12th century", "the 12th century"),
        ("a few years ago", "2018–2021", "2018–2021"),
        ("H1 2022", "January–June 2022", "January–June 2022"),
        ("last quarter", "Q1 2023", "Q1 2023"),
        ("since 2016", "2016", "2016"),
        ("seven years now", "2016", "since 2016"),
        ("on 3/16/23", "16 March 2023", "16 March 2023"),
        ("我昨天去了", "7 May 2023", "2023-05-07"),
        ("上周很忙", "the week of 1 May 2023", "2023-05-01/2023-05-07"),
        ("5月9号见", "9 May 2023", "2023"),
        ("letzten Monat", "April 2023", "2023-04"),
        ("hace un año", "2022", "2022"),
    ],
)
def test_a_time_in_plain_words_and_beside_its_phrase(text: str, plain: str, beside: str) -> None:
    [when] = resolve(text, MONDAY)
    assert (spoken(when), written(when)) == (plain, beside)


@pytest.mark.parametrize("said_at", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)])
@pytest.mark.parametrize("case", lines(*POSITIVE))
def test_the_calendar_has_an_end(case: str, said_at: datetime) -> None:
    for when in resolve(parsed(case)[0], said_at):
        assert when.start <= when.end
        assert spoken(when)
        assert written(when)


def test_letters_that_only_look_alike_are_no_words() -> None:
    assert resolve("lastİ week, MAY 5 and laſt İune", MONDAY) == [
        When(date(2023, 5, 5), date(2023, 5, 5), Granularity.DAY, "MAY 5", (12, 17), yearless=True)
    ]
