"""What is left of long messages: the person's words, and one telling line of what was pasted."""

import pytest

from pastes import GO, JAVA, LONG_JAPANESE, PASTES, PYTHON, SCRIPT, SQL
from recall.text.paste import SHORT_CHARACTERS, SHORT_LINES, reduce


@pytest.mark.parametrize("name", PASTES)
def test_a_question_under_a_paste_is_left_with_the_telling_line(name: str) -> None:
    paste, telling = PASTES[name]
    left = [telling, "", "Why does this happen?"] if telling else ["Why does this happen?"]
    assert reduce(f"{paste}\n\nWhy does this happen?") == "\n".join(left)


@pytest.mark.parametrize("name", PASTES)
def test_a_question_above_a_paste_is_left_with_the_telling_line(name: str) -> None:
    paste, telling = PASTES[name]
    left = ["本番だけで落ちます。原因は何でしょうか", *([telling] if telling else [])]
    assert reduce(f"本番だけで落ちます。原因は何でしょうか\n{paste}") == "\n".join(left)


@pytest.mark.parametrize("name", PASTES)
def test_a_question_around_a_fenced_paste_is_left_with_the_telling_line(name: str) -> None:
    paste, telling = PASTES[name]
    left = ["after the deploy", *([telling] if telling else []), "fix it"]
    message = f"after the deploy\n````text\n{paste}\n````\nfix it" + "\n" * SHORT_LINES
    assert reduce(message) == "\n".join(left)


@pytest.mark.parametrize("name", PASTES)
def test_a_paste_alone_asks_nothing(name: str) -> None:
    paste = PASTES[name][0]
    assert reduce(f"{paste}\n\n{paste}\n{paste}") == ""
    assert reduce(f"```\n{paste}\n```\n\n```\n{paste}\n```") == ""


def test_a_long_trace_leaves_the_question_and_the_exception() -> None:
    frames = [f'  File "/srv/app/step{at}.py", line {at}, in step\n    step{at + 1}(state)' for at in range(150)]
    trace = "\n".join(
        ["Traceback (most recent call last):", *frames, "RecursionError: maximum recursion depth exceeded"]
    )
    left = "why does this happen?\n\nRecursionError: maximum recursion depth exceeded"
    assert reduce(f"why does this happen?\n\n{trace}\n") == left


def test_each_paste_between_words_keeps_its_own_line() -> None:
    message = f"First I saw this:\n{PYTHON}\nThen, after a restart:\n{GO}\nWhat do they have in common?"
    assert reduce(message).splitlines() == [
        "First I saw this:",
        "app.errors.JobFailed: job 17 has no query",
        "Then, after a restart:",
        "panic: runtime error: index out of range [5] with length 3",
        "What do they have in common?",
    ]


def test_an_error_that_names_no_cause_yields_to_the_one_that_does() -> None:
    log = (
        "npm ERR! code ELIFECYCLE\nsrc/cart.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\n"
    )
    log += "npm ERR! Error: exit code 1\n" + "make: *** [Makefile:12: build] Error 1\n" * 6
    assert reduce(f"the build broke, please help\n{log}").splitlines() == [
        "the build broke, please help",
        "src/cart.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.",
    ]


@pytest.mark.parametrize(
    "message",
    [
        "",
        "fix it",
        "KeyError: 'query'",
        "```\nprint(1)\n```",
        "\n".join(["a", "", "b", "", "c", "d"]),
        "x" * SHORT_CHARACTERS,
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nZeroDivisionError: division by zero',
    ],
)
def test_a_short_message_is_left_alone(message: str) -> None:
    assert reduce(message) == message


