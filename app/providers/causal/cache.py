"""Keys and values of sequences that are on their way, side by side: one row each, all ending in the same column."""

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, DynamicLayer

SPARE = 64  # columns made in advance: without them each new token would copy all that is kept


class Layer(DynamicLayer):  # type: ignore[misc]
    """Keys and values of one layer, shape (rows, heads, columns, width), with room for more columns."""

    keys: Tensor
    values: Tensor
    _room: tuple[Tensor, Tensor]

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Begin with no columns."""
        self._hold(key_states[:, :, :0], value_states[:, :, :0])

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:  # noqa: ANN401
        """Add columns. What was given to `of` is copied before it would be written to."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        begin = self.keys.shape[-2]
        end = begin + key_states.shape[-2]
        if end > self._room[0].shape[-2]:
            self._room = (_roomier(self.keys, end + SPARE), _roomier(self.values, end + SPARE))
        for room, states in zip(self._room, (key_states, value_states), strict=True):
            room[:, :, begin:end] = states
        self.keys, self.values = (room[:, :, :end] for room in self._room)
        return self.keys, self.values

    def _hold(self, keys: Tensor, values: Tensor) -> None:
        self.keys, self.values = self._room = (keys, values)
        self.device, self.is_initialized = keys.device, True

    @classmethod
    def of(cls, keys: Tensor, values: Tensor) -> "Layer":
        """A layer that holds these."""
        layer = cls()
        layer._hold(keys, values)
        return layer


def _roomier(states: Tensor, columns: int) -> Tensor:
    rows, heads, used, width = states.shape
    room = states.new_empty((rows, heads, columns, width))
    room[:, :, :used] = states
    return room


def empty() -> Cache:
    """Nothing kept yet."""
    return Cache(layer_class_to_replicate=Layer)


def repeated(cache: Cache, rows: int, columns: int) -> Cache:
    """The first columns of a cache of one row, for many rows. The original is never written to."""
    return _made(
        (keys[:, :, :columns].expand(rows, -1, -1, -1), values[:, :, :columns].expand(rows, -1, -1, -1))
        for keys, values in _kept(cache)
    )


def joined(first: Cache, second: Cache) -> Cache:
    """The rows of both, all ending in the same column; the shorter ones begin with zeros."""
    return _made(
        (_stacked(keys, more_keys), _stacked(values, more_values))
        for (keys, values), (more_keys, more_values) in zip(_kept(first), _kept(second), strict=True)
    )


def selected(cache: Cache, rows: Tensor, columns: int) -> Cache:
    """Some rows, and of them the last columns."""
    return _made((keys[rows, :, -columns:], values[rows, :, -columns:]) for keys, values in _kept(cache))


def _stacked(first: Tensor, second: Tensor) -> Tensor:
    columns = max(first.shape[-2], second.shape[-2])
    return torch.cat([_padded(first, columns), _padded(second, columns)])


def _padded(states: Tensor, columns: int) -> Tensor:
    return torch.nn.functional.pad(states, (0, 0, columns - states.shape[-2], 0))


def _kept(cache: Cache) -> Iterator[tuple[Tensor, Tensor]]:
    return ((layer.keys, layer.values) for layer in cache.layers)


def _made(layers: Iterable[tuple[Tensor, Tensor]]) -> Cache:
    return Cache(layers=[Layer.of(keys, values) for keys, values in layers])
