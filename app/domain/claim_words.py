"""The words by which frames of claims are known, English and German."""

from app.domain import verbs
from app.domain.text import terms


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


VERBS = {
    form: verb
    for verb, forms in {
        "be": "am is are be bin ist sind seid lautet betragt betragen",
        "named": "heisst heisse",
        "have": "have has habe hat haben",
        "live": "live lives wohne wohnt wohnen lebe lebt leben reside resides",
        "work": "work works arbeite arbeitet arbeiten",
        "cost": "cost costs kostet kosten",
        "take": "take takes dauert dauern",
        "weigh": "weigh weighs wiege wiegt wiegen",
        "begin": "begin begins start starts beginne beginnt beginnen",
        "end": "end ends finish finishes ende endet enden",
        "close": "close closes schliesst schliessen",
        "open": "open opens offnet offnen",
        "leave": "leave leaves depart departs fahrt fahren",
        "arrive": "arrive arrives come comes land lands komme kommt kommen",
        "get": "get gets",
        "wake": "wake wakes",
        "pay": "pay pays zahle zahlt zahlen",
        "earn": "earn earns verdiene verdient verdienen",
        "owe": "owe owes",
        "keep": "keep keeps store stores park parks hide hides",
        "measure": "measure measures",
    }.items()
    for form in forms.split()
}
"""Verbs that tell what holds, by their forms."""

_BY_STEM = {stem: form for form in VERBS for stem in terms(form)[:1]}


def base(form: str) -> str:
    """The verb of "smoking" or "eaten", as its stem where it is none of the above."""
    stem = verbs.base(next(iter(terms(form)), form.removesuffix("ing")))
    return _BY_STEM.get(stem, stem)


DATED = frozenset(("be", "begin", "end", "leave", "arrive", "open", "close"))
"""Verbs that may be followed by the day they speak of."""

OWN = {"my": "my", "our": "my", "mein": "my", "meine": "my", "unser": "my", "unsere": "my"}
OF_ONE_KIND = frozenset(("favorite", "usual", "main", "primary", "default", "current", "preferred"))
"""Before whatever one has one of."""
ARTICLES = frozenset(("the", "a", "an", "der", "die", "das", "ein", "eine", "einen", "this", "dieser", "diese"))
UNSURE = _listed(
    "if when whether that who which what how why says said say told tells think thinks thought believe would could "
    "might may should must will shall used want wants hope hopes wish wishes need needs going gonna planning plan "
    "plans had did going maybe perhaps probably wenn ob dass sagt sagte meint konnte "
    "will wollte soll sollte mochte werde wird vielleicht hatte hatten he she it they this these those "
    "er sie es you your du dein deine one nobody everyone somebody someone"
)
"""Words that make a clause uncertain, reported, past, or about who knows whom."""

MANY = _listed(
    "sister sisters brother brothers friend friends cat cats dog dogs son sons daughter daughters child kid cousin "
    "uncle aunt niece nephew colleague coworker neighbour neighbor pet grandchild grandson granddaughter student "
    "schwester bruder freund freundin katze hund sohn tochter kind onkel tante kollege kollegin nachbar "
    "nachbarin"
)
"""Of these one may have several: "my cat is …" does not say which."""

BEEN = frozenset(("was", "were", "wurde", "wurden", "war", "waren"))
"""Past forms, which tell what holds only before a state that stays: "was cancelled"."""

KIN = _listed(
    "mother father mum mom dad brother sister wife husband partner son daughter aunt uncle cousin grandmother "
    "grandfather grandma grandpa boyfriend girlfriend fiance fiancee friend mutter vater bruder schwester frau mann "
    "sohn tochter oma opa tante onkel"
)

OF_ONE = _listed(
    "address name surname nickname job occupation profession employer email phone number password username code "
    "nationality religion hometown title role major budget deadline goal size favourite favorite colour color "
    "adresse name beruf nummer passwort lieblingsfarbe lieblingsessen lieblingsbuch"
)
"""Things of which one has one at a time, whatever the value looks like."""

