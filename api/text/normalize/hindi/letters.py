"""Where a word or a number begins and ends. To `re`, the vowel signs of Devanagari are no part of a word."""

LETTER = "\u0900-\u0963\u0970-\u097f"

# Nothing that belongs to a word or to a number stands before, and nothing of a word after.
START = rf"(?<![\w{LETTER}])"
NUMBER_START = rf"(?<![\w{LETTER}.,])"
END = rf"(?![\w{LETTER}])"

# Grouping is taken out of numbers before they are read.
NUMBER = r"[0-9]++(?:\.[0-9]++)?"

# Read as one word after a number or a name, and no name of anything: it does not belong to what is counted.
PARTICLES = "में|का|के|की|को|से|पर|ने|तक|और|या|व|एवं|भी|ही|तो|है|हैं|हो|हूँ|था|थी|थे|होगा|होगी|हुआ|हुई|हुए|वाला|वाली|वाले"
