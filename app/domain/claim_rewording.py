"""Clauses put more plainly, so that one frame reads many wordings: "my rent went up to 950" is "my rent is 950"."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from app.domain import claim_words as words
from app.domain.canonical import MARK
from app.domain.claim_found import has_digit
from app.domain.claim_plain import (
    AT,
    HAVE,
    IN,
    IS,
    LIVE,
    SUBJECTS,
    WORK,
    Plain,
    after_subject,
    ended,
    given_up,
    is_name,
    is_person,
    now,
    only,
    without,
)
from app.domain.claim_rewording_german import german
from app.domain.clauses import Clause, Word
from app.domain.wording import FIRST_PERSON, WEEKDAY


def plain(clause: Clause) -> Plain:
    """The clause in plain words; the clause itself where no rule applies."""
    found = _contrasted(_without_fillers(_without_beginning(Plain(clause.words, clause.times))))
    return next((made for reword in _REWORDINGS if (made := reword(found)) is not None), found)


def _without_beginning(found: Plain) -> Plain:
    """Without "as of June" and "from Monday on"; other times that a clause opens with stand at its end."""
    texts = [word.text for word in found.said]
    for start, end in _beginnings(texts):
        times = only(found, range(start, end)).times
        return replace(only(found, without(found, start, end)), since=times[0][0] if times else None)
    opening = next((place + 1 for place in (0, 1) if texts[place : place + 1] == [MARK]), 0)
    if opening and (opening == 1 or texts[0] in words.BEFORE_TIME) and len(texts) > opening:
        return only(found, [*range(opening, len(texts)), *range(opening)])
    return found


def _beginnings(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where words stand that only say from when on, at the start of a clause or at its end."""
    for place, text in enumerate(texts):
        if text != MARK and not WEEKDAY.fullmatch(text):
            continue
        starts = [place - len(lead) for lead in words.AS_OF if tuple(texts[max(0, place - len(lead)) : place]) == lead]
        end = place + 2 if texts[place + 1 : place + 2] in (["on"], ["onwards"]) else place + 1
        from_on = texts[place - 1 : place] == ["from"] and end > place + 1
        start = place - 1 if from_on else next(iter(starts), -1)
        is_opening = start == 0 and end < len(texts)
        is_closing = start > 1 and end == len(texts) and texts[start] not in ("since", "seit")
        if is_opening or is_closing:
            yield start, end


def _without_fillers(found: Plain) -> Plain:
    """Without "only" and "nur noch", unless something is denied: "I don't only like dogs"."""
    texts = [word.text for word in found.said]
    if words.DENIALS & set(texts):
        return found
    return only(found, [place for place, text in enumerate(texts) if text not in words.ONLY or not place])


def _contrasted(found: Plain) -> Plain:
    """What holds instead: "is not in room 204 but in room 310", "is 950 francs instead of 900"."""
    texts = [word.text for word in found.said]
    instead = next((place for place in range(2, len(texts)) if tuple(texts[place : place + 2]) in words.INSTEAD), 0)
    if instead:
        return only(found, range(instead))
    but = next((place for place, text in enumerate(texts) if place > 2 and text in ("but", "sondern")), 0)
    denial = next((place for place, text in enumerate(texts[:but]) if text in (*words.DENIALS, "no")), 0)
    if not denial or but + 1 >= len(texts) or texts[but + 1] in SUBJECTS:
        return found
    rest = range(but + 1, len(texts))
    if texts[denial - 1] in words.AUXILIARIES:  # "I don't work at Lumen but at Pell & Sons"
        return only(found, [*range(denial - 1), denial + 1, *rest])
    return only(found, [*range(denial), *rest])


# Rewordings: each reads one way to tell of a change ------------------------------------------------------------


def _used_to(found: Plain) -> Plain | None:
    """I used to smoke."""
    at = after_subject(found, (("used", "to"),))
    return None if at is None else replace(only(found, without(found, *at)), denied=True, lasting=False)


def _stopped(found: Plain) -> Plain | None:
    """I stopped smoking; I gave up coffee; I quit my job at Lumen."""
    at = after_subject(found, words.ENDED)
    if at is None or at[1] >= len(found.said):
        return None
    start, end = at
    texts = [word.text for word in found.said]
    if texts[end].endswith("ing"):
        verb = Word(words.base(texts[end]), capital=False)
        told = (*found.said[:start], verb, *found.said[end + 1 :])
        return replace(found, said=told, denied=True)
    job = next((place for place in range(end, len(texts)) if texts[place] in words.JOBS), 0)
    if job and texts[end] in words.OWN:
        return _work(found, start, job + 2) if texts[job + 1 : job + 2] and texts[job + 1] in words.AT else None
    return None if texts[end - 1] == "stopped" else given_up(found, start, end, len(texts))  # "I stopped the car"


def _left(found: Plain) -> Plain | None:
    """I left Lumen; I was fired from Lumen; I left the choir."""
    at = after_subject(found, words.LEFT)
    if at is None:
        return None
    start, end = at
    texts = [word.text for word in found.said]
    if end < len(texts) and texts[-1] in words.GROUPS:
        return given_up(found, start, end, len(texts))
    for_the_day = texts[end - 1] == "left" and any(first == last for first, last in found.times)
    return None if for_the_day else _work(found, start, end)


