"""The rules that the languages with an alphabet have in common, made from a vocabulary."""

from collections.abc import Iterator, Sequence

from app.domain.date_readers import Reader, opened
from app.domain.date_rules import FIGURE, Grammar, Modifier, Read, Rule, any_of
from app.domain.date_vocabulary import YEAR, Vocabulary
from app.domain.periods import Open


def grammar(
    v: Vocabulary,
    rules: Sequence[Rule] = (),
    before: Sequence[Modifier] = (),
    after: tuple[Modifier, ...] = (),
    leading: frozenset[str] = frozenset(),
) -> Grammar:
    """The grammar of a language, with what is its own: rules, and words before and after a time that change it.

    `leading` are the last of those before.
    """
    read = Reader(v)
    return Grammar(
        language=v.language,
        rules=(*_rules(v, read), *rules),
        leading=v.joining | leading,
        before=(*_changing(v, read), *before, *_opening(v)),
        to=v.pattern(rf"<TO>(?:{v.the})?"),
        between=v.pattern(rf"\b(?:{v.between}) (?:{v.the})?\Z"),
        after=after,
        and_=v.pattern(rf" (?:{v.and_}) (?:{v.the})?"),
    )


def _rules(v: Vocabulary, read: Reader) -> Iterator[Rule]:
    months = rf"(?P<month>{any_of(v.all_months)})\b"
    noun = rf"(?:(?:<UNIT>|<WEEKDAY>)(?! of\b)|{months}\.?(?! ?\d)|<SEASON>(?! \d)|<FEAST>)"
    sides = f"{v.since}|{v.until}|{v.before}|{v.after}"
    lead = rf"\b(?P<lead>{v.within}|{sides}|{v.early}|{v.mid}|{v.late})(?: |-)(?:{v.the})?"
    feast_lead = rf"\b(?P<lead>{v.on}|{sides}) (?:{v.the})?"
    figure, month, unit, feast = frozenset((FIGURE,)), v.cues(v.all_months), v.cues(v.units), v.cues(v.feasts)
    pointed = v.cues(v.units, v.weekdays, v.all_months, v.seasons, v.feasts)
    for template, reader, cues in (
        *_spans(v, read),
        *((template, read.dated, month) for template in v.dates),
        (rf"\b<MONTH>{v.of_year}<YEAR>{v.no_year}", read.month_of_year, month),
        (rf"{lead}(?P<phrase>{months})(?! ?\d)", read.month, month),
        (rf"{lead}(?P<phrase><YEAR>){v.no_year}", read.year, figure),
        (rf"\b<SEASON>{v.of_year}(?:(?P<winter>{YEAR})[/\-–]\d\d\b|<YEAR>)", read.season_of_year, v.cues(v.seasons)),
        (rf"\b<FEAST>{v.of_year}<YEAR>", read.feast, feast),
        (rf"{feast_lead}(?P<phrase><FEAST>){v.no_feast}", read.feast, feast),
        *((template, read.decade, figure) for template in v.decades),
        (rf"{v.no_days}\b(?P<away>{any_of(v.days)})\b", read.day_away, v.cues(v.days)),
        (rf"{v.no_which}\b(?P<which>{any_of(v.which)}) {noun}", read.pointed_at, pointed),
        *([(rf"\b{noun} (?P<which>{any_of(v.which_after)})\b", read.pointed_at, pointed)] if v.which_after else []),
        (v.ago, read.ago, unit),
        *((template, read.ahead, unit) for template in v.ahead),
        (v.lasting, read.lasting, unit),
    ):
        yield Rule(v.pattern(template), reader, cues)


def _spans(v: Vocabulary, read: Reader) -> Iterator[tuple[str, Read, frozenset[str]]]:
    """Spans whose ends share a month or a year: "12 to 15 June", and "between 12 and 15 June"."""
    figure, month = frozenset((FIGURE,)), v.cues(v.all_months)
    years = rf"(?P<year>{YEAR})<TO>(?P<year2>{YEAR})\b"
    plain = [(template, read.day_span, month) for template in v.day_spans]
    plain.append((rf"\b<MONTH><TO><MONTH2>(?:{v.of_year}<YEAR>)?", read.month_span, month))
    yield from plain
    yield rf"(?:\b(?:{v.within}|{v.from_}) |\()(?P<phrase>{years})", read.year_span, figure
    for template, reader, cues in (*plain, (years, read.year_span, figure)):
        joined = template.replace("<TO>", f" (?:{v.and_}) ")
        yield rf"\b(?:{v.between}) (?:{v.the})?(?P<phrase>{joined})", reader, cues


def _changing(v: Vocabulary, read: Reader) -> Iterator[Modifier]:
    parts = rf"(?:(?P<early>{v.early})|(?P<mid>{v.mid})|(?P<late>{v.late}))"
    yield Modifier(v.pattern(rf"\b(?:{v.the})?{parts}(?: |-)(?:{v.the})?\Z"), read.part)
    sides = rf"(?:(?P<prior>{v.before})|(?P<later>{v.after}))"
    yield Modifier(v.pattern(rf"\b(?:<COUNT> |{v.the})(?:<UNIT>|<WEEKDAY>) {sides} (?:{v.the})?\Z"), read.offset)


def _opening(v: Vocabulary) -> Iterator[Modifier]:
    for words, side in ((f"{v.since}|{v.after}", Open.SINCE), (f"{v.until}|{v.before}", Open.UNTIL)):
        yield Modifier(v.pattern(rf"\b(?:{words}) (?:{v.the})?\Z"), opened(side), joins=False)
