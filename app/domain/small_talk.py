"""Small talk: phrases that tell nothing, among them replies that leave a question unanswered."""

import re
from collections.abc import Set

from app.domain.text import content_words

LONGEST = 160  # characters; a longer sentence says something

_SEPARATOR = re.compile(r"[,;:.!…–—|，、。！]+\s*|\s+-\s+")
_NOISE = re.compile(r"[^\w\s']+")
_HEDGE = re.compile(
    r"(?:(?:sorry|oh|ah|hm+|well|haha|lol|ok|okay|yeah|ooh|omg|aww*|thanks|honestly|actually|but|and|so|um+|uh+|"
    r"tut mir leid|ach|naja|also|oh je) )+"
)
_CLOSING = re.compile(r"(?: (?:lol|haha+|then|though|now|you|tho|mate|dear|man|all|everyone|everybody|guys|friends))+$")

_PHRASES = r"""
    can't complain|not (?:too |so )?bad|same old|so so|fingers crossed|no rush|never mind
    good (?:luck|job|one|stuff|point|idea|question|call|to know|for (?:you|him|her|them))|well done|nicely done
    hang in there|talk (?:to you )?(?:soon|later|tomorrow)|speak (?:soon|later)
    (?:i )?(?:gotta|got to|have to|must) (?:go|run|dash|leave)|be right back|brb|ttyl|np|any ?time|my pleasure
    (?:same to )?you too|likewise|same here|me neither|me too|makes (?:total |perfect )?sense|got it|understood
    noted|i see|fair enough|what an? (?:relief|shame|pity|day|surprise|story|mess|news|week)|happy to help|my bad
    no way|bless you|long time no see|nothing (?:much|special|new|really)|all (?:good|done|set)
    let (?:me|us) know(?: if .*| when .*| how .*)?|poor (?:thing|you|guy|girl|baby|soul)
    (?:i'm |i am )?(?:so |really |very )*(?:excited|happy|glad|proud|thrilled|sorry) (?:for|of) (?:you|him|her|them)
    (?:i'm |i am )?(?:so |really |very )*(?:excited|happy|glad|proud) (?:for|of) (?:both of you|you (?:two|both))
    (?:many )?thank(?:s| you)(?: .{0,40})?|let's (?:start|begin|go|get (?:started|going)|do (?:it|this))(?: then)?
    good (?:morning|evening|afternoon|night)(?: .{0,12})?
    (?:morning|evening|afternoon) (?:all|everyone|everybody|folks|team|guys|dear)
    give (?:him|her|them|it|my|everyone)(?: \w+){0,3} (?:hug|hugs|cuddle|kiss|regards|best|pat|love)(?: from me)?
    say (?:hi|hello)(?: .{0,20})?|will do|see you(?: .{0,20})?|take (?:care|your time)
    have (?:a|an) (?:\w+ )?(?:day|evening|night|weekend|time|one|trip|flight)|sleep well
    safe (?:travels|trip|journey)|get well(?: soon)?|happy birthday(?: .{0,20})?|merry christmas|happy new year
    cheers|respect|welcome(?: back| home)?|nice (?:to meet you|one|work|weather)|pleased to meet you
    keep (?:it up|going|me posted|us posted|at it|in touch)|you('ve)? (?:got this|rock|go girl)
    so (?:true|cool|sweet|cute|funny|sad|nice|good)|that's (?:\w+ )?(?:news|great|awesome)
    (?:wonderful|great|lovely|good) news|works for me|deal|count me in|on my way|omw|be there soon|almost there
    happy (?:friday|monday|holidays|easter|anniversary)|proud of you|miss you|love you|hugs|kisses|whatever|forget it
    just kidding|jk|rofl|i'm (?:good|fine|ok|okay|great|doing (?:well|good|fine|great))|doing (?:good|well|fine|great)
    pretty good|how (?:nice|lovely|sweet|cool|cute|exciting|sad|awful|wonderful)|you bet|sure thing|agreed|indeed
    my goodness|goodness|hope (?:you|that|it|all|this) .{0,40}|enjoy(?: .{0,30})?|don't worry(?: about it)?
    (?:good|nice|great) to (?:hear|see)(?: .{0,20})?|(?:so )?glad (?:to hear|you|it|that)(?: .{0,30})?
    let's (?:talk|chat|catch up)(?: .{0,16})?|feel free(?: .{0,30})?|no (?:worries|problem)(?: at all)?
    it's (?:ok|okay|fine|all good|nothing)
    that's (?:ok|okay|fine|alright|too bad|a shame|cool|sweet|funny|hilarious|nice)
    (?:(?:that|this|it|you) )?(?:totally |really )?made (?:my (?:day|week|night|morning)|me (?:laugh|smile|blush))
    you(?:'re| are) (?:an? (?:star|angel|legend|gem|lifesaver|treasure)|the best|(?:so|too|very) (?:kind|sweet|funny))
    whenever you .{0,30}|i'm (?:all ears|listening|speechless|on it|impressed|jealous)
    i missed your (?:call|message|text)s?|sorry i missed .{0,16}
    i (?:see|know|get|understand|hear) (?:what|where|how) you(?:'re| are)? .{0,20}|fingers crossed for .{0,20}
    (?:merry christmas|happy new year|happy holidays) (?:to|for) .{0,30}|noted with thanks
    (?:i'm |i am )?(?:so |really |very )*sorry to (?:hear|read)(?: .{0,20})?
    (?:my )?(?:deepest |sincere |heartfelt )*(?:condolences|sympathies|apologies)(?: to .{0,20})?
    (?:i )?couldn't (?:have said it better|agree more)|i owe you(?: one| big time)?
    i (?:need|ought|should) (?:to )?(?:go|run|dash|leave|head out|be off)(?: now| soon)?
    (?:till|until) (?:next time|then|tomorrow|later)|sending .{0,20}(?:hugs?|love|kisses|vibes|thoughts|prayers)
    (?:(?:that|this|it)(?:'s| is) )?(?:so |very |too |really )*(?:kind|sweet|nice|generous|thoughtful) of you
    you (?:really )?(?:shouldn't have|didn't have to)|could be (?:worse|better)|can't be helped|i doubt (?:it|that)
    just (?:wanted to say|saying|dropping by to say) (?:hi|hello)|just checking(?: in)?
    (?:text|call) me (?:when|if|once) .*
    have fun(?: .{0,20})?|it's been (?:ages|a while|too long|forever|a long time)|(?:i'm|we're) back(?: again)?
    (?:oh|ah|aw+) no
    ignore (?:that|this|my last|the last)(?: .{0,20})?
"""
_NO_ANSWER = r"""
    no (?:idea|clue)(?: .{0,20})?
    (?:i )?(?:really |still |just )?(?:don't|do not) (?:know|remember|recall)(?: yet| that| it| about (?:that|it))?
    dunno|idk
    (?:i'm )?not (?:really |quite )?sure(?: yet| about (?:that|it))?|i (?:forgot|forget)(?: that| it)?|hard to say
    (?:let me|i'll|i will|i need to|i have to|gotta|i should) (?:(?:quickly |just )?check|see|think|look|find out|ask)
    (?:let me|i'll|i will|i need to|i have to|gotta|i should) (?:check|think about|look|look into|ask about) (?:that|it)
    (?:let me|i'll|i will|i need to|i have to|gotta) (?:look (?:that|it) up|get back to you|ask around)(?: .{0,30})?
    who knows|beats me|(?:i )?can't (?:say|remember|recall|talk|tell)(?: now| right now| that| it)?
    (?:i'll )?tell you (?:later|tomorrow|soon)|ask me (?:later|another time|tomorrow)|maybe later
    why do you ask|none of your business|i'm busy(?: .{0,16})?
    (?:one|just a|hang on a|wait a|give me a) (?:moment|minute|second|sec|min)(?: .{0,30})?|hold on(?: .{0,16})?
    wait|i'm looking (?:that|it|this) up(?: .{0,16})?|looking (?:that|it|this) up(?: .{0,16})?
"""
_OTHER_LANGUAGES = r"""
    keine ahnung|(?:das )?wei(?:ß|ss) ich (?:auch |leider |gerade |noch )*nicht(?: mehr)?|wei(?:ß|ss) nicht
    (?:ich )?muss (?:los|weg|gehen|weiter|nachsehen|nachschauen|überlegen)|bis (?:später|dann|bald|morgen|gleich)
    moment(?: mal)?|(?:ich )?(?:schau|schaue|sehe|frag|frage) (?:mal |kurz |gleich )*nach
    alles (?:gut|klar|bestens)|kein (?:problem|ding)|macht nichts|(?:vielen )?dank(?:e)?(?: .{0,40})?
    freut mich(?: .{0,20})?|gern(?:e)?(?: geschehen)?|weiter so|stark|super(?: \w+)?|viel (?:glück|erfolg|spaß)
    gute (?:besserung|nacht|reise|idee)|guten (?:morgen|tag|abend)(?: .{0,16})?|schön(?:en? .{0,16})?
    herzlichen glückwunsch(?: .{0,20})?|glückwunsch|ach so|nichts besonderes|wie schön|toll
    prima|klasse|verstanden|geht klar|hallo(?: .{0,16})?|tschüss|na dann
    danke dir|schönen tag(?: noch)?|liebe grüße|lg|viele grüße|mega|krass|oh nein|mir geht's gut(?: .{0,16})?|ganz gut
    das freut mich(?: .{0,20})?|(?:das )?tut mir (?:so |sehr |echt )*leid(?: .{0,20})?
    viel (?:glück|erfolg|spaß) .{0,20}
    bis (?:nächste|kommende)\w* .{0,12}|bis (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)
    wie (?:lieb|nett|süß|schade|blöd|traurig|cool)(?: von (?:dir|euch))?
    (?:ich )?drücke? (?:dir|euch) die daumen(?: .*)?
    das kenne? ich(?: gut| auch)?|ach (?:was|nein|komm)|nichts zu danken|bitte(?: schön| sehr)?|gute fahrt
    komm gut heim|na klar doch
"""
_CJK_TALK = r"""
    哈+|呵+|哦|嗯+|好(?:的|啊|呀|名字|主意|棒)?|太[好棒]了?
    真(?:棒|好|厉害|不错)|恭喜.{0,4}|加油|没事|没关系|不客气|明白了?|收到|知道了
    不知道|不清楚|不记得了?|忘了|没时间|等一下|待会儿?再?说|以后再说|再见|拜拜|晚安|早安
    早上好|你好|您好|谢谢.{0,3}|辛苦了|随便|没什么.{0,3}
    特に(?:何も|なし|ないです|ありません)|承知(?:し|いたし)ました
    了解(?:です|しました)?|かしこまりました|わかりました|わからない|わかりません|知りません
    好久不见|我?(?:知道|明白|懂|了解)了|お?久しぶり(?:です|だね)?(?:ね)?|大丈夫(?:です|だよ|ですよ)?
    一路(?:平安|顺风)|我也(?:是|一样)|改天(?:聊|见)|(?:私|僕|俺)も(?:です|だよ)?|い?行?ってらっしゃい|行ってきます
    では?また|(?:それは)?よかった.{0,4}
    忘れました|覚えていません|さあ|後で|あとで|ちょっと待って.{0,6}|お疲れ様.{0,4}
    おめでとう.{0,6}|頑張って.{0,4}|すごい.{0,4}|よかった.{0,3}|いいですね
    そうですね|なるほど|ありがとう.{0,5}|こんにちは|こんばんは|おはよう.{0,4}|またね
    じゃあね|よろしく.{0,8}
    すみません|ごめん(?:なさい)?|元気です(?:よ)?|どういたしまして|楽しみ(?:です|ですね|にしています)?|そうなん(?:だ|ですね)
    へえ+|もちろん|素敵(?:ですね)?|かわいい(?:ですね)?|お願いします|いい名前.{0,4}|是吗|真的吗|厉害了?|好?可爱|好漂亮|羡慕
    回头见|明天见|祝你.{0,6}|生日快乐|新年快乐|注意休息|路上小心|太可爱了|不错|真好听|好听
"""


