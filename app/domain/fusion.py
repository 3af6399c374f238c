"""Fusing signals into one score in 0–1.

Five signals say how well an item fits a question:

- its own evidence: the cosine, the BM25 and, where the model tells words apart, how well its words meet the
  question's (`late`), each in deviations above what the level's items score;
- near evidence: the same, summed over what was said just before and after, for a reply rarely repeats the
  words it replies to;
- its day: the best evidence on the same day of the same conversation;
- whether its speaker is named in the question;
- whether it was said at a time that the question names, or near it.

The sum ranks a level. A logistic curve turns it into a score, with the level's best cosine and best BM25
in it, so that a question about something absent scores low although something always ranks first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal over a pool: `values` (n,), with the mean and the standard deviation over all `count` items
    of the level, in the pool or not.
    """

    values: Floats
    mean: float
    deviation: float
    count: int

    @classmethod
    def sparse(cls, values: Floats, count: int) -> "Signal":
        """A signal that is 0 for all items of the level but `values` (n,), n <= count."""
        mean = float(values.sum()) / max(count, 1)
        square = float(values @ values) / max(count, 1)
        return cls(values, mean, max(square - mean * mean, 0.0) ** 0.5, count)

    def take(self, index: NDArray[np.intp]) -> "Signal":
        """The same signal over the pool members at `index`."""
        return Signal(self.values[index], self.mean, self.deviation, self.count)


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of one level, all arrays of shape (n,).

    `cosine` lies in [-1, 1]; `words` is `bm25.score`. `named`: the question names the item's speaker.
    `group` numbers the item's conversation and day; `position` is its place in the conversation (that of
    its first cited message, for a statement). Items with context nowhere else, such as episodes, have a
    group of their own. Neighbours within `FusionPolicy.reach` should be in the pool.

    `timely` lies in 0–1: 1 for what was said at a time that the question names; None where it names none.

    Late interaction, where the model tells words apart: `compared` are the best by all other signals, `late` how
    well they meet the question's words (`late.matches`), NaN for those whose words nobody has kept.
    """

    cosine: Signal
    words: Signal
    named: NDArray[np.bool_]
    group: NDArray[np.intp]
    position: NDArray[np.intp]
    timely: Floats | None = None
    late: Floats | None = None
    compared: NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True)
class Prior:
    """What a signal's values look like in a namespace that has not been seen.

    No level's deviation counts as less than `floor`: among very many items a word that few of them have
    would drown every other signal.
    """

    mean: float
    deviation: float
    floor: float


@dataclass(frozen=True, slots=True)
class FusionPolicy:
    """Weights and calibration, set on LoCoMo conversations 1, 3, 5 and checked on 2 and 4 (MiniLM)."""

    words: float = 0.7  # BM25 beside the cosine's 1; from 0.4 to 1 recall at 1000 tokens stays within 0.01
    near: float = 1.3  # beside an item's own 1; from 1 to 1.6 recall at 1000 tokens stays within 0.002
    day: float = 0.25  # lifts whole days a little; 0.8 already hurts questions about several days
    late: float = 0.6  # how the question's words are met; from 0.4 to 0.8 recall at 1000 tokens stays within 0.003
    named: float = 6.0  # deviations; people are asked about by name for what they said themselves
    time: float = 12.0  # deviations; a time in a question is about the strongest thing in it: from 8 to 16 all the same
    near_days: float = 7.0  # by then a time's pull has faded to a third: what happens is told in the days after it
    reach: int = 3  # messages before and after that count as near
    fading: float = 0.6  # weight of a neighbour, for each message of distance
    day_best: int = 3  # items that speak for a day

    cosine_prior: Prior = Prior(mean=0.06, deviation=0.12, floor=0.06)  # MiniLM, over five conversations
    words_prior: Prior = Prior(mean=0.02, deviation=0.05, floor=0.03)
    late_prior: Prior = Prior(mean=0.35, deviation=0.13, floor=0.05)
    prior_items: int = 20  # a level this small is believed half; its own statistics are mostly noise

    # The logistic curve of `calibrated`. `slope` is that of a regression of "is evidence" on the sum. The
    # level's best cosine alone tells questions of these namespaces from those of others (AUROC 0.99), BM25
    # nearly so (0.95). With the bias, the best score reaches 0.5 for 4 % of the others' and 77 % of theirs.
    slope: float = 0.25
    best_cosine: float = 10.0
    best_words: float = 3.0
    late_best: float = 7.7  # deviations that a level's best gains by its words and those near it: no news, so taken off
    bias: float = -13.5


DEFAULT = FusionPolicy()
STATEMENTS = replace(DEFAULT, bias=DEFAULT.bias - 1.0)
"""A sentence matches a question more sharply than the message around it, and tells less: at equal evidence
the message goes first."""
EPISODES = replace(DEFAULT, bias=DEFAULT.bias - 5.0)
"""A narrative costs as many tokens as five messages and carries the words of none in full: it comes in where
nothing closer is left. At a bias of -1 it takes .05 of the recall at 1000 tokens, at -5 nothing."""

RANK_OFFSET = 60  # of reciprocal ranks, as published: the first ranks differ little
HALF_WORDS = 1 / 3  # BM25 share that maps to 0.5: a third of the question; a long exact match is above it


def fuse(pool: Pool, policy: FusionPolicy = DEFAULT) -> Floats:
    """The score of each pool member, (n,) in 0–1: it rises with `fused` and compares across levels.

    A question about something absent rarely has an item at 0.5. For statements, pass `STATEMENTS`. Before anything of
    the level has a vector, as just after messages were posted, their words alone tell.
    """
    if pool.cosine.count == 0:
        return word_score(pool.words.values)
    return calibrated(fused(pool, policy), pool, policy)


def fused(pool: Pool, policy: FusionPolicy = DEFAULT) -> Floats:
    """The weighted sum of the signals, (n,), in deviations: ranks one level for one question."""
    own = standard(pool.cosine, policy.cosine_prior, policy.prior_items)
    own = own + policy.words * standard(pool.words, policy.words_prior, policy.prior_items)
    own = own + policy.late * _met(pool, policy)
    total = own + policy.near * near(own, pool.group, pool.position, policy) + policy.named * pool.named
    if pool.timely is not None:
        total = total + policy.time * pool.timely
    return total + policy.day * best_of_group(total, pool.group, policy.day_best)


def calibrated(total: Floats, pool: Pool, policy: FusionPolicy = DEFAULT) -> Floats:
    """`fused` sums (n,) as scores in 0–1; the level's best cosine and best BM25 set how high they can be."""
    if not total.size:
        return total
    best = policy.best_cosine * float(pool.cosine.values.max()) + policy.best_words * min(
        float(pool.words.values.max()), 1.0
    )
    usual = 0.0 if _unknown(pool) else policy.late * policy.late_best
    scores: Floats = 1.0 / (1.0 + np.exp(-(policy.slope * (total - usual) + best + policy.bias)))
    return scores


