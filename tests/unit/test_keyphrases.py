import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.keyphrases import MAX_LABEL, join, keyphrases, label, shorten

SUPPORT_GROUP = [
    "Rosa: I went to an LGBTQ support group yesterday and it was so powerful.",
    "Ben: Wow, a support group! How did the LGBTQ support group help you, Rosa?",
    "Rosa: Next I want to look into adoption agencies.",
    "Ben: Adoption agencies? That's awesome!",
]


def test_phrases_say_what_the_texts_share() -> None:
    found = keyphrases(SUPPORT_GROUP)
    assert set(found[:2]) == {"LGBTQ support group", "adoption agencies"}


def test_no_two_phrases_share_a_word() -> None:
    texts = ["the dance studio opens", "a dance studio", "dance classes", "the studio"]
    words = [word for phrase in keyphrases(texts, limit=9) for word in phrase.split()]
    assert len(words) == len(set(words))


def test_a_speaker_is_no_topic() -> None:
    texts = ["Melanie: The pottery class was fun.", "Ben: Tell me about pottery, Mel!"]
    assert label(texts, speakers=("Melanie", "Ben")) == "pottery"
    assert label(texts[:1]) == "pottery class"


def test_whom_statements_are_about_is_no_topic() -> None:
    texts = ["Rosa plays the violin.", "Rosa bought a violin in Lund.", "Rosa practises the violin."]
    assert keyphrases(texts)[0] == "violin"


def test_a_name_is_used_where_nothing_else_is_said() -> None:
    assert label(["Rosa: Hello Rosa!", "Rosa: Rosa"], speakers=("Rosa",)) == "Rosa"


def test_what_is_rare_in_the_namespace_wins_over_what_is_common() -> None:
    texts = ["a dance with castanets"]
    assert keyphrases(texts, {"dance": 90, "castanet": 1}, limit=1) == ["castanets"]
    assert keyphrases(texts, {"dance": 1, "castanet": 90}, limit=1) == ["dance"]


def test_small_talk_is_used_only_where_there_is_nothing_else() -> None:
    assert keyphrases(["Thanks, that sounds really great!", "Great, the turtles!"]) == ["turtles"]
    assert label(["Thanks!", "Thanks, great."]) in ("Thanks", "Thanks · great", "great · Thanks")


def test_a_capital_at_the_start_of_a_sentence_is_not_kept_where_the_word_is_known_without() -> None:
    assert "turtles" in keyphrases(["Turtles eat fruit.", "She has turtles."])


def test_a_possessive_is_written_without_its_ending() -> None:
    assert keyphrases(["We saw Oliver’s turtle.", "Is it Oliver's?"], limit=1) == ["Oliver"]


def test_of_may_join_two_words() -> None:
    assert "University of Lund" in keyphrases(["I study at the University of Lund.", "The University of Lund!"])


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("我下周三要去大阪出差，住在难波的酒店。", "大阪出差"),
        ("来週の水曜日に大阪へ出張します。難波のホテルに泊まります。", "ホテル"),
        ("Вчера я купил велосипед в Минске.", "Минске"),
    ],
)
def test_phrases_keep_the_language_and_script(text: str, phrase: str) -> None:
    assert any(phrase in found for found in keyphrases([text], limit=9))


def test_texts_without_words_have_no_phrases_but_a_label() -> None:
    assert keyphrases(["", "🎉🎉", "?!"]) == []
    assert label(["", "🎉🎉"]) == "🎉🎉"
    assert label([]) == label([""]) == "…"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Did Miso survive the trip?", "Miso · trip"),
        ("Miso escaped over the balcony.", "balcony · Miso"),
        ("Emil: I am allergic to walnuts.", "walnuts"),
        ("Rosa: We train on the Douro every evening.", "Douro"),
        ("I want to bake a lemon cake.", "lemon cake"),
        ("A neighbour found her in the bakery.", "bakery · neighbour"),
        ("She joined a rowing club.", "rowing club"),
    ],
)
def test_a_label_names_things_rather_than_what_is_done(text: str, expected: str) -> None:
    assert label([text], speakers=("Rosa", "Emil")) == expected


def test_a_label_tells_of_all_its_texts_with_as_few_phrases_as_that_takes() -> None:
    pottery = ["I made a bowl in pottery class.", "The pottery leans.", "I made a teapot in pottery class."]
    assert label(pottery) == "pottery class"
    assert label([*pottery, "The kiln cracked."]) == "pottery class · kiln"


def test_join_takes_what_fits() -> None:
    assert join(["alpha", "a very long phrase", "beta"], ", ", 12) == "alpha, beta"
    assert join(["a very long phrase"], ", ", 12) == "a very long…"
    assert join([], ", ", 12) == ""


def test_shorten_cuts_at_a_word_and_on_one_line() -> None:
    assert shorten("one\ntwo  three", 20) == "one two three"
    assert shorten("one two three", 9) == "one two…"
    assert shorten("incomprehensible", 9) == "incompre…"


@given(st.lists(st.text(max_size=80), max_size=6))
def test_a_label_is_short_on_one_line_deterministic_and_never_empty(texts: list[str]) -> None:
    made = label(texts)
    assert 1 <= len(made) <= MAX_LABEL
    assert made.strip()
    assert len(made.splitlines()) == 1
    assert made == label(texts)
