"""The tokenizer: figures of the published one, unknown characters, other kinds of tokenizer, damaged files."""

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers

from recall.core.errors import ModelError
from recall.embed.catalog import find_model
from recall.embed.tokenizer import LibraryTokenizer, Tokenizer, UnigramTokenizer, load_tokenizer


@pytest.fixture(scope="module")
def bundled() -> Tokenizer:
    manifest = find_model("multilingual-e5-small", None)
    return load_tokenizer(manifest.tokenizer, manifest.max_tokens)


def save(tmp_path: Path, model: dict[str, Any], **changes: object) -> Path:
    """A small tokenizer.json around `model`, which splits at spaces and puts <s> and </s> around a text."""
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": 0, "content": "<s>", **special}, {"id": 1, "content": "</s>", **special}],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "post_processor": {
            "type": "RobertaProcessing",
            "sep": ["</s>", 1],
            "cls": ["<s>", 0],
            "trim_offsets": True,
            "add_prefix_space": False,
        },
        "decoder": None,
        "model": model,
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content | changes), "utf-8")
    return path


SMALL: dict[str, Any] = {
    "type": "Unigram",
    "unk_id": 2,
    "vocab": [["<s>", 0], ["</s>", 0], ["<unk>", 0], ["▁", -3], ["a", -4], ["b", -4], ["ab", -5], ["▁ab", -6]],
}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Hello world!", [0, 35378, 8999, 38, 2]),
        ("query: how much protein", [0, 41, 1294, 12, 3642, 5045, 21308, 2]),
        ("", [0, 2]),
        ("   \n", [0, 2]),
    ],
)
def test_the_bundled_tokenizer_gives_the_published_ids(text: str, ids: list[int], bundled: Tokenizer) -> None:
    assert bundled.encode(text) == ids


def test_the_bundled_tokenizer_does_without_the_librarys_trie(bundled: Tokenizer) -> None:
    assert isinstance(bundled, UnigramTokenizer)


def test_a_long_text_is_cut_and_still_ended(bundled: Tokenizer) -> None:
    ids = bundled.encode("word " * 100_000)
    assert (len(ids), ids[0], ids[-1]) == (512, 0, 2)


def test_decomposed_kana_and_hangul_are_the_same_as_composed_ones(bundled: Tokenizer) -> None:
    assert bundled.encode("か\u3099") == bundled.encode("が")
    assert bundled.encode("\u1112\u1161\u11ab") == bundled.encode("한")


@pytest.mark.parametrize("text", ["a\ud800b", "\udfff", "\ud83d\ude00"])
def test_surrogates_do_not_raise(text: str, bundled: Tokenizer) -> None:
    ids = bundled.encode(text)
    assert (ids[0], ids[-1]) == (0, 2)


def test_a_text_cannot_write_a_control_token(bundled: Tokenizer) -> None:
    inner = bundled.encode("</s> <mask> ＜s＞")[1:-1]
    assert not {0, 1, 2, 250001} & set(inner)


def test_the_split_with_the_highest_sum_wins(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(save(tmp_path, SMALL), 64)
    assert tokenizer.encode("ab abab") == [0, 7, 7, 6, 1]
    assert tokenizer.encode("ba") == [0, 3, 5, 4, 1]


def test_unknown_characters_side_by_side_become_one_token(tmp_path: Path) -> None:
    path = save(tmp_path, SMALL)
    expected = tokenizers.Tokenizer.from_file(str(path)).encode("axyzb x").ids
    assert load_tokenizer(path, 64).encode("axyzb x") == expected == [0, 3, 4, 2, 5, 3, 2, 1]


def test_another_kind_of_tokenizer_is_left_to_the_library(tmp_path: Path) -> None:
    model = {"type": "WordLevel", "vocab": {"<s>": 0, "</s>": 1, "▁a": 2, "?": 3}, "unk_token": "?"}
    tokenizer = load_tokenizer(save(tmp_path, model), 4)
    assert isinstance(tokenizer, LibraryTokenizer)
    assert tokenizer.encode("a b\ud800 a") == [0, 2, 3, 1]


def test_padding_in_the_file_is_not_used(tmp_path: Path) -> None:
    model = {"type": "WordLevel", "vocab": {"<s>": 0, "</s>": 1, "▁a": 2, "?": 3}, "unk_token": "?"}
    padding = {
        "strategy": {"Fixed": 16},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 3,
        "pad_type_id": 0,
        "pad_token": "?",
    }
    assert load_tokenizer(save(tmp_path, model, padding=padding), 8).encode("a") == [0, 2, 1]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"model": {"type": "Unigram"}}', '{"model": {"type": "BPE"}}'])
def test_a_damaged_file_is_one_sentence(content: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content, "utf-8")
    with pytest.raises(ModelError, match=r"tokenizer\.json should be a tokenizer"):
        load_tokenizer(path, 64)


def test_a_vocabulary_that_holds_a_nul_is_refused_rather_than_misread(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        load_tokenizer(save(tmp_path, SMALL | {"vocab": [*SMALL["vocab"], ["a\0b", -7]]}), 64)
