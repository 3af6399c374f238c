"""Evidence that disagrees: current words of one speaker on one matter with different values.

What is current is decided when statements are admitted; here stand those that nothing has superseded, such as two
things said on one day, or words that no step has read yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.claims import Claim, excludes, read
from app.domain.extracts import NEAR, Asked, Pick
from app.domain.support import Supported, is_outdated
from app.domain.wording import take_apart


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The other side of a matter. `is_equal`: both were said on one day, so that neither is the later word."""

    source: Supported
    is_equal: bool

    def told(self, asked: Asked, chosen: Pick) -> str:
        """Both sides with the days on which they were said, the later one first."""
        other = Pick(asked.span(self.source) or self.source.text, self.source)
        late, early = sorted((chosen, other), key=lambda pick: pick.source.passage.message.occurred_at, reverse=True)
        return asked.phrasing.opposed(_dated(asked, late), _dated(asked, early))


def disagreement(chosen: Supported, ranked: Sequence[Supported]) -> Disagreement | None:
    """What disagrees with the chosen sentence, and is not much less supported; None where a rule is not certain."""
    claim = _claim(chosen)
    if claim.topic is None or is_outdated(chosen):
        return None
    for other in ranked:
        if other.support < NEAR * chosen.support or other.text == chosen.text or is_outdated(other):
            continue
        if _disagree(claim, chosen, _claim(other), other):
            days = {sentence.passage.message.occurred_at.date() for sentence in (chosen, other)}
            return Disagreement(other, is_equal=len(days) == 1)
    return None


def _claim(sentence: Supported) -> Claim:
    message = sentence.passage.message
    return read(take_apart(f"{message.who}: {sentence.text}", message.occurred_at))


def _disagree(one_claim: Claim, one: Supported, other_claim: Claim, other: Supported) -> bool:
    one_day, other_day = (sentence.passage.message.occurred_at.date() for sentence in (one, other))
    if one_day <= other_day:
        return excludes(one_claim, other_claim, one_day, other_day)
    return excludes(other_claim, one_claim, other_day, one_day)


def _dated(asked: Asked, pick: Pick) -> str:
    return f"{pick.text.rstrip('.。')} ({asked.phrasing.day(pick.source.passage.message.occurred_at.date())})"
