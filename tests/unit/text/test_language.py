import pytest

from recall.text.language import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How long do we keep access logs?", "en"),
        ("アクセスログはどのくらい残す？", "ja"),
        ("useEffect の cleanup", "ja"),
        ("what does エラー mean", "en"),
        ("Yogācāra (唯識 / Consciousness-Only) shaped the architecture", "en"),
        ("我们保留访问日志多久", "zh"),
        ("접속 로그는 얼마나 보관하나요", "ko"),
        ("Как долго мы храним журналы", "ru"),
        ("12:30 → 99 %", None),
        ("", None),
    ],
)
def test_a_text_is_told_by_its_script(text: str, language: str | None) -> None:
    assert language_of(text) == language


def test_a_japanese_text_full_of_names_in_latin_letters_is_japanese() -> None:
    assert language_of("`core/llm.py` の LLMBackend に read-only の model property を追加する。") == "ja"


def test_what_stands_far_behind_does_not_change_a_records_language() -> None:
    assert language_of("これは記録です。" * 600 + "english words " * 9000) == "ja"