TITLES = frozenset(("mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir", "herr", "frau"))

PLACES_BEFORE = {
    "in": "in", "at": "at", "on": "on", "under": "under", "behind": "behind", "near": "near", "im": "in", "am": "on",
    "bei": "at", "auf": "on", "beim": "at",
}  # fmt: skip

STATES = {
    word: group
    for group, words in {
        "state": "open closed pending approved rejected denied done finished unfinished complete completed incomplete "
        "planned scheduled cancelled canceled postponed sold available unavailable ready broken fixed repaired "
        "empty full locked unlocked up down online offline draft published submitted accepted shipped delivered "
        "paid unpaid booked confirmed unconfirmed resolved active inactive expired "
        "offen geschlossen fertig unfertig erledigt abgesagt verschoben verkauft genehmigt abgelehnt bestatigt kaputt "
        "repariert leer voll bezahlt",
        "marriage": "single engaged married divorced widowed ledig verlobt verheiratet geschieden verwitwet",
        "work": "unemployed employed retired self-employed arbeitslos angestellt pensioniert",
        "diet": "vegan vegetarian vegetarier vegetarierin vegetarisch",
        "colour": "red blue green yellow black white grey gray brown pink purple orange silver rot blau grun gelb "
        "schwarz weiss grau braun",
        "residence": "abroad",
    }.items()
    for word in words.split()
}
"""Words that exclude the others of their group."""

PHRASES = {
    ("for", "sale"): "state",
    ("on", "sale"): "state",
    ("on", "hold"): "state",
    ("in", "progress"): "state",
    ("under", "way"): "state",
    ("under", "construction"): "state",
    ("called", "off"): "state",
    ("sold", "out"): "state",
    ("out", "of", "order"): "state",
    ("zu", "verkaufen"): "state",
}

COUNTRIES = _listed(
    "argentina australia austria belgium brazil canada chile china colombia croatia denmark egypt england estonia "
    "europe finland france germany greece hungary iceland india indonesia ireland israel italy japan kenya korea "
    "latvia lithuania malaysia mexico morocco nepal netherlands nigeria norway pakistan peru philippines poland "
    "portugal romania russia scotland serbia singapore slovakia slovenia spain sweden switzerland taiwan thailand "
    "turkey ukraine usa uk us america vietnam wales asia africa california texas florida bavaria "
    "deutschland osterreich schweiz frankreich italien spanien polen europa bayern japan"
)
"""Wider than a town: both may hold at once."""

NATIONAL = ("ish", "ian", "ese")
ADJECTIVES = _listed("german french dutch greek swiss catholic muslim jewish christian buddhist hindu czech thai")

