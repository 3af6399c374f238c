"""Past forms of irregular verbs stand for their base form; nothing else changes."""

import pytest

from app.domain.text import terms
from app.domain.verbs import base


@pytest.mark.parametrize(("form", "verb"), [("went", "go"), ("gone", "go"), ("left", "leave"), ("written", "write")])
def test_a_past_form_and_its_verb_are_one(form: str, verb: str) -> None:
    assert [base(term) for term in terms(form)] == [base(term) for term in terms(verb)]


def test_other_words_stay_as_they_are() -> None:
    words = terms("Rosa painted the lake in QX-7741, 大阪")
    assert [base(word) for word in words] == words
