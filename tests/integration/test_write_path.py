"""POST → episodes → statements → themes, on both databases."""

from tests.conftest import Api


async def test_messages_become_episodes_statements_and_themes(api: Api) -> None:
    await api.say("ada", "I moved to Lisbon last week.", "My sister Ines is allergic to peanuts.", speaker="Ada")
    settled = await api.settle("ada")
    assert settled["settled"]
    episodes = await api.all("/v1/namespaces/ada/episodes")
    assert [episode["message_count"] for episode in episodes] == [2]
    statements = await api.all("/v1/namespaces/ada/statements")
    assert any("Lisbon" in statement["text"] for statement in statements)
    assert all(statement["theme"] and statement["messages"] for statement in statements)
    themes = await api.all("/v1/namespaces/ada/themes")
    assert sum(theme["size"] for theme in themes) == len(statements)
    status = (await api.get("/v1/namespaces/ada/status")).json()
    assert status["messages"] == 2
    assert status["buffered"] == status["pending_jobs"] == status["failed_jobs"] == 0
