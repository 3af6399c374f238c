"""What an assistant says that is worth noting: what it did or promised, and facts about the user.

Advice and general knowledge are facts about nobody, and what it repeats is no evidence.
"""

import re
from collections.abc import Sequence

from app.domain.messages import Message
from app.domain.text import terms

ECHOED = 2  # stems that must come back before a sentence counts as an echo

_ACTED = re.compile(
    r"(?:(?:done|ok|okay|alright|sure|great|perfect|certainly|good news|all set|sorry|unfortunately|yes|no|"
    r"erledigt|leider|gut|also|gerne)[,.!:]+ )*"
    r"(?:(?:I|we)(?:'ve|'ll|'m| have| will| had| could not| couldn't| did| am)?|my|our|ich|wir|mein\w*)\b(?!')",
    re.IGNORECASE,
)
_SAID_ONLY = re.compile(
    r"(?:(?:I|we)(?:'m| am| was)? (?:(?:so|very|really|just|also|truly) )?(?:sorry|glad|happy|here|an? |hope|think|"
    r"guess|suggest|recommend|would|can\b|can't|cannot|see|understand|hear|know|appreciate|wish|love|like|looking|checking|afraid|"
    r"need|don't|believe|feel|remember|apologi[sz]e|agree|wonder|thought|want)|(?:I|we)'d\b|(?:I|we) could(?! not|n't)|"
    r"ich (?:hoffe|denke|glaube|empfehle|kann|könnte|würde|verstehe|freue|helfe|bin|weiß|sehe|finde)|"
    r"wir (?:können|könnten))",
    re.IGNORECASE,
)
_ABOUT_YOU = re.compile(
    r"\b(?:[Yy]ou(?:rs?|'[a-z]+)?|[Dd]ein\w*|[Dd]u|[Dd]ir|[Dd]ich|Ihr|Ihre[mnrs]?|Ihnen)\b|[你您]|あなた"
)
_ADVICE = re.compile(
    r"\b(?:should|could|can|might|may|try|consider|would|if you|want to|need to|recommend|suggest|make sure|"
    r"let me know|help you|solltest|sollten|könntest|könnten|kannst|können|würde|versuche?|falls|wenn)\b"
    r"|可以|应该|建议|最好|ください|しましょう|と良い|といい",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"\b(?:you (?:told|said|mentioned|asked)(?: (?:to )?me)?(?: that)?|got it|noted|i remember(?: that)?|"
    r"as far as i know)\b",
    re.IGNORECASE,
)
_DETAIL = re.compile(r"\d|(?<=\s)[A-ZÄÖÜ]\w+|[\u3040-\u30ff\u3400-\u9fff]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_CJK_ACTED = re.compile(r"我(?:已|帮|为|给|会|替)|已(?:经)?为|(?:し|いたし|おき|り|え)ました|いたします")


def tells(sentence: str) -> bool:
    """Whether an assistant's sentence tells what it did or promised, or something particular about the user."""
    plain = sentence.replace("’", "'").strip()
    if _CJK.search(plain):
        return not _ADVICE.search(plain) and bool(_CJK_ACTED.search(plain) or _ABOUT_YOU.search(plain))
    acted = _ACTED.match(plain)
    if acted is not None and not _SAID_ONLY.search(plain[: acted.end() + 24]):
        return True
    about = _ABOUT_YOU.search(plain) is not None and _DETAIL.search(plain[1:]) is not None
    return about and acted is None and not _ADVICE.search(plain)


def echoes(sentence: str, earlier: Sequence[Message]) -> bool:
    """Whether the sentence only says again what one of these messages said."""
    said = set(terms(_TOLD.sub(" ", sentence)))
    return len(said) >= ECHOED and any(said <= set(terms(message.content)) for message in earlier)


def retold(text: str) -> str:
    """A statement without the words that say who told it."""
    return _TOLD.sub(" ", text)
