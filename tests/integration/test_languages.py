"""Text in any language and any Unicode passes through whole, and is found."""

import pytest

from tests.conftest import Api
from tests.integration.support import messages_path, search

TEXTS = {
    "chinese": "我下周三要去大阪出差，住在难波的酒店。",
    "japanese": "来週の水曜日に大阪へ出張します。難波のホテルに泊まります。",
    "korean": "저는 다음 주 수요일에 오사카로 출장을 갑니다.",
    "turkish": "İstanbul'da ıhlamur ağacının altında oturuyorum.",
    "arabic": "أختي تعيش في القاهرة ولديها قطتان.",
    "hebrew": "אחותי גרה בחיפה עם שני חתולים.",
    "hindi": "मेरी बहन मुंबई में रहती है।",
    "thai": "น้องสาวของฉันอยู่ที่เชียงใหม่",
    "greek": "Η αδελφή μου ζει στη Θεσσαλονίκη.",
    "german": "Meine Straße heißt Weißenburger Straße; Größe: 10 m².",
    "emoji": "We named the dog \U0001f436\u200d\U0001f468\u200d\U0001f467 Biscuit \U0001f1f5\U0001f1f9\ufe0f.",
    "combining": "Cafe\u0301 or Caf\u00e9, A\u030angstro\u0308m or \u00c5ngstr\u00f6m, and Z\u0335\u0321a\u0334lgo.",
    "spaces": "  leading, trailing \t\r\n\u00a0\u2003and\u200b in\u2028between  ",
    "controls": "bell \u0007 escape \u001b[31m red \u0085 next \ufffe\uffff end",
    "astral": "\U00020000 \U0001d54f \U0010fffd",
    "markup": "<script>alert(1)</script> & \"quotes\" 'and' \\back\\slash `ticks` %s {0} $x",
}


@pytest.fixture
def api(shared: Api) -> Api:
    return shared


@pytest.mark.parametrize("language", TEXTS)
async def test_content_and_metadata_come_back_character_by_character(api: Api, ada: str, language: str) -> None:
    text = TEXTS[language]
    fields = {"speaker": text[:20], "metadata": {text: [text, {"in": text}]}, "external_id": text[:100]}
    images = [{"caption": text, "query": text, "url": text}]
    reply = await api.say(ada, text, images=images, **fields)
    [listed] = await api.all(messages_path(ada))
    one = (await api.get(f"/v1/namespaces/{ada}/messages/{reply['messages'][0]['id']}")).json()
    assert one == listed
    assert one["content"] == text
    assert one["images"] == images
    assert {name: one[name] for name in fields} == fields
    assert (await api.settle(ada))["jobs"]["failed"] == 0
    found = await search(api, ada, text, levels=["message"], metadata={text: [text]})
    assert [message["sequence"] for item in found["items"] for message in item["messages"]] == [1]
    assert found["query"] == text


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("chinese", ("大阪", "难波")),
        ("japanese", ("大阪", "難波")),
        ("korean", ("오사카",)),
        ("turkish", ("İstanbul",)),
    ],
)
async def test_case_22_statements_and_titles_keep_their_language(
    api: Api, ada: str, language: str, names: tuple[str, ...]
) -> None:
    """Without a language model."""
    await api.say(ada, TEXTS[language], speaker="Lin")
    await api.settle(ada)
    statements = " ".join(row["text"] for row in await api.all(f"/v1/namespaces/{ada}/statements"))
    assert all(name in statements for name in names), statements
    [episode] = await api.all(f"/v1/namespaces/{ada}/episodes")
    assert any(ord(character) > 127 for character in episode["title"]), episode["title"]
    assert all(name in episode["narrative"] for name in names)
    themes = await api.all(f"/v1/namespaces/{ada}/themes")
    assert all(any(ord(character) > 127 for character in theme["label"]) for theme in themes)


FILLER = {
    "chinese": "今天天气很好，我们在公园里散步，第{}次看到了很多花。",
    "japanese": "今日は天気がいいので、公園を散歩しました。{}回目の花見です。",
}


@pytest.mark.parametrize(
    ("language", "content", "queries"),
    [
        ("chinese", "合同编号是QX-7741，签约方是青竹公司。", ("合同编号", "青竹公司", "QX-7741", "qx7741", "7741")),
        (
            "japanese",
            "契約番号はQX-7741で、相手は青竹株式会社です。",
            ("契約番号", "青竹株式会社", "QX-7741", "ＱＸ－７７４１"),
        ),
    ],
)
async def test_case_23_keywords_are_found_after_200_other_messages(
    api: Api, ada: str, language: str, content: str, queries: tuple[str, ...]
) -> None:
    """By the keyword arm alone."""
    await api.say(ada, *(FILLER[language].format(number) for number in range(200)))
    await api.say(ada, content)
    await api.settle(ada)
    for query in queries:
        for levels in (["message"], ["statement", "episode", "message"]):
            found = await search(api, ada, query, strategy="bm25", levels=levels)
            assert content.rstrip("。") in found["items"][0]["text"], (query, levels)


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("turkish", "istanbul"),
        ("turkish", "İSTANBUL"),
        ("turkish", "IHLAMUR"),
        ("arabic", "القاهرة"),
        ("hebrew", "אחותי"),
        ("hindi", "मुंबई"),
        ("greek", "ΘΕΣΣΑΛΟΝΊΚΗ"),
        ("german", "strasse"),
        ("korean", "오사카"),
        ("combining", "cafe"),
        ("combining", "Ångström"),
        ("emoji", "BISCUIT"),
    ],
)
async def test_words_are_found_whatever_their_case_and_form(api: Api, ada: str, language: str, query: str) -> None:
    await api.say(ada, *TEXTS.values())
    found = await search(api, ada, query, strategy="bm25", levels=["message"])
    assert found["items"], query
    assert found["items"][0]["messages"][0]["sequence"] == list(TEXTS).index(language) + 1


async def test_english_words_are_found_by_their_stems(api: Api, ada: str) -> None:
    await api.say(ada, "She was painting sunsets.", "He repairs old clocks.")
    for query, sequence in (("paint a sunset", 1), ("repairing a clock", 2)):
        found = await search(api, ada, query, strategy="bm25", levels=["message"])
        assert [message["sequence"] for message in found["items"][0]["messages"]] == [sequence]
