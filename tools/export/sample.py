"""The fixed sample: texts in several languages on which int8 is calibrated and every variant is proven.

The two halves have no text in common, so that a proof says something about texts that calibration never saw.
"""

CALIBRATION = (
    "どうすれば失敗したデプロイを元に戻せますか",
    "ok",
    "バックアップは毎晩取り、月に一度、別の機械で戻してみる。戻せないバックアップは無いのと同じだから。",
    "why does the login page load slowly on the first visit?",
    "The cache is filled by the first request after a release. We warm it up from a script now, because support got "
    "forty tickets on the morning of the spring release about pages that took nine seconds.",
    "인증서가 만료되기 전에 알림을 받으려면 어떻게 설정해야 하나요?",
    "发布之前必须在预发环境跑完整的迁移，因为有一次索引重建锁住了订单表四十分钟。",
    "Die Warteschlange darf höchstens tausend Einträge halten; danach antwortet der Dienst mit 503.",
    "```python\ndef retry(call, tries=3):\n    for _ in range(tries):\n        try:\n            return call()\n"
    "        except TimeoutError:\n            continue\n```",
    "Les journaux sont effacés après 90 jours, sauf ceux de la facturation que la loi demande de garder dix ans.",
)

PROOF = (
    "こんにちは",
    "データベースの移行に失敗したときの戻し方",
    "本番への配布は金曜の午後にしない。前に一度、週末に直せる人がおらず月曜まで止まった。",
    "how do we roll back a failed migration?",
    "thanks!",
    "Prefer small pull requests. Reviewers asked for this after a change of four thousand lines hid a broken "
    "permission check that nobody noticed for a month.",
    "# Retry policy\n\n- idempotent calls: three tries, 200 ms apart\n- everything else: none\n\n"
    "`POST /orders` is not idempotent, see the incident of March.",
    "배포가 실패하면 어떻게 하나요?",
    "데이터베이스 마이그레이션은 한 번에 하나씩 실행한다. 두 개를 동시에 돌리면 잠금이 걸려 서비스가 멈춘다.",
    "日志里不保存用户的原话，只记录编号和时间；出问题的时候用编号去查。",
    "Почему тесты падают только на сборочном сервере?",
    "El servicio de firmas cierra a las seis; si la compilación empieza tarde, la versión sale sin firmar.",
    "لماذا تتوقف المهمة الليلية قبل أن تنتهي؟",
)


def with_long(texts: tuple[str, ...]) -> tuple[str, ...]:
    """`texts` and, made of them, three of about 230, 470 and 700 tokens (the last is cut by most models)."""
    forwards, backwards = "\n\n".join(texts), "\n\n".join(reversed(texts))
    return *texts, forwards, f"{backwards}\n\n{forwards}", "\n\n".join([forwards, backwards, forwards])
