"""Irregular English verbs: a question asks "When did I go?", and the answer says "I went"."""

from app.domain.text import terms

_FORMS = (
    "go went gone; see saw seen; meet met; buy bought; bring brought; think thought; teach taught; catch caught; "
    "find found; feel felt; leave left; lose lost; win won; write wrote written; break broke broken; tell told; "
    "speak spoke spoken; give gave given; take took taken; come came; become became; begin began begun; run ran; "
    "drive drove driven; fly flew flown; spend spent; hold held; hear heard; know knew known; eat ate eaten; "
    "drink drank drunk; fall fell fallen; grow grew grown; sleep slept; sell sold; send sent; build built; pay paid; "
    "stand stood; swim swam swum; sing sang sung; wear wore worn; throw threw thrown; ride rode ridden; lead led; "
    "choose chose chosen; keep kept; make made; say said; get got gotten; draw drew drawn; sit sat; "
    "show shown; forget forgot forgotten; steal stole stolen; wake woke woken; lend lent; hide hid hidden"
)
_PAST = frozenset(form for verb in _FORMS.split(";") for form in verb.split()[1:])
_BASES = {
    form: terms(base)[0]
    for base, *forms in (verb.split() for verb in _FORMS.split(";"))
    if terms(base)
    for form in terms(" ".join(forms))
}


def base(term: str) -> str:
    """The index term of a verb's base form for that of a past form; any other term as it is."""
    return _BASES.get(term, term)


def is_past(word: str) -> bool:
    """Whether a word, in any case, is a past form of one of these verbs."""
    return word.lower() in _PAST
