"""Lines come in (tokens, a voice's style, a speed), samples go out. No file is known here, and no voice.

    Line -> text half  [phonemes]  -> Reading  -> regroup ->  sound half  [frames]  -> samples

    kokoro       both halves, and the nouns that go in and out
    config       the widths of it all; the only module here that does not need torch
    text_half    how long each phoneme lasts, and what both halves make of it: albert, recurrent
    sound_half   curves (pitch, loudness), then the vocoder: source (harmonics and breath), blocks, stft
    style        norms that a voice's style turns
    spans        what of a padded batch is real: every row comes out as if it were alone
    steps        the two computations, where a device may put its own

Lines of like length in phonemes share the first half; readings of like length in frames share the second, which
does 95 % of the work and whose length is known only then. Importing this package itself imports nothing: the
engine reads the sample rate from `config` before torch is there.
"""
