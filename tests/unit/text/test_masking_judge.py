"""What a value looks like: a token, a password, or a word that only stands where one would."""

import pytest

from recall.text.masking.judge import is_password, is_placeholder, is_token


@pytest.mark.parametrize(
    "value",
    [
        "YOUR_API_KEY", "your-token-here", "xxxxxxxx", "<token>", "${TOKEN}", "{{ token }}", "$TOKEN", "%TOKEN%",
        "process.env.TOKEN", "abc...", "***", "changeme", "AKIAIOSFODNN7EXAMPLE", "000000000000", "my_secret_key",
        "dapi123456789012345678a9bc01234defg5", "required", "必須",
    ],
)  # fmt: skip
def test_placeholders_are_known(value: str) -> None:
    assert is_placeholder(value)
    assert not is_token(value)
    assert not is_password(value, named_plainly=True)


@pytest.mark.parametrize(
    "value",
    [
        "5dcad6ba2b0aee0ca923732881584d8c", "tt7ns26lrwbqcab69", "39784695014099031053516693481567",
        "12345678-ABCD-ABCD-ABCD-1234567890AB", "504269083802298-yb1koP9NhJQBHlaA9YF3", "sm_sat_h6wi81npopovbzrs",
    ],
)  # fmt: skip
def test_tokens_are_known(value: str) -> None:
    assert is_token(value)


@pytest.mark.parametrize(
    "value",
    [
        "/run/secrets/db2_pw1", "src/a1/b2c3.py", "https://a1b2c3.example/x1y2", "getToken1a2b(x)", "config.a1b.c2d",
        "2024-05-01T10:00:00Z", "1.2.3", "4096", "sha256:9f86d081884c7d65", "api-token-rotation",
        "camelCaseWordsAreNoTokens", "a1 b2 c3 d4 e5", "さくらa1b2c3d4",
    ],
)  # fmt: skip
def test_what_is_no_token_is_left(value: str) -> None:
    assert not is_token(value)


def test_a_password_of_letters_is_one_only_where_it_is_named_plainly() -> None:
    assert is_password("swordfish", named_plainly=True)
    assert not is_password("swordfish", named_plainly=False)
    assert is_password("hunter2", named_plainly=False)
    assert not is_password("abc", named_plainly=True)
    assert is_password("桜咲", named_plainly=True)
