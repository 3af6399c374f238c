"""What tells nothing: small talk, replies that answer nothing, an assistant's advice, context that came back."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.assistants import tells
from app.domain.extraction import extract
from app.domain.ids import ConversationId, EpisodeId, MessageId
from app.domain.levels import Level
from app.domain.messages import Message, Role
from app.domain.packing import Item, render_context
from app.domain.recalled import own_words

NOON = datetime(2025, 1, 6, 12, tzinfo=UTC)


SMALL_TALK = """
Sounds like a plan, talk to you on Monday!
Hope your week gets better.
Aww, that made my day!
You're a star.
No rush at all.
Whenever you have a minute.
I'm all ears.
I'm listening.
Give me a sec.
brb
one moment please
On my way!
be right back
Sorry for the late reply.
Sorry, I missed your call.
Thanks a million for everything.
Thanks for asking!
Not bad, and you?
I'm good, thanks.
I'm fine, how about you?
All good here.
Same here.
Me too!
Me neither.
That's what I thought.
I see what you mean.
I know, right?
Fair enough.
Good point.
Makes sense.
Totally get it.
My pleasure.
Any time!
Glad I could help.
Happy to help!
Have a good one.
Sleep well!
Sweet dreams.
Safe travels!
Enjoy your meal.
Bon appétit!
Fingers crossed for you.
Good luck tomorrow!
You've got this.
Hang in there.
Get well soon.
Merry Christmas!
Happy New Year to you and your family!
Happy birthday!!
Long time no see.
It was nice talking to you.
Let's catch up soon.
Let me know how it goes.
Keep me posted.
Will do.
Got it, thanks.
Understood.
Roger that.
Noted with thanks.
You made me laugh.
That's hilarious 😂
Oh no, I'm so sorry to hear that.
My condolences.
Poor you.
What a day.
Well done, you!
So proud of you.
I couldn't agree more.
As you wish.
Up to you.
Whatever you prefer.
I'm speechless.
I owe you one.
Cheers mate
ttyl
np
k
Sure thing.
No worries at all.
Don't worry about it.
It's okay.
Never mind.
Forget it.
Anyway, gotta go.
I have to run.
I need to go now.
Gotta dash, bye!
See you around.
Till next time.
Catch you later.
Guten Morgen!
Wie geht's?
Mir geht's gut, danke.
Alles klar, danke dir.
Kein Problem!
Gern geschehen.
Viel Erfolg morgen!
Gute Besserung!
Schönes Wochenende!
Bis dann!
Das freut mich für dich.
Das tut mir leid.
Herzlichen Glückwunsch!
Stimmt.
Genau.
Na klar.
Muss los, tschüss!
没问题。
不客气。
辛苦了！
加油！
生日快乐！
好久不见。
我知道了。
明白了。
真的吗？
太棒了，恭喜你！
回头聊。
了解です。
お疲れ様です。
頑張って！
おめでとうございます！
またね。
久しぶり！
どういたしまして。
大丈夫です。
よろしくお願いします。
そうですね。
Sending you a big hug.
Thinking of you!
That's so kind of you.
You shouldn't have!
Back in a bit.
I'd love that!
Sounds lovely, count me in.
Yes please.
No thank you.
Not at all.
Of course not!
Could be worse.
Same as always.
Just checking in.
Just wanted to say hi.
How's everything?
I hope so too.
I doubt it.
Lucky you!
Rest up.
Drive safe.
Text me when you're home.
Have fun tonight!
It's been ages.
I was just about to say that.
You read my mind.
Great minds think alike.
Easier said than done.
It is what it is.
Tell me about it.
Tell me more.
Go on.
Guess so.
Who would have thought.
Small world!
Wait, really?
Ugh, Mondays.
Phew.
Yikes.
Oopsie, wrong chat.
Sorry, wrong window.
Ignore that last message.
Testing, testing.
Can you hear me?
Hello again.
I'm back.
Right, where were we?
OK then.
Perfect, that works.
Bitte sehr.
Danke, gleichfalls.
Bis nächste Woche!
Klingt gut.
Gute Frage.
Wie lieb von dir.
Ich drück dir die Daumen.
Sag Bescheid.
Schlaf gut.
Das kenne ich.
Ach was.
我也是。
可以的。
一路平安。
改天聊。
私もです。
いってらっしゃい。
ではまた。
それはよかったです。
"""
WORTH_KEEPING = """
I'm in Velmar this week.
My train is late.
I'm tired of my job.
I have to run 5 km every day for my knee.
I need to go to the dentist.
Good luck charms are my hobby, I collect them.
I made my day trip to Velmar.
I have a new job.
I'm sorry for leaving Lumen so early.
My pleasure boat is called Kestrel.
I'm on my way to Tarnholm.
Ich muss morgen zum Zahnarzt.
Mir geht es seit der Operation besser.
我知道王医生的电话。
大丈夫な日は金曜日です。
I missed my flight.
I owe Max 40 euros.
Lunch is at 1 at Quill House.
I'm back from Oslo.
I doubt the roof will hold.
Drive safe is the name of my podcast.
I hope to study law.
It's been ages since I rode a horse.
"""


def say(number: int, speaker: str | None, content: str, role: Role = Role.USER) -> Message:
    return Message(
        id=MessageId(UUID(int=number)),
        conversation=ConversationId(UUID(int=1)),
        sequence=number,
        role=role,
        content=content,
        occurred_at=NOON,
        recorded_at=NOON,
        speaker=speaker,
        episode=EpisodeId(UUID(int=1)),
    )


@pytest.mark.parametrize(
    "reply",
    [
        "Sorry, gotta run, talk later!",
        "No idea, sorry.",
        "I don't know.",
        "Hm, let me check.",
        "Not sure yet 🤔",
        "Keine Ahnung.",
        "Sorry, muss los, bis später!",
        "不知道。",
        "わかりません。",
    ],
)
def test_a_reply_that_answers_nothing_leaves_the_question_open(reply: str) -> None:
    question = say(1, "Hana", "What's the code for the bike shed?")
    assert extract([question, say(2, "Noor", reply)]) == []
    [candidate] = extract([question, say(2, "Noor", reply), say(3, "Noor", "4417.")])
    assert candidate.text == "Noor: 4417. [Hana asked: What's the code for the bike shed?]"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you prefer a morning or an evening train?", "Morning"),
        ("When do you leave?", "Tomorrow."),
        ("Can you swim?", "No, I don't know how to swim."),
        ("What do you do?", "I look after my mother."),
        ("Kommst du mit?", "Ja, genau."),
    ],
)
def test_an_answer_is_no_small_talk(question: str, answer: str) -> None:
    assert len(extract([say(1, "Ann", question), say(2, "Ben", answer)])) == 1


def test_a_question_is_answered_in_the_next_episode() -> None:
    before = say(1, "Olu", "Did you send the offer to Fenwick?")
    [candidate] = extract([say(2, "Jana", "Yes.")], before)
    assert candidate.messages == (MessageId(UUID(int=1)), MessageId(UUID(int=2)))


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("I've booked you a seat on NX 214.", True),
        ("I could not cancel your subscription, because the site was down.", True),
        ("I'll remind you on Friday.", True),
        ("Your appointment with Dr. Abara is at 14:00.", True),
        ("Ich habe dir einen Platz im NX 214 gebucht.", True),
        ("The Moon is about 384,400 km from Earth on average.", False),
        ("It can help to keep the bedroom cool.", False),
        ("You should try a cooler bedroom.", False),
        ("Light clothes, sunscreen, and something to read.", False),
        ("Please take an umbrella!", False),
        ("I'm sorry to hear that.", False),
        ("I'd suggest the earlier train to Velmar.", False),
        ("Let's set up your profile.", False),
    ],
)
def test_of_an_assistant_acts_and_facts_about_the_user_are_kept(sentence: str, kept: bool) -> None:
    assert tells(sentence) is kept


def test_an_assistant_that_repeats_the_user_is_no_evidence() -> None:
    told = say(1, None, "I moved to Brackwater in 2019.")
    echo = say(2, None, "Got it, you moved to Brackwater in 2019.", Role.ASSISTANT)
    assert [candidate.messages for candidate in extract([told, echo])] == [(told.id,)]


TEXTS = st.lists(st.text(st.characters(exclude_characters="\n\r"), min_size=1, max_size=30), min_size=1, max_size=4)


@given(TEXTS, st.sampled_from(("", "From memory:\n", "As far as I know: ", "<memory>\n")))
def test_handed_out_context_is_recognised_by_its_form(texts: list[str], before: str) -> None:
    items = [
        Item(Level.MESSAGE, UUID(int=place), f"Ann: x{text}", 0.5, NOON, None, place)
        for place, text in enumerate(texts)
    ]
    context = render_context(items)
    assert own_words(f"{before}{context}") == ""
    after = "</memory>\n" if "<" in before else "\n"
    assert own_words(f"{before}{context}\n{after}The bees gave honey.") == "The bees gave honey."


@pytest.mark.parametrize("content", ["Monday, 8 May 2023", "See you on\nMonday, 8 May 2023\nat noon.", "Ann: hello"])
def test_a_date_or_a_name_alone_is_no_context(content: str) -> None:
    assert own_words(content) == content


@pytest.mark.parametrize("sentence", SMALL_TALK.strip().splitlines())
def test_small_talk_says_nothing(sentence: str) -> None:
    assert extract([say(1, "Noor", sentence)]) == []


@pytest.mark.parametrize("sentence", WORTH_KEEPING.strip().splitlines())
def test_what_only_sounds_like_small_talk_is_kept(sentence: str) -> None:
    assert len(extract([say(1, "Noor", sentence)])) == 1
