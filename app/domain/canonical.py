"""Words in the form in which they are compared: contractions spelled out, numbers in figures, without fillers."""

import re

from app.domain.text import normalise

MARK = "\ue000"
"""Stands for a time. Private use: no text that is stored holds it by itself."""

_HALF_DAYS = re.compile(r"(?<![\w:.,])(\d{1,2})((?:[:.]\d\d)?) ?(?:([ap])\.m\b\.?|([ap])m\b)(?! i\b)")
_CONTRACTIONS = (
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"(?:'ve| have) got\b(?! to\b)"), " have"),
    (re.compile(r"\bhas got\b(?! to\b)"), "has"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'m\b"), " am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'d\b"), " would"),
    (re.compile(r"'s (?=(?:an?|the|not|from|in|at|living)\b|\d)"), " is "),
    (re.compile(r"\bam living\b"), "live"),
    (re.compile(r"\bis living\b"), "lives"),
    (re.compile(r"\b(i|we|not|they) own\b"), r"\1 have"),
    (re.compile(r"\bi come from\b"), "i am from"),
    (re.compile(r"\b(am(?: not| no longer)?) an? (?=(?:vegan|vegetarian)\b)"), r"\1 "),
    (re.compile(r"\bamounts to\b"), "is"),
    (re.compile(r"\bgonna\b"), "going to"),
    (re.compile(r"\bwanna\b"), "want to"),
    (re.compile(r"\b(?:do not know how|(?:am|are) not able) to\b"), "can not"),
    (re.compile(r"\bcan not stand\b"), "hate"),
    (re.compile(r"\bnamed\b"), "called"),
    (re.compile(r"\b(i|we) have (?:got )?no (?!longer\b|more\b)"), r"\1 do not have "),
    (re.compile(r"\b(i|we) have not got\b"), r"\1 do not have"),
    (re.compile(r"\bdo not have (?:an?|any) "), "do not have "),
    (re.compile(r"(?<=\d)k\b"), "000"),
    (re.compile(r"(?<=\d)-(\w+)-old\b"), r" \1 old"),
    (re.compile(r"([a-hj-vx-z])\1{2,}"), r"\1"),
    (re.compile(r"\b([a-z]{3,})(?: \1\b)+"), r"\1"),
    (re.compile(r"\bam working\b(?= (?:at|for|as)\b)"), "work"),
    (re.compile(r"\b(i|we) do (?=(?:love|like|enjoy|hate|have|want|need|live|work)\b)"), r"\1 "),
    (re.compile(r"\bhab\b"), "habe"),
    (re.compile(r"\b(?:per|each|every) (?=(?:hour|day|week|month|year)\b)"), "a "),
    (re.compile(r"[€] ?(\d[\d.,]*\d|\d)|(\d) ?€"), r"\1\2 eur "),
    (re.compile(r"[$] ?(\d[\d.,]*\d|\d)|(\d) ?[$]"), r"\1\2 usd "),
    (re.compile(r"£ ?(\d[\d.,]*\d|\d)|(\d) ?£"), r"\1\2 gbp "),
    (re.compile(r"'s name is\b"), " is called"),
    (re.compile(r"\bis named\b"), "is called"),
    (re.compile(r" ?o'clock\b|(?<=\d):00\b"), ""),
    (re.compile(r"(?<=\d) ?(?:percent|per cent|prozent|%)"), "%"),
)
_FILLERS = re.compile(
    r"\b(?:right now|at the moment|at present|these days|as i said|as you know|by the way|for the record|by now|"
    r"like i said|as (?:i )?(?:mentioned|told you)|you know|i mean|of course|to be honest|once more|so much|a lot|"
    r"very much|yes|yeah|yep|well|oh|also|too|still|always|obviously|absolutely|anyway|fyi|reminder|tbh|years old|"
    r"jahre alt|"
    r"really|very|quite|just|actually|basically|honestly|currently|presently|nowadays|now|lol|haha+|btw|please|"
    r"definitely|totally|truly|im moment|jetzt|gerade|derzeit|momentan|zurzeit|aktuell|inzwischen|mittlerweile|"
    r"immer noch|noch immer|auch|natürlich|naturlich|wie gesagt|ubrigens|übrigens|ubrigens|wirklich|echt|sehr|ja|"
    r"nach wie vor|weiterhin|bekanntlich)\b"
)
_FILLERS_CJK = re.compile(r"现在|目前|真的|很(?=喜欢|爱|讨厌)|非常|特别(?=喜欢|爱|讨厌)|今は|現在は|とても|本当に")
_NUMBERS = {
    word: str(number)
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty",
        "null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf",
    )
    for number, word in enumerate(words.split())
} | {
    word: str(10 * tens)
    for tens, word in enumerate(("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), 3)
}
_UNITS = {
    word: unit
    for unit, words in {
        "km": "kilometre kilometres kilometer kilometers",
        "kg": "kilo kilos kilogram kilograms kilogramm",
        "min": "minute minutes mins minuten",
        "cm": "centimetre centimetres centimeter centimeters",
        "h": "hour hours hrs stunde stunden",
        "eur": "euro euros",
        "usd": "dollar dollars",
        "mum": "mom mother mama mutti",
        "dad": "father papa vati",
        "kids": "children",
        "email": "e-mail",
        "colour": "color",
        "favourite": "favorite",
        "practice": "practise",
        "centre": "center",
        "1st": "first",
        "2nd": "second",
        "3rd": "third",
        "4th": "fourth",
        "5th": "fifth",
    }.items()
    for word in words.split()
}
"""Words of one meaning, by the one that stands for them."""
_HAN = {character: number for number, character in enumerate("一二三四五六七八九十", 1)} | {"两": 2, "兩": 2}
_HAN_COUNT = re.compile(
    rf"(?<![第{''.join(_HAN)}])(?:([一二三四五六七八九])?(十))?([一二三四五六七八九两兩])?(?=[个個只隻岁歲年天次名位匹本台枚人つ歳口])"
)
_THOUSANDS = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")
_TOKEN = re.compile(rf"{MARK}|[^\W_]+(?:['’.:,\-/&][^\W_]+)*")
_CLOCK = re.compile(
    r"\b(half|(?:a )?quarter) (past|to) (\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
)


def canonical(text: str) -> list[str]:
    """The folded words of `text` with contractions spelled out, numbers in figures and without fillers."""
    folded = normalise(_THOUSANDS.sub("", text)).replace("’", "'")
    for pattern, spelled in _CONTRACTIONS:
        folded = pattern.sub(spelled, folded)
    folded = _CLOCK.sub(_clock, folded)
    folded = _HALF_DAYS.sub(_hour, _FILLERS_CJK.sub("", _FILLERS.sub(" ", folded)))
    return [_UNITS.get(word) or _figures(word) for word in _TOKEN.findall(_HAN_COUNT.sub(_han, folded))]


def _clock(found: re.Match[str]) -> str:
    """Half past eight → 8:30; quarter to eight → 7:45."""
    hour = int(_figures(found[3])) - (found[2] == "to")
    return f"{hour or 12}:{30 if found[1] == 'half' else 45 if found[2] == 'to' else 15}"


def _hour(found: re.Match[str]) -> str:
    """2 pm → 14."""
    hour = int(found[1]) % 12 + (12 if "p" in (found[3], found[4]) else 0)
    return f"{hour}{found[2].replace('.', ':').removesuffix(':00')} "


def _han(found: re.Match[str]) -> str:
    """三十 → 30; nothing where there is no number."""
    tens = _HAN.get(found[1], 1) if found[2] else 0
    return str(10 * tens + _HAN.get(found[3], 0)) if found[0] else ""


def _figures(word: str) -> str:
    """A number in figures: eighty, thirty-four; any other word as it is."""
    tens, dash, ones = word.partition("-")
    if dash and tens in _NUMBERS and ones in _NUMBERS and int(_NUMBERS[tens]) >= 20 and int(_NUMBERS[ones]) < 10:
        return str(int(_NUMBERS[tens]) + int(_NUMBERS[ones]))
    return _NUMBERS.get(word, word)
