"""Shapes: how what programs print looks, line by line, in whatever language the person writes."""

import re


def any_of(*patterns: str) -> re.Pattern[str]:
    """One of the patterns. Each repeats a bounded number of times, so that no line takes long."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


FENCE = re.compile(r"(`{3,}|~{3,}) ?([^\s`]{0,60}(?:\s[^`]{0,60}[={][^`]{0,60})?)\Z")
HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
TIME = (
    r"[\[(<]{0,2}(?:\d{4}[-/.]\d\d?[-/.]\d\d?[T _]\d\d?:\d\d|\d\d:\d\d:\d\d[\].,\s]|\d\d?/[A-Z][a-z]{2}/\d{4}:\d\d"
    r"|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} {1,2}\d\d? \d\d:\d\d:\d\d|\s{0,9}\d{1,9}\.\d{3,9}\] )"
)
#: What stands before a program's words: the container's name, pytest's margin, npm's.
MARGIN = re.compile(r"[\w.-]{1,60}\s{0,20}\| +|E {2,9}|npm (?:ERR!|error) ")
EXCEPTION_NAME = r"[A-Z][\w$]{0,100}(?:Error|Exception|Interrupt|Failure|Fault|Timeout|Exit|Warning)"
#: An exception, or the error of a compiler, database or tool, with its message.
ERROR = any_of(
    r"(?:Uncaught |\(in promise\) |Unhandled \w{1,20}[.:]? |Exception in thread \"[^\"]{0,200}\" |\[){0,3}"
    rf"(?:[\w$]{{1,100}}\.){{0,9}}{EXCEPTION_NAME}(?: ?\[[^\]]{{0,100}}\])?(?::(?!:)|\s*\Z)",
    r"(?:[a-z_]\w{0,60}\.){1,9}[A-Z]\w{1,100}: \S",
    rf"\S{{1,300}}\.\w{{1,6}}:\d{{1,9}}: {EXCEPTION_NAME}\Z",
    r"Caused by: \S|thread '[^']{0,200}' (?:\(\d{1,12}\) )?panicked at |panic: \S|called `(?:Option|Result)::",
    r"FAILED \S{1,300} - \S|(?:ORA|PLS)-\d{4,5}: |Segmentation fault|Cannot connect to ",
    r"\S{1,300}:\d{1,9}:in .{1,500}\(\w{1,60}(?:Error|Exception)\)\Z|assertion [`(]",
    r"(?:\S{1,300}[:)] {1,4}|PHP )?(?:[Ff]atal |internal |compile )?(?:[Ff]atal|[Ee]rror|ERROR|FATAL)"
    r"(?: ?[\[(]?[A-Z]{0,10}\d{1,9}[\])]?)?(?: \(\w{1,10}\))?: {1,4}\S",
)
LOGGED_ERROR = any_of(
    rf"{TIME}.{{0,120}}?[\s\[|=\"](?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|ERR|[Ff]atal|[Ee]rror|emerg|alert|crit)[\s\]|:,\"]",
    r"\[(?:ERROR|FATAL|CRITICAL|SEVERE)\]",
)
#: An error that only says that there was one; another line says which.
HOLLOW = re.compile(
    r"could not compile|aborting due to|(?:command|build) failed|complete log|exit(?:ed)? (?:code|status)|Error \d+\Z"
    r"|returned a non-zero|completed with|ELIFECYCLE|SystemExit|CalledProcessError",
    re.IGNORECASE,
)

#: How paste begins in whatever language its words are.
MARKED = any_of(
    # logs
    TIME,
    r"\[(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE|FATAL|NOTICE|CRITICAL|SEVERE) ?\]",
    r"(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE|FATAL|NOTICE|CRITICAL)[:|]",
    r"\d{1,3}(?:\.\d{1,3}){3} \S{1,60} \S{1,60} \[",
    # tables, JSON, markup, remarks
    r"\|.{0,2000}\|\Z|\"[^\"]{0,200}\"\s{0,4}:|<!--|<!DOCTYPE|<\?xml|//|/\*|\*/|```",
    # git
    r"diff --git |index [0-9a-f]{6,40}\.\.|(?:---|\+\+\+) (?:[ab]/|/dev/null)|@@ |(?:new|deleted) file mode \d",
    r"similarity index |rename (?:from|to) \S+\Z|Binary files \S+ and |commit [0-9a-f]{7,40}(?: \(|\Z)",
    # stack traces
    r"Traceback \(most recent call last\)|File \"[^\"]{1,300}\", line \d{1,9}(?:, in .{1,200})?\Z",
    r"For more information about this error|During handling of the above|The above exception was the direct",
    r"at (?:async |new )?[^\s()]{1,300} ?\([^()]{0,300}[.:/<][^()]{0,300}\)\Z",
    r"at [^\s()]{1,200}\.[^\s()]{1,200}\(.{0,300}\)\Z|at \S{1,300}:\d{1,9}(?::\d{1,9})?\)?\Z",
    r"\.\.\. \d{1,9} (?:more|common)|goroutine \d{1,9} \[|created by \S+\.\S|from \S{1,300}:\d{1,9}:in ",
    r"(?:\S{1,200} exited with code|exit status) \d+\Z|Node\.js v[\d.]{1,20}\Z|npm (?:ERR!|error) ",
    r"g?make(?:\[\d{1,3}\])?: \*|#?\d{1,4}:? {1,4}0x[0-9a-f]|\d{1,4}: {1,4}\S{1,300}::",
    r"stack backtrace:|note: run with `|--> \S|= (?:note|help): |\d{1,6} {1,4}\|(?: |\Z)|\|(?: |\Z)",
    # prompts of shells and interpreters, rules with a title
    r"\$ \S|>>>|In \[\d{1,6}\]:|Out\[\d{1,6}\]:|[\w.-]{1,60}@[\w.-]{1,60}[: ].{0,100}?[$#] |PS [A-Z]:\\|[❯➜] ",
    r"\w{1,20}(?:>|=[#>]) \S|[│└├╭╰┌]",
    r"[=_\-*~]{3,}\s.{0,300}\s[=_\-*~]{3,}\Z",
    # heads of mails; their subject is said by someone
    r"(?:From|To|Cc|Bcc|Date|Author|Sent|Reply-To|Message-I[Dd]|Received|Return-Path|MIME-Version|Content-[\w-]{1,40}"
    r"|X-[\w-]{1,40}|DKIM-Signature|In-Reply-To|References):\s{1,9}\S",
)
#: How code, data and output of programs begin where the line is in Latin letters.
CODE = any_of(
    r"(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE|FATAL|NOTICE|CRITICAL)(?:\s{2,}|\s[\[(\d])|[\w.-]{1,60}\s{0,20}\|(?:\s|\Z)",
    # declarations and imports
    r"import [\w.*{}, ]{1,200};|import [\w.]{1,200}(?: as \w{1,60})?\Z|import .{1,200} from [\"']|import [\"'(]",
    r"from [\w.]{1,200} import |#(?:include|define|if|endif|pragma|!)|use \w{1,60}::|package [\w.]{1,100};?\Z",
    r"(?:export |pub |default |async |static |public |private |protected ){0,4}(?:def|fn|func|function)\b.{0,200}\(",
    r"(?:export |pub |abstract |public |private |protected |static |final ){0,4}(?:class|interface|struct|enum|impl"
    r"|trait) [\w<>]{1,100}(?:.{0,200}\{|(?:\(.{0,200}\))?:)\Z",
    # statements
    r"[\w-]{1,40}: .{1,80};\Z|.{1,300}; (?:do|then)\Z|(?:fi|done|esac|end)\Z|(?:echo|printf) [\"'$]",
    r"(?:else|try|finally|do) ?[:{]\Z|except(?: [A-Z(][\w.(), ]{0,100}(?: as \w{1,40})?)?:\Z",
    r"for \w{1,40}(?:, ?\w{1,40}){0,5} in [^\s:]{1,200}:\Z|(?:return|raise|throw|yield|await)\b.{0,200};\Z",
    r"(?:if|for|while|switch|catch) ?\(.{0,300}[{)]\Z|@\w[\w.]{0,100}(?:\(.{0,200}\))?\Z",
    r"[\w.$]{1,200}\(.{0,2000}\)[;,:]?\Z|(?:export )?[A-Z_][A-Z0-9_]{1,60}=|export \w{1,60}=|\[[\w.\-\" :]{1,100}\]\Z",
    # the network, places in files, builds and tests
    r"HTTP/\d|(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /\S{0,300}(?: HTTP/.{0,100}| \d.{0,40})?\Z",
    r"\S{1,300}\.\w{1,6}[:(]\d{1,9}(?:[,:]\d{1,9})?\)?(?::|\Z|:? in \w{1,60}\Z)",
    r"Step \d{1,3}/\d|#\d{1,3} (?:\[|\d|[A-Z]{2,})|=> |---> |\S{1,300}::\S{1,300} (?:PASSED|FAILED|ERROR|SKIPPED)",
    r"collected \d{1,9} items|platform \w{1,20} -- |(?:rootdir|configfile): |plugins: \S+-\d",
    r"\[\s{0,2}\d{1,3}%\]|In file included from|compilation terminated|test \S{1,300} \.\.\. |test result: |[✓✔✗✘] ",
    r"\d{1,6} (?:passed|failed)(?:,| in|\Z)|running \d{1,9} tests?\Z|Stack trace:|Query OK|\d{1,9} rows? in set",
    r"(?:Collecting|Downloading|Installing|Compiling|Finished|Running) [`\S]\S{1,200}(?: v?[\d(].{0,100})?\Z",
    r"Requirement already satisfied|Successfully (?:built|installed|tagged) |Process finished with",
    r"\(\d{1,9} rows?\)|.{0,200}\(cost=\d|added \d{1,9} packages|BEGIN;|COMMIT;",
)
#: SQL, unless a person speaks of it.
SQL = any_of(
    r"SELECT\b|INSERT INTO|DELETE FROM|CREATE (?:OR|UNIQUE|TABLE|INDEX|VIEW|TYPE|FUNCTION)\b|ALTER TABLE",
    r"(?:FROM|WHERE|HAVING|JOIN|(?:DROP|LEFT|RIGHT|INNER|FULL|CROSS) [A-Z]{4,}|(?:ORDER|GROUP) BY|VALUES|UNION)\b",
    r"LIMIT \d{1,9};?\Z|UPDATE \S+(?: SET\b|\Z)|SET \w+ ?=|WITH \w+ AS|(?:AND|ON|OR) .{0,200}(?:[=<>(]|LIKE|NULL)",
)
#: Statements that begin as sentences do: code only where many of the words are none.
STATEMENT = any_of(
    r"(?:if|elif|while|with)\b.{0,200}[\"'()\[\]=<>_].{0,200}:\Z",
    r"(?:return|raise|throw|yield|await)\b.{0,200}[\"')\]}_]\Z|select\b.{0,200}[*,=;._].{0,200}\bfrom\b",
)
ASSIGNMENT = re.compile(
    r"(?:(?:const|let|var|final|static|auto|mut|int|long|char|double|float|bool|String|local|my)\s+){0,3}"
    r"[\w.$\[\]\"'-]{1,80}(?:\s?:\s?[\w\[\], |.<>&]{1,80})?\s{0,20}[-+*/|:]?=(?!=)\s*\S"
)
CODE_END = re.compile(r"(?:[{}(\[\\;]|=>|->|[)}\]\"],)\Z")
BRACKETS = re.compile(r"[()\[\]{};\"]")
TAG = re.compile(r"</?[A-Za-z][\w:.-]{0,60}(?:[\s/>]|\Z)")
COLUMN = re.compile(r"[^\s.!?:] {2,}\S|\S\t+\S|\S \| \S")
WIDE_GAP = re.compile(r"\S {4,}\S")
CSV = re.compile(r"[^,\s]{0,200}(?:,[^\s,][^,]{0,200}|,){3,}\Z")
SETTING = re.compile(r"(?:- )?(?:[a-z_][\w./-]{0,60}|[A-Z_]{2,60}):(?:\s+\S+){0,2}\Z")
#: Marks that look like a mail's quotation: of an interpreter, of pytest, of npm, of a build.
ECHO = re.compile(r">>>|>\s\s|> \S{1,100}@\d|> \[")
REMARK = re.compile(r"# |-- ")
LABEL = re.compile(r"[A-Z][a-z]{1,20}: ")
BULLET = re.compile(r"(?:[-*+•・]|\d{1,3}[.)]) +")
#: Letters of scripts that part no words by spaces or have signs that `isalpha` leaves out, and accented Latin ones.
FOREIGN = re.compile(
    "[\xc0-\u1fff\u2c00-\ud7ff\uf900-\ufaff\ufb1d-\ufdff\ufe70-\ufefc\uff00-\uffef\U00010000-\U0001e9ff\U00020000-\U0003ffff]"
)
#: Texts and remarks inside code: their language is not that of the line.
INSIDE_CODE = re.compile(r"\"[^\"]{0,300}\"|(?<!\w)'[^']{0,300}'|\s(?:#|//|--)\s.*")
#: Words of somebody who speaks or asks; programs seldom print them.
PERSONAL = re.compile(
    r"\b(?:i|im|my|me|we|our|us|you|your|please|why|how|what|where|when|which|who|can|could|should|would|does|did|is|are"
    r"|but|then|this|that)\b(?!\.\w)",
    re.IGNORECASE,
)
QUESTION = re.compile(r"[?？][\"'”」』)）*_]{0,4}\Z|(?:です|ます|した|ない)か[。.]?\Z")
SENTENCE_END = re.compile(r"[.!?:…。！？：][\"'”」』)）*_`]{0,4}\Z")
AROUND_WORDS = ".,!?;:…()[]\"'“”‘’*_~"
