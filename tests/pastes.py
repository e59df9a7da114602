"""What people paste into messages: traces, logs, diffs, code and data of many kinds, written for these tests.

PASTES holds each with the line of it that tells what failed, None where none does.
"""

PYTHON = """\
Traceback (most recent call last):
  File "/srv/app/worker.py", line 88, in run
    self.handle(job)
  File "/srv/app/worker.py", line 41, in handle
    rows = fetch(job.query)
           ^^^^^^^^^^^^^^^^
  File "/srv/app/db.py", line 17, in fetch
    return cursor.fetchall()
KeyError: 'query'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app/main.py", line 12, in <module>
    worker.run()
  File "/srv/app/worker.py", line 93, in run
    raise JobFailed(job) from error
app.errors.JobFailed: job 17 has no query"""

JAVA = """\
Exception in thread "main" org.springframework.beans.factory.BeanCreationException: Error creating bean 'orders'
\tat org.springframework.beans.factory.support.AbstractBeanFactory.doGetBean(AbstractBeanFactory.java:326)
\tat org.springframework.boot.SpringApplication.run(SpringApplication.java:1303)
\tat com.shop.Application.main(Application.java:11)
Caused by: java.sql.SQLException: Access denied for user 'shop'@'localhost'
\tat com.mysql.cj.jdbc.ConnectionImpl.createNewIO(ConnectionImpl.java:828)
\t... 42 more"""

NODE = """\
/srv/web/src/routes/cart.js:31
    const total = cart.items.reduce((sum, item) => sum + item.price, 0);
                            ^

TypeError: Cannot read properties of undefined (reading 'items')
    at total (/srv/web/src/routes/cart.js:31:29)
    at Layer.handle [as handle_request] (/srv/web/node_modules/express/lib/router/layer.js:95:5)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
    at async Promise.all (index 0)

Node.js v20.11.0"""

RUST = """\
   Compiling shop v0.1.0 (/home/dev/shop)
error[E0502]: cannot borrow `items` as mutable because it is also borrowed as immutable
 --> src/main.rs:14:5
   |
13 |     let first = &items[0];
   |                  ----- immutable borrow occurs here
14 |     items.push(4);
   |     ^^^^^^^^^^^^^ mutable borrow occurs here
   |
   = note: see the reference for the rules of borrowing

For more information about this error, try `rustc --explain E0502`.
error: could not compile `shop` (bin "shop") due to 1 previous error"""

PANIC = """\
thread 'main' panicked at src/config.rs:22:38:
called `Option::unwrap()` on a `None` value
stack backtrace:
   0: rust_begin_unwind
             at /rustc/07dca489ac2d933c78d3c5158e3f43beefeb02ce/library/std/src/panicking.rs:645:5
   1: core::panicking::panic_fmt
             at /rustc/07dca489ac2d933c78d3c5158e3f43beefeb02ce/library/core/src/panicking.rs:72:14
   2: shop::config::load
             at ./src/config.rs:22:38
note: run with `RUST_BACKTRACE=full` for a verbose backtrace."""

GO = """\
panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
main.pick({0xc00001c0a8, 0x3, 0x3}, 0x5)
\t/home/dev/pick/main.go:9 +0x1d
main.main()
\t/home/dev/pick/main.go:14 +0x5b
exit status 2"""

PYTEST = """\
============================= test session starts ==============================
platform linux -- Python 3.11.4, pytest-8.1.1, pluggy-1.4.0
rootdir: /home/dev/shop
configfile: pyproject.toml
collected 12 items

tests/test_cart.py ......F.....                                          [100%]

=================================== FAILURES ===================================
______________________________ test_total_of_cart ______________________________

    def test_total_of_cart():
        cart = Cart()
        cart.add("apple", 3)
>       assert cart.total() == 300
E       AssertionError: assert 299 == 300
E        +  where 299 = total()

tests/test_cart.py:21: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total_of_cart - AssertionError: assert 299 == 300
========================= 1 failed, 11 passed in 0.31s ========================="""

DIFF = """\
diff --git a/app/cart.py b/app/cart.py
index 8f3c2d1..b7e9a40 100644
--- a/app/cart.py
+++ b/app/cart.py
@@ -10,7 +10,8 @@ class Cart:
     def total(self) -> int:
         \"\"\"What the customer pays for everything in the cart.\"\"\"

-        return sum(item.price for item in self.items)
+        if not self.items:
+            return 0
+        return sum(item.price * item.count for item in self.items)

     def clear(self) -> None:
         self.items.clear()"""

