"""What the scripted chat model says: plausible, deterministic, and always in the words that it was shown."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from app.domain import keyphrases
from app.domain.chat import Stage
from app.domain.dates import resolve, written
from app.domain.fencing import Block, read_numbered, unfence
from app.domain.packing import MONTHS
from app.domain.remarks import Use, use
from app.domain.text import content_words, sentences, terms

MOST_STATEMENTS = 16
TOLD = 3  # sentences of a narrative
LONGEST = 240  # characters of a statement
SAME_TOPIC = 2  # messages on each side of a border whose words are compared
SHORTEST = 4  # messages of an episode
EXPECTED = 0.8  # share of a sentence's words from which a prediction said it already
RELATED = 0.6  # share of words from which a known statement is the same matter, newly put
_DAY = re.compile(r"(\d{1,2}) (\w+) (\d{4})")
_LIKING = re.compile(r"\b(?:love|like|enjoy|prefer|favou?rite|hate)\b", re.IGNORECASE)
_PLAN = re.compile(r"\b(?:going to|plan|will|want to|hope)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Line:
    """A numbered line, and the day of the heading above it."""

    number: int
    who: str
    text: str
    day: datetime | None


def reply(schema: Mapping[str, Any], user: str) -> dict[str, Any]:
    """The reply to a user message that app/prompts wrote, by the schema's title; to any other, something that fits."""
    if schema.get("title") == Stage.DATA:
        data: dict[str, Any] = _filled(schema, schema, " ".join(unfence(user, Block.ANSWER)))
        return data
    say = _REPLIES.get(str(schema.get("title", "")))
    if say is not None:
        return say(user)
    return {name: _FITTING.get(field.get("type")) for name, field in schema.get("properties", {}).items()}


def answer_text(question: str, lines: Sequence[str]) -> str:
    """The line that shares most words with a question; nothing if none shares any."""
    asked = set(terms(question))
    best = max(lines, key=lambda line: len(asked & set(terms(line))), default="")
    return best if asked & set(terms(best)) else ""


def _lines(user: str, block: Block) -> list[_Line]:
    day: datetime | None = None
    found = []
    for line in unfence(user, block):
        entry = read_numbered(line)
        if entry is None:
            day = _read_day(line) or day
            continue
        who, colon, text = entry[1].partition(": ")
        found.append(_Line(int(entry[0]), who if colon else "", text if colon else who, day))
    return found


def _read_day(heading: str) -> datetime | None:
    found = _DAY.search(heading)
    if found is None or found[2] not in MONTHS:
        return None
    return datetime(int(found[3]), MONTHS.index(found[2]) + 1, int(found[1]), tzinfo=UTC)


def _facts(lines: Sequence[_Line]) -> list[tuple[_Line, str]]:
    """The sentences worth keeping, each once, with the line that says it first."""
    names = frozenset(word for line in lines for word in content_words(line.who))
    found: dict[tuple[str, str], _Line] = {}
    for line in lines:
        for sentence in sentences(line.text):
            if len(sentence) <= LONGEST and use(sentence, names) is Use.CONTENT:
                found.setdefault((line.who, sentence), line)
    return [(line, sentence) for (_, sentence), line in found.items()]


def _told(lines: Sequence[_Line]) -> dict[str, Any]:
    texts = [line.text for line in lines]
    told = [f"{line.who}: {sentence}" for line, sentence in _facts(lines)[:TOLD]]
    return {
        "title": keyphrases.label(texts, speakers=[line.who for line in lines]),
        "narrative": " ".join(told) or " ".join(texts[:TOLD])[:LONGEST] or "…",
    }


def _episode(user: str) -> dict[str, Any]:
    return _told(_lines(user, Block.MESSAGES))


def _boundary(user: str) -> dict[str, Any]:
    """A border where the words on both sides have nothing in common."""
    said = [frozenset(terms(line.text)) for line in _lines(user, Block.MESSAGES)]
    begins: list[int] = []
    for at in range(SHORTEST, len(said) - SHORTEST + 1):
        before = frozenset[str]().union(*said[at - SAME_TOPIC : at])
        after = frozenset[str]().union(*said[at : at + SAME_TOPIC])
        if not before & after and at + 1 - (begins[-1] if begins else 1) >= SHORTEST:
            begins.append(at + 1)
    return {"begins": begins}


def _statements(user: str) -> dict[str, Any]:
    lines = _lines(user, Block.MESSAGES)
    known = [entry for line in unfence(user, Block.KNOWN) if (entry := read_numbered(line))]
    expected = set(terms(" ".join(unfence(user, Block.PREDICTED))))
    fresh = [
        (line, sentence)
        for line, sentence in _facts(lines)
        if len(set(terms(sentence)) & expected) < EXPECTED * max(1, len(set(terms(sentence))))
    ]
    return {
        **_told(lines),
        "statements": [_statement(line, sentence, known) for line, sentence in fresh[:MOST_STATEMENTS]],
    }