PROSE = {
    "japanese": LONG_JAPANESE,
    "japanese lines": LONG_JAPANESE.replace("。", "。\n"),
    "japanese list": "やりたいこと:\n"
    + "- 設定ファイル config.toml の読み方を変える\n- `reduce()` が空文字を返す件を直す\n1. テストを足す\n" * 8,
    "japanese with names": "foo() が None を返すのに bar(x) は動く\nERROR が出た\nx = 5 のとき\nhttps://a.dev/b を\n"
    * 6,
    "chinese": "我们的服务在升级之后经常超时，日志里没有任何错误。请帮我看看连接池的配置是否合理。\n" * 6,
    "korean": "배포한 뒤로 서버가 자주 멈춥니다. 연결 풀 설정을 어떻게 바꿔야 할지 알고 싶습니다.\n" * 8,
    "thai": "เซิร์ฟเวอร์หยุดทำงานบ่อยหลังจากอัปเดต ช่วยดูการตั้งค่าให้หน่อยได้ไหม\n" * 8,
    "hindi": "अपडेट के बाद सर्वर बार बार रुक जाता है। कृपया कनेक्शन की सेटिंग देखने में मदद करें।\n" * 8,
    "arabic": "يتوقف الخادم كثيرا بعد التحديث، هل يمكنك مساعدتي في فحص الإعدادات؟\n" * 8,
    "russian": "После обновления сервер часто зависает, в журнале ничего нет, помогите разобраться.\n" * 8,
    "french": "Depuis la mise à jour, le serveur s'arrête souvent ; j'ai vérifié l'état du pool, rien d'anormal.\n" * 8,
    "german": "Seit dem Update hängt der Server (meistens nachts), im Log steht nichts - was kann ich prüfen?\n" * 8,
    "english": "The worker stops after an hour or so (always the same one), although nothing in the log says why.\n"
    "I changed `timeout` to 30 in config.toml, then restarted it; no change.\nIf you look at line 12, it waits for:\n\n"
    "  - the queue, which is empty\n  - the database\n\nOne more thing: for a while it worked, and then it did not.\n"
    "return values are fine\nimport of the module is slow\nselect the fastest way to do it\n"
    "class names do not matter here\nUpdate: it also happens on main\n",
    "headings": "# Goal\n\nMake the search faster\n\n## What I tried\n\n1. a bigger cache\n2. less work\n\n## Then\n\n"
    "What else could be slow, and how would I find out?\n" * 4,
    "dense": "we use a 16-core box w/ 64 GB, 3 workers, p95 = 120 ms at 50 rps and it's slow\n" * 6,
    "task": "Rework the payments. Rules:\n- keep the public API (`charge`, `refund`, `void`)\n- no new dependencies\n\n"
    "Background: on 2024-04-30 `refund()` retried forever; see docs/postmortems/2024-04-30.md.\n"
    "3 tries, exponential backoff (100 ms, 200 ms, 400 ms), then give up.\nFiles: src/charge.py, src/refund.py\n"
    "- macOS 14 / Python 3.11\nThen run make test and show me the output; if it fails, stop\n",
    "conversation": "Kenji  10:12 AM\nthe staging db is down again, looks like the disk is full\nMaria  10:14 AM\n"
    "yes, the files fill it up. we should set max_wal_size lower\nand move them\n\nPlease write a ticket from this.\n"
    * 2,
    "beginnings": "with the following config (see below):\nRunning the tests with 3 workers fails\ntry it like this:\n"
    "do the following:\nGET /orders answers with 502 since Monday\ncommit 3f9a1c2 broke it\nat startup (in prod)\n"
    "SELECT is slow on this table\nselect one of them, then remove it from the list\nreturn values are fine (I think)\n"
    "Binary files are not indexed\n3 failed since yesterday\nclass names of the views matter:\nLIMIT 5 is too low\n",
    "mail": "Subject: search is slow since Monday\n\nHi Kenji,\n\nsince the release the search takes seconds.\n"
    "Could you have a look at the cache before the demo?\n\n> I think it is the index, we rebuilt it on Sunday.\n"
    "> Did you see the same on staging?\n\nNo, staging is fine.\n\nThanks,\nMaria\n",
}


@pytest.mark.parametrize("name", PROSE)
def test_prose_is_left_whole(name: str) -> None:
    message = PROSE[name]
    assert reduce(message) == message


@pytest.mark.parametrize("name", PROSE)
def test_prose_around_code_is_left_whole(name: str) -> None:
    prose = PROSE[name].strip()
    assert reduce(f"{prose}\n\n```python\n{SCRIPT}\n```\n\n{prose}") == f"{prose}\n\n{prose}"
    assert reduce(f"{prose}\n\n{SCRIPT}\n\n{prose}") == f"{prose}\n\n{prose}"


def test_the_heads_of_a_mail_are_dropped_and_its_text_stays() -> None:
    mail = (
        "From: Maria <maria@example.com>\nTo: kenji@example.com\nDate: Wed, 1 May 2024 10:12:01 +0900\n"
        "Message-ID: <17@example.com>\nContent-Type: text/plain; charset=utf-8\nSubject: 検索が遅い件\n\n"
        "賢治さん、月曜のリリースから検索に数秒かかります。デモの前にキャッシュを見てもらえますか。\n"
        + "よろしくお願いします。\n"
        * 20
    )
    assert reduce(mail) == mail[mail.index("Subject") :].rstrip("\n")


def test_words_between_two_fences_are_the_persons() -> None:
    message = f"```python\n{SCRIPT}\n```\nversus\n```sql\n{SQL}\n```\nwhich one"
    assert reduce(message) == "versus\nwhich one"


def test_a_fence_that_is_never_closed_hides_nothing() -> None:
    assert reduce(f"```\n{SCRIPT}\n\nどこが遅いのか教えてください。") == "どこが遅いのか教えてください。"


def test_a_diff_ends_where_its_hunk_does() -> None:
    diff = "@@ -1,2 +1,2 @@\n-old words of the manual\n+new words of the manual\n the words that stay\n"
    assert (
        reduce(f"{diff}- do we want this?\n" + "and is it true\n" * 20)
        == "- do we want this?" + "\nand is it true" * 20
    )


def test_a_persons_list_of_findings_is_no_settings_file() -> None:
    words = "Expected: the page loads within a second\nActual: it takes ten\nSince: last Monday, after the release\n"
    assert reduce(f"{words}\n{JAVA}") == f"{words}\n{JAVA.splitlines()[4]}"


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\u2028"])
def test_any_line_ends_will_do(ending: str) -> None:
    message = f"what is wrong here?\n{PYTHON}".replace("\n", ending)
    assert reduce(message) == "what is wrong here?\napp.errors.JobFailed: job 17 has no query"
