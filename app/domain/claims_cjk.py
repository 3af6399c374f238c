"""Frames of claims in Chinese and Japanese, where words have no ends: only what a pattern is certain of."""

import re

from app.domain.canonical import MARK, canonical
from app.domain.claim_found import ANY, BARE, Found
from app.domain.text import normalise
from app.domain.wording import Wording

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_STOPS = re.compile(r"[。！!．.、]+\s*$")
_NOW = re.compile(r"现在|目前|如今|已经|^(?:今は|今、?|現在は?|もう)|(?<=[はが])もう")
_NUMBER = re.compile(r"\d+(?:[.:]\d+)?")

_ONE = (
    "老板|老闆|上司|经理|主管|医生|牙医|教练|班主任|房东|地址|电话|手机号|密码|名字|"
    "男朋友|女朋友|丈夫|妻子|职业|房租|工资|年龄"
)
_ONE_JA = "上司|社長|担当|先生|住所|電話番号|番号|契約番号|暗証番号|名前|仕事|職業|家賃|年齢|夫|妻|彼氏|彼女|大家"
_IS_JA = r"(?:です|だ)"

# What tells of a change, put as what holds since then.
_PLAINLY: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?:换成|换为|变成|变为|改成|改为|(?:涨|降|升|调|提高|增加|减少)到)了?([^，,。]+?)了?$"), r"是\1"),
    (re.compile(r"(?:改到|改在|挪到|移到|推迟到|提前到|延期到|延到|定在|定于)了?([^，,。]+?)了?$"), r"在\1"),
    (re.compile(r"不(?:是|在)[^，,。是在]+[，,]?(?:而)?(是|在)([^，,。]+)$"), r"\1\2"),
    (re.compile(r"(?:新|现任)的?(?=老|上司|经理|主管|医生|牙医|教练|班|房|地址|电话|手机|密码)"), ""),
    (re.compile(r"(公司|办公室|工作室|店|学校|课|会议?)搬到了?([^，,。]+?)了?$"), r"\1在\2"),
    (re.compile(r"^新しい|^今の"), ""),
    (re.compile(r"に(?:あります|ある)$"), "です"),
    (
        re.compile(
            r"[がは]([^、。がは]+?)[にへ](?:なり|変わり|上がり|下がり|増え|減り|延び|移り|決まり|(?:変更|延期)(?:になり|され)|"
            r"値[上下]がりし)ました$"
        ),
        r"は\1です",
    ),
    (re.compile(rf"は[^、。は]+(?:ではなく|じゃなくて?)て?、?([^、。]+?{_IS_JA})$"), r"は\1"),
)
_LIVE = (
    (re.compile(r"(?P<subject>[^，,。不]{1,8}?)(?P<no>不再?)?住在(?P<value>[^，,。了]+)了?"), True),
    (re.compile(r"(?P<subject>[^，,。]{1,8}?)搬(?:到|去|回|进)了?(?P<value>[^，,。了]+)了?"), False),
    (
        re.compile(
            r"(?:(?P<subject>[^、。は]{1,10})は)?(?P<value>[^、。は]+?)には?住んで(?:います|いる|る|(?P<no>いません|いない))"
        ),
        True,
    ),
    (re.compile(r"(?:(?P<subject>[^、。はが]{1,10})[はが])?(?P<value>[^、。はが]+)[にへ]引っ?越しました"), False),
)
_WORK = (
    re.compile(r"(?P<subject>[^，,。不]{1,8}?)(?P<no>不再?)?在(?P<value>[^，,。]+?)(?:工作|上班)了?(?P<count>\d+年)?"),
    re.compile(r"(?P<subject>[^，,。]{1,8}?)(?P<no>从)(?P<value>[^，,。]+?)(?:辞职|离职|退休)了?"),
    re.compile(r"(?P<subject>[^，,。]{1,8}?)(?P<no>离开)了?(?P<value>[^，,。]+?公司)了?"),
    re.compile(
        r"(?:(?P<subject>[^、。は]{1,10})は)?(?P<value>[^、。は]+?)(?:では?働いて|には?勤めて)"
        r"(?:います|いる|る|(?P<no>いません|いない))"
    ),
    re.compile(r"(?:(?P<subject>[^、。はが]{1,10})[はが])?(?P<value>[^、。はがを]+)を(?P<no>辞めました|退職しました)"),
)
_BE = (
    re.compile(rf"(?P<subject>我(?:们|家)?的?[^，,。是]{{0,6}}?(?:{_ONE}))(?:是|叫|在)(?P<value>[^，,。]+)"),
    re.compile(rf"(?P<subject>[^、。は]{{0,8}}(?:{_ONE_JA}))は(?P<value>[^、。は]+?){_IS_JA}"),
)
_WHERE = re.compile(
    r"(?P<subject>[^我你您他她它，,。在]{2,8})在(?P<value>[^，,。]{0,8}[楼室号路街厅店馆院层区市镇村校园])"
)
_WHERE_JA = re.compile(
    rf"(?P<subject>会社|オフィス|事務所|会議|店|学校|教室|練習|レッスン)は(?P<value>[^、。は]*[町浜市区村県駅階室館街ル店]){_IS_JA}"
)
_ON_DAY = (
    re.compile(rf"(?P<subject>(?:我的)?[^我你您他她它，,。是在]{{2,10}}?)[是在]?{MARK}(?:举行|召开)?"),
    re.compile(rf"(?P<subject>[^、。は]{{1,10}})は{MARK}(?:{_IS_JA}|に(?:行われます|あります))"),
)
_COUNTED = re.compile(r"(?P<subject>我们?|我家|我的[^，,。有是]{1,6})(?P<verb>有|是|今年)(?P<rest>\d[^，,。了]*)了?")
_OFTEN = re.compile(
    r"(?P<subject>我们?)(?P<often>每天|每周|每个?月|一天|一周)只?(?P<verb>[^\d，,。]{1,2})(?P<rest>\d[^，,。了]*)了?"
)
_COUNTED_JA = re.compile(r"(?P<subject>[^、。は]{1,12})は(?P<rest>[^、。は]*\d[^、。は]*?)(?:です|だ|あります|います)")

