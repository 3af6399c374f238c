"""Running a model over several sequences at once. One thread may use it."""

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, DynamicCache

from app.providers.causal import cache as caches
from app.providers.causal.rows import Prefix, Row

MOST_ROWS = 8  # more rows make every one of them slower and the whole hardly faster, on a CPU
MOST_COLUMNS = 16_384  # rows × columns of keys and values that are kept at once; one row alone may be longer


class Engine:
    """A model and the rows that it works on: a row joins when there is room, and leaves when it is over."""

    def __init__(self, model: Any, device: torch.device) -> None:  # noqa: ANN401  (a transformers model)
        self._model = model
        self._device = device
        self._takes = frozenset(inspect.signature(model.forward).parameters)
        self._windowed = any(layer.is_sliding for layer in DynamicCache(config=model.config).layers)
        self.rows: list[Row] = []
        self._cache = caches.empty()
        self._mask = torch.empty(0, 0, dtype=torch.long, device=device)

    def has_room(self, row: Row, others: Sequence[Row] = ()) -> bool:
        """Whether a row fits beside those at work and `others`."""
        rows = [*self.rows, *others, row]
        return len(rows) == 1 or (
            len(rows) <= MOST_ROWS and len(rows) * max(each.columns for each in rows) <= MOST_COLUMNS
        )

    def read(self, tokens: Sequence[int]) -> Prefix:
        """Read the beginning of prompts."""
        with torch.inference_mode():
            ids = torch.tensor([tokens], device=self._device)
            _, cache = self._forward(ids, torch.ones_like(ids), caches.empty())
        return Prefix(tuple(tokens), cache)

    def admit(self, rows: Sequence[Row]) -> None:
        """Read the prompts of rows that begin with the same prefix, let each say its first token, and keep them."""
        # Rows that are read together have gaps after what they share, and a sliding window counts gaps too.
        apart = self._windowed or any(row.shared == 0 for row in rows)
        for group in [[row] for row in rows] if apart else [rows]:
            with torch.inference_mode():
                self._admit(group)

    def _admit(self, rows: Sequence[Row]) -> None:
        prefix = rows[0].prefix
        shared = min(row.shared for row in rows)
        ids, mask = self._aligned([row.prompt[shared:] for row in rows])
        mask = torch.nn.functional.pad(mask, (shared, 0), value=1)
        begun = caches.empty() if prefix is None else caches.repeated(prefix.cache, len(rows), shared)
        scores, cache = self._forward(ids, mask, begun)
        self._join(rows, cache, mask)
        self._choose(rows, scores)

    def step(self) -> None:
        """Let every row say one more token."""
        alone = len(self.rows) == 1
        # What can only follow is read at once by a row alone; beside others it is read one token a step, as all are.
        fed = [row.pending if alone else row.pending[:1] for row in self.rows]
        for row, tokens in zip(self.rows, fed, strict=True):
            row.pending = row.pending[len(tokens) :]
        with torch.inference_mode():
            ids, mask = self._aligned(fed)
            self._mask = torch.cat([self._mask, mask], dim=-1)
            scores, self._cache = self._forward(ids, self._mask, self._cache)
            self._choose(self.rows, scores)

    def clear(self) -> None:
        """Let go of all rows."""
        self.rows = []
        self._cache = caches.empty()

    def drop_those_over(self) -> None:
        """Let go of rows that are over, and of what was kept for them."""
        places = [place for place, row in enumerate(self.rows) if not row.over]
        if len(places) == len(self.rows):
            return
        if not places:
            self.clear()
            return
        self.rows = [self.rows[place] for place in places]
        chosen = torch.tensor(places, device=self._device)
        used = self._mask[chosen]
        columns = used.shape[-1] - int(used.argmax(-1).min())
        self._mask = used[:, -columns:]
        self._cache = caches.selected(self._cache, chosen, columns)

    def _choose(self, rows: Sequence[Row], scores: Tensor) -> None:
        for row, own in zip(rows, scores, strict=True):
            if not row.pending and not row.over:
                row.choose(own)
        self.drop_those_over()

    def _join(self, rows: Sequence[Row], cache: Cache, mask: Tensor) -> None:
        if self.rows:
            columns = max(mask.shape[-1], self._mask.shape[-1])
            both = (torch.nn.functional.pad(each, (columns - each.shape[-1], 0)) for each in (self._mask, mask))
            self._mask, self._cache = torch.cat(list(both)), caches.joined(self._cache, cache)
        else:
            self._mask, self._cache = mask, cache
        self.rows = [*self.rows, *rows]

    def _aligned(self, sequences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Sequences that end together, and 1 where they have a token."""
        width = max(map(len, sequences))
        padded = [[0] * (width - len(each)) + list(each) for each in sequences]
        marks = [[0] * (width - len(each)) + [1] * len(each) for each in sequences]
        return torch.tensor(padded, device=self._device), torch.tensor(marks, device=self._device)

    def _forward(self, ids: Tensor, mask: Tensor, cache: Cache) -> tuple[Tensor, Cache]:
        """Scores of the token after each row's last, shape (rows, vocabulary), and what is now kept."""
        places = (mask.cumsum(-1) - 1).clamp(min=0)[:, -ids.shape[-1] :]
        wanted = {"position_ids": places, "logits_to_keep": 1}
        given = {name: value for name, value in wanted.items() if name in self._takes}
        out = self._model(input_ids=ids, attention_mask=mask, cache=cache, use_cache=True, **given)
        return out.logits[:, -1], out.cache
