"""The plain Chinese and Japanese words that name a time, as rules; see `date_words`. Weeks begin on Monday."""

import re
from datetime import date, timedelta

from app.domain import periods
from app.domain.date_words import Rule
from app.domain.periods import Period

_DAYS_AWAY = {"前天": -2, "一昨日": -2, "おととい": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1}
_DAYS_AWAY |= {
    "今天": 0,
    "今日": 0,
    "今晚": 0,
    "今早": 0,
    "今夜": 0,
    "今朝": 0,
    "明天": 1,
    "明日": 1,
    "明晚": 1,
    "明早": 1,
}
_DAYS_AWAY |= {"后天": 2, "後天": 2, "明後日": 2, "あさって": 2}
_YEARS_AWAY = {"去年": -1, "昨年": -1, "今年": 0, "明年": 1, "来年": 1}
_SIGNS = {"上": -1, "先": -1, "这": 0, "這": 0, "本": 0, "今": 0, "下": 1, "来": 1, "來": 1}
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_WEEKDAYS |= {"月": 0, "火": 1, "水": 2, "木": 3, "金": 4, "土": 5}
_COUNTS = {number: count for count, number in enumerate("一二三四五六七八九十", 1)} | {"两": 2, "兩": 2}
_UNITS = {"天": "day", "日": "day", "周": "week", "週": "week", "月": "month", "年": "year"}


def _day_away(match: re.Match[str], today: date) -> Period:
    return periods.shifted(today, "day", _DAYS_AWAY[match[0]])


def _year_away(match: re.Match[str], today: date) -> Period:
    return periods.shifted(today, "year", _YEARS_AWAY[match[0]])


def _month_away(match: re.Match[str], today: date) -> Period:
    return periods.shifted(today, "month", _SIGNS[match["which"]])


def _week_away(match: re.Match[str], today: date) -> Period:
    """上周, 下周三, 来週の水曜日: the weekday is the one of that week."""
    week = periods.shifted(today, "week", _SIGNS[match["which"]])
    if match["weekend"]:
        return periods.weekend(week.start)
    weekday = match["chinese"] or match["japanese"]
    return periods.day(week.start + timedelta(days=_WEEKDAYS[weekday])) if weekday else week


def _ago(match: re.Match[str], today: date) -> Period:
    count = _COUNTS.get(match["count"]) or int(match["count"])
    return periods.shifted(today, _UNITS[match["unit"]], -count)


def _written(match: re.Match[str], today: date) -> Period:
    """2023年5月8日, 2023年5月, 2023年, 5月8日."""
    year, month, day = (int(match[name]) if match[name] else None for name in ("year", "month", "day"))
    if month is None:
        return periods.year(year or 0)
    if day is None:
        return periods.month(year or 0, month)
    if year is None:
        return periods.nearest(today, lambda near: periods.day(date(near, month, day)))
    return periods.day(date(year, month, day))


# What follows or precedes may make another word of the same characters: 以前天气, 上周一起, 上周日本.
_CHINESE_WEEKDAY = r"(?P<chinese>[一二三四五六](?![个個天年月起直些共定般位只])|[日天](?!本))"
_JAPANESE_WEEKDAY = r"の?(?P<japanese>[月火水木金土日])曜"
_WEEK = r"[个個]?(?:周|週|星期|礼拜|禮拜)"

RULES = (
    Rule(re.compile(rf"(?<![以之目提眼大当當最])(?:{'|'.join(sorted(_DAYS_AWAY, key=len, reverse=True))})"), _day_away),
    Rule(re.compile("|".join(_YEARS_AWAY)), _year_away),
    Rule(re.compile(r"(?P<which>[上下这這]|[先今来來](?!个|個))[个個]?月(?!台)"), _month_away),
    Rule(
        re.compile(
            rf"(?P<which>[上下这這本先今来來]){_WEEK}"
            rf"(?:(?P<weekend>末)|{_JAPANESE_WEEKDAY}日?|{_CHINESE_WEEKDAY})?"
        ),
        _week_away,
    ),
    Rule(
        re.compile(
            r"(?<![\d一二三四五六七八九十])(?P<count>\d{1,4}|[一二三四五六七八九十两兩])"
            r"[个個かヶケカ]?(?P<unit>[天日周週月年])[間间]?前(?!半)"
        ),
        _ago,
    ),
    Rule(
        re.compile(
            r"(?<!\d)(?:(?P<year>(?:1[5-9]|20|21)\d\d)年)(?:(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号號])?)?"
        ),
        _written,
    ),
    Rule(re.compile(r"(?<![\d年])(?P<year>)(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号號]"), _written),
)
