"""Right replies bent into the forms that real endpoints and small models give them."""

import json
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from app.stub.faults import Fault

THOUGHT = "The lines are numbered {1}, so I look at each and then write the object."
FENCE = "```"


def twist_text(text: str, schema: Mapping[str, Any] | None, faults: Set[Fault]) -> str:
    """The text of a reply, bent by each fault that concerns it."""
    for fault, bend in _BENDS.items():
        if fault in faults:
            text = bend(text, schema or {})
    return text


def choice(text: str, faults: Set[Fault]) -> dict[str, Any]:
    """A chat completion's choice that says `text`."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if Fault.REASONING_ONLY in faults:
        message |= {"content": None, "reasoning_content": text}
    if Fault.REFUSAL in faults:
        message |= {"content": None, "refusal": f"I cannot help with {text[:20]}"}
    finish = "length" if Fault.TRUNCATED in faults else "stop"
    return {
        "index": 0,
        "message": message,
        "finish_reason": "content_filter" if Fault.CONTENT_FILTER in faults else finish,
    }


def twist_vectors(vectors: Sequence[Sequence[float]], faults: Set[Fault]) -> list[dict[str, Any]]:
    """The entries of an embeddings reply. The last vector goes wrong, so that the others seem right."""
    last: Sequence[float | None] = vectors[-1] if vectors else []
    for fault, bend in _VECTOR_BENDS.items():
        if fault in faults:
            last = bend(last)
    found = [*vectors[:-1], last] if vectors else []
    entries = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(found)]
    if Fault.FEWER_VECTORS in faults:
        entries.pop()
    return entries[::-1] if Fault.SHUFFLED in faults else entries


def _inner_backticks(text: str, _: Mapping[str, Any]) -> str:
    fence = json.dumps(f" {FENCE}python\nprint()\n{FENCE}")[1:-1]
    at = text.find('": "')
    return f"{FENCE}json\n" + (text if at < 0 else text[: at + 4] + fence + text[at + 4 :]) + f"\n{FENCE}"


def _trailing_comma(text: str, _: Mapping[str, Any]) -> str:
    return text.rstrip().removesuffix("}") + ",}"


def _missing_keys(text: str, _: Mapping[str, Any]) -> str:
    return json.dumps({"note": "done", "count": len(text)})


def _unexpected_key(text: str, _: Mapping[str, Any]) -> str:
    return json.dumps({"memory_list": [json.loads(text)]}, ensure_ascii=False)


_BENDS: Mapping[Fault, Callable[[str, Mapping[str, Any]], str]] = {
    Fault.SCHEMA_ECHO: lambda _, schema: json.dumps(schema),
    Fault.MISSING_KEYS: _missing_keys,
    Fault.UNEXPECTED_KEY: _unexpected_key,
    Fault.TRAILING_COMMA: _trailing_comma,
    Fault.TRUNCATED: lambda text, _: text[: len(text) // 2],
    Fault.INNER_BACKTICKS: _inner_backticks,
    Fault.FENCED: lambda text, _: f"Here it is:\n{FENCE}json\n{text}\n{FENCE}\nAnything else?",
    Fault.THINKING_TAGS: lambda text, _: f"<think>{THOUGHT}</think>\n{text}",
    Fault.IGNORE_SCHEMA: lambda _text, _schema: "Yes, I am here. What can I do for you?",
    Fault.EMPTY_REPLY: lambda _text, _schema: "",
}
_VECTOR_BENDS: Mapping[Fault, Callable[[Sequence[float | None]], list[float | None]]] = {
    Fault.WRONG_DIMENSION: lambda vector: list(vector[1:]),
    Fault.ZERO_VECTOR: lambda vector: [0.0] * len(vector),
    Fault.NAN_VECTOR: lambda vector: [float("nan"), *vector[1:]],
    Fault.NULL_VECTOR: lambda vector: [None, *vector[1:]],
}