def _statement(line: _Line, sentence: str, known: Sequence[tuple[str, str]]) -> dict[str, Any]:
    times = resolve(sentence, line.day) if line.day else []
    dated = f" ({written(times[0])})" if times else ""
    text = f"{line.who}: {sentence}{dated}" if line.who else sentence + dated
    return {
        "text": text,
        "messages": [line.number],
        "kind": _kind(sentence, dated=bool(times)),
        "date": times[0].start.isoformat() if times else "",
    } | ({"updates": next((alias for alias, old in known if _is_newer_form(text, old)), "none")} if known else {})


def _kind(sentence: str, *, dated: bool) -> str:
    if _LIKING.search(sentence):
        return "preference"
    if _PLAN.search(sentence):
        return "plan"
    return "event" if dated else "fact"


def _is_newer_form(text: str, old: str) -> bool:
    """Whether both say the same of another number."""
    new, former = set(terms(text)), set(terms(old))
    differs = any(map(str.isdigit, "".join(new ^ former)))
    return differs and len(new & former) >= RELATED * max(1, len(new | former))


def _predict(user: str) -> dict[str, Any]:
    known = [entry[1] for line in unfence(user, Block.KNOWN) if (entry := read_numbered(line))]
    return {"predicted": " ".join(known[:TOLD])}


def _label(user: str) -> dict[str, Any]:
    members: dict[int, list[str]] = {}
    for entry in filter(None, map(read_numbered, unfence(user, Block.THEMES))):
        members.setdefault(int(entry[0]), []).append(entry[1])
    return {
        "themes": [
            {"theme": number, "label": keyphrases.label(texts), "summary": texts[0][:LONGEST]}
            for number, texts in members.items()
        ]
    }


def _answer(user: str) -> dict[str, Any]:
    lines = {f"{line.who}: {line.text}" if line.who else line.text: line for line in _lines(user, Block.CONTEXT)}
    best = answer_text(" ".join(unfence(user, Block.QUESTION)), list(lines))
    return {
        "answer": lines[best].text if best else "",
        "lines": [lines[best].number] if best else [],
        "abstained": not best,
        "reason": "none" if best else "no_evidence",
    }


def _filled(schema: Any, root: Mapping[str, Any], text: str) -> Any:  # noqa: ANN401
    """A value of a caller's schema: `text` where there is room for it. Of what is not plain the first alternative."""
    if not isinstance(schema, Mapping):
        return text
    if "$ref" in schema:
        target: Any = root
        for part in str(schema["$ref"]).split("/")[1:]:
            target = target[part]
        return _filled(target, root, text)
    for choices in ("anyOf", "oneOf"):
        if choices in schema:
            return _filled(schema[choices][0], root, text)
    if "enum" in schema or "const" in schema:
        return schema.get("const", next(iter(schema.get("enum", [None]))))
    kinds = schema.get("type", "string")
    return _of_kind(kinds if isinstance(kinds, str) else kinds[0], schema, root, text)


def _of_kind(kind: str, schema: Mapping[str, Any], root: Mapping[str, Any], text: str) -> Any:  # noqa: ANN401
    numbers = re.findall(r"\d+", text)
    match kind:
        case "object":
            return {name: _filled(inner, root, text) for name, inner in schema.get("properties", {}).items()}
        case "array":
            return [_filled(schema.get("items", {}), root, text)]
        case "integer" | "number":
            return int(numbers[0]) if numbers else schema.get("minimum", 1)
        case "boolean":
            return True
        case "null":
            return None
    return text[: schema.get("maxLength", LONGEST)]


def _verdict(user: str) -> dict[str, Any]:
    """Strict: right is what has every word of the reference."""
    given, _ = json.JSONDecoder().raw_decode(user)  # asked again, what was wrong stands behind it
    return {"correct": set(terms(given["reference"])) <= set(terms(given["answer"]))}


_FITTING: Mapping[str, Any] = {
    "string": "ready",
    "boolean": True,
    "integer": 1,
    "number": 1.0,
    "array": [],
    "object": {},
}
_REPLIES: Mapping[str, Callable[[str], dict[str, Any]]] = {
    Stage.BOUNDARY: _boundary,
    Stage.EPISODE: _episode,
    Stage.STATEMENTS: _statements,
    Stage.PREDICT: _predict,
    Stage.LABEL: _label,
    Stage.ANSWER: _answer,
    Stage.VERDICT: _verdict,
}
