"""Frames: the English and German clauses whose attribute and value are certain."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.domain import claim_words as words
from app.domain.canonical import MARK
from app.domain.claim_changes import changed, given_up, polar
from app.domain.claim_found import AGED, PREPOSITIONS, Found, capitals, has_digit, masked, residence
from app.domain.claim_plain import SUBJECT
from app.domain.claim_rewording import plain
from app.domain.clauses import Clause, Word
from app.domain.wording import FIRST_PERSON, WEEKDAY, Span

NEAR = 2  # words between a verb and the day that it speaks of, at most


@dataclass(frozen=True, slots=True)
class _Sentence:
    """Subject, verb and the rest of a clause."""

    subject: tuple[Word, ...]
    verb: str
    rest: tuple[Word, ...]
    times: tuple[Span, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.rest)

    @property
    def is_own(self) -> bool:
        """Whether the speaker is the subject."""
        return len(self.subject) == 1 and self.subject[0].text in FIRST_PERSON

    @property
    def head(self) -> str:
        """The subject's noun: "contact" in "our contact at Fenwick"."""
        before = next((i for i, word in enumerate(self.subject) if i and word.text in PREPOSITIONS), len(self.subject))
        return self.subject[before - 1].text

    @property
    def is_thing(self) -> bool:
        """Whether the subject is neither the speaker nor a person."""
        bare = len(self.subject) == 1 and self.subject[0].capital
        return not self.is_own and not bare and self.head not in words.KIN | words.MANY


def frame(clause: Clause) -> Found | None:
    """What the clause claims; None where no frame is certain to fit."""
    told = plain(clause)
    denied, said = (True, list(told.said)) if told.denied else _denial(list(told.said))
    if not said or words.UNSURE & {word.text for word in said}:
        return None
    found = given_up(said) if told.given_up else _claimed(said, told.times)
    if found is None:
        found = polar(said, () if told.denied else told.times)
    if found is None:
        return None
    since = told.times[0][0] if told.times and not (told.lasting and not told.denied) else found.since or told.since
    return replace(found, denied=denied ^ found.denied, since=since, lasting=found.lasting and told.lasting)


def _claimed(said: Sequence[Word], times: Sequence[Span]) -> Found | None:
    sentence = _sentence(said, times)
    found = changed(said, times)
    if found is None and sentence is not None:
        return next(filter(None, (rule(sentence) for rule in _RULES)), None)
    return found


def _denial(said: list[Word]) -> tuple[bool, list[Word]]:
    """Whether the clause is denied, and its words without what denies."""
    texts = [word.text for word in said]
    at = next((place for place in range(1, len(texts)) if texts[place : place + 2] == ["no", "longer"]), 0)
    if at:
        return True, said[:at] + said[at + 2 :]
    denials = [place for place, text in enumerate(texts) if text in words.DENIALS]
    if len(denials) != 1:
        return bool(denials) and len(denials) % 2 == 1, said if not denials else []
    at = denials[0]
    dropped = {at}
    if at and texts[at - 1] in words.AUXILIARIES:
        dropped.add(at - 1)
    dropped |= {place for place in range(at + 1, len(texts)) if texts[place] == "mehr"}
    return True, [word for place, word in enumerate(said) if place not in dropped]


def _sentence(said: Sequence[Word], times: Sequence[Span]) -> _Sentence | None:
    said = list(said)
    if len(said) > 1 and said[0].text in words.VERBS and said[1].text in FIRST_PERSON:
        said[:2] = said[1], said[0]
    if said[0].text == "there" or said[0].text in FIRST_PERSON:
        at = 1
    else:
        verbs = words.VERBS.keys() | words.BEEN
        at = next((place for place, word in enumerate(said[: SUBJECT + 1]) if place and word.text in verbs), 0)
    if not at or at >= len(said):
        return None
    verb, rest = _verb(said[at:])
    return _Sentence(tuple(said[:at]), verb, tuple(rest), tuple(times)) if verb else None


