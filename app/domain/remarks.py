"""What a sentence of a chat is good for: a fact, a part of one, a question, or nothing worth keeping.

The rules know English; a sentence in another language counts as content unless it is very short.
"""

import re
from collections.abc import Set
from enum import StrEnum

from app.domain.small_talk import is_small_talk
from app.domain.text import content_words

FRAGMENT_WORDS = 2  # content words without a verb; "last week" says nothing without what it answers
REACTION_WORDS = 2  # content words beyond praise in "That's a great pot!"
PRAISE_WORDS = 4  # the same, about the other speaker: "I really admire your drive to help people."
SHORT_NAME = 3  # characters of a name's short form, at least
OPENING = 400  # characters; what a sentence is good for shows early


class Use(StrEnum):
    """What a sentence is good for."""

    CONTENT = "content"  # stands alone
    CONTINUATION = "continuation"  # "It was so powerful.": belongs to what was said before
    FRAGMENT = "fragment"  # "Three.", "Yes.": means something only as an answer or as an addition
    QUESTION = "question"
    NONE = "none"  # a greeting, thanks, praise without content, a filler


_EMPTY_LISTING = """
    absolutely adorable agree agreed ah aha amazing amazingly appreciate aw awesome aww beautiful bet
    better bravo brilliant bro buddy bye care chat chatting cheer cheers congrats congratulation
    congratulations cool course crazy damn dang dear definitely dude epic exactly excellent excited
    exciting fab fabulous fantastic feel fine forward fun funny gee glad go going good goodbye goodnight
    gorgeous gosh got gotcha great guess haha hahaha happy hear hehe hello hey heya hi hm hmm ho hope
    huh impressed impressive incredible inspiring interesting keep know later like lmao lol look looks
    lot lots love lovely luck ma'am mate maybe mhm mm much nah neat nice nicely nope now oh ok okay omg
    one oof ooh ouch perfect please pleased pleasure pretty probably proud really right said say saying
    see seeing seem seen sir soon sorry sound sounded sounds super sure sweet sweetie take talk talking tell
    terrific thank thankful thanks think thought thx totally touching true truly try ugh understand wait
    want way welcome well whoa wild wish wonder wonderful wow yay yea yeah yep yes yup yw
    """
_EMPTY = frozenset(_EMPTY_LISTING.split())
_FOREIGN_EMPTY = re.compile(
    r"(?:谢谢|謝謝|好的|你好|您好|再见|早安|晚安|哈+|嗯+|是的|太好了|ありがとう(?:ございます)?|こんにちは|こんばんは|"
    r"おはよう(?:ございます)?|すごい|いいね|なるほど|はい|うん|안녕하세요|감사합니다|고마워요?|네|좋아요|"
    r"danke|bitte|merci|gracias|hola|ciao|grazie|obrigad[oa]|tschüss|salut|bonjour)"
)
_NO_LETTER = re.compile(r"\W+")
_FIRST_WORD = re.compile(r"(\w+)[,.!]* *")
_YES_NO = re.compile(r"(?:yes|yeah|yep|yup|no|nope|nah|not yet|not really|sure|of course)\b", re.IGNORECASE)
_ASKING = re.compile(r"[?？]|(?:[吗嗎呢]|(?:です|ます|でした|ました|の)か)\s*[。.！!]*\s*$")
_TELLING = re.compile(
    r"(?:(?:yeah|yes|well|so|oh|and|but),? )*"
    r"(?:I|I'[a-z]+|we|we'[a-z]+|my|our|ich|wir|mein\w*|unser\w*)\b(?! (?:wonder|guess|assume)\b)",
    re.IGNORECASE,
)
_CJK_TELLING = re.compile(
    r"我们?(?:有|没|不|是(?!的|啊|吗)|叫|姓|住|在|爱|喜欢|讨厌|[吃喝抽玩打养学会])\S|(?:私|僕|俺)[はも]"
)
_LEAD = re.compile(
    r"(?:oh|wow|whoa|aw+|yeah|yep|yes|hey|hi|hello|haha|and|so|but|well|thanks|gosh|man)\b(?: (?:for|to|of) )?[,.!]* *",
    re.IGNORECASE,
)
_REACTION = re.compile(
    r"(?:sounds?|looks?|seems?|what an?|how|such|glad|happy|great|good|nice|cool|amazing|awesome|fantastic|wonderful|"
    r"incredible|excellent|have an?|see you|take care|enjoy|must (?:be|feel|have)|can't wait|thank|congrats|"
    r"congratulations|keep|hope|wishing|way to|let me know|feel free|don't (?:worry|mention|give up)|long time|"
    r"no (?:worries|problem|doubts?|way|need)|lov(?:e|ing) (?:that|this|it|how|your|the)|i'll keep (?:you|ya)|"
    r"i'm (?:so |really |very |always )*(?:glad|happy|proud|sorry|excited|thrilled|here) (?:for|of|to hear|you|that)|"
    r"i (?:really )?(?:can't wait|hope(?! to\b)|bet|love (?:that|how|your)|agree|respect|admire|understand|"
    r"can imagine))\b",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"(?:that|those|this|it|they|these|you|your)(?:'[a-z]+)?\b", re.IGNORECASE
)  # "That's a great pot!"
_ABOUT_YOU = re.compile(r"\b(?:you|your|you'[a-z]+)\b", re.IGNORECASE)
_CAPITAL = re.compile(r"(?<=\s)[A-Z][a-z]\w*")
_OWN = re.compile(r"\b(?:my|mine|we|our)\b", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:am|is|are|was|were|has|have|had|do|does|did|will|would|can|could|must|should|\w+ed|left|went|came|got|made|"
    r"took|gave|bought|sold|lost|won|broke|quit|met|ate|found|began|\w+n't)\b|'(?:m|s|re|ve|ll|d)\b",
    re.IGNORECASE,
)
_REFERRING = re.compile(
    r"(?:(?:and|but|so|also|plus|then|because|yeah),? )*"
    r"(?:it|it'?s|that|that'?s|this|they|they'?[a-z]+|them|he|he'?s|she|she'?s|his|her|their|its|these|those|"
    r"and|but|also|plus|because|so|which|then|both|such)\b",
    re.IGNORECASE,
)


