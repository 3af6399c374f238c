"""Whatever the text: no crash, times in order, and a day that is told in words lies in what they resolve to."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.domain.date_words import DAYS, MONTHS
from app.domain.dates import Granularity, resolve, spoken, written
from tests.unit.date_cases_languages import NO_DATE
from tests.unit.test_dates import POSITIVE, lines

PIECES = sorted({word for line in lines(*POSITIVE, NO_DATE) for word in line.split()})
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=12).map(" ".join)
TODAYS = st.dates(date(1600, 1, 1), date(2150, 1, 1))
MONTHS_OF = {
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
DAYS_OF = {
    "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
}


def month(language: str, of: date) -> str:
    return MONTHS_OF[language].split()[of.month - 1]


def weekday(language: str, of: date) -> str:
    return DAYS_OF[language].split()[of.weekday()]


def at(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)


@given(TEXTS | st.text(), st.datetimes())
def test_any_text_gives_times_in_order(text: str, said_at: datetime) -> None:
    end = 0
    for when in resolve(text, said_at):
        assert end <= when.span[0] < when.span[1]
        assert text[slice(*when.span)] == when.phrase
        assert when.start <= when.end
        assert spoken(when)
        assert written(when)
        end = when.span[1]


def third(of: date) -> str:
    return ("early", "mid", "late")[min((of.day - 1) // 10, 2)]


ABSOLUTE: Mapping[str, Callable[[date], str]] = {
    "day month year": lambda d: f"on {d.day} {MONTHS[d.month - 1]} {d.year}",
    "month day, year": lambda d: f"{MONTHS[d.month - 1]} {d.day}, {d.year} it was",
    "ordinal": lambda d: f"the {d.day}th of {MONTHS[d.month - 1]}, {d.year}",
    "iso": lambda d: f"at {d.isoformat()}T10:00",
    "dots": lambda d: f"{d.day:02}.{d.month:02}.{d.year}",
    "american": lambda d: f"on {d.month}/{d.day}/{d.year}",
    "iso week": lambda d: "in {}-W{:02}".format(*d.isocalendar()[:2]),
    "month": lambda d: f"in {MONTHS[d.month - 1]} {d.year}",
    "part of a month": lambda d: f"in {third(d)} {MONTHS[d.month - 1]} {d.year}",
    "half of a month": lambda d: f"the {'second' if d.day > 15 else 'first'} half of {MONTHS[d.month - 1]} {d.year}",
    "quarter": lambda d: f"in Q{(d.month + 2) // 3} {d.year}",
    "year": lambda d: f"in {d.year}",
    "part of a year": lambda d: f"in {('early', 'mid', 'late')[(d.month - 1) // 4]} {d.year}",
    "decade": lambda d: f"in the {d.year // 10 * 10}s",
    "span of days": lambda d: f"from {d - timedelta(3)} to {d + timedelta(4)}",
    "span of months": lambda d: f"from {MONTHS[d.month - 1]} {d.year} to {MONTHS[d.month % 12]} {d.year + 1}",
    "span of years": lambda d: f"between {d.year - 2} and {d.year + 3}",
    "day after": lambda d: f"the day after {d - timedelta(1)}",
    "days before": lambda d: f"three days before {d + timedelta(3)}",
    "week before": lambda d: f"the week before {d + timedelta(5)}",
    "weekday before": lambda d: f"the {DAYS[d.weekday()]} before {d + timedelta(6)}",
    "week of": lambda d: f"the week of {d - timedelta(d.weekday())}",
    "since": lambda d: f"since {d.day} {MONTHS[d.month - 1]} {d.year}",
    "German": lambda d: f"am {d.day}. {month('de', d)} {d.year}",
    "French": lambda d: f"le {d.day} {month('fr', d)} {d.year}",
    "French figures": lambda d: f"nous sommes arrivés le {d.day}/{d.month}/{d.year}",
    "Spanish": lambda d: f"el {d.day} de {month('es', d)} de {d.year}",
    "Chinese": lambda d: f"在{d.year}年{d.month}月{d.day}日",
    "Japanese": lambda d: f"{d.year}年{d.month}月{d.day}日に",
}


@pytest.mark.parametrize("phrasing", ABSOLUTE)
@given(TODAYS, TODAYS)
def test_a_day_lies_in_what_names_it(phrasing: str, day: date, today: date) -> None:
    [when] = resolve(ABSOLUTE[phrasing](day), at(today))
    assert when.start <= day <= when.end


def weeks_before(today: date, day: date) -> int:
    return (today - timedelta(today.weekday()) - (day - timedelta(day.weekday()))).days // 7


def months_before(today: date, day: date) -> int:
    return 12 * (today.year - day.year) + today.month - day.month


RELATIVE: Mapping[str, Callable[[date, date], str | bool]] = {
    "yesterday": lambda d, t: (t - d).days == 1 and "yesterday",
    "days ago": lambda d, t: f"{(t - d).days} days ago",
    "few days ago": lambda d, t: 2 <= (t - d).days <= 5 and "a few days ago",
    "last weekday": lambda d, t: (t - d).days <= 7 and f"last {DAYS[d.weekday()]}",
    "on weekday": lambda d, t: (t - d).days <= 7 and f"I met her on {DAYS[d.weekday()]}.",
    "weekday last week": lambda d, t: weeks_before(t, d) == 1 and f"{DAYS[d.weekday()]} last week",
    "last week": lambda d, t: weeks_before(t, d) == 1 and "last week",
    "week before last": lambda d, t: weeks_before(t, d) == 2 and "the week before last",
    "weeks ago": lambda d, t: weeks_before(t, d) > 0 and f"{weeks_before(t, d)} weeks ago",
    "last month": lambda d, t: months_before(t, d) == 1 and "last month",
    "months ago": lambda d, t: months_before(t, d) > 0 and f"{months_before(t, d)} months ago",
    "day of last month": lambda d, t: months_before(t, d) == 1 and f"the {d.day}th of last month",
    "last year": lambda d, t: t.year - d.year == 1 and "last year",
    "month last year": lambda d, t: t.year - d.year == 1 and f"in {MONTHS[d.month - 1]} last year",
    "few years ago": lambda d, t: 2 <= t.year - d.year <= 5 and "a few years ago",
    "day without year": lambda d, t: (t - d).days < 180 and f"on {d.day} {MONTHS[d.month - 1]} we met",
    "month, past": lambda d, t: (t - d).days < 330 and f"I was there in {MONTHS[d.month - 1]}",
    "German days": lambda d, t: f"vor {(t - d).days} Tagen war ich dort",
    "German weekday": lambda d, t: (t - d).days <= 7 and f"letzten {weekday('de', d)}",
    "French days": lambda d, t: f"il y a {(t - d).days} jours",
    "French weekday": lambda d, t: (t - d).days <= 7 and f"{weekday('fr', d)} dernier",
    "Spanish days": lambda d, t: f"hace {(t - d).days} días",
    "Spanish weekday": lambda d, t: (t - d).days <= 7 and f"el {weekday('es', d)} pasado",
    "Chinese days": lambda d, t: (t - d).days < 1000 and f"{(t - d).days}天前",
    "Chinese weekday": lambda d, t: weeks_before(t, d) == 1 and f"上周{'一二三四五六日'[d.weekday()]}",
    "Japanese weekday": lambda d, t: weeks_before(t, d) == 1 and f"先週の{'月火水木金土日'[d.weekday()]}曜日",
}


@pytest.mark.parametrize("phrasing", RELATIVE)
@given(TODAYS, st.integers(1, 7) | st.integers(1, 60) | st.integers(1, 2000))
def test_a_past_day_lies_in_what_tells_how_far_it_is(phrasing: str, today: date, days: int) -> None:
    day = today - timedelta(days=days)
    text = RELATIVE[phrasing](day, today)
    if text:
        [when] = resolve(str(text), at(today))
        assert when.start <= day <= when.end


AHEAD: Mapping[str, Callable[[date, date], str | bool]] = {
    "tomorrow": lambda d, t: (d - t).days == 1 and "tomorrow",
    "in days": lambda d, t: f"we leave in {(d - t).days} days",
    "next weekday": lambda d, t: (d - t).days <= 7 and f"next {DAYS[d.weekday()]}",
    "this weekday": lambda d, t: (d - t).days < 7 and f"this {DAYS[d.weekday()]}",
    "on weekday": lambda d, t: (d - t).days <= 7 and f"I will see her on {DAYS[d.weekday()]}.",
    "next week": lambda d, t: weeks_before(d, t) == 1 and "next week",
    "weeks from now": lambda d, t: weeks_before(d, t) > 0 and f"{weeks_before(d, t)} weeks from now",
    "next month": lambda d, t: months_before(d, t) == 1 and "next month",
    "next year": lambda d, t: d.year - t.year == 1 and "next year",
    "month, to come": lambda d, t: (d - t).days < 330 and f"We will move in {MONTHS[d.month - 1]}",
    "German": lambda d, t: f"in {(d - t).days} Tagen fahren wir",
    "French": lambda d, t: f"dans {(d - t).days} jours",
    "Spanish": lambda d, t: f"dentro de {(d - t).days} días",
    "Chinese": lambda d, t: (d - t).days < 1000 and f"{(d - t).days}天后",
    "Japanese": lambda d, t: weeks_before(d, t) == 1 and f"来週の{'月火水木金土日'[d.weekday()]}曜日",
}


@pytest.mark.parametrize("phrasing", AHEAD)
@given(TODAYS, st.integers(1, 7) | st.integers(1, 60) | st.integers(1, 2000))
def test_a_day_to_come_lies_in_what_tells_how_far_it_is(phrasing: str, today: date, days: int) -> None:
    day = today + timedelta(days=days)
    text = AHEAD[phrasing](day, today)
    if text:
        [when] = resolve(str(text), at(today))
        assert when.start <= day <= when.end


@given(st.sampled_from(lines(*POSITIVE)), TODAYS)
def test_plain_words_mean_the_same_again(case: str, today: date) -> None:
    text = case.rpartition(" | ")[0].replace("[", "").replace("]", "")
    for when in resolve(text, at(today)):
        assume(1600 < when.start.year < 2150)
        if when.granularity is not Granularity.CENTURY:
            [again] = resolve(f"in {spoken(when)}", at(date(1900, 1, 1)))
            assert (again.start, again.end) == (when.start, when.end)
