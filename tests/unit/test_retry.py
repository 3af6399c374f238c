"""When a job is tried again, and what its failure shows."""

from datetime import timedelta

import pytest

from app.domain.errors import (
    AppError,
    ConfigurationError,
    Conflict,
    Discarded,
    InvalidInput,
    NotFound,
    ProviderUnavailable,
    StoreUnavailable,
)
from app.jobs.registry import Retry
from app.jobs.runner import describe

RETRY = Retry(attempts=4, first_delay=timedelta(seconds=2), factor=3.0, jitter=0.0)


def test_the_wait_grows_until_the_tries_are_used_up() -> None:
    delays = [RETRY.delay(ProviderUnavailable("down"), attempt) for attempt in range(1, 6)]
    assert delays == [timedelta(seconds=2), timedelta(seconds=6), timedelta(seconds=18), None, None]


def test_jobs_that_failed_together_do_not_come_back_together() -> None:
    spread = Retry(first_delay=timedelta(seconds=10), jitter=0.5)
    waits = {spread.delay(ProviderUnavailable("down"), 1) for _ in range(20)}
    assert len(waits) > 1
    assert all(wait and timedelta(seconds=10) <= wait <= timedelta(seconds=15) for wait in waits)


def test_an_outage_of_half_a_minute_passes_unnoticed() -> None:
    retry = Retry()
    waits = [retry.delay(StoreUnavailable("down"), attempt) for attempt in range(1, retry.attempts)]
    assert sum((wait for wait in waits if wait), timedelta()) >= timedelta(seconds=30)


@pytest.mark.parametrize(("asked", "waits"), [(None, 2), (0.5, 2), (60, 60), (10**9, 3600)])
def test_a_model_that_asks_for_a_rest_gets_it(asked: float | None, waits: int) -> None:
    assert RETRY.delay(ProviderUnavailable("busy", retry_after=asked), 1) == timedelta(seconds=waits)


@pytest.mark.parametrize("error", [ProviderUnavailable("x"), StoreUnavailable("x"), Discarded("x")])
def test_what_may_go_through_later_is_tried_again(error: AppError) -> None:
    assert RETRY.delay(error, 1) is not None


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        KeyError("x"),
        TimeoutError(),
        NotFound("x"),
        Conflict("x"),
        InvalidInput("x"),
        ConfigurationError("x"),
    ],
)
def test_what_will_not_help_is_not_tried_again(error: Exception) -> None:
    assert RETRY.delay(error, 1) is None


def _raised(error: Exception) -> Exception:
    with pytest.raises(type(error)) as caught:
        _raise(error)
    return caught.value


def _raise(error: Exception) -> None:
    raise error


def test_our_own_errors_say_what_happened() -> None:
    shown = describe(_raised(ProviderUnavailable("the model does not answer")))
    assert (shown["code"], shown["detail"]) == ("provider_unavailable", "the model does not answer")
    assert shown["where"].startswith("_raise:")


def test_other_errors_are_named_without_their_words() -> None:
    shown = describe(_raised(ValueError("my PIN hint is otter")))
    assert (shown["code"], shown["detail"]) == ("internal", "ValueError")
    assert "otter" not in repr(shown)
