"""A segment's text in some language comes in, phrases go out: phonemes, and which words each of them is of.

    pronouncer         every language's tongue, loaded when it is first asked for
      english            misaki's dictionary: tags (parts of speech by rule), espeak for words it lacks
      eastern            Japanese and Chinese by misaki
      foreign            the languages that Kokoro learned from espeak
      spoken_phonemes    phonemes that the caller sends
    tongue             what a language comes down to; alignment: whose sound is it, where nobody says; size
    espeak             the process that asks espeak (espeak_helper); spelling: its IPA in Kokoro's alphabet
    waterfall          sounds into phrases of at most 510 phonemes
    phrases            Sound and Phrase, which all of these speak of

Nothing here knows the model. Importing this package itself imports nothing: the helper process starts from it, and
needs the standard library alone.
"""
