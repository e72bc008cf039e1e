"""What a listener hears of English text, rule by rule."""

import pytest

from api.text import RULES
from tests.text.asking import heard

HEARD = {
    "numbers": [
        ("0 1 13 20 42", "zero one thirteen twenty forty-two"),
        ("1,984 people", "one thousand nine hundred eighty-four people"),
        ("1,000,000", "one million"),
        ("999999999999999 ants", "nine hundred ninety-nine trillion nine hundred ninety-nine billion nine hundred "
         "ninety-nine million nine hundred ninety-nine thousand nine hundred ninety-nine ants"),
        ("Pi is 3.14.", "Pi is three point one four."),
        (".5 and 0.05", "point five and zero point zero five"),
        ("agent 007", "agent zero zero seven"),
        ("-5 or +5", "minus five or plus five"),
        ("1,2,3", "one,two,three"),
        ("1234567890123456", "one two three four five six seven eight nine zero one two three four five six"),
        ("B52, A380, mp3, x86, 3D, B2B", "B fifty-two, A three eighty, mp three, x eighty-six, three D, B two B"),
        ("1.5x faster in 1080p", "one point five x faster in ten eighty p"),
        ("H₂O and A320neo", "H two O and A three twenty neo"),
        ("F-16 and COVID-19", "F-sixteen and COVID-nineteen"),
        ("error E1000 or E12345", "error E one thousand or E one two three four five"),
    ],
    "ordinals": [
        ("1st 2nd 3rd 4th 5th 8th 9th", "first second third fourth fifth eighth ninth"),
        ("11th 12th 22nd 30th 101st", "eleventh twelfth twenty-second thirtieth one hundred first"),
        ("the 1,000th", "the one thousandth"),
        ("1st/2nd/3rd place", "first or second or third place"),
    ],
    "years": [
        ("in 1984", "in nineteen eighty-four"),
        ("1905, 1900, 2000, 2005, 2010", "nineteen oh five, nineteen hundred, two thousand, two thousand five, "
         "twenty ten"),
        ("the class of '99", "the class of ninety-nine"),
    ],
    "dates": [
        ("2024-01-15", "January fifteenth, twenty twenty-four"),
        ("01/15/2024", "January fifteenth, twenty twenty-four"),
        ("15/01/2024", "January fifteenth, twenty twenty-four"),
        ("15.01.2024", "January fifteenth, twenty twenty-four"),
        ("1/2/99", "January second, nineteen ninety-nine"),
        ("on 12/25", "on December twenty-fifth"),
        ("by 25/12", "by December twenty-fifth"),
        ("Jan 5, 2024", "January fifth, twenty twenty-four"),
        ("Sept. 3rd", "September third"),
        ("5 January 2024", "the fifth of January twenty twenty-four"),
        ("the 5th of May", "the fifth of May"),
        ("May 2024", "May twenty twenty-four"),
        ("Dec. was cold", "December was cold"),
        ("Mon, Jan 5", "Monday, January fifth"),
        ("the 1990s, the '80s, the 2000s", "the nineteen nineties, the eighties, the two thousands"),
        ("2024-01-15T10:30:00Z", "January fifteenth, twenty twenty-four at ten thirty U T C"),
        ("99/99/2024 is no date", "ninety-nine slash ninety-nine slash two thousand twenty-four is no date"),
        ("2024/03/05", "March fifth, twenty twenty-four"),
        ("2024-03-05 10:00", "March fifth, twenty twenty-four at ten o'clock"),
        ("2024-03-05T10:00:00Z", "March fifth, twenty twenty-four at ten o'clock U T C"),
        ("2024/13/05", "two thousand twenty-four slash thirteen slash zero five"),
        ("100s of people, 1000s of users", "hundreds of people, thousands of users"),
        ("10s of thousands", "tens of thousands"),
        ("10s of silence", "ten seconds of silence"),
        ("the 30s, the 1990s of old, the 1900s of old",
         "the thirties, the nineteen nineties of old, the nineteen hundreds of old"),
    ],
    "times": [
        ("10:30am", "ten thirty A M"),
        ("14:05", "fourteen oh five"),
        ("10:00, 14:00 and 00:00", "ten o'clock, fourteen hundred hours and midnight"),
        ("12:00 a.m.", "twelve A M."),
        ("at 5 p.m. sharp", "at five P M sharp"),
        ("Come at 5 p.m. He left.", "Come at five P M. He left."),
        ("5pm", "five P M"),
        ("1:02:03", "one oh two and three seconds"),
        ("16:9 and 3:1", "sixteen to nine and three to one"),
        ("John 3:16", "John three sixteen"),
        ("10:00:00, 14:00:00 and 00:00:00", "ten o'clock, fourteen hundred hours and midnight"),
        ("10:05:30", "ten oh five and thirty seconds"),
        ("10:00:30", "ten o'clock and thirty seconds"),
        ("10:00:00 pm", "ten P M"),
    ],
    "money": [
        ("$5", "five dollars"),
        ("$1 and $0.01", "one dollar and one cent"),
        ("$3.50", "three dollars and fifty cents"),
        ("$0.50", "fifty cents"),
        ("$7.00", "seven dollars"),
        ("$1,234.56", "one thousand two hundred thirty-four dollars and fifty-six cents"),
        ("$1.2 billion", "one point two billion dollars"),
        ("₹1.5 lakh of ₹2,50,000", "one point five lakh rupees of two hundred fifty thousand rupees"),
        ("$5k, $10M, £2bn", "five thousand dollars, ten million dollars, two billion pounds"),
        ("£5, €1,000.50, ¥1000", "five pounds, one thousand euros and fifty cents, one thousand yen"),
        ("-$5 and $-5", "minus five dollars and minus five dollars"),
        ("$9/mo or $99/year", "nine dollars per month or ninety-nine dollars per year"),
        ("5 € or USD 50 or 1 GBP", "five euros or fifty US dollars or one pound"),
        ("$5-$10", "five dollars to ten dollars"),
        ("5¢", "five cents"),
        ("US$5", "five US dollars"),
        ("€50,00 and €0,50", "fifty euros and fifty cents"),
        ("€1.234,56", "one thousand two hundred thirty-four euros and fifty-six cents"),
        ("1,50 €", "one euro and fifty cents"),
        ("€1,000 and €1,000,000", "one thousand euros and one million euros"),
        ("€10,20,30", "ten euros,twenty,thirty"),
    ],
    "percent": [("50%", "fifty percent"), ("3.5 %", "three point five percent"), ("2‰", "two per mille")],
    "units": [
        ("5km", "five kilometers"),
        ("1 kg", "one kilogram"),
        ("60 mph", "sixty miles per hour"),
        ("a 5-km run", "a five-kilometer run"),
        ("98.6°F or 37 °C", "ninety-eight point six degrees Fahrenheit or thirty-seven degrees Celsius"),
        ("90°", "ninety degrees"),
        ("-10°C", "minus ten degrees Celsius"),
        ("5'11\" tall", "five foot eleven tall"),
        ("5'11.5\" tall", "five foot eleven and a half tall"),
        ("5 m² of 3 m2", "five square meters of three square meters"),
        ("16GB at 3.2GHz", "sixteen gigabytes at three point two gigahertz"),
        ("1920x1080", "nineteen twenty by one thousand eighty"),
        ("3/4 tsp, 1 1/2 tsp, ½ tsp",
         "three quarters of a teaspoon, one and a half teaspoons, one half of a teaspoon"),
        ("1/2 hr", "one half of an hour"),
        ("3/4 cup", "three quarters cup"),
        ("he waited 100s", "he waited one hundred seconds"),
        ('27" TV', "twenty-seven inch TV"),
        ('a 5.5" screen', "a five point five inch screen"),
        ('It is 27" wide.', "It is twenty-seven inches wide."),
        ('6" x 4" cards', "six inches by four inch cards"),
        ('"5" is a number', '"five" is a number'),
        ('"I said 5" and "then 6" he said', '"I said five" and "then six" he said'),
    ],
    "thousands": [
        ("1 000 000 ants", "one million ants"),
        ("1\u2009234\u2009567 ants", "one million two hundred thirty-four thousand five hundred sixty-seven ants"),
        ("12 500 km", "twelve thousand five hundred kilometers"),
        ("5 000-10 000", "five thousand to ten thousand"),
        ("€1 000 000", "one million euros"),
        ("call 555 123 4567", "call five five five, one two three, four five six seven"),
        ("1 200 2", "one two hundred two"),
        ("Room 12 500", "Room twelve five hundred"),
        ("600 123 456", "six hundred one hundred twenty-three four hundred fifty-six"),
    ],
    "scales": [
        ("2.5M users", "two point five million users"),
        ("10K", "ten thousand"),
        ("a 4K screen", "a four K screen"),
        ("221B Baker Street", "two twenty-one B Baker Street"),
    ],
    "fractions": [
        ("1/2 and 3/4", "one half and three quarters"),
        ("2/3 of 1/20", "two thirds of one twentieth"),
        ("1 1/2 cups", "one and a half cups"),
        ("½ or 2½ or 2¾", "one half or two and a half or two and three quarters"),
        ("10/10", "ten out of ten"),
        ("22/7", "twenty-two over seven"),
        ("1/0", "one over zero"),
        ("24/7, 50/50, 9/11", "twenty-four seven, fifty fifty, nine eleven"),
    ],
    "ranges": [
        ("9-5", "nine to five"),
        ("1990-1995", "nineteen ninety to nineteen ninety-five"),
        ("pp. 5–10", "pages five to ten"),
        ("10-15%", "ten to fifteen percent"),
        ("9am-5pm", "nine A M to five P M"),
        ("5 – 10", "five to ten"),
        ("1-2-3", "one two three"),
        ("a 747-400", "a seven hundred forty-seven four hundred"),
        ("5-3=2", "five minus three equals two"),
    ],
    "phones": [
        ("+1 (555) 123-4567", "plus one, five five five, one two three, four five six seven"),
        ("555-1234", "five five five, one two three four"),
        ("+44 20 7946 0958", "plus four four, two zero, seven nine four six, zero nine five eight"),
        ("123-45-6789", "one two three, four five, six seven eight nine"),
        ("1-800-FLOWERS", "one, eight zero zero FLOWERS"),
        ("dial 911", "dial nine one one"),
        ("978-3-16-148410-0", "nine seven eight, three, one six, one four eight four one zero, zero"),
    ],
    "emails": [("mail john.doe@example.com.", "mail john dot doe at example dot com.")],
    "urls": [
        ("https://www.example.com/path?x=1", "example dot com slash path question mark x equals one"),
        ("(see example.com)", "(see example dot com)"),
        ("http://a.io/ or b.org/", "a dot io or b dot org"),
        ("192.168.1.1", "one hundred ninety-two dot one hundred sixty-eight dot one dot one"),
        ("the end.Next", "the end.Next"),
    ],
    "handles": [
        ("#hashtag by @user", "hashtag hashtag by at user"),
        ("#ThisIsCool", "hashtag This Is Cool"),
    ],
    "versions": [
        ("v1.2.3", "v one point two point three"),
        ("Python 3.11", "Python three point eleven"),
    ],
    "operators": [
        ("C++ / C#", "C plus plus C sharp"),
        ("R&D and/or Q&A", "R and D and or Q and A"),
        ("1 + 2 = 3", "one plus two equals three"),
        ("4 × 5 ÷ 6", "four times five divided by six"),
        ("3 * 4, 10 - 3, 6 / 2", "three times four, ten minus three, six divided by two"),
        ("x^2, y^3, 2^10", "x squared, y cubed, two to the power of ten"),
        ("E=mc², 10⁶, word¹", "E equals mc squared, ten to the power of six, word"),
        ("~50", "about fifty"),
        ("wait… what ===== now", "wait... what now"),
        ("yes -- no", "yes — no"),
        ("a != b, a == b", "a is not equal to b, a equals b"),
        ("a<=b, a >= b", "a less than or equal to b, a greater than or equal to b"),
        ("a => b", "a, b"),
        ("Oh! = no", "Oh! equals no"),
    ],
    "symbols": [
        ("Tom & Jerry", "Tom and Jerry"),
        ("a < b > c", "a less than b greater than c"),
        ("5 ± 2", "five plus or minus two"),
        ("input/output", "input slash output"),
        ("snake_case", "snake case"),
        ("Chorus™", "Chorus"),
        ("a -> b", "a, b"),
    ],
    "roman": [
        ("Chapter IV", "Chapter four"),
        ("World War II", "World War two"),
        ("Henry VIII", "Henry the eighth"),
        ("Elizabeth I. George I think.", "Elizabeth the first. George I think."),
        ("Louis IIII", "Louis IIII"),
        ("Part VV", "Part VV"),
    ],
    "abbreviations": [
        ("Dr. Smith and Mr. Jones", "Doctor Smith and Mister Jones"),
        ("on St. John St. in town", "on Saint John Street in town"),
        ("He lives on Elm St.", "He lives on Elm Street."),
        ("cats vs. dogs", "cats versus dogs"),
        ("e.g. this, i.e. that", "for example this, that is that"),
        ("No. 5 and no. 6", "Number five and number six"),
        ("I said no.", "I said no."),
        ("apples, pears, etc.", "apples, pears, et cetera."),
        ("w/ milk, w/o sugar", "with milk, without sugar"),
        ("Wait 5 min. Then go.", "Wait five minutes. Then go."),
        ("Wait 5 min.", "Wait five minutes."),
        ("a 5 min. wait", "a five minutes wait"),
        ("min. 5 people", "minimum five people"),
        ("Dr. Smith lives on Elm Dr.", "Doctor Smith lives on Elm Drive."),
        ("Dr. on Elm Dr.", "Doctor on Elm Drive."),
        ("the Dr. is in", "the Doctor is in"),
        ("12th Dr. in town", "twelfth Drive in town"),
    ],
    "plurals": [
        ("Bring your ticket(s) and bag(s).", "Bring your tickets and bags."),
        ("f(s) and the function(s)", "f(s) and the functions"),
        ("(s) alone, and so(so)", "(s) alone, and so(so)"),
    ],
    "initials": [
        ("U.S.A. and the U.S. Navy", "U S A and the U S Navy"),
        ("J. K. Rowling, J.R.R. Tolkien", "J K Rowling, J R R Tolkien"),
        ("in the U.S. He left.", "in the U S. He left."),
        ("Take plan B. Then go.", "Take plan B. Then go."),
    ],
}  # fmt: skip
CASES = [(rule, written, said) for rule, cases in HEARD.items() for written, said in cases]


