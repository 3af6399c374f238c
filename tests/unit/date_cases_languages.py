"""The cases of `date_cases` in other languages, and texts in all of them that name no date."""

GERMAN = """
Ich war [gestern] im Kino. | 2023-05-07
Das war [vorgestern]. | 2023-05-06
[Heute] ist frei | 2023-05-08
Ich fahre [morgen] nach Rom | 2023-05-09
[Übermorgen] kommt sie | 2023-05-10
[Gestern] Abend gab es Suppe | 2023-05-07
[Letzte Woche] waren wir wandern | 2023-05-01/2023-05-07 week
Wir trafen uns [letzten Freitag]. | 2023-05-05
Ich kündige [nächsten Monat]. | 2023-06
[vergangenen Montag] hat es geregnet | 2023-05-01
sie kommt [kommenden Dienstag] | 2023-05-09
[Voriges Jahr] lebte er noch | 2022
[vor drei Tagen] | 2023-05-05
Ich zog [vor zwei Wochen] um | 2023-04-24/2023-04-30 week
[vor einem Jahr] habe ich geheiratet | 2022
[vor ein paar Jahren] war ich dort | 2018-01-01/2021-12-31 year
[vor einem halben Jahr] | 2022-11
[in zwei Wochen] beginnt der Kurs | 2023-05-22/2023-05-28 week
am [5. Mai 2022] | 2022-05-05
am [12. Juni] wird gefeiert | 2023-06-12
im [Juni] | 2023-06
[Anfang Mai] blüht alles | 2023-05-01/2023-05-10 month
[Mitte 2021] zog ich weg | 2021-05-01/2021-08-31 year
[Ende März] lag noch Schnee | 2023-03-21/2023-03-31 month
seit [2016] wohne ich hier | 2016 since
bis [März] | 2023-03 until
vom [12. bis 15. Juni] | 2023-06-12/2023-06-15 day
zwischen [Mai und Juli] | 2023-05-01/2023-07-31 month
[letzten Sommer] in Wien | 2022-06-01/2022-08-31 season
im [Sommer 2022] | 2022-06-01/2022-08-31 season
[dieses Wochenende] habe ich Zeit | 2023-05-13/2023-05-14 weekend
[drei Tage nach Weihnachten] | 2022-12-28
in den [90er Jahren] | 1990-01-01/1999-12-31 decade
am [05.06.2022] | 2022-06-05
ich arbeite seit [drei Jahren] dort | 2020 since
"""

FRENCH = """
Je suis allée au musée [hier]. | 2023-05-07
C'était [avant-hier] | 2023-05-06
[Aujourd'hui] je me repose | 2023-05-08
je pars [demain] matin | 2023-05-09
il arrive [après-demain] | 2023-05-10
[Hier] soir on a dansé | 2023-05-07
la [semaine dernière] nous avons déménagé | 2023-05-01/2023-05-07 week
je l'ai vue [vendredi dernier] | 2023-05-05
le [mois prochain] je commence | 2023-06
l'[année dernière] | 2022
l’[an dernier] | 2022
[il y a trois jours] | 2023-05-05
[il y a deux semaines] j'ai adopté un chat | 2023-04-24/2023-04-30 week
[il y a un an] | 2022
[il y a quelques années] | 2018-01-01/2021-12-31 year
[il y a six mois] | 2022-11
[dans deux semaines] on part | 2023-05-22/2023-05-28 week
le [5 mai 2022] | 2022-05-05
le [1er juin] c'est la fête | 2023-06-01
en [juin] | 2023-06
[début mai] | 2023-05-01/2023-05-10 month
[mi-2021] | 2021-05-01/2021-08-31 year
[fin mars] il neigeait | 2023-03-21/2023-03-31 month
depuis [2016] je vis ici | 2016 since
jusqu'en [mars] | 2023-03 until
du [12 au 15 juin] | 2023-06-12/2023-06-15 day
entre [mai et juillet] | 2023-05-01/2023-07-31 month
l'[été dernier] à Nice | 2022-06-01/2022-08-31 season
pendant l'[été 2022] | 2022-06-01/2022-08-31 season
[ce week-end] je dors | 2023-05-13/2023-05-14 weekend
[trois jours après Noël] | 2022-12-28
dans les [années 90] | 1990-01-01/1999-12-31 decade
nous sommes arrivés le [05/06/2022] | 2022-06-05
[lundi prochain] je passe l'examen | 2023-05-15
"""

