"""Silence and the right note at any size: none, one, a dozen on one subject, 500 of one template; with real daemons."""

import json
from pathlib import Path

from support import Sandbox, wait_until

#: A developer's notes: name and description on one line, the body on the next. The first answers QUESTIONS.
NOTES = """\
access-log-retention | Access logs are deleted after 90 days
Logs with personal data go after 30 days. Keeping them longer needs a yes from the legal team.
決済のタイムアウト | 決済APIの呼び出しは8秒でタイムアウトさせ、再試行はしない
再試行すると二重に請求されることがある。失敗したら画面で利用者に知らせる。
画像の縮小 | アップロードされた画像は長辺2048ピクセルに縮小して保存する
元の画像は残さない。サムネイルは別のキューで作る。
commit-messages | Commit messages are in English and name the ticket
First line under 60 characters, then the reason for the change.
feature-flags-expire | Every feature flag carries a date on which it is removed
A weekly job lists the flags that are past it.
夜間バッチ | 夜間バッチは午前3時に始まり、5時までに終わらせる
5時からバックアップが走るので、遅れたら止めて翌日に回す。
no-mocks-for-the-database | Tests talk to a real PostgreSQL; a mocked database hid a broken migration
Start it with `docker compose up db` before the suite.
redis-noeviction | Redis keeps the sessions and must never evict keys
maxmemory-policy is noeviction; alert at 80 percent of memory.
日付はUTC | 日時はすべてUTCで保存し、表示するときに日本時間へ変える
夏時間のある国の利用者がいるため。
api-versioning | Breaking changes of the public API get a new version in the path
The old version goes on for six months.
依存ライブラリ | 新しいライブラリを入れる前に相談する
ライセンスと保守の状況を確かめてから決める。
release-approvals | A release to production needs two approvals
One of them from the person on call.
""".splitlines()
QUESTIONS = ("how many days do we keep access logs before they are deleted?", "アクセスログは何日で削除する？")
EVERYDAY = (
    "thanks",
    "ok",
    "はい",
    "続けて",
    "続けてください",
    "run the tests",
    "commit this",
    "thanks, that's exactly what i wanted",
    "please run all the tests again and tell me what failed",
    "はい、お願いします",
    "can you show me the diff before you commit anything?",
    "run all the tests once more and fix whatever fails",
    "what did you change in the last step and why?",
    "もう一度すべてのテストを実行して、何が失敗したか教えてください",
    "今の変更を説明してください。なぜそうしたのですか？",
)
#: Notes on tests and commits, which an order to run tests or to commit must not bring.
NOTES_ON_TESTS = """\
flaky-tests | A flaky test is fixed or deleted, never retried
Retries hid a race for months.
run-the-linter-first | Run the linter before the tests
The linter takes two seconds, the tests five minutes.
e2e-nightly | End-to-end tests run at night only
They take forty minutes and need the staging system.
commit-signing | Every commit is signed off
The check refuses what is not.
""".splitlines()
UNRELATED = ("write a haiku about the moon over a quiet lake", "静かな湖に映る月を詠んだ俳句を作って")

#: 300 lines each, about what the notes are about.
PYTHON_TRACE = "\n".join(
    [
        "Traceback (most recent call last):",
        *(
            f'  File "/srv/shop/payments/step_{n}.py", line {n + 10}, in run\n    return self.next(order, attempt={n})'
            for n in range(149)
        ),
        'psycopg.OperationalError: connection to server at "db", port 5432 failed: Connection refused',
    ]
)
JAVA_TRACE = "\n".join(
    [
        'Exception in thread "main" java.lang.IllegalStateException: the payment API timed out after 8 seconds',
        *(f"\tat com.example.payment.Step{n}.call(Step{n}.java:{n + 10})" for n in range(288)),
        "Caused by: java.sql.SQLException: access logs could not be deleted",
        *(f"\tat com.example.logs.Retention.delete(Retention.java:{n})" for n in range(9)),
        "\t... 279 more",
    ]
)
#: What is pasted, machine-made or a command, and why it is not searched.
NO_QUESTIONS = (
    (PYTHON_TRACE, "paste"),
    (JAVA_TRACE, "paste"),
    (
        "<task-notification>\n<status>completed</status>\n<summary>"
        + QUESTIONS[0]
        + "</summary>\n</task-notification>",
        "machine",
    ),
    ("/clear", "command"),
)

