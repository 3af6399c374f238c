"""Key phrases and labels without a model: what a few texts are about, in their own words.

c-TF-IDF: the texts are taken as one document; a term weighs by how many of them use it and by how rare it
is in the background. Candidates are runs of one to three content words as they were written; Chinese and
Japanese text, which has no spaces, gives the runs between its function characters.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log, log2, sqrt

from app.domain.text import content_words, sentences, terms
from app.domain.word_roles import Role, asks, role

MAX_WORDS = 3  # of a phrase; longer runs are sentences, not names of things
MAX_LABEL = 60  # characters
MAX_READ = 20_000  # characters of one text; what a longer one is about, its beginning tells
MAX_CJK = 8  # characters of one Chinese or Japanese phrase
SEPARATOR = " · "
REPEATED = 0.5  # how much a phrase gains for each doubling of the texts that hold all of it
NAMED = 1.5  # a word with a capital inside a sentence names something: such words make good labels
TELLING = 0.35  # what a verb, or an adjective by itself, weighs: a label names things
VERBAL = 0.5  # an English word in -ing or -ed is more often a verb than a thing
WEAKLY = 0.1  # what small talk and a speaker's name weigh
SHORT = 0.5  # a word of three letters or fewer rarely names a topic
RARE = 5  # texts; a word that fewer others hold is no rarer for it, or one odd word would outweigh what all share
WORTH = 0.5  # of the best phrase's score: what every further phrase needs
FEW = 2  # texts; a label of so few has two phrases, even if one tells of both
ELSEWHERE = 2.0  # a further phrase of a label gains so much if a text holds it that no phrase before it tells of

# Small talk, light verbs and measures of time: common in chats, silly as labels. English only, and only a
# matter of taste: a phrase of such words is still used where there is nothing else.
_SMALL_TALK = """
able absolutely actually afraid agree alive almost alone along already always amaze another anything anytime anyway
appreciate april around ask asleep assistant august awake away awesome awhile back bad bearable beautiful became become
begin believe best bet better big bit blast brighten bring brought btw bunch call came care catch caught
chance chat check cheer come completely congrats congratulations cool couple course crazy cute day
december decide definitely determine different down due each easy else enjoy especially even evening ever every everyone
everything exactly excited experience extra fantastic far fave favorite february feel felt few fill
finally find fine first five focus forward found four friday full fun gain gave get give glad go goes
gonna good gorgeous got gotta great guess guy haha hand handle hang happen happy hard hear heard hello
help hey hi hit hold hope hour huge hundred idea image imagine important incredible inspire interest invite
january journey july june keep kept kind kinda knew know known kudos last late later learn least leave
left less level life like little live long look lot love luck lucky made main make many march matter may
maybe mean meant meet mention met mind minute miss mix moment monday month morning motivated move much must near
need never new next nice night no nope not nothing november now number october oh ok okay old one open option
other others part passionate pay people perfect person photo pic picture place plan play please point positive
possible pretty prob probably problem proud pumped push put question quite reach ready real realize really
reason recently relax remember remind rest result right run safe said saturday saw say see seem seen sense
september seriously set share show side sign similar since sit six small something sometimes soon sorry
sort sound special spend spent spot spread stand start stay step still stoked stop strong stronger stuff
suggestion sunday super sure surprise take taken talk tell ten thank thing think though thought three
thursday time tip today together told tomorrow tonight took top totally touch tough truly try tuesday turn
two unique update us use user usually wait wanna want watch way wednesday week weekend weird well went
whatever whenever whole wild willing wish without woah wonder word work world worry worth wow written xoxo
ya yall yay yea yeah year yep yes yesterday yet young younger
"""
WEAK = frozenset(terms(_SMALL_TALK))
"""Stems of words that no label is made of."""
_CONNECTORS = frozenset({"of"})  # may stand inside a phrase: University of Lund

_SPEAKER = re.compile(r"^\s*([^\s:：][^:：\n]{0,39}?)[:：]\s")
_HAN_KANA = "\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_TOKEN = re.compile(rf"[{_HAN_KANA}]+|[^\W_{_HAN_KANA}]+(?:['’.\-][^\W_{_HAN_KANA}]+)*")
_CJK = re.compile(f"[{_HAN_KANA}]")
# Hiragana carries Japanese grammar; the listed characters do most of the Chinese.
_CJK_FUNCTION = re.compile(
    "[\u3041-\u3096的了是在我你您他她它们們不也就都和与與吧吗嗎呢啊呀这這那很会會要有去到说說对對从從把被让讓给給还還又想过過个個一住]+"
)


@dataclass(frozen=True, slots=True)
class _Word:
    surface: str
    key: str  # its stem: what two forms of a word share
    initial: bool  # first of its sentence, so that a capital says nothing
    weak: bool
    role: Role
    active: bool = False  # if it is a name: what follows is what its bearer does

    def acts(self, following: str) -> bool:
        """Whether the word after it is what the bearer of this name does: `Did Miso survive`, `Miso escaped`."""
        return self.surface[0].isupper() and (self.active or (self.initial and following.endswith("ed")))


@dataclass(slots=True)
class _Phrase:
    words: tuple[str, ...]  # keys
    texts: set[int] = field(default_factory=set)
    surfaces: Counter[str] = field(default_factory=Counter)


def keyphrases(
    texts: Sequence[str],
    background: Mapping[str, int] | None = None,
    *,
    limit: int = 3,
    speakers: Collection[str] = (),
) -> list[str]:
    """At most `limit` phrases that say what `texts` are about, best first, no two sharing a word.

    Args:
        texts: messages, sentences or statements; a speaker's name before a colon is not taken as content.
        background: how many of the namespace's other texts hold each index term (see `text.terms`); None: no
            term is known to be rarer than another.
        limit: how many phrases at most.
        speakers: names that are only phrases where nothing else is left.

    Returns:
        Possibly no phrase at all: texts may hold no word.
    """
    return _best(texts, background, speakers, limit)


def label(
    texts: Sequence[str],
    background: Mapping[str, int] | None = None,
    *,
    speakers: Collection[str] = (),
    max_characters: int = MAX_LABEL,
) -> str:
    """A short name for what `texts` share, such as `LGBTQ support group · adoption`.

    Never empty, at most `max_characters` long; where no phrase is found, the first text, cut.
    """
    phrases = _best(texts, background, speakers, limit=3, of_all=True)
    return join(phrases, SEPARATOR, max_characters) or shorten(next(filter(str.strip, texts), ""), max_characters)


def _best(
    texts: Sequence[str],
    background: Mapping[str, int] | None,
    speakers: Collection[str],
    limit: int,
    *,
    of_all: bool = False,
) -> list[str]:
    """The best phrases; `of_all`: rather such as tell of a text that those before do not, and no more once all do."""
    read = _read(texts, speakers)
    phrases = _phrases(read)
    weights = _weights(read, background)
    scores = {phrase.words: _score(phrase, weights) for phrase in phrases}
    enough = WORTH * max(scores.values(), default=0.0)
    left, chosen = _longest(phrases), list[_Phrase]()
    every, told = _telling({word for phrase in phrases for word in phrase.words}, phrases), set[int]()
    while left and len(chosen) < limit:
        gains = {one.words: scores[one.words] * (ELSEWHERE if of_all and one.texts - told else 1.0) for one in left}
        best = min(left, key=lambda phrase: (-gains[phrase.words], phrase.words))
        if gains[best.words] < enough:
            break
        chosen.append(best)
        left = [phrase for phrase in left if set(phrase.words).isdisjoint(best.words)]
        told |= _telling(best.words, phrases)
        if of_all and told == every and len(chosen) >= (1 if len(every) > FEW else 2):
            break
    return [_surface(_fuller(phrase, phrases, scores) if of_all else phrase) for phrase in chosen]


def _telling(words: Collection[str], phrases: Sequence[_Phrase]) -> set[int]:
    """The texts that hold one of these words."""
    return {text for phrase in phrases if not set(phrase.words).isdisjoint(words) for text in phrase.texts}


def _fuller(phrase: _Phrase, phrases: Sequence[_Phrase], scores: Mapping[tuple[str, ...], float]) -> _Phrase:
    """The best longer phrase around it that half of its texts, and more than one, hold: `pottery class`."""
    longer = [
        other
        for other in phrases
        if set(phrase.words) < set(other.words) and len(other.texts) > 1 and 2 * len(other.texts) >= len(phrase.texts)
    ]
    return min(longer, key=lambda other: (-scores[other.words], other.words), default=phrase)


def join(phrases: Sequence[str], separator: str, max_characters: int) -> str:
    """As many of `phrases`, in order, as fit; the first is shortened if it must be."""
    joined = ""
    for phrase in phrases:
        longer = f"{joined}{separator}{phrase}" if joined else shorten(phrase, max_characters)
        if len(longer) <= max_characters:
            joined = longer
    return joined


def shorten(text: str, max_characters: int) -> str:
    """`text` on one line, cut at a word with an ellipsis if it is longer; `…` if there is nothing at all."""
    line = " ".join(text.split())
    if len(line) <= max_characters:
        return line or "…"
    head = line[: max_characters - 1]
    at_word = head.rpartition(" ")[0] if not line[max_characters - 1].isspace() else head
    return (at_word if len(at_word) > len(head) // 2 else head).rstrip(" ,.;:") + "…"


def _read(texts: Sequence[str], speakers: Collection[str]) -> list[list[list[_Word]]]:
    """Each text as runs of words that stand together, without its speaker."""
    named = [match[1] for text in texts if (match := _SPEAKER.match(text))]
    # Statements begin with whom they are about: "Rosa likes ...". Shared by many, that is no topic.
    openings = Counter(text.split(maxsplit=1)[0] for text in texts if text.strip())
    subjects = [word for word, count in openings.items() if word[0].isupper() and count > max(1, len(texts) / 3)]
    names = {word for name in (*speakers, *named, *subjects) for word in content_words(name)}
    return [list(_runs(_SPEAKER.sub("", text[:MAX_READ]), names)) for text in texts]


def _runs(text: str, names: Collection[str]) -> Iterator[list[_Word]]:
    """Runs of content words: what punctuation, a stop word or a verb parts is not one phrase."""
    for sentence in sentences(text):
        run: list[_Word] = []
        for word in _words(sentence, names):
            if word is None or word.role is Role.TELLING:
                yield from filter(None, (run, [word] if word else []))
                run = []
            else:
                run.append(word)
        if run:
            yield run


def _words(sentence: str, names: Collection[str]) -> Iterator[_Word | None]:
    """The content words of a sentence; None where something parts them."""
    end, before = 0, ""  # the last word, if it is right before
    last: _Word | None = None
    for match in _TOKEN.finditer(sentence):
        token, between = match[0], sentence[end : match.start()].strip(" ")
        initial = end == 0 or ":" in between
        if between:
            before, last = "", None
            yield None
        if _CJK.match(token):
            for piece in filter(None, _CJK_FUNCTION.split(token)):
                yield from (None, _word(piece[:MAX_CJK], names, Role.UNKNOWN, initial=False), None)
        elif terms(token) or token in _CONNECTORS:
            found = role(token, before, initial=initial, after_name=last is not None and last.acts(token))
            last = _word(token, names, found, initial=initial, asked=asks(before))
            yield last
        else:
            last = None
            yield None
        end, before = match.end(), token.lower()


def _word(surface: str, names: Collection[str], found: Role, *, initial: bool, asked: bool = False) -> _Word:
    owned = surface.endswith(("'s", "’s"))
    surface = surface.removesuffix("'s").removesuffix("’s")
    folded = content_words(surface)
    plain = folded[0] if folded else surface
    key = " ".join(terms(surface)) or surface
    speaker = _names_speaker(surface, plain, names)
    weak = speaker or key in WEAK or "not" in folded or len(surface) == 1 or surface.isdigit()
    return _Word(surface, key, initial, weak, found, active=not owned and (speaker or asked))


def _names_speaker(surface: str, folded: str, names: Collection[str]) -> bool:
    """Whether a word is a speaker's name or a short form of it (`Mel` of Melanie)."""
    short = surface[0].isupper() and len(folded) > 2
    return folded in names or (short and any(name.startswith(folded) for name in names))


