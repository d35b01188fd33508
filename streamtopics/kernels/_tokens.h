/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of text, eight at a time. */
#ifndef STREAMTOPICS_TOKENS_H
#define STREAMTOPICS_TOKENS_H

#include <Python.h>

#include "_vector.h"

#if defined(_MSC_VER)
#include <intrin.h>
#endif

/* Eight bytes as a number, the first one lowest on any machine. */
static inline uint64_t st_load(const unsigned char *text) {
    uint64_t x;
    memcpy(&x, text, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

/* The same bytes with the first one highest, so that numbers are ordered as the bytes are. */
static inline uint64_t st_reversed(uint64_t x) {
#if defined(_MSC_VER)
    return _byteswap_uint64(x);
#else
    return __builtin_bswap64(x);
#endif
}

/* Place of the first byte that is zero, or 8. */
static inline int st_first_zero(uint64_t x) {
    uint64_t zeros = (x - UINT64_C(0x0101010101010101)) & ~x & UINT64_C(0x8080808080808080);
    return zeros ? st_lowest(zeros) >> 3 : 8;
}

/* ASCII text with a zero for each character that is no part of a word; `to_lower` is 0x20 or 0.
   Digits and the underscore become (c & keep) | mark. */
static inline void st_fold_ascii(const unsigned char *text, Py_ssize_t n, unsigned char to_lower,
                                 unsigned char keep, unsigned char mark, unsigned char *out) {
    for (Py_ssize_t i = 0; i < n; i++) {
        unsigned char c = text[i], low = c | 0x20;
        unsigned char letter = (unsigned char) (low - 'a') < 26 ? 0xFF : 0;
        unsigned char other = (unsigned char) (c - '0') < 10 || c == '_' ? 0xFF : 0;
        out[i] = (letter & (c | to_lower)) | (other & ((c & keep) | mark));
    }
}

#endif