def _work(found: Plain, subject: int, start: int) -> Plain | None:
    """No longer at work at the name that begins at `start`, with no more behind it than a time."""
    end = next((i for i in range(start, len(found.said)) if not is_name(found.said[i])), len(found.said))
    if end == start or {word.text for word in found.said[end:]} - {MARK, "in", "on", "im"}:
        return None
    return ended(found, subject, (WORK, AT, *found.said[start:end]))


def _moved_out(found: Plain) -> Plain | None:
    """I moved out of Velmar."""
    at = after_subject(found, words.MOVED_OUT)
    if at is None or not is_person(found.said[: at[0]]):
        return None
    name = list(takewhile(is_name, found.said[at[1] :]))
    return ended(found, at[0], (LIVE, IN, *name)) if name else None


def _lapsed(found: Plain) -> Plain | None:
    """I haven't smoked since January; I haven't eaten meat for a year."""
    texts = [word.text for word in found.said]
    at = next((place for place in range(1, len(texts)) if tuple(texts[place : place + 2]) in words.HAVE_NOT), 0)
    ago = next((place for place in range(at + 3, len(texts)) if texts[place] in ("since", "for", "in")), 0)
    if not at or not ago or not is_person(found.said[:at]):
        return None
    if not words.LONG & set(texts[ago:]) and texts[ago : ago + 2] != ["since", MARK]:
        return None
    verb = Word(words.base(texts[at + 2]), capital=False)
    return Plain((*found.said[:at], verb, *found.said[at + 3 : ago]), (), denied=True)


def _disposed(found: Plain) -> Plain | None:
    """I sold my motorbike: I don't have one."""
    at = after_subject(found, words.DISPOSED)
    texts = [word.text for word in found.said]
    if at is None or not words.OWN.keys() & set(texts[at[1] : at[1] + 1]):
        return None
    start, end = at
    return ended(found, start, (HAVE, *found.said[end + 1 :]))


def _switched(found: Plain) -> Plain | None:
    """I switched from Fenwick Mail to Pelican Mail."""
    at = after_subject(found, (("switched", "from"), ("changed", "from")))
    texts = [word.text for word in found.said]
    if at is None or "to" not in texts[at[1] + 1 :]:
        return None
    return given_up(found, at[0], at[1], texts.index("to", at[1]))


def _changed(found: Plain) -> Plain | None:
    """My rent went up to 950 francs; the deadline has been extended to 17 March; my sister moved to Nordhagen."""
    at = after_subject(found, words.CHANGED)
    if at is None:
        return None
    start, end = at
    texts = [word.text for word in found.said]
    if texts[end:] == ["from", MARK]:  # "from 12 May to 19 May"
        return Plain((*found.said[:start], IS, found.said[-1]), ((found.times[-1][1],) * 2,))
    to = next((place for place in range(len(found.said) - 1, end - 1, -1) if found.said[place].text == "to"), 0)
    if not to or to + 1 == len(found.said):
        return None
    moved = bool(words.MOVED & set(texts[start:end]))
    between = list(takewhile(lambda place: texts[place] not in ("from", "up", "down", "back"), range(end, to)))
    if between:  # "the landlord raised the rent to 950 francs": it is the rent
        if texts[between[0]] not in words.ARTICLES | words.OWN.keys():
            return None
        found = only(found, [*between, *range(to, len(texts))])
        start, to = len(between), len(between)
    elif not moved and texts[0] in FIRST_PERSON:
        return None
    return now(found, start, range(to + 1, len(found.said)), moved=moved)


def _takes_place(found: Plain) -> Plain | None:
    """The exam takes place on 19 May; die Prüfung findet am 19. Mai statt."""
    at = after_subject(found, (("takes", "place"), ("take", "place"), ("is", "held"), ("are", "held")))
    texts = [word.text for word in found.said]
    if texts[-1:] == ["statt"] and "findet" in texts[1:]:
        at = texts.index("findet"), texts.index("findet") + 1
        found = only(found, range(len(texts) - 1))
    if at is None or at[1] >= len(found.said):
        return None
    return replace(found, said=(*found.said[: at[0]], IS, *found.said[at[1] :]))


def _inverted(found: Plain) -> Plain | None:
    """Dr. Abara is my dentist."""
    texts = [word.text for word in found.said]
    at = texts.index("is") if texts.count("is") == 1 else 0
    if not at or at + 2 >= len(texts) or texts[at + 1] not in words.OWN or not all(map(is_name, found.said[:at])):
        return None
    return None if texts[0] in words.OWN else only(found, [*range(at + 1, len(texts)), at, *range(at)])


def _turned(found: Plain) -> Plain | None:
    """My daughter turned 8."""
    at = after_subject(found, (("turned",),))
    age = [word for word in found.said[at[1] : at[1] + 1] if has_digit(word.text)] if at else []
    return Plain((*found.said[: at[0]], IS, *age), ()) if at and age and is_person(found.said[: at[0]]) else None


_REWORDINGS: Sequence[Callable[[Plain], Plain | None]] = (
    *(
        _used_to,
        _disposed,
        _stopped,
        _left,
        _moved_out,
        _lapsed,
        _switched,
        _changed,
        _takes_place,
        _inverted,
        _turned,
        german,
    ),
)
