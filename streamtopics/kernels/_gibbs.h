/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collapsed Gibbs sampling of the topics of documents, given the topics' words:
 *
 *     p(z_n = k | z without z_n) proportional to b_xk (alpha_k + N_k),
 *
 * with x the word of token n and N_k the weight of the document's other tokens in topic k. The
 * topics a document holds are its columns, eight to a block. A token is drawn from the terms b N
 * of those columns, or else from b alpha over all topics, of which running sums are kept for each
 * word, so the cost does not grow with the number of topics. Up to ST_ALL_COLUMNS topics all of
 * them are columns, with terms b (alpha + N).
 *
 * Tokens start from b f, where f is what the document's words together expect in each topic,
 * sharpened, in the few topics where they expect a token or more; or, if that is 0, from b alpha.
 *
 * In the chain nothing is stored at an address that depends on what was drawn: whole blocks are
 * updated, and two documents take turns in one thread, since each waits for its own draws.
 */
#ifndef STREAMTOPICS_GIBBS_H
#define STREAMTOPICS_GIBBS_H

#include <stdlib.h>

#include "_lists.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif
#if defined(__GNUC__)
#define ST_NOINLINE static __attribute__((noinline))
#define ST_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define ST_NOINLINE static
#define ST_UNLIKELY(condition) (condition)
#endif

enum {
    ST_LANES = 8,           /* columns of a block */
    ST_PART = 32,           /* topics of a part of the running sums */
    ST_ALL_COLUMNS = 32,    /* topics, up to which all are columns */
    ST_FLOAT_TERMS = 1024,  /* terms, up to which a sum may be in float */
    ST_FLOAT_TOKENS = 1 << 24,
    ST_ALIGNMENT = 64
};
/* Tokens that a topic lets expect at least, for tokens to start in it. */
#define ST_LEAST 1.0f

/* Memory that grows; `data` is aligned. */
typedef struct {
    void *block;
    char *data;
    size_t capacity;
} st_buffer;

ST_INLINE int st_reserve(st_buffer *buffer, size_t n_bytes, size_t n_kept)
{
    if (n_bytes <= buffer->capacity)
        return 0;
    const size_t capacity = n_bytes + n_bytes / 2;
    char *block = (char *)malloc(capacity + ST_ALIGNMENT);
    if (block == NULL)
        return -1;
    char *data = block + (ST_ALIGNMENT - (uintptr_t)block % ST_ALIGNMENT);
    if (n_kept > 0)
        memcpy(data, buffer->data, n_kept);
    free(buffer->block);
    buffer->block = block;
    buffer->data = data;
    buffer->capacity = capacity;
    return 0;
}

/* A list of int or float; grown by realloc, which rather maps than copies what is long. */
typedef struct {
    char *data;
    size_t n_bytes, capacity;
} st_list;

/* n_bytes more at the end of the list; NULL without memory */
ST_INLINE void *st_extend(st_list *list, size_t n_bytes)
{
    const size_t needed = list->n_bytes + n_bytes + 1;
    if (needed > list->capacity) {
        char *data = (char *)realloc(list->data, needed + needed / 2);
        if (data == NULL)
            return NULL;
        list->data = data;
        list->capacity = needed + needed / 2;
    }
    void *end = list->data + list->n_bytes;
    list->n_bytes += n_bytes;
    return end;
}

/* Topics of words in lists, see _gibbs_lists.h. */
typedef struct st_lists st_lists;

/* Documents in CSR form, the topics, and what comes out. */
typedef struct {
    /* IN: (n_documents + 1,), (nnz,), (nnz + 1,), (nnz,), (n_documents,) */
    const int *indptr, *words, *first_token;
    const double *token_weight;
    const uint64_t *seeds;
    /* IN: (n_words, width), (width,), (n_words, n_parts), (n_topics,) */
    const float *weights, *prior, *mass;
    const double *alpha;
    /* IN: in place of weights, prior and mass, or NULL */
    const st_lists *lists;
    double alpha_total;
    ptrdiff_t n_topics, width, n_parts, n_sweeps, n_averaged;
    int continued, averages, statistics;
    /* IN and OUT: (n_tokens,) */
    int *z;
    /* OUT: (nnz,); (n_documents,) places in the two lists */
    float *inverse;
    int64_t *first_column, *first_value;
    st_list columns, values;
    /* OUT, or NULL: (n_documents, n_topics), (n_topics,), (n_topics,), (1,) */
    double *mean_counts, *log_theta, *held, *log_total;
} st_job;

