"""The Chinese and Japanese words that name a time; a weekday belongs to the week that is named.

What stands before or after may make another word of the same characters (以前天气, 今日本, 上周三次): such are passed.
"""

import re
from datetime import date, timedelta

from app.domain import feasts, period_parts, periods
from app.domain.date_readers import opened, yearless
from app.domain.date_rules import Grammar, Modifier, Read, Rule, Said, any_of
from app.domain.periods import Granularity, Open, Period

_DAYS_AWAY = {"大前天": -3, "前天": -2, "一昨日": -2, "おととい": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1}
_DAYS_AWAY |= dict.fromkeys(("今天", "今日", "今晚", "今早", "今夜", "今朝", "今晩"), 0)
_DAYS_AWAY |= dict.fromkeys(("明天", "明日", "明晚", "明早", "あした"), 1)
_DAYS_AWAY |= {"后天": 2, "後天": 2, "明後日": 2, "あさって": 2, "大后天": 3, "大後天": 3}
_YEARS_AWAY = {"大前年": -3, "前年": -2, "一昨年": -2, "去年": -1, "昨年": -1, "今年": 0, "明年": 1, "来年": 1}
_YEARS_AWAY |= {"再来年": 2, "后年": 2, "後年": 2}
_SIGNS = {"上上": -2, "先々": -2, "先先": -2, "上": -1, "先": -1, "这": 0, "這": 0, "本": 0, "今": 0}
_SIGNS |= {"下": 1, "来": 1, "來": 1, "下下": 2, "再来": 2}
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_WEEKDAYS |= {"月": 0, "火": 1, "水": 2, "木": 3, "金": 4, "土": 5}
_SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_DIGITS = {digit: number for number, digit in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_FEW = {"几": (2, 5), "幾": (2, 5), "数": (2, 5), "數": (2, 5), "半": (0.5, 0.5)}
_UNITS = {"天": "day", "日": "day", "周": "week", "週": "week", "星期": "week", "礼拜": "week"}
_UNITS |= {"月": "month", "年": "year"}
_PARTS = {"初": 0, "上旬": 0, "年初": 0, "中旬": 1, "年中": 1, "半ば": 1, "底": 2, "末": 2}
_PARTS |= {"下旬": 2, "年底": 2, "年末": 2}  # as in `period_parts`

_HAN = "一二三四五六七八九十"
_NUMBER = rf"(?:\d{{1,2}}|[{_HAN}]{{1,3}})"
_YEAR = r"(?:1[5-9]|20|21)\d\d|[一二][〇零一二三四五六七八九]{3}"
_MARK = "[~〜～—–-]"
_WEEK = r"[个個]?(?:周|週|星期|礼拜|禮拜)"


def _number(figures: str) -> int:
    """12, 十二, 二十三, 二〇二三."""
    if figures.isdecimal():
        return int(figures)
    tens, ten, ones = figures.rpartition("十")
    if ten:
        return 10 * (_DIGITS[tens] if tens else 1) + (_DIGITS[ones] if ones else 0)
    return int("".join(str(_DIGITS[digit]) for digit in figures))


def _day_away(match: re.Match[str], said: Said) -> Period:
    return periods.shifted(said.today, "day", _DAYS_AWAY[match[0]])


def _unit_away(match: re.Match[str], said: Said) -> Period:
    """上个月, 先月, 下个季度."""
    return periods.shifted(said.today, "month" if match["unit"] == "月" else "quarter", _SIGNS[match["which"]])


def _week_away(match: re.Match[str], said: Said) -> Period:
    """上周, 下周三, 来週の水曜日: the weekday is the one of that week."""
    week = periods.shifted(said.today, "week", _SIGNS[match["which"]])
    if match["weekend"]:
        return periods.weekend(week.start)
    weekday = match["chinese"] or match["japanese"]
    return periods.day(week.start + timedelta(days=_WEEKDAYS[weekday])) if weekday else week


def _counted(match: re.Match[str], said: Said) -> Period | None:
    """三天前, 2週間後, 几年前."""
    return _shifted(match, said.today, -1 if match["side"] == "前" else 1)


def _shifted(match: re.Match[str], start: date, sign: int) -> Period | None:
    low, high = _FEW.get(match["count"]) or (_number(match["count"]),) * 2
    ends = [periods.shifted(start, _UNITS[match["unit"]], sign * count) for count in (low, high)]
    return period_parts.between(*ends[::sign])


def _written(match: re.Match[str], said: Said) -> Period | None:
    """2023年5月8日, 去年五月, 去年の夏, 2021年底, 5月8日, 5月初."""
    year = _year(match, said.today)
    found = _in_year(match, said.today, year)
    return period_parts.part(found, _PARTS[match["part"]]) if match["part"] else found


def _year(match: re.Match[str], today: date) -> int | None:
    if match["away"]:
        return today.year + _YEARS_AWAY[match["away"]]
    return _number(match["year"]) if match["year"] else None


def _in_year(match: re.Match[str], today: date, year: int | None) -> Period:
    def of(number: int) -> Period:
        if match["season"]:
            return periods.season(number, _SEASONS[match["season"]])
        if match["quarter"]:
            return periods.quarter(number, _number(match["quarter"]))
        if not match["month"]:
            return periods.year(number)
        month = _number(match["month"])
        return periods.day(date(number, month, _number(match["day"]))) if match["day"] else periods.month(number, month)

    return of(year) if year is not None else yearless(periods.nearest(today, of))


def _day_span(match: re.Match[str], said: Said) -> Period | None:
    """2022年6月12日到15日."""
    month, first, last = (_number(match[name]) for name in ("month", "day", "day2"))

    def of(year: int) -> Period:
        return Period(date(year, month, first), date(year, month, last), Granularity.DAY)

    if first >= last:
        return None
    return of(_number(match["year"])) if match["year"] else yearless(periods.nearest(said.today, of))


def _month_span(match: re.Match[str], said: Said) -> Period:
    """2022年五月到七月, 11月から1月."""
    first, last = _number(match["month"]), _number(match["month2"])

    def of(year: int) -> Period:
        end = periods.month(year + (first > last), last).end
        return Period(periods.month(year, first).start, end, Granularity.MONTH)

    return of(_number(match["year"])) if match["year"] else yearless(periods.nearest(said.today, of))


def _decade(match: re.Match[str], _: Said) -> Period:
    number = _number(match["decade"])
    return periods.decade(number if number > 99 else 1900 + number)


def _feast(match: re.Match[str], said: Said) -> Period:
    feast = feasts.CJK[match["feast"]]
    return yearless(periods.nearest(said.today, lambda year: periods.day(feast(year))))


def _beside_feast(match: re.Match[str], said: Said) -> Period | None:
    """圣诞节后三天, クリスマスの3日後."""
    return _shifted(match, _feast(match, said).start, -1 if match["side"] == "前" else 1)


_COUNT = (
    rf"(?P<count>\d{{1,3}}|[{_HAN}两兩]{{1,3}}|[几幾数數半])"
    r"(?:[个個かヶケカヵ](?=[月星礼])|(?=[天日周週年星礼]))(?P<unit>[天日周週月年]|星期|礼拜)[间間]?"
)
_DATE = rf"(?P<month>{_NUMBER})月(?:份|(?P<day>{_NUMBER})[日号號])?"
_ALONE = rf"(?<![\d{_HAN}年個个か])"  # what goes before makes no other number of it
_PART = rf"(?P<part>{any_of(_PARTS)})?"
_QUARTER = r"第(?P<quarter>[1-4一二三四])(?:季度|四半期)"
_NO_MONTH = r"(?![台曜間间一两])"  # 月台, 一月一次
_CHINESE_WEEKDAY = r"(?P<chinese>[一二三四五六](?![个個天年月起直些共定般位只次遍趟]|小时|小時|节课|節課)|[日天](?!本))"
_JAPANESE_WEEKDAY = r"の?(?P<japanese>[月火水木金土日])曜日?"

_RULES: tuple[tuple[str, Read], ...] = (
    (rf"(?<![以之目提眼大当當最])(?:{any_of(_DAYS_AWAY)})(?!本)", _day_away),
    (
        rf"(?:(?<!以)(?P<away>{any_of(_YEARS_AWAY)})(?!度)|(?<!\d)(?P<year>{_YEAR})年)の?"
        rf"(?:(?P<season>[春夏秋冬])[天季]?|{_QUARTER}|{_DATE})?{_PART}",
        _written,
    ),
    (rf"{_ALONE}(?P<away>)(?P<year>)(?P<season>)(?P<quarter>){_DATE}{_NO_MONTH}{_PART}", _written),
    (rf"(?P<away>)(?P<year>)(?P<season>)(?P<month>)(?P<part>){_QUARTER}", _written),
    (
        rf"(?<!\d)(?:(?P<year>{_YEAR})年)?(?P<month>{_NUMBER})月(?P<day>{_NUMBER})[日号號]?(?:到|至|から|{_MARK})"
        rf"(?P<day2>{_NUMBER})[日号號]",
        _day_span,
    ),
    (
        rf"(?<![\d個个か])(?:(?P<year>{_YEAR})年)?(?P<month>{_NUMBER})月?(?:到|至|から|{_MARK})(?P<month2>{_NUMBER})月"
        r"(?![\d一二三四五六七八九十間间])",
        _month_span,
    ),
    (rf"(?<![早晚以])(?P<which>{any_of(_SIGNS)})[个個]?(?P<unit>月|季度)(?!台)", _unit_away),
    (
        rf"(?<![早晚以])(?P<which>{any_of(_SIGNS)}){_WEEK}"
        rf"(?:(?P<weekend>末)|{_JAPANESE_WEEKDAY}|{_CHINESE_WEEKDAY})?",
        _week_away,
    ),
    (rf"(?<![\d{_HAN}]){_COUNT}(?:以|之)?(?P<side>前(?![后後])|后|後)(?![半来])", _counted),
    (rf"(?<!\d)(?P<decade>(?:1[5-9]|2[01])\d0|\d0|[{_HAN}]十)年代", _decade),
    (rf"(?P<feast>{any_of(feasts.CJK)})", _feast),
    (rf"(?P<feast>{any_of(feasts.CJK)})的?(?P<side>前|后|後){_COUNT}", _beside_feast),
    (rf"(?P<feast>{any_of(feasts.CJK)})の{_COUNT}(?P<side>前|後)", _beside_feast),
)
_SINCE_AFTER = r"(?:から|以来|以來|起|以降|(?:之|以)?[后後](?![来天]))"
_UNTIL_AFTER = r"(?:まで|为止|為止|(?:之|以)?前(?![年天半]))"
_NEVER = re.compile(r"(?!)")

GRAMMAR = Grammar(
    language="zh",
    rules=tuple(Rule(re.compile(pattern), read, frozenset()) for pattern, read in _RULES),
    leading=frozenset(),
    before=(
        Modifier(re.compile(r"(?:自从|自從|自|从|從)\Z"), opened(Open.SINCE), joins=False),
        Modifier(re.compile(r"(?:直到|到|至)\Z"), opened(Open.UNTIL), joins=False),
    ),
    after=(
        Modifier(re.compile(_SINCE_AFTER), opened(Open.SINCE), joins=False),
        Modifier(re.compile(_UNTIL_AFTER), opened(Open.UNTIL), joins=False),
    ),
    to=re.compile(rf"到|至|から|{_MARK}"),
    between=_NEVER,
    and_=_NEVER,
)