DENIALS = frozenset(("not", "never", "nicht", "kein", "keine", "keinen", "nimmer"))
AUXILIARIES = frozenset(("do", "does"))
OFTEN = (
    ("every", "morning"), ("every", "evening"), ("every", "night"), ("a", "day"), ("a", "week"), ("jeden", "tag"),
    ("jeden", "morgen"), ("so", "much"), ("a", "lot"), ("all", "the", "time"), ("a", "bit"),
)  # fmt: skip
GOING = frozenset(("go", "goes", "gehe", "geht"))
HAVING = dict.fromkeys(("own", "owns", "possess", "besitze", "besitzt"), "have")
TOLERATED = frozenset(("stand", "bear", "ausstehen", "leiden"))
"""What one cannot do to what one dislikes."""
LIKES = frozenset(("like", "likes", "love", "loves", "enjoy", "enjoys", "adore", "adores", "mag", "liebe"))
DISLIKES = frozenset(("hate", "hates", "dislike", "dislikes", "detest", "detests", "hasse"))
ENDED = (("stopped",), ("quit",), ("gave", "up"), ("given", "up"), ("ceased",))
"""Before "smoking", or before what was given up."""
LEFT = (
    ("left",), ("resigned", "from"), ("retired", "from"), ("fired", "from"), ("fired", "by"), ("laid", "off", "from"),
    ("laid", "off", "by"), ("dropped", "out", "of"), ("stepped", "down", "from"),
)  # fmt: skip
GROUPS = _listed(
    "choir club band orchestra team squad union party society association committee board group class course"
)
JOBS = frozenset(("job", "position", "post"))
AT = frozenset(("at", "with", "for"))
DISPOSED = (
    ("gave", "up"), ("given", "up"), ("sold",), ("gave", "away"), ("given", "away"), ("got", "rid", "of"),
    ("gotten", "rid", "of"), ("scrapped",), ("donated",), ("cancelled",), ("canceled",),
)  # fmt: skip
MOVED_OUT = (("moved", "out", "of"), ("moved", "away", "from"))
HAVE_NOT = (("have", "not"), ("has", "not"))
LONG = _listed("week weeks month months year years ages decade decades")
AS_OF = (("as", "of"), ("since",), ("starting",), ("effective",), ("ab",), ("seit",))
BEFORE_TIME = frozenset(("in", "on", "at", "im", "am"))
MOVED = frozenset(("moved", "relocated", "transferred"))
CHANGED = tuple(
    tuple(phrase.split())
    for phrase in (
        "moved back", "moved out", "moved over", "moved", "relocated", "transferred", "changed", "raised", "lowered",
        "increased", "decreased", "reduced", "extended", "postponed", "rescheduled", "shifted", "pushed back",
        "pushed out", "pushed", "put back", "put off", "brought forward", "delayed", "went up", "gone up", "gone down",
        "went down", "came down", "come down", "rose", "risen", "dropped", "fell", "fallen", "climbed", "grew", "grown",
        "shrank", "cut", "updated", "renamed", "set", "reset", "switched", "went from",
    )
)  # fmt: skip
"""Before "to" and what something is now."""
NO_PLACES = _listed(
    "linux mac macos windows android ios python rust java javascript go postgres sales marketing finance engineering "
    "hause home hr design support product operations management research legal team plan tier"
)
"""Names to which one may move without living there."""
CHANGING = frozenset(
    ("have", "has", "been", "was", "were", "is", "are", "am", "got", "finally", "recently", "officially")
)
"""Auxiliaries and adverbs before a verb of change."""
ONLY = frozenset(("only", "nur", "noch", "erst"))
INSTEAD = (("instead", "of"), ("rather", "than"), ("statt", "wie"), ("anstatt", "von"), ("anstelle", "von"))
POINTING = frozenset(("it", "he", "she", "they", "you", "this", "that", "er", "sie", "es", "du", "das"))
PEOPLE = _listed(
    "parents mum dad grandparents family brothers sisters neighbours boss manager colleague colleagues flatmate "
    "roommate eltern grosseltern familie bruder schwestern nachbarn chef chefin"
)
GERMAN_SELF = frozenset(("ich", "wir", "mein", "meine", "unser", "unsere"))
GERMAN_PAST = frozenset(("bin", "ist", "sind", "habe", "haben", "hat", "wurde", "wurden"))
GERMAN_ARTICLES = frozenset(("der", "die", "das", "den", "dem"))
GERMAN_MOVED = frozenset(("gezogen", "umgezogen"))
GERMAN_CHANGED = _listed(
    "gestiegen gesunken gefallen erhoht gesenkt angehoben verschoben verlegt vorverlegt verlangert verkurzt geandert"
)
GERMAN_ENDED = frozenset(("aufgegeben", "aufgehort", "gekundigt", "verkauft"))
ONE_AT_A_TIME = _listed(
    "boss manager supervisor doctor dentist gp landlord landlady therapist coach address email number password code "
    "job employer nickname username"
)
"""Of whom and of which one has one: "I have a new boss, Petra"."""
WRITTEN = frozenset(("address", "email", "number", "password", "code", "nickname", "username"))
"""Of these, what looks like any word: "I have a new password, kestrel"."""