DOCKER = """\
web_1    | 2024-05-01 10:12:01,114 INFO Booting worker with pid 8
web_1    | 2024-05-01 10:12:02,310 INFO Listening at http://0.0.0.0:8000
db_1     | 2024-05-01 10:12:02.500 UTC [1] LOG:  database system is ready to accept connections
web_1    | 2024-05-01 10:12:07,002 ERROR could not translate host name "postgres" to address
web_1    | 2024-05-01 10:12:08,114 INFO Shutting down
web_1 exited with code 1"""

NGINX = """\
203.0.113.7 - - [01/May/2024:10:12:01 +0000] "GET /health HTTP/1.1" 200 2 "-" "curl/8.5.0"
203.0.113.7 - - [01/May/2024:10:12:03 +0000] "POST /orders HTTP/1.1" 502 157 "-" "Mozilla/5.0"
2024/05/01 10:12:03 [error] 31#31: *7 connect() failed (111: Connection refused) while connecting to upstream
203.0.113.7 - - [01/May/2024:10:12:04 +0000] "GET /health HTTP/1.1" 200 2 "-" "curl/8.5.0\""""

SQL = """\
SELECT o.id, o.total, c.name
FROM orders o
LEFT JOIN customers c ON c.id = o.customer_id
WHERE o.created_at > now() - interval '7 days'
  AND o.state IN ('open', 'paid')
GROUP BY o.id, o.total, c.name
ORDER BY o.total DESC
LIMIT 50;

 Limit  (cost=1044.12..1044.25 rows=50 width=44)
   ->  Sort  (cost=1044.12..1056.62 rows=5000 width=44)
         Sort Key: o.total DESC
         ->  Seq Scan on orders o  (cost=0.00..878.00 rows=5000 width=44)"""

SCRIPT = """\
import os
import sys as system
from pathlib import Path

# where the exports go
OUT = Path("out")


class Exporter:
    \"\"\"Writes the rows of one table to a file.

    The file is replaced whole.
    \"\"\"

    def __init__(self, table, rows):
        self.table = table
        self.rows = rows

    def write(self):
        for row in self.rows:
            if row.deleted:
                continue
            print(row, file=system.stdout)
        return self

if __name__ == "__main__":
    Exporter("orders", []).write()"""

JSON = """\
{
  "name": "shop",
  "owner": "山田太郎",
  "scripts": {
    "build": "vite build",
    "test": "vitest run"
  },
  "dependencies": [
    "express",
    "a library that nobody remembers"
  ]
}"""

YAML = """\
services:
  web:
    image: nginx:1.25
    restart: always
    ports:
      - "8080:80"
  db:
    image: postgres:16
    environment:
      POSTGRES_PASSWORD: secret"""

HTML = """\
<!DOCTYPE html>
<html lang="ja">
  <head>
    <title>注文一覧</title>
  </head>
  <body class="page">
    <p>Thank you for the order</p>
    <img src="/logo.png" alt="logo">
  </body>
</html>"""

TABLES = """\
NAME                     READY   STATUS             RESTARTS   AGE
web-7c9d8f6b5-abcde      0/1     CrashLoopBackOff   12         41m
db-0                     1/1     Running            0          3d

| id | name  | total |
|----|-------|-------|
| 1  | apple | 300   |

id,name,total,currency
1,apple,300,JPY
2,pear,120,JPY"""

URLS = """\
https://example.com/docs/caching/what-is-kept-and-for-how-long?version=2.4&section=eviction#least-recently-used
https://example.com/docs/caching/sizes-and-limits?version=2.4&section=defaults#memory
https://cdn.example.com/assets/app.3f9a1c.js
https://example.com/docs/getting-started?lang=ja
https://example.com/docs/configuration#timeouts
- https://example.com/blog/2024/05/connection-pools
* https://example.com/issues/1234"""

RUBY = """\
app/models/user.rb:14:in `full_name': undefined method `strip' for nil:NilClass (NoMethodError)
	from app/controllers/users_controller.rb:8:in `show'
	from /usr/lib/ruby/gems/3.2.0/gems/actionpack-7.0.4/lib/abstract_controller/base.rb:215:in `process_action'
	from /usr/lib/ruby/gems/3.2.0/gems/actionpack-7.0.4/lib/action_controller/metal.rb:10:in `process'"""

GCC = """\
[ 12%] Building CXX object src/CMakeFiles/core.dir/cart.cpp.o
In file included from /home/ci/src/cart.cpp:3:
/home/ci/src/cart.h:14:10: fatal error: fmt/core.h: No such file or directory
   14 | #include <fmt/core.h>
      |          ^~~~~~~~~~~~
compilation terminated.
gmake[2]: *** [src/CMakeFiles/core.dir/build.make:76: src/CMakeFiles/core.dir/cart.cpp.o] Error 1
gmake[1]: *** [CMakeFiles/Makefile2:87: src/CMakeFiles/core.dir/all] Error 2
gmake: *** [Makefile:91: all] Error 2"""