def near(own: Floats, group: NDArray[np.intp], position: NDArray[np.intp], policy: FusionPolicy) -> Floats:
    """What stands within `reach` of each member in its group, itself included, fading with distance: (n,).

    A weighted sum scaled to the spread of a single value, so that an item that stands alone gains no more
    by it than one among many. Items at the same position count as one, by their mean.
    """
    if not own.size:
        return own
    stride = int(position.max()) + policy.reach + 1  # so that a step never leads into another group
    places, place = np.unique(group * stride + position, return_inverse=True)
    means = np.bincount(place, weights=own) / np.bincount(place)
    total, square = np.zeros(len(places)), np.zeros(len(places))
    for step in range(-policy.reach, policy.reach + 1):
        found = np.minimum(np.searchsorted(places, places + step), len(places) - 1)
        share = policy.fading ** abs(step) * (places[found] == places + step)
        total += share * means[found]
        square += share**2
    around: Floats = (total / np.sqrt(square))[place]
    return around


def timely(days: Sequence[date], times: Sequence[tuple[date, date]], policy: FusionPolicy = DEFAULT) -> Floats | None:
    """How near each of n days is to the nearest of the times (first and last day), (n,) in 0–1; None for no times."""
    if not times:
        return None
    said = np.array([day.toordinal() for day in days], dtype=np.float64)
    gaps = [np.maximum(np.maximum(first.toordinal() - said, said - last.toordinal()), 0.0) for first, last in times]
    fading: Floats = np.exp(-np.min(gaps, axis=0) / policy.near_days)
    return fading