_SPELLED = {
    ("have", "worked"): "work",
    ("have", "lived"): "live",
    ("have", "been", "working"): "work",
    ("have", "been", "living"): "live",
    ("be", "working"): "work",
    ("be", "living"): "live",
    ("be", "based"): "live",
    ("have", "been"): "be",
    ("be", "parked"): "be",
    ("be", "located"): "be",
    ("be", "scheduled"): "be",
    ("be", "moved"): "be",
    ("was", "moved"): "be",
    ("was", "postponed"): "be",
    ("be", "called"): "named",
    ("be", "named"): "named",
}


def _verb(said: Sequence[Word]) -> tuple[str, Sequence[Word]]:
    """The verb that tells what holds, and what follows it."""
    first = "was" if said[0].text in words.BEEN else words.VERBS.get(said[0].text, "")
    for length in (3, 2):
        key = (first, *(word.text for word in said[1:length]))
        if key in _SPELLED and key[1:] not in (("called",), ("named",)):
            return _SPELLED[key], said[length:]
        if key in _SPELLED and len(said) > length and said[length].capital:
            return _SPELLED[key], said[length:]
    return first, said[1:]


# Rules: each reads one kind of value --------------------------------------------------------------------------


def _lives(sentence: _Sentence) -> Found | None:
    rest = sentence.rest
    if sentence.verb != "live" or len(rest) < 2 or sentence.texts[0] not in words.PLACES_BEFORE:
        return None
    place = capitals(rest[1:])
    if not place:
        return None
    prep = words.PLACES_BEFORE[sentence.texts[0]]
    return Found(_subject(sentence), residence(place, prep), place, count=_count(sentence))


def _works(sentence: _Sentence) -> Found | None:
    texts = sentence.texts
    if sentence.verb != "work" or any(WEEKDAY.fullmatch(text) for text in texts):
        return None
    if texts[:1] == ("as",):
        return Found(_subject(sentence), "work as", " ".join(texts[1:]))
    for place, text in enumerate(texts[:-1]):
        employer = capitals(sentence.rest[place + 1 :]) if text in ("at", "for", "bei") else ""
        if employer and not employer[0].isdigit():
            return Found(_subject(sentence), "work", employer, count=_count(sentence))
    return None


def _kept(sentence: _Sentence) -> Found | None:
    at = next((i for i, text in enumerate(sentence.texts) if i and text in words.PLACES_BEFORE), 0)
    if sentence.verb != "keep" or not at or len(sentence.rest) < at + 2:
        return None
    return Found(_subject(sentence), f"keep {' '.join(sentence.texts[:at])}", " ".join(sentence.texts[at + 1 :]))


def _state(sentence: _Sentence) -> Found | None:
    texts = sentence.texts
    if sentence.verb not in ("be", "was") or not texts or sentence.head in words.MANY:
        return None
    group = words.PHRASES.get(texts) or words.STATES.get(texts[0], "")
    whole = texts in words.PHRASES or len(texts) == 1
    if sentence.is_own:
        fits = group in ("marriage", "work", "diet", "residence") and (whole or group == "marriage")
    else:
        fits = whole and group != "" and (sentence.verb == "be" or group == "state")
    return Found(_subject(sentence), f"be {group}", " ".join(texts) if whole else texts[0]) if fits else None


def _dated(sentence: _Sentence) -> Found | None:
    """A day or a weekday right behind the verb: "is on 6 September", "arrive on Thursday"."""
    if sentence.verb not in words.DATED:
        return None
    at = next((i for i, text in enumerate(sentence.texts[: NEAR + 1]) if text == MARK), -1)
    if (
        at < 0
        or len(sentence.times) != 1
        or (at and sentence.texts[0] not in (*words.PLACES_BEFORE, "for", "to", "um"))
    ):
        return None
    others = [word.text for word in sentence.rest[at + 1 :]]
    signs, values = masked(others)
    first, last = sentence.times[0]
    attribute = f"{sentence.verb} {' '.join(signs)}".strip()
    value = " ".join((first.isoformat(), last.isoformat(), *values))
    return Found(_subject(sentence), "be state" if attribute == "be" else attribute, value, due=last)


