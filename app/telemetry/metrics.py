"""Instruments in Prometheus' text format, in a registry of their own: two services in one process share nothing.

Labels take their values from short, fixed lists. Never a namespace, an id or a text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
OTHER = "other"  # whatever method a client invents, or a path that no route has
REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300)
JOB_SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800)
MODEL_SECONDS = (0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120)


@dataclass(frozen=True, slots=True)
class Readings:
    """What the database says at the moment of a scrape."""

    jobs: Mapping[tuple[str, str], int] = field(default_factory=dict)  # by state and kind; without succeeded ones
    failed: int = 0
    oldest_due_seconds: float = 0.0
    buffered: int = 0


class Metrics:
    """The instruments of one service."""

    def __init__(self, **build: str) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        Info("xmemory_build", "Version and kind of database.", registry=self._registry).info(build)
        self._requests = self._counter("xmemory_http_requests", "Requests answered.", "method", "route", "status")
        self._request_seconds = self._histogram(
            "xmemory_http_request_duration_seconds",
            "From the first byte of a request to the last of its answer.",
            REQUEST_SECONDS,
            *("method", "route"),
        )
        self._abandoned = self._counter(
            "xmemory_abandoned_reads",
            "Questions whose client went away before the answer: the work on them was stopped.",
            "route",
        )
        self._runs = self._counter("xmemory_job_runs", "Attempts of jobs in this process.", "kind", "outcome")
        self._run_seconds = self._histogram(
            "xmemory_job_run_duration_seconds", "How long an attempt took.", JOB_SECONDS, "kind"
        )
        self._calls = self._counter("xmemory_embedder_calls", "Calls of the embedding model.", "lane", "outcome")
        self._texts = self._counter("xmemory_embedder_texts", "Texts that got a vector.", "lane")
        self._call_seconds = self._histogram(
            "xmemory_embedder_duration_seconds", "How long a call of the embedding model took.", MODEL_SECONDS, "lane"
        )
        self._chat_calls = self._counter("xmemory_chat_calls", "Calls of the language model.", "stage", "outcome")
        self._chat_tokens = self._counter(
            "xmemory_chat_tokens", "Tokens that it read (in) and wrote (out).", "stage", "direction"
        )
        self._chat_seconds = self._histogram(
            "xmemory_chat_duration_seconds", "How long a call of the language model took.", MODEL_SECONDS, "stage"
        )
        self._open = Gauge(
            "xmemory_model_circuit_open",
            "1 while a model that failed is left alone.",
            ["model"],
            registry=self._registry,
        )

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(name, meaning, labels, registry=self._registry)

    def _histogram(self, name: str, meaning: str, buckets: Sequence[float], *labels: str) -> Histogram:
        return Histogram(name, meaning, labels, buckets=buckets, registry=self._registry)

    def request(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """A request was answered; `route` is its template."""
        named, place = method if method in METHODS else OTHER, route or OTHER
        self._requests.labels(named, place, f"{status // 100}xx").inc()
        self._request_seconds.labels(named, place).observe(seconds)

    def abandoned(self, route: str) -> None:
        """A client did not wait for its answer; `route` is its template."""
        self._abandoned.labels(route).inc()

    def job(self, kind: str, outcome: str, seconds: float) -> None:
        """An attempt ended."""
        self._runs.labels(kind, outcome).inc()
        self._run_seconds.labels(kind).observe(seconds)

    def embedding(self, lane: str, outcome: str, texts: int, seconds: float) -> None:
        """The embedding model was called; `lane` is batch or query."""
        self._calls.labels(lane, outcome).inc()
        if outcome == "ok":
            self._texts.labels(lane).inc(texts)
        self._call_seconds.labels(lane).observe(seconds)

    def chat(self, stage: str, outcome: str, tokens_in: int, tokens_out: int, seconds: float) -> None:
        """The language model was called."""
        self._chat_calls.labels(stage, outcome).inc()
        self._chat_tokens.labels(stage, "in").inc(tokens_in)
        self._chat_tokens.labels(stage, "out").inc(tokens_out)
        self._chat_seconds.labels(stage).observe(seconds)

    def circuit(self, model: str, opened: bool) -> None:  # noqa: FBT001
        """Calls of a model, embedder or chat, are let through again, or no more."""
        self._open.labels(model).set(opened)

    def render(self, readings: Readings | None) -> bytes:
        """Everything as text; without readings the database is down, and no stale number stands in for it."""
        return generate_latest(self._registry) + generate_latest(_gauges(readings))


def _gauges(readings: Readings | None) -> CollectorRegistry:
    registry = CollectorRegistry()  # of this one scrape
    up = Gauge("xmemory_database_up", "1 if the database answered this scrape.", registry=registry)
    up.set(readings is not None)
    if readings is None:
        return registry
    jobs = Gauge(
        "xmemory_jobs",
        "Jobs queued, running, failed or cancelled. For succeeded ones see xmemory_job_runs_total.",
        ["state", "kind"],
        registry=registry,
    )
    for (state, kind), count in readings.jobs.items():
        jobs.labels(state, kind).set(count)
    values = {
        "xmemory_failed_jobs": ("Jobs that failed and wait for a retry.", readings.failed),
        "xmemory_oldest_due_job_age_seconds": (
            "How long the longest due queued job has waited; 0 if none waits.",
            readings.oldest_due_seconds,
        ),
        "xmemory_buffered_messages": ("Messages that belong to no episode yet.", readings.buffered),
    }
    for name, (meaning, value) in values.items():
        Gauge(name, meaning, registry=registry).set(value)
    return registry