CARGO = """\
running 3 tests
test cart::tests::total ... FAILED
test cart::tests::empty ... ok
test cart::tests::add ... ok

failures:

---- cart::tests::total stdout ----
thread 'cart::tests::total' panicked at src/cart.rs:40:9:
assertion `left == right` failed
  left: 299
 right: 300

failures:
    cart::tests::total

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"""

TSX = """\
import React, { useState } from "react";
import { Button } from "./Button";

type Props = {
  title: string;
  onSave: (value: string) => Promise<void>;
};

// 保存フォーム
export function Form({ title, onSave }: Props) {
  const [value, setValue] = useState("");
  const [busy, setBusy] = useState(false);

  async function submit() {
    setBusy(true);
    try {
      await onSave(value);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form onSubmit={submit}>
      <h1>{title}</h1>
      Please enter the new value
      <input value={value} onChange={(event) => setValue(event.target.value)} />
      <Button disabled={busy}>保存する</Button>
    </form>
  );
}"""

BASH = """\
#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"
for f in *.sql; do
  echo "applying $f"
  psql "$DATABASE_URL" -f "$f"
done
if [ -z "${1:-}" ]; then
  echo "usage: migrate.sh ENV" >&2
  exit 1
fi"""

SPRING = """\
2024-05-01T10:12:01.114+09:00  INFO 1 --- [ main] com.shop.Application   : Starting Application
2024-05-01T10:12:03.310+09:00 ERROR 1 --- [ main] o.s.boot.Application   : Application run failed

org.springframework.beans.factory.UnsatisfiedDependencyException: Error creating bean with name 'orderController'
	at org.springframework.beans.factory.Autowired.resolve(Autowired.java:716) ~[spring-beans-6.1.6.jar!/:6.1.6]
Caused by: org.springframework.beans.factory.NoSuchBeanException: No bean of type 'com.shop.OrderRepository' available
	at org.springframework.beans.factory.support.Factory.raise(Factory.java:1880)
	... 20 common frames omitted"""

MYSQL = """\
mysql> select * from users where email = 'a@example.com';
+----+---------------+---------------------+
| id | email         | created_at          |
+----+---------------+---------------------+
|  1 | a@example.com | 2024-05-01 10:12:01 |
+----+---------------+---------------------+
1 row in set (0.00 sec)

mysql> insert into users (email) values ('a@example.com');
ERROR 1062 (23000): Duplicate entry 'a@example.com' for key 'users.email'"""

BASE64 = "\n".join(
    ["U2hvcnQgYW5kIHNpbXBsZSBpcyBiZXR0ZXIgdGhhbiBsb25nIGFuZCBjb21wbGV4Lg0KVGhl"] * 9 + ["c2FtZSBob2xkcw=="]
)

PASTES = {
    "python": (PYTHON, "app.errors.JobFailed: job 17 has no query"),
    "java": (JAVA, "Caused by: java.sql.SQLException: Access denied for user 'shop'@'localhost'"),
    "node": (NODE, "TypeError: Cannot read properties of undefined (reading 'items')"),
    "rust": (RUST, "error[E0502]: cannot borrow `items` as mutable because it is also borrowed as immutable"),
    "panic": (PANIC, "called `Option::unwrap()` on a `None` value"),
    "go": (GO, "panic: runtime error: index out of range [5] with length 3"),
    "pytest": (PYTEST, "FAILED tests/test_cart.py::test_total_of_cart - AssertionError: assert 299 == 300"),
    "diff": (DIFF, None),
    "docker": (DOCKER, DOCKER.splitlines()[3]),
    "nginx": (NGINX, NGINX.splitlines()[2]),
    "sql": (SQL, None),
    "script": (SCRIPT, None),
    "json": (JSON, None),
    "yaml": (YAML, None),
    "html": (HTML, None),
    "tables": (TABLES, None),
    "urls": (URLS, None),
    "base64": (BASE64, None),
    "ruby": (RUBY, RUBY.splitlines()[0]),
    "gcc": (GCC, "/home/ci/src/cart.h:14:10: fatal error: fmt/core.h: No such file or directory"),
    "cargo": (CARGO, "assertion `left == right` failed"),
    "tsx": (TSX, None),
    "bash": (BASH, None),
    "spring": (SPRING, SPRING.splitlines()[5]),
    "mysql": (MYSQL, "ERROR 1062 (23000): Duplicate entry 'a@example.com' for key 'users.email'"),
}
LONG_JAPANESE = (
    "検索の結果が遅いという問い合わせが増えている。先週の変更で索引の作り方を変えたのが原因だと思うが、まだ確かめていない。"
    "手元では再現しないので、本番と同じ量のデータを用意して測り直したい。キャッシュの大きさも見直すつもりだ。"
) * 5