def _phrases(read: Sequence[Sequence[Sequence[_Word]]]) -> list[_Phrase]:
    """Every run of one to `MAX_WORDS` words; phrases with weak words only where there are no others."""
    strong: dict[tuple[str, ...], _Phrase] = {}
    weak: dict[tuple[str, ...], _Phrase] = {}
    for index, runs in enumerate(read):
        for run in runs:
            for start in range(len(run)):
                for words in (run[start : start + size] for size in range(1, min(MAX_WORDS, len(run) - start) + 1)):
                    if not _may_be_phrase(words):
                        continue
                    # In the middle a weak word does no harm: LGBTQ support group.
                    found = weak if words[0].weak or words[-1].weak else strong
                    _note(found, words, index)
    return list((strong or {key: phrase for key, phrase in weak.items() if len(key) == 1}).values())


def _may_be_phrase(words: Sequence[_Word]) -> bool:
    """Not with `of` at an end, nor with a verb behind what does it: `kiln cracked`."""
    if words[0].key in _CONNECTORS or words[-1].key in _CONNECTORS:
        return False
    return len(words) == 1 or not words[-1].surface.endswith("ed") or not words[-1].surface.islower()


def _longest(phrases: Sequence[_Phrase]) -> list[_Phrase]:
    """Without the phrases that several texts hold, but never outside one and the same longer phrase."""
    shared = {phrase.words: phrase.texts for phrase in phrases if len(phrase.texts) > 1}
    covered = {
        words[start : start + size]
        for words, texts in shared.items()
        for size in range(1, len(words))
        for start in range(len(words) - size + 1)
        if shared.get(words[start : start + size]) == texts
    }
    return [phrase for phrase in phrases if phrase.words not in covered]