#: Eleven notes on one subject, each with a point of its own, and on a third line a question for it.
MIGRATIONS = """\
migration-lock-timeout | Database migrations set lock_timeout to five seconds
A migration that waits longer for its lock gives up and is tried again at night.
how long may a database migration wait for a lock?
migration-columns-in-two-releases | A column is dropped one release after the last code that reads it
Database migrations that drop a column with the code break the old pods that still run.
when can we drop a column that the code no longer reads?
migration-indexes-concurrently | Migrations create indexes on the database with CREATE INDEX CONCURRENTLY
A plain CREATE INDEX blocks every write to the table.
how should a migration create an index without blocking writes?
migration-names | Database migration files are named by timestamp, not by a running number
Two branches with the same number collided in March.
how do we name the files of database migrations?
migration-backfill-in-batches | A backfill updates rows in batches of a thousand, outside the migration
One UPDATE over the whole orders table stopped the database for an hour.
in how many rows at a time should a backfill update the orders table?
migration-no-downgrade | Database migrations have no downgrade; we only roll forward
A downgrade that nobody tried lost data once.
do our database migrations need a downgrade?
migration-review-by-dba | Every database migration is reviewed by Keiko before it is merged
She looks at the locks and at the size of the table.
who reviews a database migration before it is merged?
migration-runs-before-deploy | Migrations run as a job of their own before the new pods start
Pods that migrate the database at start raced with each other.
do the migrations run before the new pods start?
migration-test-on-a-copy | Database migrations are tried on a copy of production's data first
The copy is made anew each Sunday, with names and addresses replaced.
is a migration tried on a copy of production's data first?
migration-squash-yearly | Old database migrations are squashed into one file each January
A new test database took four minutes to build before.
when are old migrations squashed into one file?
migration-enum-as-text | Migrations never add database enum types; use text with a check constraint
Values of an enum cannot be removed.
may a migration add an enum type to the database?
""".splitlines()

SERVICES = (
    "checkout search billing invoices avatars webhooks sessions exports notifications ledger catalogue shipping "
    "coupons reports uploads login inventory translations ratings subscriptions newsletter addresses refunds calendar "
    "thumbnails"
).split()
CAUSES = (
    ("a full disk", "the log volume was made twice as large"),
    ("an expired certificate", "the certificate is renewed by a weekly job"),
    ("a slow query without an index", "an index on the customer column was added"),
    ("a memory leak in the parser", "the parser was updated to version four"),
    ("a wrong time zone on one host", "all hosts take their time from one image"),
    ("a queue that nobody emptied", "a second worker empties the queue"),
    ("a deadlock between two transactions", "both transactions lock in the same order"),
    ("a DNS record that was deleted", "the record is kept in Terraform"),
    ("too few database connections", "the pool was raised to eighty"),
    ("a feature flag left on", "the flag was removed"),
    ("a retry storm after a timeout", "retries wait longer each time"),
    ("a cache that served old prices", "the cache is emptied at each price change"),
    ("a rate limit of the mail provider", "mail is sent in smaller batches"),
    ("a misspelt environment variable", "the start fails when a variable is missing"),
    ("a broken backup that was restored", "each backup is restored once a week as a test"),
    ("a node that ran out of file handles", "the limit was raised to 65536"),
    ("a firewall rule that was too strict", "the rule lets the health check through"),
    ("a character set mismatch", "all tables are utf8mb4"),
    ("a cron job that ran twice", "the job takes a lock"),
    ("a partial deploy of two versions", "a deploy stops at the first failed host"),
)
#: Questions about one service and one cause, by the service's place in SERVICES and the cause's in CAUSES.
INCIDENT_QUESTIONS = (
    ("did the checkout go down because its disk was full?", 0, 0),
    ("why was the ledger broken, did a certificate run out?", 9, 1),
    ("has search ever suffered from a DNS record somebody deleted?", 1, 7),
    ("the mail provider limited us in the login service, what did we do?", 15, 12),
    ("the webhooks service is down again, last time it was a feature flag left on, how did we fix it?", 5, 9),
    ("was there an incident of the thumbnails service with a feature flag left on?", 24, 9),
    ("was there an incident of the notifications service with too few database connections?", 8, 8),
    ("was there an incident of the subscriptions service with an expired certificate?", 19, 1),
)


def write(sandbox: Sandbox, heads: list[str], bodies: list[str]) -> None:
    for head, body in zip(heads, bodies, strict=True):
        name, _, description = head.partition(" | ")
        sandbox.note(name, description, body)


def line_of(name: str, context: str | None) -> bool:
    """Whether a note's headline is among what was handed over."""
    return f"[memory] {name} — " in (context or "")


