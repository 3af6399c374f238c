"""What a language with an alphabet needs to tell times, as tables and patterns; `date_grammar` makes rules of it.

Patterns are written as for `date_rules.compiled`, with names for what the tables hold: <COUNT>, <UNIT>, <DAY>,
<MONTH>, <YEAR>, <WEEKDAY>, <SEASON>, <FEAST>. <DAY2> and <MONTH2> are the later end of a span, <TO> what joins it.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from app.domain.date_rules import any_of, compiled, words_in
from app.domain.feasts import Feast

YEAR = r"(?:1[5-9]|20|21)\d\d"
_GOES_ON = r"[\d%€]|[.,:/\-–]\d"  # "2016-17", "2016.5", "2016%": no year
_PLACE = re.compile(r"<([A-Z]+2?)>")


def _no_side(_: re.Match[str]) -> int:
    return 0


def _certain(_: re.Match[str]) -> bool:
    return True


@dataclass(frozen=True, kw_only=True, eq=False)
class Vocabulary:
    """A language's words for times, in lower case.

    `plain` are frequent words by which the language is known, with spaces between. Of `which` and `which_after`,
    before and behind what they point at, -1 is the last, 0 the present and 1 the next. `verbs` are forms that are
    more often another word; after a preposition they are months. `lean` tells on which side of today a sentence is
    and `has_lasted` whether `lasting` tells since when, as in `date_tense`.
    """

    language: str
    plain: str
    months: Mapping[str, int]
    short_months: Mapping[str, int] = field(default_factory=dict)
    weekdays: Mapping[str, int]
    seasons: Mapping[str, int]
    feasts: Mapping[str, Feast]
    units: Mapping[str, str]
    counts: Mapping[str, tuple[float, float]]  # least and most
    days: Mapping[str, int]
    which: Mapping[str, int]
    which_after: Mapping[str, int] = field(default_factory=dict)
    verbs: frozenset[str] = frozenset()
    lean: Callable[[re.Match[str]], int] = _no_side
    has_lasted: Callable[[re.Match[str]], bool] = _certain

    day_ending: str  # after the figures of a day
    ago: str
    ahead: tuple[str, ...]
    lasting: str  # for as long as that until now
    dates: tuple[str, ...]
    day_spans: tuple[str, ...]
    of_year: str  # between a month or season and its year
    decades: tuple[str, ...]

    the: str  # articles, each with its space
    within: str  # "in", before a month or a year
    since: str
    until: str
    early: str
    mid: str
    late: str
    on: str  # before a feast
    before: str
    after: str
    from_: str
    to: str
    between: str
    and_: str
    or_: str
    no_days: str = ""  # what a word for a day does not come after
    no_which: str = ""  # what a word of `which` does not come after
    no_year: str = ""  # what a number that is a year does not come before
    no_feast: str = ""  # what a feast does not come before

    @cached_property
    def all_months(self) -> Mapping[str, int]:
        """Full and short names."""
        return {**self.months, **self.short_months}

    def cues(self, *tables: Iterable[str]) -> frozenset[str]:
        """The last words of the entries of tables; of all that a time cannot do without, by default."""
        chosen = tables or (self.all_months, self.weekdays, self.seasons, self.units, self.feasts, self.days)
        return frozenset(words_in(phrase)[-1] for table in chosen for phrase in table)

    @cached_property
    def joining(self) -> frozenset[str]:
        """Words just before a time that change it, with articles."""
        patterns = (self.early, self.mid, self.late, self.since, self.until, self.before, self.after, self.the)
        return frozenset(word for pattern in patterns for word in words_in(pattern))

    @cached_property
    def words(self) -> frozenset[str]:
        """Words by which a text in this language is known."""
        phrases = (*self.which, *self.which_after, *self.counts)
        found = self.joining.union(*map(words_in, phrases))
        return self.cues().union(self.plain.split(), (word for word in found if len(word) > 1))

    def pattern(self, template: str) -> re.Pattern[str]:
        """A template with its names filled in."""
        return compiled(_PLACE.sub(lambda place: self._places[place[1]], template))

    @cached_property
    def _places(self) -> Mapping[str, str]:
        month = rf"{any_of(self.all_months)})\b\.?"
        number = rf"\d{{1,4}}|{any_of(self.counts)}"
        year = rf"{YEAR}|[\x27’‘]\d\d)(?!{_GOES_ON})"
        return {
            "COUNT": rf"(?<![\w.,])(?P<count>{number})(?:(?: (?:{self.or_}) | ?[-–] ?)(?P<more>{number}))?",
            "UNIT": rf"(?P<unit>{any_of(self.units)})\b",
            "DAY": rf"(?P<day>\d{{1,2}}){self.day_ending}",
            "DAY2": rf"(?P<day2>\d{{1,2}}){self.day_ending}",
            "MONTH": rf"(?P<month>{month}",
            "MONTH2": rf"(?P<month2>{month}",
            "YEAR": rf"(?P<year>{year}",
            "WEEKDAY": rf"(?P<weekday>{any_of(self.weekdays)})\b",
            "SEASON": rf"(?P<season>{any_of(self.seasons)})\b",
            "FEAST": rf"(?P<feast>{any_of(self.feasts)})\b",
            "TO": rf"(?: (?:{self.to}) | ?[-–—] ?)",
        }
