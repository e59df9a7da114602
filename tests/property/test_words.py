"""Whatever a text holds: its terms are folded words, few and short, and the same for equivalent texts."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from recall.text.words import MAX_TERM_CHARACTERS, MAX_TERMS, terms

#: Any code point, lone surrogates too, with those made frequent that join, part, compose or fold to something else.
ANY = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Lu", "Lm", "Mn", "Mc", "Nl", "No", "Cf"]),
        st.sampled_from("aB1_-.' éßİςｶﾞか\u3099각\u1100\u1161\u200d漢字กำ"),
    )
)


@given(ANY)
def test_the_same_text_and_its_compatible_form_have_the_same_terms(text: str) -> None:
    assert terms(text) == terms(text) == terms(unicodedata.normalize("NFKC", text))


@given(ANY)
def test_terms_are_folded_short_and_each_there_once(text: str) -> None:
    found = terms(text)
    assert len(found) == len(set(found)) <= MAX_TERMS
    for term in found:
        assert 0 < len(term) <= MAX_TERM_CHARACTERS
        assert term == unicodedata.normalize("NFKC", term)
        assert not any(character.isspace() for character in term)
        term.encode()


@given(st.text(st.characters(categories=["L", "N", "P", "Z", "S"]), max_size=50))
def test_every_plain_word_of_a_text_is_among_its_terms(text: str) -> None:
    assert "frobnicator" in terms(f"{text} Frobnicator {text}")


@given(st.text("漢字かなカナ", min_size=2, max_size=40), st.data())
def test_a_piece_of_unspaced_text_has_only_terms_of_the_whole(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 2))
    end = data.draw(st.integers(start + 2, len(text)))
    assert set(terms(text[start:end])) <= set(terms(text))


@given(st.lists(st.text("abcdefgh", min_size=2, max_size=6), min_size=2, max_size=5))
def test_an_identifier_has_the_same_terms_in_every_style(parts: list[str]) -> None:
    camel = parts[0] + "".join(part.capitalize() for part in parts[1:])
    snake, kebab, dotted = ("".join(joiner.join(parts)) for joiner in "_-.")
    assert terms(snake) == terms(kebab) == terms(dotted)
    assert set(terms(camel)) == set(terms(snake))
