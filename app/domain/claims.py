"""What a statement claims, where a rule is certain of it: an attribute and its value, so that a later value ends it.

`read` knows the sentences in which people tell what holds now: where they live and work, what "my X" is, how many,
how much, from when, how far along, and whether at all. The same attribute with another value is an update. Whatever
happened once claims nothing: "I ran 5 km" is true for ever. Where the rules see no certain attribute there is none,
since a wrong update hides a true statement and a missed one only leaves an old one beside it.
"""

import re
from dataclasses import dataclass
from datetime import date, timedelta

from app.domain import claims_cjk
from app.domain.claim_found import AGED, ANY, BARE, Found
from app.domain.claim_frames import frame
from app.domain.claim_merging import merged
from app.domain.clauses import Clause, clauses
from app.domain.text import normalise
from app.domain.wording import Wording

_PARTLY = re.compile(  # "I don't just drink tea" denies nothing
    r"(?:\bnot|n['’]t) (?:just|only|merely|simply|always|necessarily|exclusively|solely|very)\b"
    r"|\bnicht (?:nur|immer|bloß|ausschließlich)\b|不(?:只|仅|光|总|一定)|だけ(?:では|じゃ)",
    re.IGNORECASE,
)
YEAR = timedelta(days=365.25)


@dataclass(frozen=True, slots=True)
class Claim:
    """`topic` names speaker, subject and attribute; values of one topic exclude each other.

    Args:
        topic: None if nothing is claimed.
        value: the folded value; of a claim that only says whether something holds, what is done: "drink" of coffee.
        denied: "I no longer live in Velmar".
        count: a number or time told beside the value, which alone may change: "at Lumen for 5 years".
        due: the last day of what is to happen then; over, it was an event, which nothing ends.
        since: the first day on which it holds, where that is told: "I moved to Velmar in May".
        lasting: False where the words say more than the claim, and stay true when it ends.
    """

    topic: str | None
    value: str = ""
    denied: bool = False
    count: str = ""
    due: date | None = None
    since: date | None = None
    lasting: bool = True

    @property
    def is_bare(self) -> bool:
        """Whether it only says that something holds."""
        return self.topic is not None and self.topic.rpartition("|")[2].startswith(BARE)


NOTHING = Claim(None)
"""Where no rule is certain."""


def read(wording: Wording) -> Claim:
    """What a statement claims."""
    if wording.question or _PARTLY.search(wording.body):
        return NOTHING
    found = claims_cjk.frame(wording) if claims_cjk.is_cjk(wording.body) else _first(wording)
    if found is None:
        return NOTHING
    return Claim(
        topic="|".join((*_whose(wording.speaker, found.subject), found.attribute)),
        value=found.value,
        denied=found.denied,
        count=found.count,
        due=found.due,
        since=found.since,
        lasting=found.lasting,
    )


def excludes(earlier: Claim, later: Claim, earlier_said: date, later_said: date) -> bool:
    """Whether `later` ends `earlier`, given the days on which they were last said."""
    if earlier.topic is None or earlier.topic != later.topic or not earlier.lasting:
        return False
    if earlier.due is not None and earlier.due < later_said:
        return False  # it has happened
    if later.since is not None and later.since < earlier_said:
        return False  # it tells of a time before
    if earlier.topic.endswith(AGED):
        return _has_aged(int(later.value) - int(earlier.value), later_said - earlier_said)
    if earlier.denied or later.denied or later.is_bare:
        return earlier.denied != later.denied and (earlier.value == later.value or ANY in (earlier.value, later.value))
    return earlier.value != later.value or bool(earlier.count and later.count and earlier.count != later.count)


def _has_aged(years: int, passed: timedelta) -> bool:
    """Whether somebody became so much older in this time; else it is somebody else."""
    return years > 0 and abs(years - passed / YEAR) <= 1


def _whose(speaker: str, subject: str) -> tuple[str, str]:
    """Speaker and subject: "Ann's rent" and "Ann" without a speaker are what Ann calls "my rent" and "I"."""
    if speaker:
        return normalise(speaker), subject
    owner, _, owned = subject.partition("'s ")
    return owner, f"my {owned}" if owned else ""


def _first(wording: Wording) -> Found | None:
    """What the first clause claims; if another claims something as well, it goes on being true."""
    first, *others = merged(clauses(wording))
    found = frame(first)
    if found is not None and found.denied and others:
        found, others = _instead(found, others)
    if found is not None and (first.joined or any(_tells(other) for other in others)):
        return found.for_ever()
    return found


def _instead(denied: Found, others: list[Clause]) -> tuple[Found, list[Clause]]:
    """What the next clause puts in the place of what is denied: "I don't live in Velmar any more, I live in …"."""
    found = frame(others[0])
    same = found is not None and not found.denied and not found.is_bare
    if found is None or not same or (found.subject, found.attribute) != (denied.subject, denied.attribute):
        return denied, others
    return found, others[1:]


def _tells(clause: Clause) -> bool:
    """Whether a further clause says something of its own, rather than a few words about the first."""
    found = frame(clause)
    return clause.joined or (found is not None and (not found.is_bare or not found.subject))
