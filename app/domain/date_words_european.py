"""The German, French and Spanish words that name a time. Weekdays alone ("am Freitag") name none: past or to come?"""

from collections.abc import Iterable, Mapping

from app.domain import feasts
from app.domain.date_grammar import grammar
from app.domain.date_vocabulary import Vocabulary

_FEW, _SEVERAL = (2, 5), (3, 9)


def _numbered(words: str, first: int = 1) -> dict[str, int]:
    return {word: number for number, word in enumerate(words.split(), first)}


def _counted(words: str, **more: tuple[float, float]) -> Mapping[str, tuple[float, float]]:
    """Number words from one on; in `more`, an underscore stands for a space."""
    counts: dict[str, tuple[float, float]] = {word: (n, n) for word, n in _numbered(words).items()}
    return counts | {word.replace("_", " "): count for word, count in more.items()}


def _ending(stem: str, endings: str) -> Iterable[str]:
    return (stem + ending.strip("-") for ending in endings.split())


def _forms(endings: str, stems: Mapping[str, int]) -> Mapping[str, int]:
    return {form: value for stem, value in stems.items() for form in _ending(stem, endings)}


def _units(**words: str) -> Mapping[str, str]:
    """Forms by their unit; an underscore stands for a space."""
    return {form.replace("_", " "): unit for unit, forms in words.items() for form in forms.split()}


_GERMAN = Vocabulary(
    language="de",
    plain="ich und der das nicht wir ein eine mit auf ist du es den zu sie er habe hier sind",
    months=_numbered("januar februar märz april mai juni juli august september oktober november dezember")
    | {"jänner": 1},
    weekdays=_numbered("montag dienstag mittwoch donnerstag freitag samstag sonntag", 0) | {"sonnabend": 5},
    seasons={"frühling": 3, "frühjahr": 3, "sommer": 6, "herbst": 9, "winter": 12},
    feasts=feasts.GERMAN,
    units=_units(
        day="tag tage tagen",
        weekend="wochenende wochenenden",
        week="woche wochen",
        month="monat monate monaten monats",
        quarter="quartal quartale quartalen quartals",
        year="jahr jahre jahren jahres",
        decade="jahrzehnt jahrzehnte jahrzehnten",
    ),
    counts=_counted(
        "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        einem=(1, 1),
        einer=(1, 1),
        einen=(1, 1),
        eine=(1, 1),
        zwanzig=(20, 20),
        einem_halben=(0.5, 0.5),
        ein_halbes=(0.5, 0.5),
        anderthalb=(1.5, 1.5),
        eineinhalb=(1.5, 1.5),
        ein_paar=_FEW,
        einigen=_FEW,
        wenigen=_FEW,
        mehreren=_SEVERAL,
    ),
    days={"vorgestern": -2, "gestern": -1, "heute": 0, "morgen": 1, "übermorgen": 2},
    which=_forms(
        "e en er es em",
        {"letzt": -1, "vorig": -1, "vergangen": -1, "dies": 0, "nächst": 1, "kommend": 1},
    ),
    day_ending=r"\.",
    ago=r"\bvor <COUNT> <UNIT>",
    ahead=(r"(?<!mal\x20)(?<!male\x20)\bin <COUNT> <UNIT>",),  # "einmal in zwei Wochen" tells how often
    lasting=r"\bseit (?P<phrase><COUNT> <UNIT>)",
    dates=(r"(?<![\w.,:$€£\-–/])<DAY> ?<MONTH>(?: <YEAR>)?",),
    day_spans=(r"(?<![\w.,:$€£\-–/])(?P<day>\d{1,2})\.?<TO><DAY2> ?<MONTH>(?: <YEAR>)?",),
    of_year=" ",
    decades=(r"\b(?P<decade>(?:1[5-9]|2[01])?\d0)er(?:[- ]?Jahren?\b|n?\b)",),
    the="der |die |das |den |dem |des ",
    within="im|in|während des",
    since="seit|ab",
    until="bis|bis zum|bis zu",
    early="anfang|beginn",
    mid="mitte",
    late="ende",
    on="an|zu",
    before="vor",
    after="nach",
    from_="von|vom",
    to="bis|bis zum",
    between="zwischen",
    and_="und",
    or_="oder|bis",
    no_days="".join(rf"(?<!\b{word}\x20)" for word in ("guten", "heute", "gestern", "am", "jeden", "diesen", "den")),
)

