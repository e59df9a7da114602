"""Whatever a text holds: it is masked once and for all, never fails, and nothing around a secret hides it."""

import random
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.text.masking import mask
from recall.text.masking.judge import is_placeholder
from recall.text.masking.masker import FINDERS
from recall.text.masking.numbers import is_card
from recall.text.masking.spans import merged

#: Any code point, NUL and lone surrogates too, with the signs and words made frequent that rules look for.
PIECES = st.one_of(
    st.text(st.characters(), max_size=12),
    st.sampled_from(
        "password token secret api_key パスワード トークンは : = ： := => | ( ) \" ' ` , . ; & ? / // :// @ - -- \n "
        "\\n Bearer Authorization: Cookie: -----BEGIN PRIVATE KEY----- -----END PRIVATE KEY----- "
        "[masked: token] a1b2c3d4e5f6g7h8 https://u: @host eyJ ... xxxx です \0 \ud800 $1$ :AA".split(" ")
    ),
    st.sampled_from(
        [
            *("docker login ", "-p ", "redis-cli -a ", "//a/b -U c%", "use ", " as password", "をパスワードに"),
            *("\n|---|---|\n", "\n| user | password |\n", "| ann | Puku2012rs |\n"),
            "\n| user | password |\n|---|---|\n| ",
            " from Puku2012rs to ",
            "パスは",
            "鍵は",
            "recovery codes\n",
            "a1b2c-3d4e5\n",
            "PIN of the safe is ",
            "4821",
            "4539 1488 0343 6467",
            "password=Puku2012rs.md",
            "AKIA" + "Q7Z4M2X5L5K3J6H2",
        ]
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
ANNOUNCED = SEEDS.map(lambda seed: "k7Q2w" + random_text(seed, LOWER + UPPER + DIGITS, 12)).filter(
    lambda value: not is_placeholder(value)  # chance repeats letters too
)
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


@settings(deadline=None)
@given(
    WORDS, st.lists(ANNOUNCED, min_size=1, max_size=6), st.booleans(), st.sampled_from(["password", "パスワード", "PW"])
)
def test_every_row_of_a_table_is_masked(before: str, secrets: list[str], outer: bool, heading: str) -> None:
    edge = "|" if outer else ""
    rows = [
        f"{edge} user | {heading} {edge}",
        f"{edge}---|---{edge}",
        *(f"{edge} ann | {one} {edge}" for one in secrets),
    ]
    masked = mask(f"{before}\n" + "\n".join(rows)).text
    assert not [secret for secret in secrets if secret in masked]
    assert masked.count("ann") == len(secrets)


@settings(deadline=None)
@given(WORDS, EDGES, SEEDS, st.sampled_from(["", " ", "-"]), EDGES)
def test_a_card_is_masked_wherever_it_stands(before: str, left: str, seed: int, between: str, right: str) -> None:
    number = "4" + random_text(seed, DIGITS, 14)
    number += next(digit for digit in DIGITS if is_card(number + digit))
    card = between.join(number[at : at + 4] for at in range(0, 16, 4))
    assert card not in mask(before + left + card + right).text
    wrong = card[:-1] + str((int(card[-1]) + 1) % 10)
    assert not is_card(wrong)


#: What each rule looks for, with what it may read on behind it, over and over.
NEEDLES = [
    *'docker login -p |redis-cli -a |mongo -p |//a/b -U |ftp user a pass |use "ab" as password |をパスワードに'.split(
        "|"
    ),
    *"password from a1 to |password for |ユーザー名とパスワードは|パスは|鍵は|safe pin |PIN of my |card 4|4111 ".split(
        "|"
    ),
    *("| password |\n|---|\n", "|---|\n", "\n|", "recovery codes\n", "recovery codes: a1b2c-", "password=a1.md "),
    "AKIA" + "Q7Z4M2X5L5K3J6H2 ",
]


@pytest.mark.parametrize("needle", NEEDLES)
def test_a_long_hostile_text_is_read_to_its_end(needle: str) -> None:
    secret = "\n\npassword: Puku2012rs\n"
    text = (needle * 100_000)[:100_000] + secret
    spans = merged(chain.from_iterable(find(text) for find in FINDERS))
    assert text[spans[-1].start : spans[-1].end] == "Puku2012rs"
    assert len(spans) <= 1 + len(text) / len(needle)