def incident(service: int, cause: int) -> str:
    return f"incident-{cause * len(SERVICES) + service:03}"


def write_incidents(sandbox: Sandbox) -> None:
    """500 notes of one template: each service with each cause."""
    for number in range(len(SERVICES) * len(CAUSES)):
        service, (cause, fix) = SERVICES[number % len(SERVICES)], CAUSES[number // len(SERVICES)]
        sandbox.note(
            incident(number % len(SERVICES), number // len(SERVICES)),
            f"Incident 2025-{number % 12 + 1:02}-{number % 28 + 1:02}: service {service}, cause {cause}, fix {fix}",
            f"## Service\n\nThe service {service} was down.\n\n## Cause\n\nIt was {cause}.\n\n## Fix\n\nNow {fix}.",
        )


def test_everyday_messages_pastes_and_commands_get_nothing(sandbox: Sandbox) -> None:
    write(sandbox, NOTES[::2], NOTES[1::2])
    sandbox.start()
    assert [len(trace.splitlines()) for trace in (PYTHON_TRACE, JAVA_TRACE)] == [300, 300]
    messages = [*EVERYDAY, *(message for message, _ in NO_QUESTIONS)]
    assert {message: context for message in messages if (context := sandbox.context(message))} == {}
    journal = [json.loads(line) for line in Path(sandbox.paths.injections).read_text("utf-8").splitlines()]
    assert len(journal) == len(messages)  # each was answered: nothing was silent for want of time
    assert [entry["reason"] for entry in journal[len(EVERYDAY) :]] == [reason for _, reason in NO_QUESTIONS]
    assert line_of("access-log-retention", sandbox.context(QUESTIONS[0]))


def test_an_order_to_run_tests_or_to_commit_brings_no_note_on_tests_or_commits(sandbox: Sandbox) -> None:
    write(sandbox, NOTES_ON_TESTS[::2], NOTES_ON_TESTS[1::2])
    sandbox.start()
    assert {message: context for message in EVERYDAY if (context := sandbox.context(message))} == {}
    assert line_of("e2e-nightly", sandbox.context("why do the end-to-end tests not run on every push?"))


def test_from_no_note_to_a_dozen_only_the_question_brings_its_note(sandbox: Sandbox) -> None:
    sandbox.configure("hook.min_characters = 1\n")  # the gate judges the shortest messages too
    sandbox.start()
    written = 0
    for count in (0, 1, 2, 5, 11, 12):
        write(sandbox, NOTES[2 * written : 2 * count : 2], NOTES[2 * written + 1 : 2 * count : 2])
        written = count
        sandbox.run("index")
        assert sandbox.json("status")["index"]["documents"]["memory"] == count
        handed = {message: sandbox.context(message) for message in (*EVERYDAY, *UNRELATED)}
        assert {message: context for message, context in handed.items() if context} == {}, f"{count} notes"
        found = [line_of("access-log-retention", sandbox.context(question)) for question in QUESTIONS]
        assert found == [count > 0, count > 0], f"{count} notes"


def test_among_eleven_notes_on_one_subject_each_question_brings_its_own(sandbox: Sandbox) -> None:
    write(sandbox, NOTES[:8:2], NOTES[1:8:2])
    write(sandbox, MIGRATIONS[::3], MIGRATIONS[1::3])
    sandbox.start()
    names = [head.partition(" | ")[0] for head in MIGRATIONS[::3]]
    contexts = {name: sandbox.context(question) for name, question in zip(names, MIGRATIONS[2::3], strict=True)}
    assert {name: context for name, context in contexts.items() if not line_of(name, context)} == {}
    assert line_of("migration-lock-timeout", sandbox.context("データベースのマイグレーションはロックを何秒待つ？"))
    assert [sandbox.context(message) for message in UNRELATED] == [None, None]


def test_among_500_notes_of_one_template_a_question_brings_the_one_that_it_means(sandbox: Sandbox) -> None:
    write_incidents(sandbox)
    sandbox.start_without_waiting()
    # On two cores that also do something else, the first look takes a minute.
    wait_until(lambda: (sandbox.daemon() or {}).get("state") == "ready", "500 notes are indexed", seconds=300)
    assert sandbox.json("status")["index"]["documents"]["memory"] == 500
    contexts = {question: sandbox.context(question) for question, _, _ in INCIDENT_QUESTIONS}
    missed = {
        question: (contexts[question], incident(service, cause))
        for question, service, cause in INCIDENT_QUESTIONS
        if not line_of(incident(service, cause), contexts[question])
    }
    assert missed == {}