_FRENCH = Vocabulary(
    language="fr",
    plain="je tu il elle nous vous les des une est et dans pour avec pas sur mon ma mes le du au ce",
    months=_numbered("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    weekdays=_numbered("lundi mardi mercredi jeudi vendredi samedi dimanche", 0),
    seasons={"printemps": 3, "été": 6, "automne": 9, "hiver": 12},
    feasts=feasts.FRENCH,
    units=_units(
        day="jour jours",
        weekend="week-end week-ends weekend weekends",
        week="semaine semaines",
        month="mois",
        quarter="trimestre trimestres",
        year="an ans année années",
        decade="décennie décennies",
    ),
    counts=_counted(
        "un deux trois quatre cinq six sept huit neuf dix onze douze",
        une=(1, 1),
        quinze=(15, 15),
        vingt=(20, 20),
        une_demi=(0.5, 0.5),
        quelques=_FEW,
        plusieurs=_SEVERAL,
    ),
    days={"avant-hier": -2, "hier": -1, "aujourd'hui": 0, "ce soir": 0, "demain": 1, "après-demain": 2},
    which={"ce": 0, "cet": 0, "cette": 0},
    which_after={"dernier": -1, "dernière": -1, "passé": -1, "passée": -1, "prochain": 1, "prochaine": 1},
    day_ending="(?:er)?",
    ago=r"\bil y a <COUNT> <UNIT>(?! de\b)",  # "il y a deux semaines de délai": there are
    ahead=(r"\bdans <COUNT> <UNIT>",),
    lasting=r"\bdepuis (?P<phrase><COUNT> <UNIT>)",
    dates=(r"(?<![\w.,:$€£\-–/])<DAY> <MONTH>(?: <YEAR>)?",),
    day_spans=(r"(?<![\w.,:$€£\-–/])<DAY><TO><DAY2> <MONTH>(?: <YEAR>)?",),
    of_year=" (?:de )?",
    decades=(r"\bannées (?P<decade>(?:1[5-9]|2[01])?\d0)\b",),
    the="la |le |les |l'",
    within="en|pendant|durant",
    since="depuis|dès",
    until="jusqu'en|jusqu'à|jusqu'au|d'ici",
    early="début|au début de|du début de",
    mid="mi|milieu",
    late="fin|à la fin de",
    on="à",
    before="avant",
    after="après",
    from_="de|du",
    to="à|au",
    between="entre",
    and_="et",
    or_="ou|à",
)

_SPANISH = Vocabulary(
    language="es",
    plain="el los las una y que en por para mi fue nos la un con del al yo es muy se lo",
    months=_numbered("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre")
    | {"setiembre": 9},
    weekdays=_numbered("lunes martes miércoles jueves viernes sábado domingo", 0),
    seasons={"primavera": 3, "verano": 6, "otoño": 9, "invierno": 12},
    feasts=feasts.SPANISH,
    units=_units(
        day="día días",
        weekend="fin_de_semana fines_de_semana",
        week="semana semanas",
        month="mes meses",
        quarter="trimestre trimestres",
        year="año años",
        decade="década décadas",
    ),
    counts=_counted(
        "un dos tres cuatro cinco seis siete ocho nueve diez once doce",
        una=(1, 1),
        quince=(15, 15),
        veinte=(20, 20),
        medio=(0.5, 0.5),
        media=(0.5, 0.5),
        unos=_FEW,
        unas=_FEW,
        algunos=_FEW,
        algunas=_FEW,
        un_par_de=(2, 2),
        varios=_SEVERAL,
        varias=_SEVERAL,
    ),
    days={
        "anteayer": -2,
        "ayer": -1,
        "anoche": -1,
        "hoy": 0,
        "esta mañana": 0,
        "esta tarde": 0,
        "esta noche": 0,
        "mañana": 1,
        "pasado mañana": 2,
    },
    which={"pasado": -1, "pasada": -1, "este": 0, "esta": 0, "próximo": 1, "próxima": 1},
    which_after={"pasado": -1, "pasada": -1, "próximo": 1, "próxima": 1, "que viene": 1},
    day_ending="º?",
    ago=r"(?<!\bdesde\x20)\bhace <COUNT> <UNIT>",
    ahead=(r"\bdentro de <COUNT> <UNIT>",),
    lasting=r"\bdesde hace (?P<phrase><COUNT> <UNIT>)",
    dates=(r"(?<![\w.,:$€£\-–/])<DAY> de <MONTH>(?: (?:del? )?<YEAR>)?",),
    day_spans=(r"(?<![\w.,:$€£\-–/])<DAY><TO><DAY2> de <MONTH>(?: (?:del? )?<YEAR>)?",),
    of_year=" (?:del? )?",
    decades=(r"\baños (?P<decade>(?:1[5-9]|2[01])?\d0)\b",),
    the="el |la |los |las ",
    within="en|durante",
    since="desde|a partir de",
    until="hasta",
    early="principios de|inicios de|comienzos de",
    mid="mediados de",
    late="finales de|fines de",
    on="por",
    before="antes de",
    after="después de",
    from_="de|del|desde",
    to="al|a|hasta",
    between="entre",
    and_="y",
    or_="o|a",
    no_days=r"(?<!\bla\x20)",
)

VOCABULARIES = (_GERMAN, _FRENCH, _SPANISH)
GRAMMARS = {vocabulary.language: grammar(vocabulary) for vocabulary in VOCABULARIES}
