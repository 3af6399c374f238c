"""Lists: every row once, in order, page by page."""

import pytest

from tests.conftest import Api
from tests.integration.support import messages_path, route

TOPICS = ("cello", "garden", "harbour", "bakery", "telescope", "violin", "mountain")


@pytest.fixture
def api(shared: Api) -> Api:
    return shared


async def _fill(api: Api, ada: str) -> None:
    for topic in TOPICS:
        await api.say(ada, f"My {topic} is near the {topic} museum.", conversation=topic)
    await api.settle(ada)


async def _pages(api: Api, path: str, limit: int) -> list[list[dict]]:
    pages, cursor = [], {}
    while True:
        reply = (await api.get(path, params={"limit": limit, **cursor})).json()
        assert reply.keys() == {"items", "next_cursor"}
        pages.append(reply["items"])
        if reply["next_cursor"] is None:
            return pages
        assert len(reply["items"]) == limit
        cursor = {"cursor": reply["next_cursor"]}


@pytest.mark.parametrize("name", ["conversations", "episodes", "statements", "themes", "jobs"])
async def test_pages_hold_every_row_once_in_one_order(api: Api, ada: str, name: str) -> None:
    await _fill(api, ada)
    whole = await api.all(route(ada, name))
    assert len(whole) >= (2 if name == "themes" else len(TOPICS))
    ids = [row["id"] for row in whole]
    assert ids == sorted(ids, reverse=name == "jobs")
    for limit in (1, 2, 3, 100):
        rows = [row for page in await _pages(api, route(ada, name), limit) for row in page]
        assert rows == whole, limit
    for row in whole[:2]:
        if name not in ("conversations", "themes"):  # of one theme more is shown
            assert (await api.get(f"{route(ada, name)}/{row['id']}")).json() == row


async def test_messages_are_paged_within_their_conversation(api: Api, ada: str) -> None:
    for number in range(7):
        await api.say(ada, f"one {number}", conversation="one")
        await api.say(ada, f"two {number}", conversation="two")
    pages = await _pages(api, messages_path(ada, "one"), 3)
    assert [message["content"] for page in pages for message in page] == [f"one {number}" for number in range(7)]
    assert [message["sequence"] for page in pages for message in page] == list(range(1, 14, 2))


async def test_a_page_is_20_long_unless_asked_otherwise(api: Api, ada: str) -> None:
    await api.say(ada, *map(str, range(21)))
    reply = (await api.get(messages_path(ada))).json()
    assert len(reply["items"]) == 20
    assert reply["next_cursor"]


async def test_rows_that_come_meanwhile_do_not_disturb_a_reader(api: Api, ada: str) -> None:
    await api.say(ada, *map(str, range(4)))
    first = (await api.get(messages_path(ada), params={"limit": 3})).json()
    await api.say(ada, "4", "5")
    following = (await api.get(messages_path(ada), params={"limit": 3, "cursor": first["next_cursor"]})).json()
    assert [message["content"] for message in first["items"] + following["items"]] == list("012345")


async def test_namespaces_are_listed_oldest_first(api: Api, ada: str, bob: str) -> None:
    for name in (ada, bob):
        await api.say(name, "I like tea.")
    listed = [row["name"] for row in await api.all("/v1/namespaces") if row["name"] in (ada, bob)]
    assert listed == [ada, bob]
    paged = [row["name"] for page in await _pages(api, "/v1/namespaces", 1) for row in page]
    assert [name for name in paged if name in (ada, bob)] == [ada, bob]


async def test_jobs_can_be_filtered_by_state_page_by_page(api: Api, ada: str) -> None:
    await _fill(api, ada)
    every = await api.all(route(ada, "jobs"))
    assert await api.all(route(ada, "jobs"), state="succeeded") == every
    assert await api.all(route(ada, "jobs"), state="failed") == []
    assert (await api.get(route(ada, "jobs"), params={"state": "done"})).status_code == 422
