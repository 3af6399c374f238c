"""What is deleted is hidden at once, and stands nowhere once its receipt is done; what others said too stays."""

import json
from typing import Any

from app.settings import Settings
from tests.conftest import Api
from tests.integration.forgetting import HOME, done, erased, findings, sightings, tell

PET = ("I adopted a zorblat from the glimmhaus in Bern.", "My zorblat eats wuffelberries for breakfast.")
HOUSE = ("I live in Velmar.", "I live in Nordhagen now.", "My sister Ines is allergic to peanuts.")
WORDS = ("zorblat", "glimmhaus", "wuffelberries", "wuffelberri")
KEYED = {"Idempotency-Key": "once"}


async def reads(api: Api) -> str:
    """All that the service tells of the namespace, as text."""
    told = []
    for word in ("zorblat", "Where does Ada live?"):
        for route in ("search", "answer"):
            told.append((await api.post(f"{HOME}/{route}", json={"query": word, "explain": True})).text)
    for noun in ("conversations", "episodes", "statements?include=superseded", "themes", "jobs", "status"):
        told.append((await api.get(f"{HOME}/{noun}")).text)
    every = {"levels": ["theme", "statement", "episode", "message"]}
    told.append((await api.get(f"{HOME}/themes/export", params=every)).text)
    without_question = [json.loads(one) for one in told[:4]]
    for one in without_question:
        one.pop("query", None)
        one.get("trace", {}).pop("question", None)
    return json.dumps(without_question) + "".join(told[4:])


async def test_a_message_goes_with_all_that_was_derived_from_it(api: Api, settings: Settings) -> None:
    pet, other = await tell(api, "pets", *PET)
    await tell(api, "home", *HOUSE, start=100)
    await api.settle("ada")
    assert set(await sightings(settings, *WORDS)) == set(WORDS)
    reply = await api.delete(f"{HOME}/messages/{other}")
    assert "wuffelberr" not in await reads(api), "hidden as soon as it is answered"
    receipt = await done(api, reply.json()["id"])
    assert (receipt["what"], receipt["erased"]) == ("message", receipt["erased"] | {"messages": 1, "statements": 1})
    assert set(await sightings(settings, *WORDS)) == {"zorblat", "glimmhaus"}
    [episode] = [one for one in await api.all(f"{HOME}/episodes") if one["conversation"] == "pets"]
    assert (episode["message_count"], episode["first_sequence"], episode["last_sequence"]) == (1, 1, 1)
    assert "glimmhaus" in episode["narrative"]
    await erased(api, f"{HOME}/messages/{pet}")
    assert await sightings(settings, *WORDS) == {}
    assert "zorblat" not in await reads(api)
    assert {one["conversation"] for one in await api.all(f"{HOME}/episodes")} == {"home"}
    assert (await api.delete(f"{HOME}/messages/{pet}")).status_code == 404
    await api.settle("ada")
    assert await api.all(f"{HOME}/jobs", state="failed") == []
    assert await findings(settings) == []


async def test_what_was_superseded_by_an_erased_message_holds_again(api: Api) -> None:
    _, moved, _ = await tell(api, "home", *HOUSE)
    await api.settle("ada")
    assert "Ada: I live in Velmar." not in [one["text"] for one in await api.all(f"{HOME}/statements")]
    await erased(api, f"{HOME}/messages/{moved}")
    [home] = [one for one in await api.all(f"{HOME}/statements") if "live" in one["text"]]
    assert (home["text"], home["valid_to"], home["superseded_by"]) == ("Ada: I live in Velmar.", None, None)


async def test_what_others_said_too_stays_in_their_words(api: Api, settings: Settings) -> None:
    """Two messages say the same; the words of the one that goes are not kept on the strength of the other."""
    first, _ = await tell(api, "chat", "I've got 2 zorblats.", "I have two zorblats.")
    await api.settle("ada")
    [both] = await api.all(f"{HOME}/statements")
    assert (both["support"], both["text"]) == (2, "Ada: I've got 2 zorblats.")
    await erased(api, f"{HOME}/messages/{first}")
    await api.settle("ada")
    [left] = await api.all(f"{HOME}/statements")
    assert (left["support"], left["text"]) == (1, "Ada: I have two zorblats.")
    assert await findings(settings) == []


async def test_a_question_goes_out_of_the_statement_that_answered_it(api: Api, settings: Settings) -> None:
    asked = [
        {"role": "user", "speaker": "Ben", "content": "Which fruit does your zorblat like best?"},
        {"role": "user", "speaker": "Ada", "content": "Ripe plums from Bern."},
    ]
    path = f"{HOME}/conversations/chat/messages"
    reply = await api.post(path, json={"messages": asked})
    await api.settle("ada")
    [answered] = await api.all(f"{HOME}/statements")
    assert "[Ben asked: Which fruit does your zorblat like best?]" in answered["text"]
    await erased(api, f"{HOME}/messages/{reply.json()['messages'][0]['id']}")
    await api.settle("ada")
    assert await sightings(settings, "zorblat", "fruit", "Ben") == {}
    assert await findings(settings) == []