# What is done with a thing, "我喝咖啡", and that it is done no more.
_THING = r"(?P<thing>[^了过，,。、\d]{1,6})"
_DOING = re.compile(
    rf"我们?(?P<no>不再?|没再?)?(?:正?在|每天|每周|经常|平时)?(?P<verb>[吃喝抽吸玩打弹养开骑学用看练有])(?P<over>着)?{_THING}了?"
)
_HAVE_NOT = re.compile(rf"我们?没有{_THING}了?")
_DOING_JA = re.compile(
    r"(?:私は|僕は)?(?P<thing>[^、。はがをでにも]{1,12})(?:を|は|はもう)(?P<verb>[^、。はがをでにも]{1,6}?)(?:ます|(?P<no>ません))"
)
_GIVEN_UP = (
    re.compile(rf"我们?(?:戒(?:掉)?了?|放弃了?){_THING}了?"),
    re.compile(r"(?P<thing>[^、。はがをでにも]{1,12})[をは](?:やめました|やめた|辞めた|卒業しました)"),
)
_DISPOSED = (
    (re.compile(rf"我们?(?:把{_THING}卖(?:掉)?了)"), "有"),
    (re.compile(rf"我们?卖(?:掉)?了(?:我的)?{_THING}"), "有"),
    (re.compile(r"(?P<thing>[^、。はがをでにも]{1,12})[をは](?:売り|手放し)ました"), "持ってい"),
)
_DENIED = (
    (re.compile(r"(我们?)不再"), r"\1"),
    (re.compile(r"(我们?)(?:不|没)(?=[吃喝抽喜会能想有养用学做看玩住])"), r"\1"),
    (re.compile(r"は(好き|嫌い|得意|苦手)では?(?:ありません|ない)$"), r"が\1です"),
    (re.compile(r"(?:ではありません|じゃありません|じゃない|ではない)$"), "です"),
    (re.compile(r"て(?:い)?(?:ません|ない)$"), "ています"),
    (re.compile(r"ません$"), "ます"),
)
_PAST = re.compile(r"了|过|昨|ました|でした|た$")
_SPEAKER = re.compile(r"^(?:我们?|私は|僕は|俺は|わたしは)(?:的|の)?")