def _located(sentence: _Sentence) -> Found | None:
    texts = sentence.texts
    if sentence.verb != "be" or not sentence.is_thing or len(texts) < 2 or texts[0] not in words.PLACES_BEFORE:
        return None
    clear = sentence.rest[1].capital or texts[1] in words.ARTICLES or texts[1] in words.OWN or texts[1] == "room"
    if not clear or texts[1][0].isdigit() or MARK in texts or any(WEEKDAY.fullmatch(text) for text in texts):
        return None
    return Found(_subject(sentence), "be where", " ".join(texts[1:]))


def _of_one(sentence: _Sentence) -> Found | None:
    """What one has one of: its value may be anything, but not "stressful" for a job."""
    texts = sentence.texts
    if sentence.verb != "be" or sentence.is_own or not texts or MARK in texts or texts[0] in words.PLACES_BEFORE:
        return None
    subject = {word.text for word in sentence.subject}
    if sentence.head not in words.OF_ONE and not subject & words.OF_ONE_KIND:
        return None
    named = any(word.capital for word in sentence.rest) or texts[0] in words.ARTICLES
    vague = sentence.head in ("job", "occupation", "profession", "role", "title", "goal", "size", "budget")
    return None if vague and not named else Found(_subject(sentence), "be what", " ".join(texts))


def _who(sentence: _Sentence) -> Found | None:
    texts = sentence.texts
    if sentence.verb not in ("be", "named") or sentence.is_own or not texts or sentence.head in words.MANY:
        return None
    owned = any(word.text in words.OWN or word.text == "the" or word.text.endswith("'s") for word in sentence.subject)
    german = sentence.subject[0].text in ("mein", "meine", "unser", "unsere", "der", "die", "das")
    kin = len(texts) == 2 and texts[0] in words.OWN and texts[1] in words.KIN
    titled = texts[0].rstrip(".") in words.TITLES
    named = all(word.capital for word in sentence.rest) and len(texts) <= 4 and not any(map(has_digit, texts))
    adjective = len(texts) == 1 and (texts[0] in words.ADJECTIVES or texts[0].endswith(words.NATIONAL))
    if not owned or not (kin or (named and not adjective and (titled or not german or sentence.verb == "named"))):
        return None
    return Found(_subject(sentence), "be who", " ".join(texts))


def _measured(sentence: _Sentence) -> Found | None:
    """Numbers, times of day and codes, and the weekday that stands right behind the verb."""
    texts = [_iso(text, sentence.times) for text in sentence.texts]
    if sentence.verb in ("was", "keep") or (sentence.verb == "get" and texts[:1] != ["up"]):
        return None
    if sentence.verb == "have" and not (texts and has_digit(texts[0])) and sentence.texts[:1] != ("about",):
        return None
    weekday = sentence.verb in words.DATED and any(WEEKDAY.fullmatch(text) for text in texts[:NEAR])
    signs, values = masked(texts, weekdays=weekday)
    if not values:
        return None
    if sentence.verb == "be" and sentence.head in words.MANY:  # which of them, only the years that went by may tell
        return Found(_subject(sentence), AGED, values[0]) if signs == ["#"] and values[0].isdecimal() else None
    return Found(_subject(sentence), " ".join((sentence.verb, *signs)), " ".join(values))


_RULES: Sequence[Callable[[_Sentence], Found | None]] = (
    *(_lives, _works, _kept, _state, _dated, _of_one, _located, _who, _measured),
)


# Pieces --------------------------------------------------------------------------------------------------------


def _subject(sentence: _Sentence) -> str:
    if sentence.is_own:
        return ""
    kept = [
        words.OWN.get(word.text, word.text)
        for word in sentence.subject
        if word.text not in words.ARTICLES | {"new", "current", "neue", "neuer"}
    ]
    return " ".join(_iso(text, sentence.times) for text in kept)


def _iso(text: str, times: Sequence[Span]) -> str:
    return "/".join(day.isoformat() for span in times for day in span) if text == MARK else text


def _count(sentence: _Sentence) -> str:
    numbers = [text for text in sentence.texts if has_digit(text)]
    return " ".join(numbers) if numbers else " ".join(span[0].isoformat() for span in sentence.times)
