"""Pairs of sentences that one person says a hundred days apart: `earlier | later`, one pair a line."""

UPDATES = """
I'm training for a marathon. | I'm not training for a marathon any longer.
I take piano lessons. | I've stopped taking piano lessons.
I drive to work. | I don't drive to work anymore, I cycle.
My alarm is set for 6:30. | My alarm is set for 7:00 now.
I live in Velmar with my sister. | I moved out of Velmar, I live in Tarnholm now.
I'm the captain of the handball team. | I'm no longer the captain of the handball team.
Our wifi is called Nest. | Our wifi is called Burrow now.
My shift starts at 7. | My shift starts at 6 from Monday on.
I eat gluten. | I don't eat gluten any more because of my stomach.
I like my new desk. | I hate my new desk.
I have a gym membership. | I cancelled my gym membership.
The exam is on 12 May 2026. | The exam has been moved from 12 May to 19 May 2026.
The exam is on 12 May 2026. | The exam got postponed to 19 May 2026.
The party starts at 19:00. | The party doesn't start at 19:00 but at 20:00.
My flight leaves at 9:40. | My flight now leaves at 10:15.
My salary is 4,000 euros. | My salary was increased to 4,300 euros.
I weigh 82 kg. | I weigh 78 kg these days.
Our team has 6 people. | Our team now has 7 people.
My password is kestrel9. | My password isn't kestrel9 anymore, it's osprey4.
I'm afraid of dogs. | I'm no longer afraid of dogs.
My girlfriend is called Mira. | My girlfriend is called Sanna now.
I work as a waiter. | I work as a paramedic now.
I work at Lumen. | As of June I work at Kelp Labs.
I work at Lumen. | I don't work at Lumen, I work at Kelp Labs.
I'm in the chess club. | I left the chess club.
I play the violin. | I gave up the violin.
I use a MacBook. | I don't use a MacBook any more.
I keep my bike in the cellar. | I keep my bike in the garage now.
My son goes to Hilltop School. | My son no longer goes to Hilltop School.
My husband smokes. | My husband has quit smoking.
My husband smokes. | My husband doesn't smoke anymore.
My parents live in Velmar. | My parents relocated to Esker Bay last month.
My cousin Ada lives in Velmar. | My cousin Ada doesn't live in Velmar any more.
My landlord is Mr. Pell. | Our new landlord is Mrs. Oru.
I have a cat. | I don't have a cat.
The café on Pell Street is open. | The café on Pell Street is closed for good.
The library is closed. | The library is open again.
My favourite tea is Assam. | My favourite tea is no longer Assam, it's Darjeeling.
I'm unemployed. | I'm not unemployed anymore.
I smoke. | I haven't smoked since January.
I eat meat. | I haven't eaten meat for a year.
Ich gehe ins Fitnessstudio. | Ich gehe nicht mehr ins Fitnessstudio.
Ich spiele Geige. | Ich spiele keine Geige mehr.
Ich spiele Geige. | Ich habe die Geige aufgegeben.
Mein Passwort ist kestrel9. | Mein Passwort lautet jetzt osprey4.
Ich wohne in Velmar. | Ich wohne nicht mehr in Velmar, sondern in Tannholm.
Der Kurs beginnt um 18 Uhr. | Der Kurs beginnt jetzt um 19 Uhr.
Der Kurs ist im Raum 204. | Der Kurs ist nicht mehr im Raum 204, sondern im Raum 310.
Meine Schwester wohnt in Velmar. | Meine Schwester ist nach Nordhagen gezogen.
Unser Büro ist in der Pellgasse. | Unser Büro ist jetzt in der Garnergasse.
Ich bin Mitglied im Ruderclub. | Ich bin nicht mehr Mitglied im Ruderclub.
Ich nehme den Bus zur Arbeit. | Ich nehme nicht mehr den Bus zur Arbeit.
Die Abgabe ist am 3. März 2026. | Die Abgabe wurde auf den 10. März 2026 verlängert.
我喜欢吃辣。 | 我不喜欢吃辣了。
我弹钢琴。 | 我不弹钢琴了。
我住在青石镇。 | 我不住在青石镇了。
我住在青石镇。 | 我已经搬去云湾市了。
会议在三楼。 | 会议改到五楼了。
会议是5月3日。 | 会议推迟到5月9日了。
我的电话是5550147。 | 我的电话换成5550199了。
我养狗。 | 我不养狗了。
我在学日语。 | 我不学日语了。
お酒を飲みます。 | お酒をやめました。
ピアノを習っています。 | ピアノはもう習っていません。
犬を飼っています。 | もう犬を飼っていません。
会議は5月3日です。 | 会議は5月9日に変更になりました。
青葉町に住んでいます。 | もう青葉町には住んでいません。
肉を食べます。 | 肉は食べません。
電話番号は555-0147です。 | 電話番号が555-0199に変わりました。
コーヒーが好きです。 | コーヒーはもう好きではありません。
I sing in a choir. | I've stopped singing in a choir.
I'm on antibiotics. | I'm not on antibiotics anymore.
I buy bread at Crumb Bakery. | I don't buy bread at Crumb Bakery any more.
My car insurance costs 60 euros a month. | My car insurance costs 72 euros a month now.
My sister is pregnant. | My sister isn't pregnant anymore.
My laptop is broken. | My laptop is fixed.
The heating doesn't work. | The heating works again.
I can't eat dairy. | I can eat dairy again.
Our stand-up is at 9:15. | Our stand-up moved to 10:00.
Our stand-up is on Mondays. | Our stand-up moved to Tuesdays.
My mentor is Ines. | My mentor isn't Ines any longer, it's Joon.
My manager is Ines Prado. | I've got a new manager, Joon Aldo.
My e-mail address is ann@quill.example. | My new e-mail address is ann@kelp.example.
My e-mail address is ann@quill.example. | I have a new email address: ann@kelp.example.
I drive a Fiat. | I don't drive a Fiat any more, I drive a Volvo.
I'm reading The Long Tide. | I've stopped reading The Long Tide.
I'm studying law. | I quit studying law.
I'm a vegetarian. | I'm no longer a vegetarian.
I'm a teacher. | I'm not a teacher anymore, I'm a carpenter.
I'm a teacher. | I stopped being a teacher.
I love my commute. | I no longer love my commute.
I trust Joon. | I don't trust Joon any more.
I share a flat with Mina. | I don't share a flat with Mina anymore.
I'm dating Theo. | I'm not dating Theo anymore.
I take vitamin D every morning. | I no longer take vitamin D.
I have braces. | I don't have braces anymore.
I hate my job. | I don't hate my job anymore.
My usual order is a flat white. | My usual order is an oat latte these days.
My nickname is Bee. | My nickname is Kestrel now.
The rent is 900 francs. | The landlord raised the rent to 950 francs.
The rent is 900 francs. | They raised the rent to 950 francs.
The code is 4471. | The new code is 8820.
The code is 4471. | The code was changed to 8820.
The trip to Oslo is on 3 October 2026. | The trip to Oslo has been cancelled.
I live in Velmar. | Since last month I live in Tarnholm.
I live in Velmar. | Last month we moved to Tarnholm.
Ich mache Yoga. | Ich mache kein Yoga mehr.
Ich habe eine Katze. | Ich habe keine Katze mehr.
Ich lerne Dänisch. | Ich habe aufgehört, Dänisch zu lernen.
Mein Chef ist Herr Pell. | Mein Chef ist nicht mehr Herr Pell, sondern Frau Oru.
Das Training ist montags. | Das Training ist jetzt dienstags.
Der Laden schließt um 18 Uhr. | Der Laden schließt erst um 20 Uhr.
Die Prüfung ist am 12. Mai 2026. | Die Prüfung findet am 19. Mai 2026 statt.
Ich bin Single. | Ich bin nicht mehr Single.
Ich fahre mit dem Rad zur Arbeit. | Ich fahre nicht mehr mit dem Rad zur Arbeit.
我是素食者。 | 我不再是素食者了。
我喜欢跑步。 | 我不喜欢跑步了。
公司在青石路。 | 公司搬到云湾路了。
我的医生是王医生。 | 我的医生现在是李医生。
ヨガをしています。 | もうヨガはしていません。
仕事は教師です。 | 仕事は教師ではなくエンジニアです。
会社は青葉町にあります。 | 会社は霧ヶ浜に移りました。
ギターを弾きます。 | ギターは弾きません。
私はベジタリアンです。 | 私はもうベジタリアンではありません。
I'm a member of the gym. | I'm not a member of the gym anymore.
I take the 8:05 train. | I take the 8:15 train now.
My gym is Corefit. | My gym is now Ironhall.
Our meeting is in the library. | Our meeting isn't in the library anymore, it's in the town hall.
My salary is 4000 euros. | My salary rose to 4200 euros.
The ticket costs 12 euros. | The ticket now costs 14 euros.
My doctor's name is Dr. Abara. | My doctor's name is Dr. Quandt now.
The gate code is 4471. | They changed the gate code to 8820.
I'm in the drama club. | I quit the drama club.
I grow tomatoes. | I no longer grow tomatoes.
I speak Danish with my wife. | I don't speak Danish with my wife anymore.
I'm reading two books. | I'm reading three books.
The shop opens at 9. | The shop opens at 10 from now on.
My favourite colour is blue. | My favourite colour changed to green.
I'm allergic to cats. | It turns out I'm not allergic to cats.
"""

