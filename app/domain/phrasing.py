"""The few words that an answer without a language model adds of its own, in the language of the question."""

import re
from dataclasses import dataclass
from datetime import date

from app.domain.date_names import in_figures
from app.domain.date_words import MONTHS
from app.domain.dates import When, spoken
from app.domain.periods import Granularity, Period
from app.domain.text import terms

GERMAN_MONTHS = (
    *("Januar", "Februar", "März", "April", "Mai", "Juni"),
    *("Juli", "August", "September", "Oktober", "November", "Dezember"),
)


@dataclass(frozen=True, slots=True)
class Phrasing:
    """The words of one language. `comma` joins the entries of a list; `but` leads a second opinion;
    `told_by` tells the day by which something had happened.
    """

    language: str
    yes: str
    no: str
    stop: str
    comma: str
    but: str
    told_by: str

    def time(self, when: When) -> str:
        """A time as it is written: in words in English, in figures in other languages, but for a single day."""
        if self.language == "en":
            return spoken(when)
        one_day = when.granularity is Granularity.DAY and when.start == when.end
        return self.day(when.start) if one_day else in_figures(Period(when.start, when.end, when.granularity))

    def day(self, of: date) -> str:
        """A day as it is written."""
        if self.language in ("zh", "ja"):
            return f"{of.year}年{of.month}月{of.day}日"
        months = GERMAN_MONTHS if self.language == "de" else MONTHS
        return f"{of.day}{'.' if self.language == 'de' else ''} {months[of.month - 1]} {of.year}"

    def opposed(self, late: str, early: str) -> str:
        """Two sides that disagree."""
        return f"{late}{self.comma}{self.but}{'' if self.language in ('zh', 'ja') else ' '}{early}"

    def affirmed(self, sentence: str) -> str:
        """Yes, and the sentence that says so."""
        return f"{self.yes}{self.stop}{sentence}"

    def denied(self, sentence: str) -> str:
        """No, and the sentence that says so."""
        return f"{self.no}{self.stop}{sentence}"


_ENGLISH = Phrasing("en", "Yes", "No", ". ", ", ", "but", "by {}")
_GERMAN = Phrasing("de", "Ja", "Nein", ". ", ", ", "aber", "bis {}")
_CHINESE = Phrasing("zh", "是", "不", "。", "、", "但", "截至{}")
_JAPANESE = Phrasing("ja", "はい", "いいえ", "。", "、", "しかし", "{}まで")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_ASKING = "wann wer wen wem wessen wo woher wohin wie wieviel warum wieso weshalb welche welcher welches welchen"
_GERMAN_LEADS = frozenset(_ASKING.split())
_GERMAN_LISTING = """
    was hat haben hatte ist sind war waren wird werden kann mag der die das den dem ein eine einen und oder nicht mit
    von zu für auf seit bis
"""
_GERMAN_WORDS = frozenset(_GERMAN_LISTING.split())


_GERMAN_STEMS = frozenset(terms(f"{_ASKING} {_GERMAN_LISTING}"))


def small_words(language: str) -> frozenset[str]:
    """Index terms of words that say nothing in a language; `text.terms` leaves those of English out by itself."""
    return _GERMAN_STEMS if language == "de" else frozenset()


def phrasing(question: str) -> Phrasing:
    """The phrasing in a question's language; English where it is none of the four."""
    if _KANA.search(question):
        return _JAPANESE
    if _HAN.search(question):
        return _CHINESE
    words = re.findall(r"\w+", question.lower())
    leads = not _GERMAN_LEADS.isdisjoint(words[:2])  # "Seit wann …?"
    return _GERMAN if leads or sum(word in _GERMAN_WORDS for word in words) > 1 else _ENGLISH
