"""Another embedding model: refused, then changed to step by step, while memory is read with the vectors it has."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from app.container import Container, build, build_doctor, utc_now
from app.domain.errors import ConfigurationError, ProviderUnavailable
from app.domain.findings import Fault
from app.domain.jobs import Step
from app.domain.theme_policy import ThemePolicy, policy_for
from app.providers.embedders import Embedders
from app.providers.protocols import Asked
from app.providers.scripted import ScriptedEmbedder
from app.services.maintenance import Maintenance
from app.services.search import Ask, Strategy
from app.settings import Settings
from tests.conftest import Api, serving
from tests.integration.reembed import (
    NEW,
    OLD,
    Mirrored,
    findings,
    finish,
    profile_of,
    service,
    step,
    vectors,
)
from tests.integration.support import (
    assert_problem,
    claim,
    enqueue,
    namespace_id,
    over_http,
    post,
)


@pytest.fixture
async def api(both: Container, changing: Settings) -> AsyncIterator[Api]:
    """Its routes."""
    async with over_http(both, changing) as client:
        yield client


# Starting --------------------------------------------------------------------------------------------------


async def test_another_model_is_refused_with_the_way_to_change_it(changing: Settings) -> None:
    other = changing.model_copy(update={"embedder": "scripted:96", "embedder_next": None})
    with pytest.raises(ConfigurationError) as caught:
        async with build(other):
            pass
    assert str(caught.value) == (
        f"this database holds vectors of {OLD}, and this process is configured for {NEW}. To change the model: "
        f"start with XMEMORY_EMBEDDER=(what made {OLD}) and XMEMORY_EMBEDDER_NEXT=scripted:96, run `xmemory reembed`, "
        "and when it is done start with XMEMORY_EMBEDDER=scripted:96 and without XMEMORY_EMBEDDER_NEXT"
    )


@pytest.mark.parametrize("embedder", ["scripted", "scripted:96"])
async def test_half_a_change_is_refused_whichever_model_is_left_out(changing: Settings, embedder: str) -> None:
    async with build(changing) as built:
        await post(built, "new", "I like tea.")
        assert await profile_of(built, "new") == NEW, "new namespaces use the new model"
    with pytest.raises(ConfigurationError, match="is not finished: start with the old one as XMEMORY_EMBEDDER"):
        async with build(changing.model_copy(update={"embedder": embedder, "embedder_next": None})):
            pass


async def test_the_same_model_twice_is_refused(changing: Settings) -> None:
    with pytest.raises(ConfigurationError, match=f"both make {OLD}: unset XMEMORY_EMBEDDER_NEXT"):
        async with build(changing.model_copy(update={"embedder_next": "scripted:64"})):
            pass


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
async def test_a_process_without_the_model_says_so(changing: Settings) -> None:
    old_only = changing.model_copy(update={"embedder_next": None, "worker": "off"})
    async with serving(old_only) as api:
        async with build(changing) as built:
            await post(built, "new", "I like tea.")
        refused = await api.get("/v1/namespaces/new/search", params={"q": "tea"})
        document = assert_problem(refused, 503)
        assert NEW in document["detail"]
        assert "XMEMORY_EMBEDDER_NEXT" in document["detail"]
        assert (await api.get("/v1/namespaces/ada/search", params={"q": "Lisbon"})).status_code == 200


async def test_both_models_are_looked_after(both: Container, api: Api) -> None:
    version = (await api.get("/version")).json()
    assert (version["embedding_profile"], version["embedding_profile_next"]) == (OLD, NEW)
    assert (await api.get("/health/ready")).json()["checks"]["embedder_next"] == "ok"
    assert both.embedders.next is not None
    both.embedders.next.inner.faults.fail(ProviderUnavailable("it does not answer"))
    with pytest.raises(ProviderUnavailable):
        await both.embedders.next.embed(["a text"])
    checks = (await api.get("/health/ready")).json()["checks"]
    assert (checks["embedder"], checks["embedder_next"]) == ("ok", "failing")


# Ordering --------------------------------------------------------------------------------------------------


async def test_an_order_over_http(both: Container, api: Api) -> None:
    home = "/v1/namespaces/ada"
    unknown = await api.post(f"{home}/reembed", json={"profile": "gpt@1/9"})
    [error] = assert_problem(unknown, 422, "#/profile")["errors"]
    assert error["detail"] == f"must be {OLD} or {NEW}"
    assert_problem(await api.post("/v1/namespaces/nobody/reembed"), 404)
    assert_problem(await api.post(f"{home}/reembed", json={"to": NEW}), 422)

    already = await api.post(f"{home}/reembed", json={"profile": OLD})
    told = {"namespace": "ada", "embedding_profile": OLD, "profile": OLD, "job": None}
    assert (already.status_code, already.json()) == (200, told)
    ordered = await api.post(f"{home}/reembed")
    assert ordered.status_code == 202
    assert ordered.json() == {**told, "profile": NEW, "job": ordered.json()["job"]}
    again = await api.post(f"{home}/reembed", json={"profile": NEW})
    assert (again.status_code, again.json()) == (202, ordered.json())
    assert (await api.get(home)).json()["embedding_profile_next"] == NEW
    path = f"{home}/jobs/{ordered.json()['job']}"
    assert_problem(await api.post(f"{home}/reembed", json={"profile": OLD}), 409)

    await step(both, service(both))
    queued = (await api.get(path)).json()
    assert (queued["kind"], queued["state"], queued["attempts"]) == ("reembed", "queued", 0)
    assert queued["result"] == {"profile": NEW, "done": 2, "total": queued["result"]["total"]}
    await finish(both, service(both))
    done = (await api.get(path)).json()
    assert (done["state"], done["result"]["done"]) == ("succeeded", done["result"]["total"])
    found = (await api.get(home)).json()
    assert (found["embedding_profile"], found["embedding_profile_next"]) == (NEW, None)
    assert (await api.post(f"{home}/reembed")).status_code == 200


async def test_what_was_begun_can_be_given_up(both: Container, api: Api, changing: Settings) -> None:
    path = "/v1/namespaces/ada/reembed"
    before = await vectors(both)
    ordered = (await api.post(path)).json()
    await step(both, service(both))
    await api.post(f"/v1/namespaces/ada/jobs/{ordered['job']}/cancel")
    assert {finding.fault for finding in await findings(changing)} == {Fault.VECTORS_UNREAD}
    given_up = await api.post(path, json={"profile": OLD})
    assert given_up.status_code == 202
    assert await finish(both, service(both)) is not None
    assert (await vectors(both), await findings(changing)) == (before, [])
    assert (await api.post(path, json={"profile": OLD})).status_code == 200


async def test_vectors_that_nobody_goes_on_with_are_removed_by_a_repair(changing: Settings) -> None:
    async with build(changing) as built:
        before = await vectors(built)
        ordered = await built.services.reembedding.order("ada", None)
        await step(built, service(built))
        assert await findings(changing) == [], "a job is at work on them"
        assert ordered.job is not None
        await built.services.work.cancel("ada", ordered.job)
    async with build_doctor(changing, repairs=True) as (doctor, mender):
        [patient] = await doctor.patients()
        await mender.mend(patient.id, await doctor.examine([patient]))
    async with build(changing) as built:
        await finish(built, service(built))
        assert (await vectors(built), await findings(changing)) == (before, [])
        assert await profile_of(built) == OLD


# Reading meanwhile -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", [Strategy.VECTOR, Strategy.ADAPTIVE])
async def test_a_question_is_never_compared_with_vectors_of_another_model(both: Container, strategy: Strategy) -> None:
    """All vectors are exchanged, for others of the same dimension, after the question got its own."""
    coming = Mirrored()
    doing = service(both, coming)
    asked: list[str] = []

    class Slow(ScriptedEmbedder):
        async def embed_query(self, text: str) -> Asked:
            vector = await super().embed_query(text)
            asked.append(text)
            await doing.order("ada", None)
            await finish(both, doing)
            return vector

    search = replace(both.services.search, embedders=Embedders(Slow(), coming))
    found = await search.search("ada", Ask("Who moved to Lisbon in 2021?", 500, strategy))
    assert asked == ["Who moved to Lisbon in 2021?"]
    assert await profile_of(both) == "mirrored@1/64"
    assert "Lisbon" in found.hits[0].item.text
    [best] = [one for one in found.hits if one is found.hits[0]]
    alone = replace(search, embedders=Embedders(coming))
    again = await alone.search("ada", Ask("Who moved to Lisbon in 2021?", 500, strategy))
    assert best.item.score == again.hits[0].item.score


async def test_words_alone_need_no_model(both: Container) -> None:
    search = replace(both.services.search, embedders=Embedders(Mirrored()))
    found = await search.search("ada", Ask("Lisbon", 500, Strategy.BM25))
    assert "Lisbon" in found.hits[0].item.text
    with pytest.raises(ProviderUnavailable, match="no embedding model for"):
        await search.search("ada", Ask("Lisbon", 500))


async def test_themes_follow_the_calibration_of_the_namespaces_model(both: Container) -> None:
    models: list[str] = []

    def policy(model: str) -> ThemePolicy:
        models.append(model)
        return policy_for(model)

    await service(both, Mirrored()).order("ada", None)
    await finish(both, service(both, Mirrored()))
    [job_id] = await enqueue(both, await namespace_id(both, "ada"), "ada", kind=Step.MAINTAIN)
    attempt = await claim(both, await namespace_id(both, "ada"))
    assert attempt is not None
    assert attempt.job.id == job_id
    await Maintenance(both.storage, utc_now, policy).maintain(attempt)
    assert models == ["mirrored"]