OTHER_MATTERS = """
I take piano lessons. | I stopped taking singing lessons.
My flight to Velmar leaves at 9:40. | My flight to Oslo now leaves at 10:15.
I have a cat. | I don't have a dog.
I like tea. | I don't like coffee any more.
I live in Velmar. | I don't live in Tarnholm any more.
I work at Lumen. | My husband was laid off from Pell & Sons.
I'm afraid of dogs. | I'm not afraid of spiders.
My salary is 4,000 euros. | My pension was increased to 1,300 euros.
I drink tea. | I drink coffee instead of juice.
I play the violin. | I gave up the cello.
My sister is in the chess club. | I left the chess club.
I work at Lumen. | I left the office early.
I work at Lumen. | I left Velmar on Friday.
I live in Velmar. | I moved to a bigger flat.
I live in Velmar. | We moved to Plan B.
My rent is 900 francs. | My rent went up by 50 francs.
My boss is Mina. | My former boss is Tom.
I smoke. | I used to smoke pipes.
I have a car. | I sold my sister's car.
I have a car. | I sold my car seat.
The exam is on 12 May 2026. | The exam party has been moved to 19 May 2026.
I eat meat. | I don't eat raw meat.
I don't just drink tea. | I drink tea.
I like dogs. | I don't only like dogs.
I swim on Mondays. | I don't swim on Fridays any more.
I have two cars. | I sold my car.
I drink coffee. | I had stopped drinking coffee for a week.
I drink coffee. | I almost gave up coffee.
I drink coffee. | I never gave up coffee.
I drink coffee. | I can't give up coffee.
I drink coffee. | I want to quit coffee.
I work at Lumen. | I nearly quit my job at Lumen.
I play chess. | My brother gave up chess.
Ich spiele Geige. | Meine Schwester hat die Geige aufgegeben.
Ich wohne in Velmar. | Ich bin nach Hause gezogen.
Ich trinke Kaffee. | Ich trinke keinen Kaffee am Abend.
Die Miete beträgt 900 Euro. | Die Miete ist um 50 Euro gestiegen.
我喝茶。 | 我戒酒了。
我住在青石镇。 | 我妹妹搬到云湾市了。
我有猫。 | 我没有狗。
会议在三楼。 | 聚会改到五楼了。
お茶を飲みます。 | お酒をやめました。
上司は田中さんです。 | 前の上司は佐藤さんです。
私は肉を食べます。 | 妹は肉を食べません。
I love my commute. | I no longer love my job.
I'm dating Theo. | My sister isn't dating Theo.
The code is 4471. | The alarm code was changed to 8820.
The workshop is in Velmar. | The next workshop is in Tarnholm.
I take vitamin D. | I no longer take vitamin C.
I have a cat. | I have no dog.
I drive a Fiat. | My dad no longer drives a Fiat.
I read a lot. | I stopped reading The Long Tide.
I'm on the night shift. | I'm not on the day shift.
I work at Lumen. | I moved to Lumen's new office.
Our stand-up is at 9:15. | Our retro moved to 10:00.
I like Mina. | I don't like Mina's dog.
My bike is red. | My helmet is blue.
I paid 60 euros. | I paid 72 euros.
I have an appointment on 3 May 2026. | I have an appointment on 5 May 2026.
My sister lives in Velmar. | My other sister lives in Tarnholm.
I drink coffee. | I won't give up coffee.
I drink coffee. | I don't drink coffee on Sundays.
I drink coffee. | I'd never stop drinking coffee.
I play chess. | I don't play chess with my brother.
I live in Velmar. | My ex moved to Tarnholm.
I live in Velmar. | I moved to Velmar.
I smoke. | Nobody smokes here any more.
I'm a teacher. | I'm not a morning person.
Ich lerne Dänisch. | Ich lerne kein Englisch.
我喜欢跑步。 | 我不喜欢游泳。
仕事は教師です。 | 妻の仕事はエンジニアです。
I live in Velmar. | My package moved to Tarnholm.
I live in Velmar. | I moved to Lumen in May.
I work at Lumen. | I left Lumen a message.
I work at Lumen. | I left Lumen out of the list.
I use Fenwick Mail. | I switched from Velmar Mail to Pelican Mail.
I drive a Fiat. | I stopped a Fiat on the road.
I sing in a choir. | I left a choir rehearsal early.
I sing in the Esker choir. | I left the jazz choir.
I have a car. | I sold my car stereo.
I have a bike. | My brother sold my bike pump.
The deadline is 3 March 2026. | The deadline was 3 March 2026.
My rent is 900 francs. | My rent was 800 francs.
My rent is 900 francs. | My brother's rent went up to 950 francs.
The meeting is in room 204. | The printer is not in room 204 but in room 310.
I'm not a fan of tea but of coffee. | I'm a fan of tea.
I smoke. | I never smoked.
My daughter is 7. | My son turned 8.
My daughter is 7. | The car turned 8.
I drink tea. | I gave up tea bags.
I run 5 km a day. | I ran 6 km a day in May.
I work 5 days a week. | My boss works 4 days a week.
I have two dogs. | I don't have two cats.
I work at Lumen. | I stopped working at noon.
I work at Lumen. | I stopped working on the report.
I like running. | I stopped running.
I like tea. | I gave up tea.
I love my choir. | I quit my choir.
The office is on Pell Street. | The office party moved to Garner Street.
My phone number is 555-0147. | I have a new office number: 555-0199.
My boss is Mina. | I have a new colleague, Petra.
My boss is Mina. | My brother has a new boss, Petra.
I'm on the night shift. | I'm on the phone.
I have braces. | I got rid of my braces pain.
I live in Velmar. | I moved out of my parents' house.
I live in Velmar. | My flat moved to Tarnholm.
My sister lives in Velmar. | My sister moved to Tarnholm in 2015.
I eat meat. | I haven't eaten meat today.
I eat meat. | I haven't eaten meat for lunch.
I play chess. | I haven't played chess since noon.
Ich habe ein Auto. | Ich habe mein Fahrrad verkauft.
Ich wohne in Velmar. | Mein Paket ist nach Tannholm gezogen.
Ich arbeite bei Lumen. | Ich habe bei Fenwick gekündigt.
Ich rauche. | Ich habe das Trinken aufgegeben.
Die Sitzung ist am 11. März 2026. | Die Feier wurde auf den 13. März 2026 verschoben.
我喝咖啡。 | 我不喝茶了。
我住在青石镇。 | 他搬到云湾市了。
我在流明公司工作。 | 我从青石公司辞职了。
我的房租是3000元。 | 我的工资涨到3500元了。
青葉町に住んでいます。 | 兄が霧ヶ浜に引っ越しました。
ルーメン社で働いています。 | 夫がルーメン社を辞めました。
コーヒーを飲みます。 | 父がコーヒーをやめました。
家賃は8万円です。 | 電気代が9千円に上がりました。
"""

