"""Frames of claims in Chinese and Japanese, where words have no ends: only what a pattern is certain of."""

import re

from app.domain.claim_found import BARE, Found
from app.domain.text import normalise
from app.domain.wording import MARK, Wording, canonical

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_STOPS = re.compile(r"[。！!．.、]+\s*$")
_NOW = re.compile(r"现在|目前|如今|已经|^(?:今は|今、?|現在は?|もう)|(?<=は)もう")
_NUMBER = re.compile(r"\d+(?:[.:]\d+)?")

_ONE = (
    "老板|老闆|上司|经理|主管|医生|牙医|教练|班主任|房东|地址|电话|手机号|密码|名字|"
    "男朋友|女朋友|丈夫|妻子|职业|房租|工资|年龄"
)
_ONE_JA = "上司|社長|担当|先生|住所|電話番号|番号|契約番号|暗証番号|名前|仕事|職業|家賃|年齢|夫|妻|彼氏|彼女|大家"
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?P<subject>[^，,。]{1,8}?)住在(?P<value>[^，,。了]+)了?"), "live"),
    (re.compile(r"(?P<subject>[^，,。]{1,8}?)在(?P<value>[^，,。]+?)(?:工作|上班)了?(?P<count>\d+年)?"), "work"),
    (re.compile(rf"(?P<subject>我(?:们|家)?的?[^，,。是]{{0,6}}?(?:{_ONE}))(?:是|叫|在)(?P<value>[^，,。]+)"), "be"),
    (re.compile(r"(?:(?P<subject>[^、。は]{1,10})は)?(?P<value>[^、。は]+)に住んで(?:います|いる|る)"), "live"),
    (re.compile(r"(?:(?P<subject>[^、。は]{1,10})は)?(?P<value>[^、。は]+)で働いて(?:います|いる|る)"), "work"),
    (re.compile(rf"(?P<subject>[^、。は]{{0,8}}(?:{_ONE_JA}))は(?P<value>[^、。は]+?)(?:です|だ)"), "be"),
)
_COUNTED = re.compile(r"(?P<subject>我们?|我家|我的[^，,。有是]{1,6})(?P<verb>有|是|今年)(?P<rest>\d[^，,。了]*)了?")
_COUNTED_JA = re.compile(r"(?P<subject>[^、。は]{1,12})は(?P<rest>[^、。は]*\d[^、。は]*?)(?:です|だ|あります|います)")
_DENIED = (
    (re.compile(r"(我们?)不再"), r"\1"),
    (re.compile(r"(我们?)(?:不|没)(?=[吃喝抽喜会能想有养用学做看玩住])"), r"\1"),
    (re.compile(r"は(好き|嫌い|得意|苦手)では?(?:ありません|ない)$"), r"が\1です"),
    (re.compile(r"て(?:い)?(?:ません|ない)$"), "ています"),
    (re.compile(r"ません$"), "ます"),
    (re.compile(r"(?:ではありません|じゃありません|じゃない|ではない)$"), "です"),
)
_PAST = re.compile(r"了|过|昨|ました|でした|た$")
_SPEAKER = re.compile(r"^(?:我们?|私は|僕は|俺は|わたしは)(?:的|の)?")


def is_cjk(text: str) -> bool:
    """Whether the text is written in Chinese or Japanese."""
    return _CJK.search(text) is not None


def frame(wording: Wording) -> Found | None:
    """What a statement of one clause claims."""
    text = "".join(canonical(_NOW.sub("", _STOPS.sub("", wording.body.strip()))))
    for pattern, attribute in _PATTERNS:
        if (found := pattern.fullmatch(text)) and MARK not in text:
            groups = found.groupdict()
            subject = _SPEAKER.sub("", groups["subject"] or "")
            return Found(subject, attribute, normalise(groups["value"]), count=groups.get("count") or "")
    for pattern in (_COUNTED, _COUNTED_JA):
        if (found := pattern.fullmatch(text)) and MARK not in text:
            subject, rest = _SPEAKER.sub("", found["subject"]), found["rest"]
            return Found(subject, _NUMBER.sub("#", rest), " ".join(_NUMBER.findall(rest)))
    return _polar(text)


def _polar(text: str) -> Found | None:
    for pattern, plain in _DENIED:
        base, denied = pattern.subn(plain, text)
        if denied:
            return Found("", f"{BARE} {base.removesuffix('了')}", denied=True)
    return None if MARK in text or _PAST.search(text) else Found("", f"{BARE} {text}")
