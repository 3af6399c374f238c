"""How many of the temporal questions of a LoCoMo file have their answer among the dates of their evidence.

    python -m tests.benchmarks.dates --data FILE [--conversations 1,3,5] [--misses]

The answer ("The week before 9 June 2023") is read by a reader of its own; what it cannot read (durations, names)
is left out and counted. An answer may be *equal* to a date that is resolved from one of the question's evidence
messages, be *held* by one that is a year long at most, or *fit* one: either lies in the other ("June 2023", where
the message says "last week"). "with the day" also takes the day of each evidence message for one of its dates, for
what is told without a date word.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import chain
from pathlib import Path

from app.domain.dates import resolve
from app.domain.messages import Draft
from app.evaluation import locomo
from app.evaluation.datasets import Conversation, Question

TEMPORAL = "temporal"
LONGEST = timedelta(days=366)  # that still counts as an answer
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "a few": 0, "few": 0}
NTH = {"first": 0, "second": 1, "third": 2, "last": -1}

Span = tuple[date, date]


@dataclass(frozen=True)
class Gold:
    """What an answer may mean, and in which unit it is told."""

    unit: str
    spans: tuple[Span, ...]


CORE = re.compile(
    r"(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?\W+(?:of )?)?(?P<month>" + "|".join(MONTHS) + r")[a-z]*\W*"
    r"(?:(?P<after>\d{1,2})(?:st|nd|rd|th)?(?!\d))?\W*(?P<year>\d{4})?\W*$"
    r"|(?P<season>" + "|".join(SEASONS) + r")(?: of)? (?P<of>\d{4})\W*$"
    r"|(?P<alone>(?:19|20)\d\d)\W*$",
    re.IGNORECASE,
)
BEFORE = re.compile(r"(?:the )?(?:(?P<count>" + "|".join(COUNTS) + r") )?(?P<unit>[a-z]+?)s? before ?(?:the )?$")
NTH_OF = re.compile(r"(?:the )?(?P<nth>" + "|".join(NTH) + r") (?P<unit>week|weekend) (?:of|in) $")
PARTS = {"early": (1, 10), "beginning of": (1, 10), "mid": (11, 20), "middle of": (11, 20), "late": (21, 31)}
PARTS |= {"end of": (21, 31)}


def read_gold(answer: str, near: Sequence[date]) -> Gold | None:
    """The spans that an answer may mean; a year that it lacks is one of those of `near`. None if it is no date."""
    text = " ".join(answer.casefold().split())
    core = CORE.search(text)
    if core is None:
        return None
    lead = re.sub(r"^(?:since|in|around|on|by|during|at|approximately) +|(?<=^the )(?=\d)", "", text[: core.start()])
    try:
        golds = [_gold(lead, *_core(core, year)) for year in {day.year for day in near} or {1}]
    except ValueError:
        return None
    return Gold(golds[0].unit, tuple(chain.from_iterable(gold.spans for gold in golds)))


def _core(core: re.Match[str], near: int) -> tuple[str, Span]:
    if core["alone"]:
        return "year", (date(int(core["alone"]), 1, 1), date(int(core["alone"]), 12, 31))
    if core["season"]:
        start = date(int(core["of"]), SEASONS[core["season"]], 1)
        return "season", (start, _month_end(_month_end(_month_end(start) + timedelta(1)) + timedelta(1)))
    year, month = int(core["year"] or near), MONTHS.index(core["month"]) + 1
    day = core["day"] or core["after"]
    if day:
        return "day", (date(year, month, int(day)),) * 2
    return "month", (date(year, month, 1), _month_end(date(year, month, 1)))


def _month_end(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def _gold(lead: str, unit: str, span: Span) -> Gold:
    if before := BEFORE.search(lead):
        return _before(before, unit, span)
    if nth := NTH_OF.search(lead):
        found = _nth(NTH[nth["nth"]], nth["unit"], span)
        return Gold(nth["unit"], (found, _week(found[1])) if nth["unit"] == "week" else (found,))
    if "week of" in lead:
        return Gold("week", (_week(span[0]),))
    for word, (first, last) in PARTS.items():
        if word in lead and unit == "month":
            return Gold("month", ((span[0].replace(day=first), min(span[1], span[0] + timedelta(days=last - 1))),))
    return Gold(unit, (span,))


def _before(before: re.Match[str], unit: str, span: Span) -> Gold:
    """The week before a day: the seven days, or the calendar week, as speakers mean either."""
    count, word, day = COUNTS.get(before["count"] or "", 1), before["unit"], span[0]
    if unit == "year":
        return Gold("year", ((day.replace(year=day.year - (count or 5)), day - timedelta(days=1)),))
    if word in DAYS:
        back = (day.weekday() - DAYS.index(word)) % 7 or 7
        return Gold("day", ((day - timedelta(days=back + 7 * (count - 1)),) * 2,))
    length = {"day": 1, "week": 7, "weekend": 7, "month": 30}.get(word)
    if length is None:
        raise ValueError("no unit of time")
    if count == 0:
        return Gold(word, ((day - timedelta(days=5 * length), day - timedelta(days=2 * length - 1)),))
    past = day - timedelta(days=count * length)
    if word == "day":
        return Gold("day", ((past, past),))
    if word == "weekend":
        monday, _ = _week(past)
        return Gold("weekend", ((monday + timedelta(days=5), monday + timedelta(days=6)),))
    if word == "month":
        return Gold("month", ((past.replace(day=1), _month_end(past)),))
    spans = [_week(past), (past, past + timedelta(days=6))]
    return Gold("week", (*spans, (past, past)) if count > 1 else tuple(spans))


def _week(day: date) -> Span:
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6)


def _nth(number: int, unit: str, span: Span) -> Span:
    start = span[1] - timedelta(days=6) if number < 0 else span[0] + timedelta(days=7 * number)
    if unit == "week":
        return start, start + timedelta(days=6)
    saturday = start + timedelta(days=(5 - start.weekday()) % 7)
    return saturday, saturday + timedelta(days=1)


def _verdict(gold: Gold, found: Sequence[Span]) -> set[str]:
    verdict = set()
    for start, end in found:
        for first, last in gold.spans:
            if (start, end) == (first, last):
                verdict.add("equal")
            if start <= first and last <= end and end - start <= LONGEST:
                verdict |= {"held", "fits"}
            if first <= start and end <= last:
                verdict.add("fits")
    return verdict


def _resolved(message: Draft) -> list[Span]:
    assert message.occurred_at is not None
    return [(when.start, when.end) for when in resolve(message.content, message.occurred_at)]


@dataclass(frozen=True)
class Case:
    """A question whose answer is a date, with what its evidence gives."""

    conversation: int
    question: Question
    gold: Gold
    messages: tuple[Draft, ...]

    def verdict(self, *, with_the_day: bool = False) -> set[str]:
        """Of equal, held and fits those that are true."""
        found = [span for message in self.messages for span in _resolved(message)]
        if with_the_day:
            found += [(m.occurred_at.date(),) * 2 for m in self.messages if m.occurred_at]
        return _verdict(self.gold, found)


def cases(conversations: Sequence[Conversation], left_out: Counter[int]) -> Iterator[Case]:
    """The temporal questions whose answers are dates; the others are counted in `left_out`, by conversation."""
    for conversation in conversations:
        by_id = {message.external_id: message for message in conversation.messages}
        for question in conversation.questions:
            if question.category != TEMPORAL:
                continue
            messages = tuple(by_id[id] for id in question.evidence)
            days = [message.occurred_at.date() for message in messages if message.occurred_at]
            gold = read_gold(question.answer or "", days)
            if gold is None:
                left_out[conversation.number] += 1
            else:
                yield Case(conversation.number, question, gold, messages)


def table(found: Sequence[Case], title: str) -> str:
    """Shares by the unit of the answer."""
    lines = [f"{title:14} answers  equal   held   fits  fits with the day"]
    for unit in [*dict.fromkeys(sorted(case.gold.unit for case in found)), "all"]:
        chosen = [case for case in found if unit in ("all", case.gold.unit)]
        plain = Counter(chain.from_iterable(case.verdict() for case in chosen))
        told = Counter(chain.from_iterable(case.verdict(with_the_day=True) for case in chosen))
        equal, held, fits = (plain[key] / len(chosen) for key in ("equal", "held", "fits"))
        with_the_day = told["fits"] / len(chosen)
        lines.append(f"{unit:14} {len(chosen):7} {equal:6.3f} {held:6.3f} {fits:6.3f} {with_the_day:18.3f}")
    return "\n".join(lines)


def main() -> None:
    """Print the tables, and the misses if asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--conversations", default="", help="numbers, with commas; all by default")
    parser.add_argument("--misses", action="store_true", help="print the questions whose answer fits none")
    given = parser.parse_args()
    numbers = [int(number) for number in given.conversations.split(",") if number]
    left_out: Counter[int] = Counter()
    found = list(cases(locomo.load(given.data).pick(numbers), left_out))
    for number in sorted({case.conversation for case in found}):
        chosen = [case for case in found if case.conversation == number]
        print(table(chosen, f"conversation {number}"))
        print(f"no date as answer: {left_out[number]}\n")
    print(table(found, "together"))
    if given.misses:
        for case in found:
            if "fits" not in case.verdict():
                print(f"\n{case.conversation}.{case.question.number} {case.question.text}\n  {case.question.answer}")
                for message in case.messages:
                    print(f"  [{message.occurred_at:%a %Y-%m-%d}] {message.content}\n    {_resolved(message)}")


if __name__ == "__main__":
    main()
