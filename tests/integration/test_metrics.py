"""/metrics: what a monitor sees of the service, and nothing of what is remembered."""

import re
from datetime import timedelta

from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text, update

from app import __version__
from app.container import Container, utc_now
from app.domain.jobs import Step
from app.jobs.registry import JobKind
from app.settings import Settings
from app.storage import gauges
from app.storage.tables import jobs
from app.telemetry.metrics import Metrics
from tests.conftest import WAIT, Api
from tests.integration.faults import no_database
from tests.integration.support import enqueue, messages_path, namespace_id, over_http, post, runner, settled
from tests.integration.test_jobs import Failing

SAMPLE = tuple[tuple[str, str], ...]


async def _scrape(api: Api) -> dict[str, dict[SAMPLE, float]]:
    """Every sample by name and labels, read by the library's own parser."""
    reply = await api.get("/metrics")
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    found: dict[str, dict[SAMPLE, float]] = {}
    for family in text_string_to_metric_families(reply.text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def _labels(**labels: str) -> SAMPLE:
    return tuple(sorted(labels.items()))


async def test_a_service_at_rest(api: Api, settings: Settings) -> None:
    found = await _scrape(api)
    kind = "sqlite" if settings.database_url.startswith("sqlite") else "postgres"
    build = _labels(version=__version__, embedder="scripted", chat="extractive", database=kind)
    assert found["xmemory_build_info"] == {build: 1}
    assert found["xmemory_database_up"] == {(): 1}
    for gauge in ("xmemory_failed_jobs", "xmemory_oldest_due_job_age_seconds", "xmemory_buffered_messages"):
        assert found[gauge] == {(): 0}
    assert "xmemory_jobs" not in found
    assert found["process_resident_memory_bytes"][()] > 0


async def test_requests_are_counted_by_the_template_of_their_route(api: Api) -> None:
    await api.say("ada", "I like tea.")
    await api.say("bob", "I like tea.", conversation="another")
    await api.post(messages_path("ada"), json={"messages": []})
    await api.get("/v1/namespaces/nobody")
    await api.get("/no/such/path")
    await api.request("PURGE", "/v1/namespaces")
    found = await _scrape(api)
    requests, seconds = found["xmemory_http_requests_total"], found["xmemory_http_request_duration_seconds_count"]
    route = "/v1/namespaces/{namespace}/conversations/{conversation}/messages"
    assert requests[_labels(method="POST", route=route, status="2xx")] == 2
    assert requests[_labels(method="POST", route=route, status="4xx")] == 1
    assert requests[_labels(method="GET", route="/v1/namespaces/{namespace}", status="4xx")] == 1
    assert requests[_labels(method="GET", route="other", status="4xx")] == 1
    assert sum(count for labels, count in requests.items() if ("method", "other") in labels) == 1
    assert seconds[_labels(method="POST", route=route)] == 3


async def test_jobs_and_the_embedder_are_counted(api: Api) -> None:
    await api.say("ada", "I moved to Lisbon last week.", speaker="Ada")
    await api.settle("ada")
    await api.get("/v1/namespaces/ada/search", params={"q": "Lisbon"})
    found = await _scrape(api)
    runs = found["xmemory_job_runs_total"]
    assert runs[_labels(kind="admit", outcome="succeeded")] == 1
    assert runs[_labels(kind="maintain", outcome="succeeded")] == 1
    assert found["xmemory_job_run_duration_seconds_count"][_labels(kind="admit")] == 1
    assert found["xmemory_embedder_calls_total"][_labels(lane="query", outcome="ok")] == 1
    assert found["xmemory_embedder_calls_total"][_labels(lane="batch", outcome="ok")] >= 3
    assert found["xmemory_embedder_texts_total"][_labels(lane="batch")] >= 3
    assert found["xmemory_embedder_duration_seconds_count"][_labels(lane="query")] == 1


async def test_what_waits_and_what_failed(built: Container, settings: Settings) -> None:
    posted = [await post(built, "ada", "I like tea.", "I live in Rome."), await post(built, "bob", "I like tea.")]
    ada = await namespace_id(built, "ada")
    async with runner(built, JobKind(Step.SEGMENT, Failing(ValueError("tea"), times=99).run)):
        for name, one in zip(("ada", "bob"), posted, strict=True):
            await settled(built, await namespace_id(built, name), [one.job])
    await enqueue(built, ada, "b", "c", kind=Step.MAINTAIN)
    async with built.storage.engines.write.begin() as connection:
        late = utc_now() - timedelta(minutes=10)
        await connection.execute(update(jobs).values(due_at=late).where(jobs.c.key == "b"))
    async with over_http(built, settings) as api:
        found = await _scrape(api)
    assert found["xmemory_jobs"] == {
        _labels(state="failed", kind="segment"): 2,
        _labels(state="queued", kind="maintain"): 2,
    }
    assert found["xmemory_failed_jobs"] == {(): 2}
    assert found["xmemory_buffered_messages"] == {(): 3}
    assert 600 <= found["xmemory_oldest_due_job_age_seconds"][()] < 600 + WAIT


async def test_a_job_that_waits_for_its_next_try_is_not_late(built: Container, settings: Settings) -> None:
    await post(built, "ada", "I like tea.")
    async with built.storage.engines.write.begin() as connection:
        await connection.execute(update(jobs).values(due_at=utc_now() + timedelta(hours=1)))
    async with over_http(built, settings) as api:
        assert (await _scrape(api))["xmemory_oldest_due_job_age_seconds"] == {(): 0}


async def test_no_label_says_whose_memory_it_is(api: Api) -> None:
    await api.say("heron-namespace", "The code word is heron-text.", conversation="heron-talk", external_id="heron-id")
    await api.settle("heron-namespace")
    await api.get("/v1/namespaces/heron-namespace/search", params={"q": "heron-question"})
    await api.get("/heron-path")
    shown = (await api.get("/metrics")).text
    assert "heron" not in shown
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-", shown)


async def test_without_a_database_the_rest_is_shown(built: Container, settings: Settings) -> None:
    async with over_http(built, settings) as api:
        await api.say("ada", "I like tea.")
        async with no_database(built, settings):
            found = await _scrape(api)
            ready = await api.get("/health/ready")
        assert found["xmemory_database_up"] == {(): 0}
        assert not [name for name in found if name.startswith(("xmemory_jobs", "xmemory_failed", "xmemory_buffered"))]
        assert found["process_resident_memory_bytes"][()] > 0
        assert ready.status_code == 503
        assert ready.json()["checks"] == {"database": "failing", "schema": "failing", "embedder": "ok"}
        assert (await _scrape(api))["xmemory_database_up"] == {(): 1}
        assert (await api.get("/health/ready")).status_code == 200


def test_services_in_one_process_do_not_share_numbers() -> None:
    one, two = Metrics(), Metrics()
    one.job("admit", "failed", 1.0)
    assert b'kind="admit"' in one.render(None)
    assert b'kind="admit"' not in two.render(None)


async def test_readings_walk_no_table_of_history(built: Container, settings: Settings) -> None:
    """A scrape's cost grows with what is left to do, not with what was ever done."""
    await post(built, "ada", "I like tea.")
    if settings.database_url.startswith("sqlite"):
        prefix, bad = "EXPLAIN QUERY PLAN ", r"\bSCAN (jobs|messages$)"
    else:
        prefix, bad = "EXPLAIN ", "Seq Scan"
    async with built.storage.engines.read.connect() as connection:
        if prefix == "EXPLAIN ":
            await connection.execute(text("SET enable_seqscan = off"))  # a table of one row is read whole by right
        for query in (gauges.JOBS, gauges.OLDEST, gauges.BUFFERED):
            compiled = query.compile(connection.sync_connection, compile_kwargs={"literal_binds": True})
            plan = "\n".join(str(row[-1]) for row in await connection.execute(text(prefix + str(compiled))))
            assert not re.search(bad, plan, re.MULTILINE), plan