async def test_a_conversation_goes_and_its_name_is_free(api: Api, settings: Settings) -> None:
    await tell(api, "pets", *PET)
    await tell(api, "home", *HOUSE, start=100)
    await api.settle("ada")
    await tell(api, "pets", "This zorblat is still in the buffer.", start=50)
    reply = await api.delete(f"{HOME}/conversations/pets")
    assert "zorblat" not in await reads(api)
    assert (await api.get(f"{HOME}/conversations/pets/messages")).status_code == 404
    receipt = await done(api, reply.json()["id"])
    assert receipt["erased"]["messages"] == 3
    assert await sightings(settings, *WORDS, "still in the", "pets") == {}
    again = {"role": "user", "content": PET[0], "external_id": "pets-0"}
    told = await api.post(
        f"{HOME}/conversations/pets/messages", json={"messages": [again, {**again, "external_id": "n"}]}
    )
    assert [one["status"] for one in told.json()["messages"]] == ["deleted", "accepted"]
    assert told.json()["accepted"] == 1
    await api.settle("ada")
    assert len(await api.all(f"{HOME}/conversations/pets/messages")) == 1
    assert await findings(settings) == []


async def test_a_kept_answer_tells_nothing_of_what_was_erased(api: Api, settings: Settings) -> None:
    body = {"messages": [{"role": "user", "content": content, "external_id": content[:9]} for content in PET]}
    path = f"{HOME}/conversations/pets/messages"
    first = (await api.post(path, json=body, headers=KEYED)).json()
    rests_on = [{"conversation": "pets", "external_id": PET[1][:9]}]
    claimed = {"statements": [{"text": "My zorblat eats wuffelberries.", "messages": rests_on}]}
    made = (await api.post(f"{HOME}/statements", json=claimed, headers={"Idempotency-Key": "two"})).json()
    assert made["statements"][0]["statement"] is not None
    await erased(api, f"{HOME}/messages/{first['messages'][1]['id']}")
    again = (await api.post(path, json=body, headers=KEYED)).json()
    assert [one["status"] for one in again["messages"]] == ["accepted", "deleted"]
    told = await api.post(f"{HOME}/statements", json=claimed, headers={"Idempotency-Key": "two"})
    assert told.json()["statements"][0]["statement"] is None
    await erased(api, f"{HOME}/conversations/pets")
    assert await sightings(settings, "My zorblat eats", *WORDS, "pets") == {}


async def test_a_deleted_statement_does_not_come_back(api: Api, settings: Settings) -> None:
    """Its message stays; neither what is drawn again from its episode nor a label brings it back."""
    said = ("I've got 2 cats.", "I have two cats.", "My violin is a wuffel.")
    first, _, _ = await tell(api, "chat", *said)
    await api.settle("ada")
    [gone] = [one for one in await api.all(f"{HOME}/statements") if "wuffel" in one["text"]]
    reply = await api.delete(f"{HOME}/statements/{gone['id']}")
    assert reply.status_code == 204
    assert "wuffel" not in json.dumps(await api.all(f"{HOME}/themes"))
    receipt = (await done(api, reply.headers["location"].removeprefix("/v1/receipts/")))["erased"]
    assert receipt == {"statements": 1}
    await erased(api, f"{HOME}/messages/{first}")  # its episode is looked at again
    await api.settle("ada")
    texts = [one["text"] for one in await api.all(f"{HOME}/statements")]
    assert texts == ["Ada: I have two cats."]
    assert set((await sightings(settings, "wuffel"))["wuffel"]) >= {"messages.content"}
    assert await findings(settings) == []


async def test_receipts_and_names_after_a_namespace_is_gone(api: Api, settings: Settings) -> None:
    pet, _ = await tell(api, "pets", *PET)
    await api.settle("ada")
    await erased(api, f"{HOME}/messages/{pet}")
    reply = await api.delete(HOME)
    assert (await api.get(HOME)).status_code == 404
    await tell(api, "pets", "A new beginning.")
    receipt = await done(api, reply.json()["id"])
    assert (receipt["what"], receipt["erased"]["messages"]) == ("namespace", 1)
    await api.settle("ada")
    assert [one["content"] for one in await api.all(f"{HOME}/conversations/pets/messages")] == ["A new beginning."]
    assert await sightings(settings, *WORDS) == {}
    assert await findings(settings) == []


async def test_deletes_of_what_is_not_there(api: Api) -> None:
    await tell(api, "pets", "Something.")
    nobody = "01900000-0000-7000-8000-000000000000"
    found: list[Any] = [
        await api.delete(path)
        for path in (
            f"{HOME}/messages/{nobody}",
            f"{HOME}/conversations/none",
            f"{HOME}/statements/{nobody}",
            "/v1/namespaces/none",
            f"/v1/namespaces/none/messages/{nobody}",
            "/v1/namespaces/none/conversations/pets",
        )
    ]
    assert {reply.status_code for reply in found} == {404}
    assert (await api.get(f"/v1/receipts/{nobody}")).status_code == 404