SPANISH = """
Fui al médico [ayer]. | 2023-05-07
Eso fue [anteayer] | 2023-05-06
[Hoy] descanso | 2023-05-08
Nos vemos [mañana] | 2023-05-09
llega [pasado mañana] | 2023-05-10
[Anoche] cenamos sopa | 2023-05-07
la [semana pasada] nos mudamos | 2023-05-01/2023-05-07 week
la vi el [viernes pasado] | 2023-05-05
empiezo el [próximo mes] | 2023-06
el [mes que viene] | 2023-06
el [año pasado] viví en Lima | 2022
[hace tres días] | 2023-05-05
[hace dos semanas] adopté un gato | 2023-04-24/2023-04-30 week
[hace un año] | 2022
[hace unos años] estuve allí | 2018-01-01/2021-12-31 year
[hace medio año] | 2022-11
[dentro de dos semanas] salimos | 2023-05-22/2023-05-28 week
el [5 de mayo de 2022] | 2022-05-05
el [12 de junio] | 2023-06-12
en [junio] | 2023-06
a [principios de mayo] | 2023-05-01/2023-05-10 month
a [mediados de 2021] | 2021-05-01/2021-08-31 year
a [finales de marzo] nevó | 2023-03-21/2023-03-31 month
desde [2016] vivo aquí | 2016 since
hasta [marzo] | 2023-03 until
del [12 al 15 de junio] | 2023-06-12/2023-06-15 day
entre [mayo y julio] | 2023-05-01/2023-07-31 month
el [verano pasado] en Cádiz | 2022-06-01/2022-08-31 season
en el [verano de 2022] | 2022-06-01/2022-08-31 season
[este fin de semana] duermo | 2023-05-13/2023-05-14 weekend
[tres días después de Navidad] | 2022-12-28
en los [años 90] | 1990-01-01/1999-12-31 decade
llegamos el [05/06/2022] por la noche | 2022-06-05
el [próximo lunes] tengo examen | 2023-05-15
"""

CHINESE = """
我[上周]三次去医院 | 2023-05-01/2023-05-07 week
我[昨天]去了医院 | 2023-05-07
[前天]下雨了 | 2023-05-06
[大前天]很冷 | 2023-05-05
[今晚]吃什么 | 2023-05-08
[后天]见 | 2023-05-10
我[下周三]要去大阪出差 | 2023-05-17
[上周]很忙 | 2023-05-01/2023-05-07 week
[上周五]开会 | 2023-05-05
[上个星期天]我们去爬山 | 2023-05-07
[上上周]我搬家了 | 2023-04-24/2023-04-30 week
[这个周末]有空吗 | 2023-05-13/2023-05-14 weekend
[上个周末]去爬山 | 2023-05-06/2023-05-07 weekend
[上个月]我换了工作 | 2023-04
[下个月]去北京 | 2023-06
[去年]毕业 | 2022
[前年]结婚 | 2021
[明年]搬家 | 2024
[三天前] | 2023-05-05
[两个星期前]开始学琴 | 2023-04-24/2023-04-30 week
[十年前] | 2013
[十二年前]我在上海 | 2011
[半年前]戒烟了 | 2022-11
[几年前]去过英国 | 2018-01-01/2021-12-31 year
[三天后]出发 | 2023-05-11
[2022年5月8日] | 2022-05-08
[5月9号]见 | 2023-05-09
[五月九日]见 | 2023-05-09
[2022年5月]开学 | 2022-05
在[2016年]毕业 | 2016
从[2016年]开始 | 2016 since
[2016年]以来 | 2016 since
[去年夏天]很热 | 2022-06-01/2022-08-31 season
[去年五月]认识的 | 2022-05
从[6月12日到15日] | 2023-06-12/2023-06-15 day
[五月到七月]之间 | 2023-05-01/2023-07-31 month
[5月初]开花 | 2023-05-01/2023-05-10 month
[2021年年底]回国 | 2021-09-01/2021-12-31 year
[90年代]的歌 | 1990-01-01/1999-12-31 decade
[2022年第三季度] | 2022-07-01/2022-09-30 quarter
[圣诞节后三天] | 2022-12-28
"""

