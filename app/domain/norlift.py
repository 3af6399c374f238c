"""Noisy-OR lift: what else of the same matter stands out makes an item likelier.

The published form is only sketched: z-scores, shifted by a percentile and bent by a logistic curve, joined by a
noisy-OR and divided by a background rate. What follows is derived from what it should mean.

1. A detector (cosine, BM25) sees item i stand z_i deviations above all n items of its level. It fires for i with

       p_i = 1 / (1 + exp(-λ (z_i - z_τ))),

   even odds where only a share of 1 - τ of all items stands as high. With τ = 0.95, z_τ = 1.645: the normal
   distribution's percentile, so that it does not depend on which candidates were gathered.

2. Item i is about the question unless each of its causes fails to show it. Its causes are the two detectors and the
   items that were drawn from it or lie in it: a message's are the statements that cite it, an episode's its messages.
   A cause c that is about the question shows it with a chance of `link` only, for it was chosen among others:

       P_i = 1 - Π_d (1 - p_i,d) · Π_c (1 - link · P_c).

   Each factor lies in 0–1 and falls as its p or P rises, so P_i is in 0–1, never falls when evidence rises or is
   added, and does not depend on the order of causes.

3. An episode of thirty messages fires often, whatever is asked. The lift P_i / b compares it with the level's mean b
   (items outside the pool count as average ones). Read as odds of 1 to b and brought to 0–1 it is P_i / (P_i + b):
   1/2 for an average item. With b = (P_i + R) / n it is 1 / (1 + 1/n + R / (n P_i)): it rises with P_i though b does.

4. All of that is relative: something always stands out. The best cosine or BM25 share of the level, in 0–1, scales
   its scores, as it does those of `fusion.reciprocal_rank`, so that a question about something absent scores low.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.domain.fusion import DEFAULT as FUSION
from app.domain.fusion import Floats, Pool, standard, vector_score, word_score
from app.domain.vectors import TINY


@dataclass(frozen=True, slots=True)
class NorliftPolicy:
    """The constants of the derivation; λ and τ as published."""

    steepness: float = 2.5  # λ: of the logistic curve, in 1/deviations
    threshold: float = 1.645  # z_τ: deviations that 5 % of a normal distribution are above
    link: float = 0.5  # chance that a cause shows what it is a part of


DEFAULT = NorliftPolicy()


def fired(pool: Pool, policy: NorliftPolicy = DEFAULT) -> Floats:
    """The chance, (n,) in 0–1, that either detector fires for each member of a pool."""
    cosine = standard(pool.cosine, FUSION.cosine_prior, FUSION.prior_items)
    words = standard(pool.words, FUSION.words_prior, FUSION.prior_items)
    either: Floats = 1.0 - (1.0 - _chance(cosine, policy)) * (1.0 - _chance(words, policy))
    return either


def joined(own: Floats, causes: Floats, of: NDArray[np.intp], policy: NorliftPolicy = DEFAULT) -> Floats:
    """P (n,) in 0–1 from what members show themselves, `own` (n,), and their causes' P, (m,): cause j is of `of[j]`."""
    silent = 1.0 - own
    np.multiply.at(silent, of, 1.0 - policy.link * causes)
    shown: Floats = 1.0 - silent
    return shown


def lifted(chances: Floats, pool: Pool, policy: NorliftPolicy = DEFAULT) -> Floats:
    """Scores (n,) in 0–1 from P (n,): rising with it, comparable across levels."""
    if not chances.size:
        return chances
    unseen = max(pool.cosine.count, pool.words.count) - len(chances)
    average = 1.0 - (1.0 - float(_chance(np.zeros(1), policy)[0])) ** 2  # fires by either detector
    background = (float(chances.sum()) + max(unseen, 0) * average) / (len(chances) + max(unseen, 0))
    best = max(float(vector_score(pool.cosine.values).max()), float(word_score(pool.words.values).max()))
    scores: Floats = best * chances / np.maximum(chances + background, TINY)
    return scores


def _chance(deviations: Floats, policy: NorliftPolicy) -> Floats:
    chance: Floats = 1.0 / (1.0 + np.exp(-policy.steepness * (deviations - policy.threshold)))
    return chance
