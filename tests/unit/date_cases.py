"""Texts with their times in brackets, and what the times are; said on Monday, 8 May 2023, unless a day is given.

One case a line: `text with [phrase]s | time; time`, or `day: text | time`. A time is a day (2023-05-07), a month
(2023-05), a year (2023) or `start/end granularity`, and may be followed by `since` or `until` (open-ended).
"""

ENGLISH = """
I went [yesterday]. | 2023-05-07
we met [the day before yesterday] | 2023-05-06
See you [the day after tomorrow]! | 2023-05-10
[Last night] was fun | 2023-05-07
are you free [tonight]? | 2023-05-08
[This morning] I ran 5 miles | 2023-05-08
the dentist is [tomorrow] at 9:30 | 2023-05-09
[Yesterday] at 5 pm we had tea | 2023-05-07
it broke [3 days ago] | 2023-05-05
it broke [ten days ago] | 2023-04-28
it broke about [two days ago] | 2023-05-06
We moved [a week ago]. | 2023-05-01/2023-05-07 week
I got a puppy [two weeks ago]! | 2023-04-24/2023-04-30 week
She left [a fortnight ago] | 2023-04-24/2023-04-30 week
we camped [two weekends ago] | 2023-04-29/2023-04-30 weekend
[a couple of months ago] I quit | 2023-03
[six months ago] we met | 2022-11
[half a year ago] we met | 2022-11
[a year and a half ago] we met | 2021-11
[one and a half years ago] I left | 2021-11
my 18th birthday was [ten years ago] | 2013
I began [10 years ago] | 2013
that was [a decade ago] | 2013
[two decades ago] the mill closed | 2003
it started about [a year ago] | 2022
I saw him [a few days ago] | 2023-05-03/2023-05-06 day
we went camping [a few weeks ago] | 2023-04-03/2023-04-30 week
[a few months ago] I fell | 2022-12-01/2023-03-31 month
I was in England [a few years ago] | 2018-01-01/2021-12-31 year
this final [a few years back] was epic | 2018-01-01/2021-12-31 year
[several years ago] we had a boat | 2014-01-01/2020-12-31 year
I sold it [two or three years ago] | 2020-01-01/2021-12-31 year
it rained [2-3 days ago] | 2023-05-05/2023-05-06 day
I will be back [in three days] | 2023-05-11
The fair opens [in two weeks] | 2023-05-22/2023-05-28 week
my lease ends [in a year] | 2024
the trial is [10 days from now] | 2023-05-18
the trial is [a week from today] | 2023-05-15/2023-05-21 week
the trial is [two days after tomorrow] | 2023-05-11
I passed the interview [last Friday]! | 2023-05-05
[Last Fri] I finally took my kids to a workshop | 2023-05-05
I joined a group [last Tues]. | 2023-05-02
I start [next Wed] | 2023-05-10
the match is [this Thursday] | 2023-05-11
[This past Sunday] we baked | 2023-05-07
it was on [Sunday, 7 May 2023], early | 2023-05-07
It was on [Sunday, 30 April], not before | 2023-04-30
It was on [Sunday], [6 May] or so | 2023-05-07; 2023-05-06
let's meet [this coming Saturday] | 2023-05-13
we spoke [last Monday] | 2023-05-01
I met her on [Friday]. | 2023-05-05
On [Friday], I got great news | 2023-05-05
I'll see her on [Friday]. | 2023-05-12
We are flying out on [Saturday] | 2023-05-13
it arrived on [Tuesday last week], | 2023-05-02
the call is [Monday of next week] | 2023-05-15
we talked on [Thursday of last week] | 2023-05-04
I saw it [the Friday before last] | 2023-04-28
he came [two Fridays ago] | 2023-04-28
[last week] I danced | 2023-05-01/2023-05-07 week
what I did [this week] | 2023-05-08/2023-05-14 week
My colleagues went to a convention together [last month]. | 2023-04
[the week before last] I slept | 2023-04-24/2023-04-30 week
[early next week] I can call | 2023-05-15/2023-05-16 week
[the week of May 15] works | 2023-05-15/2023-05-21 week
[last weekend] we hiked | 2023-05-06/2023-05-07 weekend
any plans for [this weekend]? | 2023-05-13/2023-05-14 weekend
[This weekend] was amazing | 2023-05-06/2023-05-07 weekend
I rested over [the weekend] and read | 2023-05-06/2023-05-07 weekend
that roadtrip [this past weekend] was insane | 2023-05-06/2023-05-07 weekend
[next weekend] we sail | 2023-05-20/2023-05-21 weekend
[the weekend before last] was cold | 2023-04-29/2023-04-30 weekend
[the last weekend of May] is booked | 2023-05-27/2023-05-28 weekend
[the first weekend of August 2023] | 2023-08-05/2023-08-06 weekend
in [the second week of November] | 2022-11-08/2022-11-14 week
she married in [the last week of September 2022] | 2022-09-24/2022-09-30 week
[the first Monday of June] is free | 2023-06-05
we go camping [next month] | 2023-06
I got hurt [last month] | 2023-04
[the month before last] | 2023-03
in [June] | 2023-06
I was in Rome in [June] | 2022-06
in [december] | 2022-12
We'll move in [March] | 2024-03
back in [Aug] it was hot | 2022-08
[last May] we wed | 2022-05
[next March] I turn 40 | 2024-03
[this June] | 2023-06
We met in [June last year] | 2022-06
[March next year] is too late | 2024-03
in [May of 2021] | 2021-05
in [May 2022] | 2022-05
[early May] is lovely here | 2023-05-01/2023-05-10 month
by [mid-June] we know | 2023-06-11/2023-06-20 month until
it snowed in [late March] | 2023-03-21/2023-03-31 month
at [the end of June] | 2023-06-21/2023-06-30 month
at [the beginning of April] | 2023-04-01/2023-04-10 month
until [the end of the month] | 2023-05-21/2023-05-31 month until
[the first half of May] was dry | 2023-05-01/2023-05-15 month
since [March] I have had a cat | 2023-03 since
I've had a cat since [June] | 2022-06 since
open until [March] | 2023-03 until
I will stay until [March] | 2024-03 until
I met her on [the 5th] | 2023-05-05
rent is due on [the 20th] | 2023-05-20
we met back up on [the 15th] after my trip | 2023-04-15
I flew home on [the 15th of last month] | 2023-04-15
on [8 May 2022] | 2022-05-08
on the [8th of May, 2022] | 2022-05-08
[May 8th, 2022] was warm | 2022-05-08
[Dec. 31, 2021] | 2021-12-31
on [30 april] | 2023-04-30
on [December 31] we danced | 2022-12-31
Friday, [May 12] | 2023-05-12
on [12 May '22] | 2022-05-12
from [12 to 15 June] | 2023-06-12/2023-06-15 day
between [12 and 15 June] | 2023-06-12/2023-06-15 day
[June 12 to 15] | 2023-06-12/2023-06-15 day
the fair ([June 12–15, 2022]) | 2022-06-12/2022-06-15 day
[8-10 May 2022] | 2022-05-08/2022-05-10 day
we travelled from [28 December to 2 January] | 2022-12-28/2023-01-02 day
from [3 May 2021 to 5 June 2022] | 2021-05-03/2022-06-05 day
between [May and July] | 2023-05-01/2023-07-31 month
from [May to July 2022] | 2022-05-01/2022-07-31 month
[May–July 2022] | 2022-05-01/2022-07-31 month
from [November to January] | 2022-11-01/2023-01-31 month
in [2016] | 2016
since [2016] | 2016 since
until [2024] | 2024 until
before [2010] we rented | 2010 until
after [2010] we owned | 2010 since
from [2016] onwards | 2016 since
from [2010 to 2015] I sang | 2010-01-01/2015-12-31 year
between [2010 and 2015] | 2010-01-01/2015-12-31 year
my time at Lumen ([2015–2018]) | 2015-01-01/2018-12-31 year
in [mid-2021] | 2021-05-01/2021-08-31 year
in [early 2020] | 2020-01-01/2020-04-30 year
[late 2019] was hard | 2019-09-01/2019-12-31 year
at [the end of last year] | 2022-09-01/2022-12-31 year
[the second half of 2022] | 2022-07-01/2022-12-31 year
in [the 90s] | 1990-01-01/1999-12-31 decade
music of [the 1980s] | 1980-01-01/1989-12-31 decade
in [the early 2000s] | 2000-01-01/2003-12-31 decade
in [the late nineties] | 1997-01-01/1999-12-31 decade
a house of [the 19th century] | 1801-01-01/1900-12-31 century
[last year] I helped | 2022
[this year] | 2023
[next year] we build | 2024
[the year before last] | 2021
[last summer] we hiked | 2022-06-01/2022-08-31 season
[this summer] | 2023-06-01/2023-08-31 season
[next winter] | 2023-12-01/2024-02-29 season
in the [summer of 2022] | 2022-06-01/2022-08-31 season
in [summer 2022] | 2022-06-01/2022-08-31 season
[two summers ago] | 2021-06-01/2021-08-31 season
in [spring last year] | 2022-03-01/2022-05-31 season
[winter 2022/23] | 2022-12-01/2023-02-28 season
[early last summer] | 2022-06-01/2022-06-30 season
[Q3 2022] was weak | 2022-07-01/2022-09-30 quarter
the budget for [Q1] | 2023-01-01/2023-03-31 quarter
in [the third quarter of 2022] | 2022-07-01/2022-09-30 quarter
sales [last quarter] fell | 2023-01-01/2023-03-31 quarter
by [next quarter] | 2023-07-01/2023-09-30 quarter until
in [fiscal Q2 2022] | 2022-04-01/2022-06-30 quarter
[FY2022] closed well | 2022
[H1 2022] was calm | 2022-01-01/2022-06-30 year
since [last Friday] | 2023-05-05 since
until [tomorrow] | 2023-05-09 until
by [5 June] | 2023-06-05 until
[Seven years now], and I love it | 2016 since
I have played for about [four months now] | 2023-01 since
It's been [a year now] since we met | 2022 since
I have had him for [a month now] | 2023-04 since
it has lasted over [a year now] | 2022 since
I've worked there [4 days now] | 2023-05-04 since
she's been at Lumen [5 years now] | 2018 since
we've been married for over [ten years now] | 2013 since
For [three weeks now] he has been ill | 2023-04-17/2023-04-23 week since
I quit, and for [two weeks now] I haven't smoked | 2023-04-24/2023-04-30 week since
I have been sober, almost [3 years now]! | 2020 since
it's [a few months now] | 2022-12-01/2023-03-31 month since
The deadline is on [Friday]. | 2023-05-12
My appointment's on [Thursday] | 2023-05-11
the talk is still on [Tuesday], he told me | 2023-05-09
I went home, as it had closed on [Saturday] | 2023-05-06
On [Saturday], after the rain, we met her | 2023-05-06
We met her, back in [August], at the lake | 2022-08
2025-12-14: We arrive on [22 December] now, the 23rd was sold out | 2025-12-22
2025-12-14: My sister arrives on [22 December] because the 23rd was sold out | 2025-12-22
2025-12-14: The 23rd was sold out, so we arrive on [22 December] | 2025-12-22
2025-12-14: the 23rd was sold out and we arrive on [22 December] | 2025-12-22
[last Christmas] | 2022-12-25
on [Christmas Eve] we sang | 2022-12-24
it arrived [three days after Christmas] | 2022-12-28
[the day before Christmas] | 2022-12-24
[Christmas 2021] | 2021-12-25
on [New Year's Eve] | 2022-12-31
on [Valentine’s Day] he proposed | 2023-02-14
on [Easter Sunday] | 2023-04-09
[the week before Easter] | 2023-04-02/2023-04-08 week
[last Thanksgiving] | 2022-11-24
the [4th of July] | 2023-07-04
costumes for [next Halloween] | 2023-10-31
[the week before 9 June] | 2023-06-02/2023-06-08 week
[the Friday before 15 July 2023] | 2023-07-14
[two weekends before 17 July 2023] | 2023-07-08/2023-07-09 weekend
[two weeks before 11 August 2023] | 2023-07-24/2023-07-30 week
[the weekend after 3 June] | 2023-06-10/2023-06-11 weekend
[a month after 5 May 2022] | 2022-06
[Yesterday] I ran; on [3 May 2023] I swam, and [last week] I slept. | 2023-05-07; 2023-05-03; 2023-05-01/2023-05-07 week
2024-03-01: [yesterday] | 2024-02-29
2023-01-15: [this winter] | 2022-12-01/2023-02-28 season
2023-01-15: [last winter] | 2021-12-01/2022-02-28 season
2023-01-15: in [December] | 2022-12
2023-01-01: I joined [last week] | 2022-12-19/2022-12-25 week
2023-05-07: what a day [last weekend] was | 2023-04-29/2023-04-30 weekend
2023-12-31: [next month] | 2024-01
2024-01-31: [a month ago] | 2023-12
2023-12-26: the camp [last summer] | 2023-06-01/2023-08-31 season
"""

NUMBERS = """
at [2023-05-08]T10:00 | 2023-05-08
on [2022/03/04] | 2022-03-04
on [2022.03.04] | 2022-03-04
on [04.03.2022] | 2022-03-04
on [4.3.2022] | 2022-03-04
on [3/4/2022] | 2022-03-04
on [25/12/2021] | 2021-12-25
on [12/25/21] | 2021-12-25
on [04-03-2022] | 2022-03-04
on [12-25-2021] | 2021-12-25
due on [5/14] at noon | 2023-05-14
for [2022-11] | 2022-11
for [11/2022] | 2022-11
in [2023-W19] | 2023-05-08/2023-05-14 week
on [08/05/98] | 1998-08-05
[2023-05-08 to 2023-05-12] | 2023-05-08/2023-05-12 day
since [2021-02-03] | 2021-02-03 since
it ran [2021-02-03/2021-02-05] | 2021-02-03/2021-02-05 day
"""