/* SplitMix64, as in _random.pxd */
ST_INLINE uint64_t st_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

ST_INLINE uint64_t st_next(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    return st_mix(*state);
}

/* The next number of a stream, in [0, 1), with 24 or 53 random bits. */
ST_INLINE float st_uniform_float(uint64_t *state)
{
    return (float)(int32_t)(st_next(state) >> 40) * (1.0f / 16777216.0f);
}

ST_INLINE double st_uniform_double(uint64_t *state)
{
    return (double)(int64_t)(st_next(state) >> 11) * (1.0 / 9007199254740992.0);
}

ST_INLINE ptrdiff_t st_smaller(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }

ST_INLINE double st_digamma(double x) { return log(st_head_double(x)) - st_tail_double(x); }

#include "_gibbs_lists.h"

/* out[p] = sum of b_k alpha_k over the topics of the parts 0 .. p */
ST_INLINE void st_prior_mass(const float *row, const float *prior, ptrdiff_t width, float *out)
{
    float total = 0;
    for (ptrdiff_t k = 0; k < width; k += ST_PART) {
        total += st_dot_float(row + k, prior + k, st_smaller(ST_PART, width - k));
        *out++ = total;
    }
}

/* The sum of b alpha of a word. */
ST_INLINE float st_mass(const st_job *job, ptrdiff_t word)
{
    return job->lists != NULL ? job->lists->mass[word] : job->mass[(word + 1) * job->n_parts - 1];
}

/* Sums of many small terms, or of weights that are not 1, are in double. */
static int st_needs_double(const st_job *job, ptrdiff_t document)
{
    const int *first = job->first_token;
    const ptrdiff_t start = job->indptr[document], stop = job->indptr[document + 1];
    const ptrdiff_t most = ST_FLOAT_TERMS / (job->n_averaged > 0 ? job->n_averaged : 1);
    int needed = first[stop] - first[start] >= ST_FLOAT_TOKENS;
    for (ptrdiff_t j = start; j < stop; j++)
        needed |= first[j + 1] - first[j] > most
               || (first[j + 1] > first[j] && job->token_weight[j] != 1);
    return needed;
}

#define REAL float
#define NAME(name) st_gibbs_##name##_float
#if defined(__AVX2__)
#include "_gibbs_lanes_avx2.h"
#else
#include "_gibbs_lanes.h"
#endif
#include "_gibbs_search.h"
/* One of the topics of n_blocks blocks in proportion to b alpha. */
ST_INLINE int st_draw_in_part(const float *row, const float *prior, ptrdiff_t n_blocks,
                              float uniform)
{
    st_gibbs_lanes_float terms[ST_PART / ST_LANES], running[ST_PART / ST_LANES];
    ptrdiff_t i;
    float total = 0;
    for (i = 0; i < n_blocks; i++) {
        terms[i] = st_gibbs_product_float(st_gibbs_load_float(row + ST_LANES * i),
                                          st_gibbs_load_float(prior + ST_LANES * i));
        running[i] = st_gibbs_running_float(terms[i]);
    }
    for (i = 0; i < n_blocks; i++) {
        const float here = st_gibbs_last_float(running[i]);
        running[i] = st_gibbs_raised_float(running[i], total);
        total += here;
    }
    int column = st_gibbs_first_above_float(running, total * uniform, terms, n_blocks);
    for (i = n_blocks * ST_LANES - 1; column < 0 && i >= 0; i--)
        if (row[i] * prior[i] > 0 || i == 0)
            column = (int)i;
    return column;
}

/* A topic of the word in proportion to b alpha: its part first, then the topic. */
ST_NOINLINE int st_draw_prior(const st_job *job, ptrdiff_t word, uint64_t *state)
{
    if (job->lists != NULL)
        return st_draw_listed(job->lists, word, state);
    const float *mass = job->mass + word * job->n_parts;
    const float threshold = st_uniform_float(state) * mass[job->n_parts - 1];
    const float uniform = st_uniform_float(state);
    ptrdiff_t part = 0, i;
    for (i = 0; i < job->n_parts - 1; i++)
        part += mass[i] <= threshold;
    const ptrdiff_t first = ST_PART * part, n = st_smaller(ST_PART, job->width - first);
    const float *row = job->weights + word * job->width + first, *prior = job->prior + first;
    if (n == ST_PART)
        return (int)first + st_draw_in_part(row, prior, ST_PART / ST_LANES, uniform);
    return (int)first + st_draw_in_part(row, prior, n / ST_LANES, uniform);
}

