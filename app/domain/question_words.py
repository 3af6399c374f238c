"""What German, Chinese and Japanese questions ask for, by their question words; `questions` reads English ones."""

import re
from collections.abc import Mapping, Sequence

_LEAD = r"^(?:(?:und|aber|also|seit|bis|ab|von|mit|für|in|an|bei|zu)\s+)?"
_CUES: Mapping[str, Sequence[tuple[str, str]]] = {
    "de": (
        ("when", rf"{_LEAD}wann\b|{_LEAD}welche[mnrs]? (?:jahr|monat|tag|datum|woche)\b"),
        ("how_long", rf"{_LEAD}wie lange?\b"),
        ("how_many", rf"{_LEAD}wie ?(?:viele?n?|oft|alt|hoch|groß|teuer)\b"),
        ("who", rf"{_LEAD}(?:wer|wen|wem|wessen)\b"),
        ("where", rf"{_LEAD}(?:wo|woher|wohin)\b"),
        ("why", rf"{_LEAD}(?:warum|wieso|weshalb)\b"),
        ("yes_no", r"^(?:ist|sind|war|waren|hat|haben|hatte|kann|wird|werden|mag|darf|muss|soll)\b"),
    ),
    "zh": (
        ("when", "什么时候|何时|哪年|哪一年|哪天|哪一天|几号|几月"),
        ("how_long", "多久|多长时间"),
        ("how_many", "多少|几(?!乎)"),
        ("where", "哪里|哪儿|在哪|什么地方"),
        ("who", "谁"),
        ("why", "为什么|为何"),
        ("yes_no", "吗[？?]?$|是不是|有没有"),
    ),
    "ja": (
        ("when", "いつ|何日|何月|何年(?!間)"),
        ("how_long", "どのくらい|どれくらい|何年間|何時間|何日間"),
        ("how_many", "いくつ|いくら|何(?:人|個|回|匹|冊|歳|本|台)"),
        ("where", "どこ"),
        ("who", "誰|だれ"),
        ("why", "なぜ|どうして"),
        ("yes_no", "^(?!.*[何ど]).*か[。？?]?$"),
    ),
}
_READ = {language: [(asks, re.compile(cue)) for asks, cue in cues] for language, cues in _CUES.items()}


def kind(text: str, language: str) -> str | None:
    """The value of `questions.Asks` for a question in "de", "zh" or "ja", or None."""
    plain = " ".join(text.casefold().split())
    return next((asks for asks, cue in _READ.get(language, ()) if cue.search(plain)), None)
