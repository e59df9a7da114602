"""Whatever a text holds: it is masked once and for all, never fails, and nothing around a secret hides it."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from recall.text.masking import mask

#: Any code point, NUL and lone surrogates too, with the signs and words made frequent that rules look for.
PIECES = st.one_of(
    st.text(st.characters(), max_size=12),
    st.sampled_from(
        "password token secret api_key パスワード トークンは : = ： := => | ( ) \" ' ` , . ; & ? / // :// @ - -- \n "
        "\\n Bearer Authorization: Cookie: -----BEGIN PRIVATE KEY----- -----END PRIVATE KEY----- "
        "[masked: token] a1b2c3d4e5f6g7h8 https://u: @host eyJ ... xxxx です \0 \ud800 $1$ :AA".split(" ")
    ),
    st.just(" "),
)
ANY = st.lists(PIECES, max_size=40).map("".join)
WORDS = st.lists(
    st.sampled_from(
        "the パスワードを 変えた password reset かな and 漢字 token expires は です。 key in vault\n\n、".split(" ")
    ),
    max_size=20,
).map(" ".join)
LOWER, UPPER, DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"


def random_text(seed: int, alphabet: str, length: int) -> str:
    """Characters as a machine draws them: Hypothesis itself likes to repeat them, as placeholders do."""
    return "".join(random.Random(seed).choices(alphabet, k=length))


SEEDS = st.integers(0, 2**32)
#: Forms that the engine or a rule knows without any word beside them.
CANARIES = st.one_of(
    SEEDS.map(lambda seed: "ghp_" + random_text(seed, LOWER + UPPER + DIGITS, 36)),
    SEEDS.map(lambda seed: "AKIA" + random_text(seed, UPPER + "234567", 16)),
    SEEDS.map(lambda seed: "a_B8Q~" + random_text(seed, LOWER + UPPER + DIGITS, 34)),
)
ANNOUNCED = SEEDS.map(lambda seed: "k7Q2w" + random_text(seed, LOWER + UPPER + DIGITS, 12))
EDGES = st.sampled_from([" ", "\n", "は", "。", "「", "（", '"', "'", "`", "=", ": "])


@settings(deadline=None)
@given(ANY)
def test_a_masked_text_has_nothing_left_to_mask(text: str) -> None:
    once = mask(text)
    assert mask(once.text) == (once.text, {})


@settings(deadline=None)
@given(ANY)
def test_a_text_grows_by_its_masks_at_most_and_stays_the_same_without_any(text: str) -> None:
    masked = mask(text)
    assert len(masked.text) <= len(text) + sum(len(f"[masked: {kind}]") * n for kind, n in masked.found.items())
    assert masked.found or masked.text == text


@settings(deadline=None)
@given(st.lists(st.text(st.characters(categories=["Ll", "Lo"]), min_size=1, max_size=12), max_size=20).map(" ".join))
def test_words_without_digits_and_signs_are_no_secret(text: str) -> None:
    assert mask(text) == (text, {})


@settings(deadline=None)
@given(WORDS, EDGES, CANARIES, EDGES, WORDS)
def test_a_token_is_masked_wherever_it_stands(before: str, left: str, canary: str, right: str, after: str) -> None:
    masked = mask(before + left + canary + right + after)
    assert canary not in masked.text
    assert canary[5:15] not in masked.text


@settings(deadline=None)
@given(
    WORDS,
    st.sampled_from(
        [
            "password: ",
            "パスワード：",
            "DB_PASSWORD=",
            'api_key = "',
            "--token ",
            "トークンは",
            "Authorization: Bearer ",
        ]
    ),
    ANNOUNCED,
)
def test_what_a_name_announces_is_masked(before: str, name: str, secret: str) -> None:
    assert secret not in mask(f"{before}\n{name}{secret}\n").text