/* Bits of the eight numbers that are above 0. */
ST_INLINE uint64_t st_above_0(const float *f)
{
    const st_gibbs_lanes_float lanes = st_gibbs_load_float(f);
    return st_gibbs_above_float(lanes, 0, lanes);
}

/* How much of a word's weight is in a topic for each unit of b f there; within float. */
ST_INLINE float st_share(float weight, float sum)
{
    const float share = weight / sum;
    return sum > 0 ? (share < 1e30f ? share : 1e30f) : 0;
}

/* f = sum of share[u] b alpha over the document's words */
static void st_add_terms(const st_job *job, const int *words, const float *share,
                         ptrdiff_t n_words, float *f)
{
    ptrdiff_t u, i;
    memset(f, 0, job->width * sizeof(float));
    if (job->lists != NULL) {
        st_add_lists(job->lists, words, share, n_words, f);
        return;
    }
    for (u = 0; u < n_words; u += 4) {
        const float *row[4];
        float own[4];
        for (i = 0; i < 4; i++) {
            row[i] = job->weights + words[st_smaller(u + i, n_words - 1)] * job->width;
            own[i] = u + i < n_words ? share[u + i] : 0;
        }
        st_add4_float(f, own, row[0], row[1], row[2], row[3], job->width);
    }
    for (i = 0; i < job->width; i++)
        f[i] *= job->prior[i];
}

/* f_k = n m_k^4 / sum of m^4, or 0 where that is less than ST_LEAST of the n tokens, with m the
 * tokens that the document's words, each on its own, let expect in each topic: m_k = alpha_k
 * sum of b_k / Z over the words, Z = sum of b alpha. The power does what sweeps would: most
 * tokens come to the topics that most words share. `weight` is used up. */
ST_NOINLINE void st_expect(const st_job *job, const int *words, float *weight,
                           ptrdiff_t n_words, float n_tokens, float *f)
{
    const ptrdiff_t width = job->width;
    ptrdiff_t u, k;
    float most = 0, total = 0;
    for (u = 0; u < n_words; u++)
        weight[u] = st_share(weight[u], st_mass(job, words[u]));
    st_add_terms(job, words, weight, n_words, f);
#pragma omp simd reduction(max : most)
    for (k = 0; k < width; k++)
        most = f[k] > most ? f[k] : most;
    const float unit = most > 0 ? 1 / most : 0;
#pragma omp simd reduction(+ : total)
    for (k = 0; k < width; k++) {
        const float m = f[k] * unit;
        f[k] = m * m * (m * m);
        total += f[k];
    }
    const float scale = total > 0 ? n_tokens / total : 0;
#pragma omp simd
    for (k = 0; k < width; k++) {
        const float m = f[k] * scale;
        f[k] = m >= ST_LEAST ? m : 0;
    }
}

#define UNIFORM st_uniform_float
#define WEIGHT(c, u) 1.0f
#include "_gibbs_chain.h"
#undef REAL
#undef NAME
#undef UNIFORM
#undef WEIGHT

#define REAL double
#define NAME(name) st_gibbs_##name##_double
#define UNIFORM st_uniform_double
#define WEIGHT(c, u) (c)->weight[u]
#if defined(__AVX512F__)
#include "_gibbs_lanes_avx512.h"
#else
#include "_gibbs_lanes.h"
#endif
#include "_gibbs_search.h"
#include "_gibbs_chain.h"
#undef REAL
#undef NAME
#undef UNIFORM
#undef WEIGHT

/* Sample all documents of the job; -1 without memory. */
static int st_gibbs_sample(st_job *job, ptrdiff_t n_documents)
{
    int *own = (int *)malloc((n_documents + 1) * sizeof(int));
    int failed = own == NULL;
    ptrdiff_t n_float = 0, n_double = 0, d;
    for (d = 0; d < n_documents && !failed; d++) {
        if (job->first_token[job->indptr[d + 1]] == job->first_token[job->indptr[d]])
            continue;
        if (st_needs_double(job, d))
            own[n_documents - ++n_double] = (int)d;
        else
            own[n_float++] = (int)d;
    }
    failed = failed || st_gibbs_sample_float(job, own, n_float)
          || st_gibbs_sample_double(job, own + n_documents - n_double, n_double);
    free(own);
    return failed ? -1 : 0;
}

#endif