def use(sentence: str, names: Set[str]) -> Use:
    """What `sentence` is good for; `names` are the folded words of the speakers' names, which say nothing."""
    if _is_question(sentence):
        return Use.QUESTION
    said = _said(sentence, names)
    if is_small_talk(sentence, names, _EMPTY):
        return Use.NONE
    if not said or _FOREIGN_EMPTY.fullmatch(_NO_LETTER.sub("", sentence).lower()):
        return Use.FRAGMENT if _YES_NO.match(_opening(sentence)) else Use.NONE
    if _is_reaction(sentence, said, names):
        return Use.NONE
    opening = _opening(sentence)
    tells = _VERB.search(opening) or _TELLING.match(opening) or _CJK_TELLING.match(opening)
    if len(said) <= FRAGMENT_WORDS and not tells:
        return Use.FRAGMENT
    return Use.CONTINUATION if _REFERRING.match(opening) else Use.CONTENT


def says_something(sentence: str, names: Set[str]) -> bool:
    """Whether any word of `sentence`, a question too, is neither a name nor a filler."""
    return bool(_said(sentence, names))


def is_answer(sentence: str) -> bool:
    """Whether `sentence` begins as an answer does: with yes, no, or a word that refers to something before."""
    opening = _opening(sentence)
    return bool(_YES_NO.match(opening) or _REFERRING.match(opening))


def _said(sentence: str, names: Set[str]) -> list[str]:
    return [word for word in content_words(sentence) if word not in _EMPTY and not _is_name(word, names)]


def _is_name(word: str, names: Set[str]) -> bool:
    """Whether a word is a speaker's name or its short form: Mel for Melanie."""
    return word in names or (len(word) >= SHORT_NAME and any(name.startswith(word) for name in names))


def _is_question(sentence: str) -> bool:
    asked = _ASKING.search(sentence[-8:])
    return asked is not None and not _TELLING.match(sentence)


def _is_reaction(sentence: str, said: list[str], names: Set[str]) -> bool:
    """Praise or sympathy, "That's a great pot!"; a little longer about the other, "I admire your drive to help"."""
    plain = _after_lead(sentence, names)
    if len(said) > PRAISE_WORDS or _OWN.search(plain):
        return False
    if any(not _is_name(word.lower(), names) for word in _CAPITAL.findall(plain)):
        return False  # it names someone or something: "It's Shia!"
    praises = _POINTING.match(plain) and any(word in _EMPTY for word in content_words(plain))
    reacts = bool(praises or _REACTION.match(plain))
    return reacts and (len(said) <= REACTION_WORDS or _ABOUT_YOU.search(plain) is not None)


def _opening(sentence: str) -> str:
    return sentence[:OPENING].replace("’", "'").lstrip("\"'“‘(*_- ")


def _after_lead(sentence: str, names: Set[str]) -> str:
    """The sentence without the interjections and names it opens with: "Hey Rosa, "."""
    plain = _opening(sentence)
    while True:
        lead = _LEAD.match(plain) or _FIRST_WORD.match(plain)
        if lead is None or (lead.re is _FIRST_WORD and not _is_name(lead[1].lower(), names)):
            return plain
        plain = plain[lead.end() :]
