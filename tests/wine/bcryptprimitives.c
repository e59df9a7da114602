/* The one function that Rust programs need of Windows' bcryptprimitives.dll, which Wine before 9.0 lacks: random bytes,
   taken from the system's own generator (RtlGenRandom, which advapi32.dll exports as SystemFunction036). */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
    return SystemFunction036(data, (ULONG)length);
}
