"""Feasts with a day of their own, by year."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta

from dateutil.easter import easter

Feast = Callable[[int], date]
"""The day in a year. Raises ValueError for a year without it (Easter is known from 1583 to 4099)."""


def _fixed(month: int, day: int) -> Feast:
    return lambda year: date(year, month, day)


def _easter(days: int) -> Feast:
    return lambda year: easter(year) + timedelta(days=days)


def _thanksgiving(year: int) -> date:
    """The fourth Thursday of November, as in the United States."""
    first = date(year, 11, 1)
    return first + timedelta(days=(3 - first.weekday()) % 7 + 21)


NEW_YEAR, CHRISTMAS_EVE, CHRISTMAS, NEW_YEARS_EVE = _fixed(1, 1), _fixed(12, 24), _fixed(12, 25), _fixed(12, 31)
EASTER, EASTER_MONDAY, GOOD_FRIDAY, PENTECOST = _easter(0), _easter(1), _easter(-2), _easter(49)

ENGLISH: Mapping[str, Feast] = {
    "new year's day": NEW_YEAR,
    "new year's eve": NEW_YEARS_EVE,
    "new years eve": NEW_YEARS_EVE,
    "valentine's day": _fixed(2, 14),
    "valentines day": _fixed(2, 14),
    "valentine's": _fixed(2, 14),
    "st. patrick's day": _fixed(3, 17),
    "st patrick's day": _fixed(3, 17),
    "good friday": GOOD_FRIDAY,
    "easter": EASTER,
    "easter sunday": EASTER,
    "easter monday": EASTER_MONDAY,
    "independence day": _fixed(7, 4),
    "halloween": _fixed(10, 31),
    "thanksgiving": _thanksgiving,
    "thanksgiving day": _thanksgiving,
    "christmas": CHRISTMAS,
    "christmas day": CHRISTMAS,
    "christmas eve": CHRISTMAS_EVE,
    "xmas": CHRISTMAS,
    "boxing day": _fixed(12, 26),
}
GERMAN: Mapping[str, Feast] = {
    "neujahr": NEW_YEAR,
    "karfreitag": GOOD_FRIDAY,
    "ostern": EASTER,
    "ostersonntag": EASTER,
    "ostermontag": EASTER_MONDAY,
    "pfingsten": PENTECOST,
    "heiligabend": CHRISTMAS_EVE,
    "weihnachten": CHRISTMAS,
    "silvester": NEW_YEARS_EVE,
}
FRENCH: Mapping[str, Feast] = {
    "pâques": EASTER,
    "pentecôte": PENTECOST,
    "noël": CHRISTMAS,
    "saint-sylvestre": NEW_YEARS_EVE,
    "jour de l'an": NEW_YEAR,
}
SPANISH: Mapping[str, Feast] = {
    "año nuevo": NEW_YEAR,
    "nochebuena": CHRISTMAS_EVE,
    "navidad": CHRISTMAS,
    "nochevieja": NEW_YEARS_EVE,
    "viernes santo": GOOD_FRIDAY,
}
CJK: Mapping[str, Feast] = {
    "元旦": NEW_YEAR,
    "平安夜": CHRISTMAS_EVE,
    "圣诞节": CHRISTMAS,
    "聖誕節": CHRISTMAS,
    "圣诞": CHRISTMAS,
    "国庆节": _fixed(10, 1),
    "クリスマスイブ": CHRISTMAS_EVE,
    "クリスマス": CHRISTMAS,
    "大晦日": NEW_YEARS_EVE,
}