REPEATS = """
I have two cats. | I've got 2 cats.
I live in Velmar. | As I said, I live in Velmar.
I live in Velmar. | Like I told you, I live in Velmar.
I live in Velmar. | I still live in Velmar.
I live in Velmar. | I'm living in Velmar.
My sister is a nurse. | My sister's a nurse.
I do not eat pork. | I don't eat pork.
I can't swim. | I cannot swim.
I am 34 years old. | I'm 34.
I'm allergic to nuts. | Just a reminder: I'm allergic to nuts!
I'm allergic to nuts. | Remember, I'm allergic to nuts.
I'm allergic to nuts. | Don't forget that I'm allergic to nuts.
I'm allergic to nuts. | I think I mentioned that I'm allergic to nuts.
I'm allergic to nuts. | I am allergic to nuts, you know.
I'm allergic to nuts. | I'm allergic to nuts, by the way.
I'm allergic to nuts. | I already told you that I'm allergic to nuts.
I'm allergic to nuts. | I'm allergic to nuts, as you know.
The demo is on 11 March 2025. | The demo is on March 11, 2025.
The demo is on 11 March 2025. | The demo is on 2025-03-11.
The meeting starts at 2 pm. | The meeting starts at 14:00.
The meeting starts at 2pm. | The meeting starts at 2 p.m.
My budget is 1,500 euros. | My budget is €1500.
My budget is 1500 euros. | My budget is 1500 EUR.
I run 10 km a day. | I run ten kilometres per day.
I run 10 km a week. | I run 10 km every week.
I visit my gran on Sundays. | Every Sunday I visit my gran.
I visit my gran on Sundays. | I visit my gran every Sunday.
I weigh 80 kg. | I weigh eighty kilos.
I love hiking. | I really love hiking!!
I love hiking. | I absolutely love hiking.
I love hiking. | I do love hiking.
My dog is called Rex. | My dog's name is Rex.
My dog is named Rex. | My dog is called Rex.
In May I moved to Velmar. | I moved to Velmar in May.
I moved here three years ago. | Three years ago I moved here.
Ich habe zwei Katzen. | Ich hab zwei Katzen.
Ich habe zwei Katzen. | Ich habe übrigens 2 Katzen.
Ich wohne in Velmar. | Ich wohne ja in Velmar.
Ich wohne in Velmar. | Wie schon erwähnt, wohne ich in Velmar.
Ich wohne in Velmar. | Ich wohne nach wie vor in Velmar.
Die Sitzung ist um 14 Uhr. | Die Sitzung ist um 14:00 Uhr.
Ich laufe jeden Sonntag. | Ich laufe sonntags.
我有三只猫。 | 我有3只猫。
我住在青石镇。 | 我现在住在青石镇。
我住在青石镇。 | 我说过，我住在青石镇。
我对花生过敏。 | 我真的对花生过敏！
我今年三十岁。 | 我今年30岁。
猫を二匹飼っています。 | 猫を2匹飼っています。
青葉町に住んでいます。 | 私は青葉町に住んでいます。
ピーナッツアレルギーです。 | 前にも言いましたが、ピーナッツアレルギーです。
My brother lives in Velmar. | My brother's living in Velmar.
I play tennis every Tuesday. | Every Tuesday I play tennis.
I play tennis on Tuesdays. | Tuesdays I play tennis.
At 7 I go to the gym. | I go to the gym at 7.
In the evening I read. | I read in the evening.
On weekends I hike. | I hike on weekends.
I hike at the weekend. | I hike on the weekend.
Usually I walk to work. | I usually walk to work.
I'm a vegetarian. | I am vegetarian.
I'm from Velmar. | I come from Velmar.
I own two bikes. | I have two bikes.
My favourite colour is green. | Green is my favourite colour.
My dentist is Dr. Abara. | Dr. Abara is my dentist.
My favourite color is green. | My favourite colour is green.
I practise yoga. | I practice yoga.
The rent's 900 francs. | The rent is 900 francs.
The rent is 900 francs. | The rent amounts to 900 francs.
I earn 50k a year. | I earn 50,000 a year.
I have an 8 year old son. | I have an 8-year-old son.
I have a dog named Rex. | I have a dog called Rex.
I've a dog called Rex. | I have a dog called Rex.
I hate mushrooms. | I can't stand mushrooms.
I like hiking a lot. | I like hiking very much.
I love love love sushi. | I love sushi.
I loooove sushi. | I love sushi.
i love sushi :) | I love sushi!
My train is at half past eight. | My train is at 8:30.
My train is at quarter past eight. | My train is at 8:15.
I live on the third floor. | I live on the 3rd floor.
I get up at six o'clock. | I get up at 6:00.
I'm learning Danish these days. | I'm learning Danish.
These days I'm learning Danish. | I'm learning Danish.
I have been learning Danish. | I've been learning Danish.
I will move in May. | I'll move in May.
I'm going to move in May. | I'm gonna move in May.
I want to learn Danish. | I wanna learn Danish.
I don't know how to swim. | I can't swim.
My kids are 4 and 6. | My kids are four and six.
I'm not able to swim. | I can't swim.
I have no car. | I don't have a car.
I haven't got a car. | I don't have a car.
I don't own a car. | I don't have a car.
I have got no siblings. | I have no siblings.
Ich bin 34 Jahre alt. | Ich bin 34.
Ich mag Tee sehr. | Ich mag sehr Tee.
我喜欢茶。 | 我很喜欢茶。
我家有三口人。 | 我家有3口人。
コーヒーが好きです。 | コーヒーがとても好きです。
兄が一人います。 | 兄が1人います。
"""

OTHER_WORDS = """
I'm allergic to nuts. | I think I'm allergic to nuts.
I like tea. | I like tea with milk.
I live in Velmar. | I lived in Velmar.
I work on Sundays. | I work on Sunday evenings.
Ann called Ben. | Ben called Ann.
I run 10 km a week. | I run 10 km a day.
I love hiking. | I don't love hiking.
My budget is 1500 euros. | My budget is 1500 dollars.
The meeting starts at 2 pm. | The meeting starts at 2 am.
I own two bikes. | I want two bikes.
Mina likes Theo. | Theo likes Mina.
My boss is Mina. | Mina's boss is Theo.
I have no car. | I have a car.
I usually walk to work. | I never walk to work.
I love sushi. | I love susi.
I read in the evening. | I read in the morning.
"""