def best_of_group(total: Floats, group: NDArray[np.intp], best: int) -> Floats:
    """For each member (n,) the mean of the `best` highest of `total` in its group, or of all it has."""
    order = np.lexsort((-total, group))
    groups, first, members = np.unique(group[order], return_index=True, return_counts=True)
    rank = np.arange(len(total)) - np.repeat(first, members)
    counted = np.where(rank < best, total[order], 0.0)
    means = np.add.reduceat(counted, first) / np.minimum(members, best) if total.size else total
    of_member: Floats = means[np.searchsorted(groups, group)]
    return of_member


def reciprocal_rank(cosine: Floats, words: Floats) -> Floats:
    """Plain hybrid: the sum of reciprocal ranks over both signals, (n,) in 0–1; BM25 of 0 has no rank.

    Ranks alone say nothing absolute, so the sums are scaled by the better signal's best score: the first
    of both lists gets that score, all keep their order.
    """
    if not cosine.size:
        return cosine
    ranked = _reciprocal(cosine) + np.where(words > 0.0, _reciprocal(words), 0.0)
    best = max(float(vector_score(cosine).max()), float(word_score(words).max()))
    scores: Floats = ranked * (RANK_OFFSET + 1) / 2 * best
    return scores


def vector_score(cosine: Floats) -> Floats:
    """A cosine as a score: (n,) in 0–1, 0 for whatever points away from the question."""
    scores: Floats = np.clip(cosine, 0.0, 1.0)
    return scores


def word_score(words: Floats) -> Floats:
    """A BM25 share as a score: (n,) in 0–1, 0.5 at `HALF_WORDS`, 0.75 for an average exact match."""
    scores: Floats = words / (words + HALF_WORDS)
    return scores


def _reciprocal(values: Floats) -> Floats:
    """1 / (60 + rank), ranks from 1, best first; equal values share the better rank."""
    ascending = np.sort(values)
    rank = len(values) - np.searchsorted(ascending, values, side="right") + 1
    reciprocal: Floats = 1.0 / (RANK_OFFSET + rank)
    return reciprocal


def _met(pool: Pool, policy: FusionPolicy) -> Floats:
    """How well the compared members meet the question's words, (n,), in deviations.

    Those whose words nobody has kept count as average; those that were not compared are behind all others.
    """
    if pool.late is None or pool.compared is None or _unknown(pool):
        return np.zeros(len(pool.named))
    known = ~np.isnan(pool.late)
    values = pool.late[known]
    met = np.where(pool.compared, 0.0, -1.0)
    met[known] = standard(
        Signal(values, float(values.mean()), float(values.std()), len(values)), policy.late_prior, policy.prior_items
    )
    return met


def _unknown(pool: Pool) -> bool:
    """Whether nobody has kept the words of any member."""
    return pool.late is None or bool(np.isnan(pool.late).all())


def standard(signal: Signal, prior: Prior, prior_items: int) -> Floats:
    """The signal in deviations above the level's mean; a small level is completed by what is usual."""
    trust = signal.count / (signal.count + prior_items)
    mean = trust * signal.mean + (1.0 - trust) * prior.mean
    variance = trust * signal.deviation**2 + (1.0 - trust) * prior.deviation**2
    standard: Floats = (signal.values - mean) / max(variance**0.5, prior.floor)
    return standard