def _compiled(*listings: str) -> re.Pattern[str]:
    """One pattern of the phrases that are listed, each whole on its line."""
    return re.compile("|".join(line.strip() for listing in listings for line in listing.strip().splitlines()))


_TALK = _compiled(_PHRASES, _NO_ANSWER, _OTHER_LANGUAGES, _CJK_TALK)


def is_small_talk(sentence: str, names: Set[str], empty: Set[str]) -> bool:
    """Whether the sentence consists of phrases that tell nothing; `empty` words may stand among them.

    Words of `names`, the speakers', are passed over. A sentence of nothing but empty words is for the caller.
    """
    if len(sentence) > LONGEST:
        return False
    parts = [_plain(part, names) for part in _SEPARATOR.split(sentence.replace("’", "'"))]
    matched = [bool(part) and _is_phrase(part) for part in parts]
    return any(matched) and all(
        phrase or all(word in empty for word in content_words(part))
        for part, phrase in zip(parts, matched, strict=True)
    )


def _plain(part: str, names: Set[str]) -> str:
    words = _NOISE.sub(" ", part.lower()).split()
    return " ".join(word for word in words if word not in names)


def _is_phrase(part: str) -> bool:
    bare = _HEDGE.sub("", f"{part} ").strip()
    return any(_TALK.fullmatch(form) for form in (part, bare, _CLOSING.sub("", bare)) if form)
