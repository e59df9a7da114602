#!/bin/sh
# recall-carrier 1 name=@NAME@ platform=@PLATFORM@
#
# recall @VERSION@ for @PLATFORM@ in one file. Run it: the first time it installs itself for you, from then on it runs
# what it has installed. This text is followed by a compressed archive of the program, which is unpacked nowhere else.
#
#   sh FILE install    installs and does nothing else
#   sh FILE COMMAND    installs where needed, then runs `recall COMMAND`

name=@NAME@
version=@VERSION@
archive_at=@ARCHIVE_AT@ # the archive's first byte, counted from 1

HOME=${HOME:-$(eval "echo ~$(id -un)")}
data=@DATA@/recall
case ${XDG_DATA_HOME-} in /*) data=$XDG_DATA_HOME/recall ;; esac

# Called as `sh FILE` it may stand here; piped into `sh` there is no file that the archive could be read from.
file=$0
case $file in */*) ;; *) file=./$file ;; esac
[ -f "$file" ] || {
    echo "recall: save this file and run it: sh FILE setup" >&2
    exit 1
}

# The hook's way: no process but this one. The link leads to this very version, so there is nothing to decide.
if [ "$data/current" -ef "$data/versions/$name" ] && [ "${1-}" != install ]; then
    exec "$data/current/recall" "$@"
fi

hook=
if [ "${1-}" = hook ] || { [ $# -eq 0 ] && [ ! -t 0 ]; }; then hook=yes; fi
for word; do case $word in -h | --help) hook= ;; esac done

say() { [ -n "$hook" ] || printf 'recall: %s\n' "$*" >&2; }

fail() {
    say "$*"
    [ -z "$hook" ] || exit 0
    exit 1
}

case $HOME in /*) ;; *) fail "expected HOME to be a whole path, found $HOME; set it to your home folder" ;; esac

newer() { # whether version $1 is above version $2
    [ "$1" != "$2" ] && [ "$(printf '%s\n' "$1" "$2" | LC_ALL=C sort -t . -k 1,1n -k 2,2n -k 3,3n | tail -n 1)" = "$1" ]
}

fits() {
    case $(uname -s)-$(uname -m) in @MACHINES@) ;; *) fail "this file holds recall for @PLATFORM@, and this machine is \
$(uname -s)-$(uname -m); take the file that is made for it" ;; esac
}

unwritable() {
    fail "the program belongs into $data, which cannot be written (${1##*: }); make that folder yours to write, or set \
XDG_DATA_HOME to one that is"
}

refused() { # a sentence for what tar or the shell said
    case $1 in
    *"No space left"* | *[Qq]uota*)
        fail "the disk that holds $data is full; the program needs 300 MB there: make room and run it again" ;;
    *"Read-only"* | *"Permission denied"* | *"Not a directory"*)
        unwritable "$1" ;;
    *)
        fail "this file is damaged or was not fetched whole; fetch it again" ;;
    esac
}

unpack() { # the program into a fresh folder beside the versions
    fresh=$data/versions/.new-$$
    trap leave EXIT
    trap 'exit 130' INT
    trap 'exit 143' HUP TERM
    missing=
    folder=$data
    while [ ! -d "$folder" ] && [ "$folder" != / ]; do # an uninstall removes what had to be made, and nothing else
        missing="$missing$folder
"
        folder=$(dirname "$folder")
    done
    if ! said=$(LC_ALL=C mkdir -p "$fresh" 2>&1); then
        case $said in *"No space left"* | *[Qq]uota*) refused "$said" ;; *) unwritable "$said" ;; esac
    fi
    [ -z "$missing" ] || printf %s "$missing" >>"$data/made.txt"
    : >"$data/versions/.tried"
    for other in "$data"/versions/.new-*; do # of installations that were killed
        kill -0 "${other##*-}" 2>/dev/null || rm -rf "$other"
    done
    said=$(expand 2>&1) || refused "$said"
    [ -z "$said" ] || refused "$said"
    said=$("$fresh/recall" --version 2>&1) || fail "the program that was unpacked into $data does not start on this \
system ($said); it needs @NEEDS@, and a folder that programs may be run from"
}

expand() { # tar ends well also where gzip finds other bytes than were packed; recall itself compares each file later
    tail -c "+$archive_at" "$file" | { LC_ALL=C gzip -dc || echo damaged >&2; } |
        (cd "$fresh" && LC_ALL=C tar -xof - --strip-components=1)
}

leave() { # what is left of an installation that did not come about
    rm -rf "$fresh"
    for folder in "$data"/versions/[0-9]*; do [ ! -d "$folder" ] || return 0; done
    [ -n "${missing-}" ] && [ -z "$hook" ] && [ ! -f "$data/config.toml" ] || return 0
    rm -f "$data/versions/.tried" "$data/made.txt" && rmdir "$data/versions" || return 0
    printf %s "$missing" | while read -r folder; do rmdir "$folder"; done
} 2>/dev/null

install() {
    fits
    mask=$(umask)
    umask 077 # what is installed is its owner's alone; what the person's commands write later is as always
    if "$data/versions/$name/recall" --version >/dev/null 2>&1; then
        "$data/versions/$name/recall" "$@"
        code=$?
        if [ $code -ne 4 ]; then # it has found itself damaged
            umask "$mask"
            return $code
        fi
    fi
    unpack
    "$fresh/recall" "$@"
    code=$?
    rm -rf "$fresh" "$data/versions/.tried"
    trap - EXIT INT HUP TERM
    umask "$mask"
    return $code
}

if [ "${1-}" = install ]; then
    install "$@"
    exit
fi

current=$(readlink "$data/current" 2>/dev/null)
current=${current##*/}
[ -x "$data/versions/$current/recall" ] || current=

if [ -n "$current" ] && ! newer "$version" "${current%-*}"; then
    if newer "${current%-*}" "$version"; then
        say "recall ${current%-*} is installed and runs; this file holds the older $version (\`recall upgrade FILE\` takes it)"
    else
        say "another build of recall $version is installed and runs (\`recall upgrade FILE\` takes the one in this file)"
    fi
    exec "$data/current/recall" "$@"
fi

if [ -n "$hook" ]; then
    # No message waits for an installation: it runs by itself, once, and later messages find what it has made.
    for other in "$data"/versions/.new-*; do
        kill -0 "${other##*-}" 2>/dev/null && busy=yes
    done
    # Where that failed a while ago, on a full disk above all, it is not tried with every message.
    [ -z "$(find "$data/versions/.tried" -mmin -10 2>/dev/null)" ] || busy=yes
    [ -n "${busy-}" ] || (sh "$file" install </dev/null >/dev/null 2>&1 &)
    [ -z "$current" ] || exec "$data/current/recall" "$@"
    cat >/dev/null
    exit 0
fi

if [ -z "$current" ]; then
    case ${1-} in
    --version) echo "recall $version" && exit ;;
    uninstall) say "no recall is installed in $data" && exit ;;
    esac
    for word; do
        case $word in --help | -h | --dry-run) # what changes nothing installs nothing
            fits
            unpack
            "$fresh/recall" "$@"
            exit ;;
        esac
    done
fi
install install || exit
if [ $# -eq 0 ]; then exit 0; fi
exec "$data/current/recall" "$@"
