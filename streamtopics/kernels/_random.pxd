# SPDX-License-Identifier: BSD-3-Clause
"""Counter-based random numbers: SplitMix64 (Steele, Lea and Flood 2014).

A stream is its 64-bit state, so it can start anywhere: at a hash of a seed and of
what the numbers are for, whatever was drawn before.
"""

ctypedef unsigned long long uint64


cdef inline uint64 mix(uint64 x) noexcept nogil:
    """A bijective hash of 64 bits."""
    x = (x ^ (x >> 30)) * <uint64> 0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64> 0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline double uniform(uint64 *state) noexcept nogil:
    """The next number of a stream, in [0, 1), with 53 random bits."""
    state[0] += <uint64> 0x9E3779B97F4A7C15
    return (mix(state[0]) >> 11) * (1.0 / 9007199254740992.0)


cdef inline Py_ssize_t draw(const double *weight, Py_ssize_t n, double threshold) noexcept nogil:
    """The first place whose running sum exceeds the threshold, else the last of weight."""
    cdef Py_ssize_t i
    for i in range(n):
        threshold -= weight[i]
        if threshold < 0:
            return i
    i = n - 1
    while i > 0 and weight[i] <= 0:
        i -= 1
    return i
