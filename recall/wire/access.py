"""Windows: a folder that only its user can read, which elsewhere is its mode 0700.

By ctypes: Python makes such folders when it is told a mode of 0700, but cannot mend one that was there before.
"""

import ctypes
import os
import sys
from ctypes import wintypes

assert sys.platform == "win32"  # noqa: S101  (tells the type checker)

_TOKEN_QUERY, _TOKEN_USER = 8, 1
_REVISION, _FILE = 1, 1  # SDDL_REVISION_1, SE_FILE_OBJECT
_LIST, _PROTECTED = 0x4, 0x8000_0000  # DACL_SECURITY_INFORMATION, PROTECTED_DACL_SECURITY_INFORMATION
_MAX_SID = 128  # bytes of TOKEN_USER; its SID has 68 at most


def is_private(folder: str) -> bool:
    """Whether nobody but the user, the system and administrators may do anything to a folder. Raises OSError."""
    return _allowed(_list_of(folder)) <= {*_allowed(_private_list()), "OW"}


def make_private(folder: str) -> None:
    """Give a folder and all that is in it to the user alone. The system and administrators keep their rights: they
    could take them at any time, as root can elsewhere. Raises OSError."""
    advapi32, descriptor = _advapi32(), ctypes.c_void_p()
    words, made = _private_list(), ctypes.byref(descriptor)
    _check(advapi32.ConvertStringSecurityDescriptorToSecurityDescriptorW(words, _REVISION, made, None), folder)
    try:
        # What comes later inherits the list; what is there has kept what it inherited before.
        inside = [os.path.join(where, name) for where, *names in os.walk(folder) for name in (*names[0], *names[1])]
        for path in (folder, *inside):
            _check(advapi32.SetFileSecurityW(path, wintypes.DWORD(_LIST | _PROTECTED), descriptor), path)
    finally:
        _free(descriptor)


def _private_list() -> str:
    """The access list in Microsoft's notation, (kind; heirs; rights; who) for user, system and administrators;
    P: nothing is inherited from above."""
    return "D:P" + "".join(f"(A;OICI;FA;;;{who})" for who in (_user(), "SY", "BA"))


def _allowed(listed: str) -> set[str]:
    """Whom an access list allows anything, by SID or Microsoft's two letters."""
    entries = listed.partition("(")[2].rstrip(")").split(")(")
    return {entry.rpartition(";")[2] for entry in entries if not entry.startswith("D")}


def _list_of(folder: str) -> str:
    """The access list of a folder in the same notation."""
    advapi32, descriptor, text = _advapi32(), ctypes.c_void_p(), wintypes.LPWSTR()
    made, none = ctypes.byref(descriptor), None
    if code := advapi32.GetNamedSecurityInfoW(folder, _FILE, _LIST, none, none, none, none, made):
        raise ctypes.WinError(code)
    try:
        words = ctypes.byref(text)
        worked = advapi32.ConvertSecurityDescriptorToStringSecurityDescriptorW(
            descriptor, _REVISION, _LIST, words, none
        )
        _check(worked, folder)
        return _kept(text)
    finally:
        _free(descriptor)


def _user() -> str:
    """The SID of the user that this process runs as."""
    advapi32, token, own = _advapi32(), wintypes.HANDLE(), wintypes.HANDLE(-1)  # -1: this process
    _check(advapi32.OpenProcessToken(own, _TOKEN_QUERY, ctypes.byref(token)), "")
    try:
        found, length = ctypes.create_string_buffer(_MAX_SID), wintypes.DWORD()
        _check(advapi32.GetTokenInformation(token, _TOKEN_USER, found, _MAX_SID, ctypes.byref(length)), "")
    finally:
        ctypes.WinDLL("kernel32").CloseHandle(token)
    text = wintypes.LPWSTR()
    _check(advapi32.ConvertSidToStringSidW(ctypes.c_void_p.from_buffer(found), ctypes.byref(text)), "")
    return _kept(text)


def _advapi32() -> ctypes.WinDLL:
    return ctypes.WinDLL("advapi32", use_last_error=True)


def _kept(text: wintypes.LPWSTR) -> str:
    """The words of a text that the system made, whose memory is given back."""
    try:
        return text.value or ""
    finally:
        _free(text)


def _free(memory: object) -> None:
    ctypes.WinDLL("kernel32").LocalFree(memory)


def _check(worked: int, path: str) -> None:
    if not worked:
        error = ctypes.WinError(ctypes.get_last_error())
        error.filename = path or None
        raise error
