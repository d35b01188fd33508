/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operations of _gibbs_lanes.h on double, as AVX-512 instructions.
 */
typedef __m512d NAME(lanes);

ST_INLINE __m512d NAME(load)(const double *from) { return _mm512_loadu_pd(from); }

ST_INLINE void NAME(store)(double *to, __m512d a) { _mm512_storeu_pd(to, a); }

ST_INLINE __m512d NAME(gather)(const float *row, const int *places)
{
    float a[8];
    for (int i = 0; i < 8; i++)
        a[i] = row[places[i]];
    return _mm512_cvtps_pd(_mm256_loadu_ps(a));
}

ST_INLINE __m512d NAME(sum)(__m512d a, __m512d b) { return _mm512_add_pd(a, b); }

ST_INLINE __m512d NAME(difference)(__m512d a, __m512d b) { return _mm512_sub_pd(a, b); }

ST_INLINE __m512d NAME(product)(__m512d a, __m512d b) { return _mm512_mul_pd(a, b); }

ST_INLINE __m512d NAME(add_product)(__m512d a, __m512d b, __m512d c)
{
    return _mm512_fmadd_pd(b, c, a);
}

ST_INLINE __m512d NAME(add_scaled)(__m512d a, double s, __m512d b)
{
    return _mm512_fmadd_pd(_mm512_set1_pd(s), b, a);
}

/* a moved n lanes up, zeros below */
#define ST_MOVED_UP(a, n) _mm512_castsi512_pd( \
    _mm512_alignr_epi64(_mm512_castpd_si512(a), _mm512_setzero_si512(), 8 - (n)))

ST_INLINE __m512d NAME(running)(__m512d a)
{
    a = _mm512_add_pd(a, ST_MOVED_UP(a, 1));
    a = _mm512_add_pd(a, ST_MOVED_UP(a, 2));
    return _mm512_add_pd(a, ST_MOVED_UP(a, 4));
}

ST_INLINE __m512d NAME(raised)(__m512d a, double s) { return _mm512_add_pd(a, _mm512_set1_pd(s)); }

ST_INLINE double NAME(last)(__m512d a)
{
    const __m128d top = _mm256_extractf128_pd(_mm512_extractf64x4_pd(a, 1), 1);
    return _mm_cvtsd_f64(_mm_unpackhi_pd(top, top));
}

ST_INLINE __m512d NAME(one_hot)(int place, int first, double value)
{
    const __m512i from_zero = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __mmask8 equal = _mm512_cmpeq_epi64_mask(from_zero, _mm512_set1_epi64(place - first));
    return _mm512_maskz_mov_pd(equal, _mm512_set1_pd(value));
}

ST_INLINE unsigned NAME(above)(__m512d a, double threshold, __m512d term)
{
    return (unsigned)(_mm512_cmp_pd_mask(a, _mm512_set1_pd(threshold), _CMP_GT_OQ)
                      & _mm512_cmp_pd_mask(term, _mm512_setzero_pd(), _CMP_GT_OQ));
}

ST_INLINE ptrdiff_t NAME(n_below)(const __m512d *rows, ptrdiff_t n, __m512d most, int lane)
{
    ptrdiff_t n_below = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        n_below += _mm512_cmp_pd_mask(rows[i], most, _CMP_NGT_UQ) >> lane & 1;
    return n_below;
}

ST_INLINE __m512d NAME(at_least_0)(__m512d a) { return _mm512_max_pd(a, _mm512_setzero_pd()); }
