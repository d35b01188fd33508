# SPDX-License-Identifier: BSD-3-Clause
"""What vector instructions this processor and its operating system offer."""

cdef extern from *:
    """
    #if (defined(__GNUC__) || defined(__clang__)) && (defined(__x86_64__) || defined(__i386__))
    static int st_has_avx2(void) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    }
    static int st_has_avx512(void) {
        return st_has_avx2() && __builtin_cpu_supports("avx512f")
            && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
            && __builtin_cpu_supports("avx512vl");
    }
    #else
    static int st_has_avx2(void) { return 0; }
    static int st_has_avx512(void) { return 0; }
    #endif
    """
    int st_has_avx2()
    int st_has_avx512()


def supported():
    """Names of the instruction sets that can run here, the widest first."""
    names = ["baseline"]
    if st_has_avx2():
        names.insert(0, "avx2")
    if st_has_avx512():
        names.insert(0, "avx512")
    return names