def _note(found: dict[tuple[str, ...], _Phrase], words: Sequence[_Word], index: int) -> None:
    key = tuple(word.key for word in words)
    phrase = found.setdefault(key, _Phrase(key))
    phrase.texts.add(index)
    # A form seen inside a sentence shows how the word is written; the first word of one does not.
    phrase.surfaces[" ".join(word.surface for word in words)] += 1 if words[0].initial else 3


def _weights(read: Sequence[Sequence[Sequence[_Word]]], background: Mapping[str, int] | None) -> dict[str, float]:
    """What a term says about these texts: how many use it, times how rare it is, times how it is written."""
    users: defaultdict[str, set[int]] = defaultdict(set)
    form: defaultdict[str, float] = defaultdict(float)
    for index, runs in enumerate(read):
        for word in (word for run in runs for word in run):
            users[word.key].add(index)
            form[word.key] = max(form[word.key], _form(word))
    known = background or {}
    most = max([1, *known.values()])
    return {key: log2(1 + len(texts)) * form[key] * _rarity(key.split(), known, most) for key, texts in users.items()}


def _rarity(found: Sequence[str], background: Mapping[str, int], most: int) -> float:
    """How rare a word is, its commonest term deciding; a root, for a rare word is not yet a telling one."""
    commonest = max((background.get(term, 0) for term in found), default=0)
    return sqrt(log(1 + most / max(RARE, commonest)))


def _form(word: _Word) -> float:
    """How much a word looks like the name of something, by its letters."""
    if word.weak:
        return WEAKLY
    if not word.initial and any(map(str.isupper, word.surface)):
        return NAMED
    if word.role is not Role.UNKNOWN:
        return TELLING if word.role is Role.TELLING else 1.0
    if len(word.surface) <= 3 and word.surface.isascii():
        return SHORT
    return VERBAL if word.surface.endswith(("ing", "ed")) else 1.0


def _score(phrase: _Phrase, weights: Mapping[str, float]) -> float:
    """Its words' weights, damped by their number, raised when several texts hold the whole phrase."""
    words = [word for word in phrase.words if word not in _CONNECTORS]
    together = 1 + REPEATED * log2(len(phrase.texts))
    return together * sum(weights[word] for word in words) / sqrt(len(words))


def _surface(phrase: _Phrase) -> str:
    return max(phrase.surfaces.items(), key=lambda item: (item[1], item[0]))[0]