@pytest.mark.parametrize(("rule", "written", "said"), CASES, ids=[case[1] for case in CASES])
def test_english_is_heard_as_people_say_it(rule: str, written: str, said: str) -> None:
    assert heard(written) == said


def test_every_rule_on_english_has_cases() -> None:
    assert set(RULES) - set(HEARD) == {"html", "markdown", "emoji", "dandas", "devanagari"}


@pytest.mark.parametrize("rule", HEARD)
def test_each_rule_has_a_switch(rule: str) -> None:
    written = " ".join(written for written, said in HEARD[rule])
    assert heard(written, off=frozenset({rule})) != heard(written)


def test_the_master_switch_leaves_every_character_as_it_is() -> None:
    text = "**Dr.** Smith paid $5 & left at 5pm"
    assert heard(text, off=frozenset({"normalize"})) == text


@pytest.mark.parametrize(
    ("language", "said"),
    [("en-gb", "February first, twenty twenty-four"), ("en-us", "January second, twenty twenty-four")],
)
def test_the_day_comes_first_in_britain(language: str, said: str) -> None:
    assert heard("01/02/2024", language) == said


def test_other_languages_keep_their_digits_and_signs() -> None:
    assert heard("Es kostet 5 € & 3,50 %.", "de") == "Es kostet 5 € & 3,50 %."


def test_three_thousand_nines_are_read_digit_by_digit() -> None:
    assert heard("9" * 3000) == " ".join(["nine"] * 3000)
