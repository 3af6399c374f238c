"""Holding a reply to a JSON schema: which tokens may come next, and what is left of a reply that was cut off."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import llguidance
import llguidance.hf
import numpy as np
from numpy.typing import NDArray

from app.domain.errors import ProviderRefused
from app.providers.causal.watch import JsonWatch, loops

LARGEST = 10**9  # of an integer without bounds of its own: a weak model writes digits without end
FIXED = frozenset(("enum", "const"))  # these say which values there are
MEASURED = FIXED | {"maxLength", "pattern", "format"}  # none of these: a string of any length
LITERAL = FIXED | {"default", "examples"}  # their values are values, not schemas

_JSON = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}\[\],]', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


class Grammars:
    """JSON schemas as grammars over the tokens of one model."""

    def __init__(self, tokenizer: Any, vocabulary: int, ends: Sequence[int]) -> None:  # noqa: ANN401
        tokens = llguidance.hf.from_tokenizer(tokenizer, n_vocab=vocabulary, eos_token=list(ends))
        self.tokens = tokens.with_slices(llguidance.LLTokenizer.json_slices())

    def constraint(self, schema: Mapping[str, Any], max_tokens: int) -> "Constraint":
        """What holds one reply of at most `max_tokens` to `schema`. Raises ProviderRefused."""
        grammar = llguidance.LLMatcher.grammar_from_json_schema(
            bounded(schema, max_tokens),
            # No other white space: a weak model would fill its reply with line breaks.
            overrides={"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "},
        )
        matcher = llguidance.LLMatcher(self.tokens, grammar, log_level=0)
        if matcher.is_error():
            raise ProviderRefused(f"the model cannot be held to this JSON schema: {matcher.get_error()}")
        return Constraint(self.tokens, matcher)


class Constraint:
    """One reply on its way. Not for several threads."""

    def __init__(self, tokens: llguidance.LLTokenizer, matcher: llguidance.LLMatcher) -> None:
        self._tokens = tokens
        self._matcher = matcher
        self._whole = matcher.deep_copy()
        self._watch = JsonWatch()
        self._ended: str | None = None
        [*_, self._quote] = tokens.tokenize_bytes(b'"')

    @property
    def complete(self) -> bool:
        """Whether nothing more can come, or nothing new would."""
        return self._ended is not None or self._matcher.is_stopped()

    def allowed(self) -> NDArray[np.bool_]:
        """Which tokens of the vocabulary may come next. A string that goes round in circles may only end."""
        mask = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        may = np.unpackbits(mask, bitorder="little").astype(np.bool_)
        if may[self._quote] and loops(self._watch.string):
            may[:] = False
            may[self._quote] = True
        return may

    def take(self, token: int) -> list[int]:
        """Accept the token that was chosen; returns those that can only follow. Raises ProviderRefused."""
        self._accept(token)
        forced = [] if self._matcher.is_stopped() else self._matcher.compute_ff_tokens()
        for follower in forced:
            self._accept(follower)
        if self._watch.repeats_from is not None:
            self._ended = self._closed(self._watch.text[: self._watch.repeats_from].decode(), tries=1)
            self._watch.repeats_from = None
        return forced

    def text_of(self, said: str, *, cut_off: bool) -> str:
        """What is kept of what was said.

        A list that goes round in circles ends before that. A reply that was cut off is closed after its last whole
        part, if the schema lets it end there, else it is left as it is.
        """
        if self._ended is not None:
            return self._ended
        return (self._closed(said) or said) if cut_off else said

    def _accept(self, token: int) -> None:
        if not self._matcher.consume_token(token):
            raise ProviderRefused(f"the model cannot be held to this JSON schema: {self._matcher.get_error()}")
        self._watch.follow(token, self._tokens.decode_bytes([token]))

    def _closed(self, text: str, tries: int | None = None) -> str | None:
        """The longest beginning that can be closed, of the so many longest; None if there is none."""
        for end, closing in islice(reversed(list(_cuts(text))), tries):
            candidate = text[:end] + closing
            matcher = self._whole.deep_copy()
            if matcher.consume_tokens(self._tokens.tokenize_str(candidate)) and matcher.is_accepting():
                return candidate
        return None


def bounded(schema: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
    """The schema with bounds where it has none, so that one field cannot use up the reply.

    A string gets `max_tokens` characters: at about four characters a token, a quarter of the reply.
    """
    found = {key: value if key in LITERAL else _bounded_inside(value, max_tokens) for key, value in schema.items()}
    kinds = [schema.get("type")] if isinstance(schema.get("type"), str) else schema.get("type") or ()
    if "string" in kinds and not MEASURED & found.keys():
        found["maxLength"] = max(max_tokens, found.get("minLength", 0))
    if "integer" in kinds and not FIXED & found.keys():
        found.setdefault("minimum", min(-LARGEST, found.get("maximum", 0)))
        found.setdefault("maximum", max(LARGEST, found["minimum"]))
    return found


def _bounded_inside(value: Any, max_tokens: int) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        return bounded(value, max_tokens)
    if isinstance(value, list):
        return [_bounded_inside(item, max_tokens) for item in value]
    return value


def _cuts(text: str) -> Iterator[tuple[int, str]]:
    """Where a JSON text can end, after a value or before a comma, and what would close it there."""
    closing = ""
    for found in _JSON.finditer(text):
        piece = found.group()
        if piece in _CLOSING:
            closing = _CLOSING[piece] + closing
        elif piece == ",":
            yield found.start(), closing
        elif piece in closing[:1]:
            closing = closing[1:]
            yield found.end(), closing
        elif piece.endswith('"') and len(piece) > 1:
            yield found.end(), closing