JAPANESE = """
[昨日]病院に行きました | 2023-05-07
[一昨日]は雨でした | 2023-05-06
[おととい]会った | 2023-05-06
[明日]行きます | 2023-05-09
[明後日]会いましょう | 2023-05-10
[来週の水曜日]に大阪へ | 2023-05-17
[先週の金曜日]に会った | 2023-05-05
[先々週]引っ越した | 2023-04-24/2023-04-30 week
[先週末]は山に登った | 2023-05-06/2023-05-07 weekend
[今週末]は暇です | 2023-05-13/2023-05-14 weekend
[先月]転職した | 2023-04
[来月]東京へ行く | 2023-06
[昨年]卒業した | 2022
[一昨年]結婚した | 2021
[3日前]に買った | 2023-05-05
[2週間前]に始めた | 2023-04-24/2023-04-30 week
[5年前]に始めた | 2018
[10か月前]に始めた | 2022-07
[半年前]にやめた | 2022-11
[数年前]に英国へ行った | 2018-01-01/2021-12-31 year
[2週間後]に出発 | 2023-05-22/2023-05-28 week
[2022年5月8日] | 2022-05-08
[5月9日]に会う | 2023-05-09
[2016年]から住んでいる | 2016 since
[3月]まで働く | 2023-03 until
[去年の夏]は暑かった | 2022-06-01/2022-08-31 season
[6月12日から15日]まで | 2023-06-12/2023-06-15 day
[5月から7月]まで | 2023-05-01/2023-07-31 month
[5月上旬]に咲く | 2023-05-01/2023-05-10 month
[2021年半ば]に引っ越した | 2021-05-01/2021-08-31 year
[90年代]の歌 | 1990-01-01/1999-12-31 decade
[クリスマスの3日後] | 2022-12-28
"""

NO_DATE = """
the rent is 950 francs a month now
I swim twice a week now
he is at work on Friday evenings, and the shop is busy on Friday too
I may go, if we may
May I ask?
We are May's friends
they march on; we sat in the sun for a second
March 5 miles
we march in step
of the 5 may come
port 9077, room 2023, model 2016
in 2000 steps
100,000 years ago
9999 years ago
some time ago
years ago we met
a while ago
many years ago
over the last year
my last year of college
in my twenties
when she was in her 30s
temperatures in the 90s outside
I only work 4 days now
we train 3 days now instead of 2
I used to work 5 days, but 4 days now
I sleep 6 hours these days
it takes 2 weeks now
delivery is 3 weeks now
the repair takes nearly 2 weeks now
the wait is over 6 weeks now
my dog is over 10 years now
my notice period is 3 months now
I rent it for 6 months now
I'm off for a week now
I've only got 3 days now
I've been let go, so I have 3 days now
I've cut it down to 4 days now
we've met every 2 weeks now
I can do it in 3 days now
we clean once in 2 weeks
I visit 2 weeks in a year
I work 3 days from now on
I worked 4 days back then
I'm 2 weeks back at work
Ich arbeite jetzt 4 Tage
Ich arbeite nur noch 3 Tage die Woche
Die Lieferung dauert jetzt 2 Wochen
Ich habe jetzt 30 Tage Urlaub
Wir treffen uns einmal in zwei Wochen
Je travaille quatre jours maintenant
Il y a 2 semaines de délai maintenant
Ahora trabajo cuatro días
Ahora tarda 2 semanas
我现在只工作4天
我们现在一周训练三次
现在需要两周
现在要两周前后
今は4日だけ働く
今は週に3日走っている
今は2週間かかる
今は2週間前後かかる
I've known these friends for 4 years
every Friday we dance
on Fridays I swim
I usually rest on the weekend
once a week, three times a month
Monday to Friday, nine to five
30 February 2023-02-30
31 June
ticket 12-2023-05-08-9
version 1.2.2023-rc
call 555-2010 or 2015-2018
10.0.0.1 and 192.168.1.20
1/2 cup and 3/4 of the rest
we won 5/14 of them
it's 50/50, 24/7
the 5th time, on the 2nd floor
down 10 in the 4th
on the 4th try I won
the last day of school
next time, last one
the next week of training was hard
in the last quarter of the game
Q1: what is your name?
the Christmas tree and Christmas magic
summer break, spring rolls, fall asleep
I fall in spring rolls
she sprang in the fall
April and June are my sisters
I spoke with April about August Wilson
she finished it in three days
it took 3 weeks
5 years already!
five days a week
the day is young
soon, later, recently, lately
by the second half we led
a second ago
he was born after me
it is half past ten
3 to 5 people, 10-12 chairs
pages 12-15, June's copy
my 1990 Beetle
2020 vision
£1999, $2000 and 2010 km
since I was 17
until then
Ich bin hier
Guten Morgen!
am Morgen trinke ich Tee
vor dem Haus, in der Mitte
por la mañana hace calor
il y a deux chats
mars est rouge
la marche en avant
以前天气很好
一天到晚
目前天津很冷
日本は今日本を
上海有个月台
前年度予算
"""
