/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The row operations of _vector.h for one type: REAL is float or double and
 * NAME(x) is st_x_float or st_x_double. Included once for each.
 */

/* sum_k a[k] * b[k] */
ST_INLINE REAL NAME(dot)(const REAL *ST_RESTRICT a, const REAL *ST_RESTRICT b, ptrdiff_t n)
{
    REAL sum = 0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* out[j] = sum_k a[k] * rows[j][k] for four rows that share the loads of a */
ST_INLINE void NAME(dot4)(const REAL *ST_RESTRICT a, const REAL *b0, const REAL *b1,
                          const REAL *b2, const REAL *b3, ptrdiff_t n, REAL *out)
{
    REAL s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (ptrdiff_t k = 0; k < n; k++) {
        s0 += a[k] * b0[k];
        s1 += a[k] * b1[k];
        s2 += a[k] * b2[k];
        s3 += a[k] * b3[k];
    }
    out[0] = s0;
    out[1] = s1;
    out[2] = s2;
    out[3] = s3;
}

/* sum[k] += r * b[k] */
ST_INLINE void NAME(add)(REAL *ST_RESTRICT sum, REAL r, const REAL *ST_RESTRICT b, ptrdiff_t n)
{
#pragma omp simd
    for (ptrdiff_t k = 0; k < n; k++)
        sum[k] += r * b[k];
}

/* sum[k] += sum_j r[j] * rows[j][k] for four rows */
ST_INLINE void NAME(add4)(REAL *ST_RESTRICT sum, const REAL *r, const REAL *b0, const REAL *b1,
                          const REAL *b2, const REAL *b3, ptrdiff_t n)
{
    const REAL r0 = r[0], r1 = r[1], r2 = r[2], r3 = r[3];
#pragma omp simd
    for (ptrdiff_t k = 0; k < n; k++)
        sum[k] += (r0 * b0[k] + r1 * b1[k]) + (r2 * b2[k] + r3 * b3[k]);
}

/* out[k] = exp(digamma(x[k]) - offset[k] - m), returning m, where m is the
 * largest of -tail(x[k]) - offset[k]: no entry overflows, the largest cannot
 * underflow, and what is less than exp(ST_FLOOR) of it is kept there. */
ST_INLINE REAL NAME(exp_digamma)(const REAL *ST_RESTRICT x, const REAL *ST_RESTRICT offset,
                                 REAL *ST_RESTRICT out, ptrdiff_t n)
{
    REAL m = -INFINITY;
#pragma omp simd reduction(max : m)
    for (ptrdiff_t k = 0; k < n; k++) {
        const REAL y = -NAME(tail)(x[k]) - offset[k];
        out[k] = y;
        m = y > m ? y : m;
    }
#pragma omp simd
    for (ptrdiff_t k = 0; k < n; k++) {
        const REAL y = out[k] - m;
        out[k] = NAME(head)(x[k]) * NAME(exp)(y > ST_FLOOR ? y : ST_FLOOR);
    }
    return m;
}

/* gamma[k] <- alpha[k] + e[k] * sum[k]; returns sum_k |change of gamma[k]| */
ST_INLINE REAL NAME(update)(const REAL *ST_RESTRICT alpha, const REAL *ST_RESTRICT e,
                            const REAL *ST_RESTRICT sum, ptrdiff_t n, REAL *ST_RESTRICT gamma)
{
    REAL change = 0;
#pragma omp simd reduction(+ : change)
    for (ptrdiff_t k = 0; k < n; k++) {
        const REAL next = alpha[k] + e[k] * sum[k];
        const REAL moved = next - gamma[k];
        change += moved < 0 ? -moved : moved;
        gamma[k] = next;
    }
    return change;
}

ST_INLINE void NAME(sweep_over)(const REAL *ST_RESTRICT e, REAL scale, const REAL *shared,
                                const REAL *const *rows, const REAL *counts, ptrdiff_t n_words,
                                ptrdiff_t n, REAL *ST_RESTRICT total)
{
    REAL r[4];
    ptrdiff_t u = 0;
    memset(total, 0, n * sizeof(REAL));
    for (; u + 4 <= n_words; u += 4) {
        NAME(dot4)(e, rows[u], rows[u + 1], rows[u + 2], rows[u + 3], n, r);
        for (ptrdiff_t j = 0; j < 4; j++)
            r[j] = counts[u + j] / (r[j] + scale * shared[u + j]);
        NAME(add4)(total, r, rows[u], rows[u + 1], rows[u + 2], rows[u + 3], n);
    }
    for (; u < n_words; u++)
        NAME(add)(total, counts[u] / (NAME(dot)(e, rows[u], n) + scale * shared[u]), rows[u], n);
}

/* total[k] = sum_u rows[u][k] counts[u] / (sum_k e[k] rows[u][k] + scale shared[u]), with loops
 * of known length where there are few topics */
static inline void NAME(sweep)(const REAL *e, REAL scale, const REAL *shared, const REAL *const *rows,
                        const REAL *counts, ptrdiff_t n_words, ptrdiff_t n, REAL *total)
{
    switch (n) {
    case 16:
        NAME(sweep_over)(e, scale, shared, rows, counts, n_words, 16, total);
        return;
    case 32:
        NAME(sweep_over)(e, scale, shared, rows, counts, n_words, 32, total);
        return;
    default:
        NAME(sweep_over)(e, scale, shared, rows, counts, n_words, n, total);
    }
}

/* Take gamma, to which `first` led by way of `middle`, on in the same direction: the step of
 * squared extrapolation (Varadhan and Roland 2008, the third of their lengths), at most 4, but
 * no topic loses more than half of what it has above alpha. */
ST_INLINE void NAME(extrapolate)(const REAL *ST_RESTRICT first, const REAL *ST_RESTRICT middle,
                                 const REAL *ST_RESTRICT alpha, ptrdiff_t n,
                                 REAL *ST_RESTRICT gamma)
{
    REAL moved = 0, bent = 0;
#pragma omp simd reduction(+ : moved, bent)
    for (ptrdiff_t k = 0; k < n; k++) {
        const REAL r = middle[k] - first[k], v = gamma[k] - middle[k] - r;
        moved += r * r;
        bent += v * v;
    }
    if (!(moved > bent))
        return;
    const REAL ratio = moved < 16 * bent ? moved / bent : 16;
    const REAL a = (REAL)sqrt(ratio);
#pragma omp simd
    for (ptrdiff_t k = 0; k < n; k++) {
        const REAL r = middle[k] - first[k], v = gamma[k] - middle[k] - r;
        const REAL next = first[k] + a * (2 * r + a * v);
        const REAL least = alpha[k] + (REAL)0.5 * (gamma[k] - alpha[k]);
        gamma[k] = next > least ? next : least;
    }
}
