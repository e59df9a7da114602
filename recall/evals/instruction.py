"""The instruction that a person hands to an AI without context, so that it writes honest questions on their notes."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

from recall.core.errors import RecallError
from recall.core.types import LABELS, Kind
from recall.evals.records import Records, Text
from recall.text.clean import one_line
from recall.text.language import language_of

#: One unrelated message in so many shares words with the notes although none of them answers it.
NEAR_MISS_EVERY = 4
#: The language that stands against the notes' own, where all of them are in one.
_OTHER = {"en": "ja"}
_NAMES = {"en": "English", "ja": "Japanese", "zh": "Chinese", "ko": "Korean", "ru": "Russian"}


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for: so many questions, and so many messages that no note answers, near misses among them."""

    questions: int = 20
    unrelated: int = 20

    @property
    def near_misses(self) -> int:
        return self.unrelated // NEAR_MISS_EVERY


def choose_notes(records: Records, number: int, seed: int) -> list[Text]:
    """Records to ask about: one version of each, none that was replaced, each kind by its share but never forgotten.

    The same records and `seed` give the same choice. There are fewer than `number` where there are no more. Raises
    RecallError where there is none.
    """
    chance = random.Random(seed)  # noqa: S311  (a choice that can be repeated, no secret)
    versions: dict[str, list[Text]] = {}
    for text in records.texts:
        if not text.superseded:
            versions.setdefault(text.unit, []).append(text)
    kinds: dict[Kind, list[Text]] = {}
    for unit in sorted(versions):
        chosen = chance.choice(versions[unit])
        kinds.setdefault(chosen.document.kind, []).append(chosen)
    if not kinds:
        raise RecallError("no notes or rules are indexed for this project; run `recall index` there, or name --project")
    total = sum(len(of_kind) for of_kind in kinds.values())
    shuffled: list[tuple[float, Text]] = []
    for _, of_kind in sorted(kinds.items()):
        chance.shuffle(of_kind)
        # Evenly spaced places: the first `number` over all kinds hold each kind by its share. The first place of each
        # comes before all others.
        shuffled += [(place * total / len(of_kind) if place else -1.0, text) for place, text in enumerate(of_kind)]
    shuffled.sort(key=lambda item: item[0])
    return [text for _, text in shuffled[:number]]


def languages_of(texts: Sequence[Text]) -> tuple[str, str]:
    """The notes' first language and the other one that questions are to be in; codes as `language_of` gives them."""
    counts: dict[str, int] = {}
    for text in texts:
        language = note_language(text)
        counts[language] = counts.get(language, 0) + 1
    first, *others = sorted(counts, key=lambda language: (-counts[language], language)) or ["en"]
    return first, others[0] if others else _OTHER.get(first, "en")


def note_language(text: Text) -> str:
    """The language of a record: the one that its file names, else that of its text."""
    return text.document.language or language_of(text.whole) or "en"


def write_instruction(texts: Sequence[Text], order: Order, check: str) -> str:
    """The Markdown text. `check` is the command that looks at what comes back."""
    first, other = languages_of(texts)
    plain = order.unrelated - order.near_misses
    example = {
        "id": "q-01",
        "query": "..., as the person would type it",
        "lang": other,
        "relevant": [texts[0].path],
        "note_lang": note_language(texts[0]),
    }
    nothing = {"id": "u-01", "query": "...", "lang": first, "relevant": []}
    miss = {"id": "h-01", "query": "...", "lang": other, "relevant": [], "hard": True}
    notes = "\n".join(
        f"{number}. [{LABELS[text.document.kind]}, {note_language(text)}] `{one_line(text.path)}`"
        for number, text in enumerate(texts, start=1)
    )
    return f"""# Write questions that test a search over notes

A developer keeps the notes below. A search program is to find the right one for each message that the developer types,
and to stay silent for messages that no note answers. Write the messages. What you write decides whether the test is
honest; work from the files alone, and do not run the search program or look at its output.

Read each file in this list completely before you write about it. If you cannot open a file, leave it out and say so.

{notes}

## {len(texts)} questions, one for each note

- Imagine the developer weeks later: the note is forgotten, and so are its words. What would they type when they run
  into the matter again? A situation, a symptom, a plan, a doubt. Not a quiz about the text.
- Reword everything. **Share no content word with the note**: not in its title, not in its body, no names, no
  identifiers, no file names, no numbers, no translations spelled alike. Use other words, or describe the thing.
- The note must answer the message, and no other note should. When another file answers it as well, name it in
  `also_ok`.
- One or two sentences, in the tone in which people type to an assistant: small letters, half sentences and typing
  shortcuts are welcome. No greeting, no "according to my notes".
- **Half of the questions in {_name(first)}, half in {_name(other)}**, whatever language the note is in: at least
  half of them in another language than their note.
- Do not write several questions in one pattern.

## {order.unrelated} messages that no note answers

- {plain} everyday messages of a developer's day with an assistant: thanks, small talk, requests to go on, general
  programming questions, chores. Of all lengths, half in {_name(first)}, half in {_name(other)}.
- {order.near_misses} near misses, marked `"hard": true`: they share words and subject with some of the notes, but none
  of the developer's notes answers them. Look at the other files in the same folders before you are sure.

## Form

One JSON object a line, nothing else in the file: no list around it, no comments, no code fence. UTF-8.

```
{json.dumps(example, ensure_ascii=False)}
{json.dumps(nothing, ensure_ascii=False)}
{json.dumps(miss, ensure_ascii=False)}
```

- `id`: different for every line. `query`: the message. `lang`: its language (`en`, `ja`, ...).
- `relevant`: the files that answer it, spelled as in the list above; `[]` for messages that no note answers.
- `also_ok` (optional): files that a fair judge would accept too. `note_lang` (optional): the language of the note.

Save it as `questions.jsonl`. The developer then runs `{check}`, which names every line that breaks a rule; mend
those lines and nothing else.
"""


def _name(language: str) -> str:
    return _NAMES.get(language, f"the language `{language}`")
