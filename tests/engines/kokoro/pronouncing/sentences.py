"""Sentences to pronounce, of many kinds, in each of Kokoro's languages."""

ENGLISH = """\
The quick brown fox jumps over the lazy dog.
Hello, world! How are you today? I'm fine, thanks.
I used to read books; now I use a record player, and I'll record the lead singer live.
"Wait," she said, "don't close the door (it's close to the wall)!"
He'd have gone to New York — or Paris, or both — if they'd let him…
The entrance will entrance you. The wind will wind down. A tear in her eye; a tear in the cloth.
Dr Smith lives at the corner of St James Street with his wife's aunt's cats.
We bought twenty-five well-known, state-of-the-art Kubernetes clusters from Zylphorix.
NASA, the FBI and Mr O'Neill agreed: it's the best of both worlds.
My e-mail isn't yours, y'all; rock 'n' roll isn't dead.
In the in-between, the apple and an hour, to eat and to go, by and by.
Schadenfreude, naïve café owners and the façade of Beyoncé's château.
Plan A failed, plan B didn't. A cat sat. I saw a man, an ant and the end.
It costs $5.50, 20% off, at 10:30 on 3 May 1984, the 21st of its kind, 1,000,000 times.
What's that? That's what that is. Those that have, have. By and large it is what it's used for.
Xylqwz grbblst! Supercalifragilisticexpialidocious; antidisestablishmentarianism.
CamelCase andWords like iPhone, GitHub's APIs, HTML5 and COVID-19.
"'Tis the season," said he: 'be merry!'
a
OK.
""".splitlines()

SPANISH = """\
¿Cómo está usted? ¡Muy bien, gracias! Tengo veinticinco años.
El niño comió 3 manzanas (rojas), y la pingüina… ¿cuál?
Mi email es del año 1984; «qué vergüenza», dijo Ángel.
""".splitlines()

FRENCH = """\
L'homme qu'il a vu n'est pas d'ici ; le week-end, il fait du football.
«Bonjour», dit-elle ! Où êtes-vous allés, les enfants ? En 1984…
Aujourd'hui, c'est l'été (presque) : ça va être génial.
""".splitlines()

HINDI = """\
नमस्ते, आप कैसे हैं? मैं ठीक हूँ, धन्यवाद।
भारत एक विशाल देश है; यहाँ बहुत सी भाषाएँ बोली जाती हैं!
""".splitlines()

ITALIAN = """\
Ciao! Come stai? Sto bene, grazie; e tu?
Gli gnocchi della nonna sono buonissimi (davvero), perché li fa con l'amore.
""".splitlines()

PORTUGUESE = """\
Olá, tudo bem? São Paulo é uma cidade enorme!
Não há coração que não sinta saudade; amanhã, às 10 horas, vou à praia.
""".splitlines()

JAPANESE = """\
こんにちは、今日は良い天気ですね。東京に行きます。
「ありがとう」と彼女は言った！2024年に、京都へ行った。
コンピューターでゲームをするのが好きです。
""".splitlines()

CHINESE = """\
你好，世界！今天天气很好。
我有25本书，其中3本是《红楼梦》；你呢？
人工智能正在改变我们的生活方式。
""".splitlines()

SENTENCES = {
    "en-us": ENGLISH,
    "en-gb": ENGLISH,
    "es": SPANISH,
    "fr-fr": FRENCH,
    "hi": HINDI,
    "it": ITALIAN,
    "ja": JAPANESE,
    "pt-br": PORTUGUESE,
    "zh": CHINESE,
}