def is_cjk(text: str) -> bool:
    """Whether the text is written in Chinese or Japanese."""
    return _CJK.search(text) is not None


def frame(wording: Wording) -> Found | None:
    """What a statement of one clause claims."""
    text = "".join(canonical(_STOPS.sub("", wording.body.strip())))
    text = _NOW.sub("", text)
    for pattern, plain in _PLAINLY:
        text = pattern.sub(plain, text)
    if MARK in text:
        return _dated(text, wording)
    return _living(text) or _working(text) or _being(text) or _doing(text) or _polar(text)


def _dated(text: str, wording: Wording) -> Found | None:
    """The day of something: 会议在5月9日, 会議は5月9日です."""
    found = next((match for pattern in _ON_DAY if (match := pattern.fullmatch(text))), None)
    if found is None or len(wording.times) != 1:
        return None
    first, last = wording.times[0]
    return Found(_subject(found), "be state", f"{first} {last}", due=last)


def _living(text: str) -> Found | None:
    for pattern, lasting in _LIVE:
        if found := pattern.fullmatch(text):
            denied = found.groupdict().get("no") is not None
            return Found(_subject(found), "live", normalise(found["value"]), denied=denied, lasting=lasting)
    return None


def _working(text: str) -> Found | None:
    for pattern in _WORK:
        if found := pattern.fullmatch(text):
            count = found.groupdict().get("count") or ""
            denied = found["no"] is not None
            return Found(_subject(found), "work", normalise(found["value"]), denied=denied, count=count)
    return None


def _being(text: str) -> Found | None:
    for pattern, attribute in (*((pattern, "be") for pattern in _BE), (_WHERE, "be where"), (_WHERE_JA, "be where")):
        if found := pattern.fullmatch(text):
            return Found(_subject(found), attribute, normalise(found["value"]))
    for pattern in (_COUNTED, _COUNTED_JA, _OFTEN):
        if found := pattern.fullmatch(text):
            rest, done = found["rest"], found["often"] + found["verb"] if pattern is _OFTEN else ""
            return Found(_subject(found), done + _NUMBER.sub("#", rest), " ".join(_NUMBER.findall(rest)))
    return None


def _doing(text: str) -> Found | None:
    """What one does with something, or does no more; what once was done claims nothing."""
    for pattern in _GIVEN_UP:
        if found := pattern.fullmatch(text):
            return Found("", f"{BARE} {found['thing']}", ANY, denied=True, lasting=False)
    for pattern, verb in _DISPOSED:
        if found := pattern.fullmatch(text):
            return Found("", _thing(found, verb), verb, denied=True, lasting=False)
    if found := _HAVE_NOT.fullmatch(text):
        return Found("", _thing(found, "有"), "有", denied=True)
    found = _DOING.fullmatch(text) or _DOING_JA.fullmatch(text)
    if found is None:
        return None
    made = Found("", _thing(found, found["verb"]), found["verb"], denied=found["no"] is not None)
    return made if made.denied or not _PAST.search(text) else None


def _thing(found: re.Match[str], verb: str) -> str:
    """Whoever gave up something may still have some."""
    return f"{BARE}{'have' if verb in ('有', '持ってい') else ''} {found['thing']}"


def _subject(found: re.Match[str]) -> str:
    return _SPEAKER.sub("", found["subject"] or "")


def _polar(text: str) -> Found | None:
    for pattern, plain in _DENIED:
        base, denied = pattern.subn(plain, text)
        if denied:
            return Found("", f"{BARE} {base.removesuffix('了')}", denied=True)
    return None if _PAST.search(text) else Found("", f"{BARE} {text}")
