"""How a model wants to be spoken to: the tokens of its chat template around ours.

Our texts hold what people wrote. They are read as plain words: a marker of the template inside of them is no marker.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from jinja2.exceptions import TemplateError
from tokenizers import Tokenizer

from app.domain.errors import ConfigurationError

PLAIN = "System: {system}\n\nUser: {user}\n\nAssistant:"
"""What a model without a chat template is given."""

SYSTEM, USER = "\ue000system\ue001", "\ue000user\ue001"  # places of the two texts; no template says these
BETWEEN = "\n\n"  # the system text and the user's, where a template has one place for both


class Words:
    """Text to tokens and back. Safe to use from several threads."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401  (a transformers tokenizer)
        self._markers = _bare(tokenizer)
        self._plain = _bare(tokenizer)
        self._plain.encode_special_tokens = True  # spelled out, not read as markers

    def of_text(self, text: str) -> list[int]:
        """Tokens of somebody's text: markers inside are plain words."""
        tokens: list[int] = self._plain.encode(text, add_special_tokens=False).ids
        return tokens

    def of_template(self, text: str) -> list[int]:
        """Tokens of what a chat template says around texts."""
        tokens: list[int] = self._markers.encode(text, add_special_tokens=False).ids
        return tokens

    def begin(self) -> list[int]:
        """What the tokenizer puts before every text, such as a token for its beginning."""
        tokens: list[int] = self._markers.encode("", add_special_tokens=True).ids
        return tokens[:1]

    def to_text(self, tokens: Sequence[int]) -> str:
        """Tokens as text, without markers."""
        text: str = self._markers.decode(list(tokens), skip_special_tokens=True)
        return text


def _bare(tokenizer: Any) -> Tokenizer:  # noqa: ANN401
    bare: Tokenizer = copy(tokenizer.backend_tokenizer)
    bare.no_padding()
    bare.no_truncation()
    return bare


@dataclass(frozen=True, slots=True)
class Frame:
    """A chat template as tokens: before the system text, between the two, after the user's."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]

    def around(self, system: Sequence[int], user: Sequence[int]) -> list[int]:
        """A whole prompt; the model's reply comes next."""
        return [*self.before, *system, *self.between, *user, *self.after]

    def until(self, system: Sequence[int], user: Sequence[int]) -> list[int]:
        """A prompt whose user's text goes on."""
        return [*self.before, *system, *self.between, *user]


def frame_of(tokenizer: Any, words: Words, name: str) -> Frame:  # noqa: ANN401
    """The frame of a model's chat template, or of the plain one. Raises ConfigurationError."""
    templated = bool(getattr(tokenizer, "chat_template", None))
    if templated:
        parts = _in_two_turns(tokenizer) or _in_one_turn(tokenizer)
    else:
        parts = _parts(PLAIN.format(system=SYSTEM, user=USER))
    if parts is None:
        raise ConfigurationError(f"the chat template of {name} does not show what it is given")
    before, between, after = map(words.of_template, parts)
    return Frame(tuple(before if templated else words.begin() + before), tuple(between), tuple(after))


def _in_two_turns(tokenizer: Any) -> tuple[str, str, str] | None:  # noqa: ANN401
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}]
    return _parts(_rendered(tokenizer, messages))


def _in_one_turn(tokenizer: Any) -> tuple[str, str, str] | None:  # noqa: ANN401
    """For templates that know no system: its text stands first in the user's turn."""
    return _parts(_rendered(tokenizer, [{"role": "user", "content": f"{SYSTEM}{BETWEEN}{USER}"}]))


def _rendered(tokenizer: Any, messages: list[dict[str, str]]) -> str:  # noqa: ANN401
    try:
        # A model that thinks aloud by default is asked to answer at once; other templates pass over the word.
        text: str = tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
    except TemplateError:
        return ""
    return text


def _parts(text: str) -> tuple[str, str, str] | None:
    if text.count(SYSTEM) != 1 or text.count(USER) != 1:
        return None
    before, _, rest = text.partition(SYSTEM)
    between, found, after = rest.partition(USER)
    return (before, between, after) if found else None
