/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operations of _gibbs_lanes.h on float, as AVX2 instructions.
 */
typedef __m256 NAME(lanes);

ST_INLINE __m256 NAME(load)(const float *from) { return _mm256_loadu_ps(from); }

ST_INLINE void NAME(store)(float *to, __m256 a) { _mm256_storeu_ps(to, a); }

ST_INLINE __m256 NAME(gather)(const float *row, const int *places)
{
    float a[8];
    for (int i = 0; i < 8; i++)
        a[i] = row[places[i]];
    return _mm256_loadu_ps(a);
}

ST_INLINE __m256 NAME(sum)(__m256 a, __m256 b) { return _mm256_add_ps(a, b); }

ST_INLINE __m256 NAME(difference)(__m256 a, __m256 b) { return _mm256_sub_ps(a, b); }

ST_INLINE __m256 NAME(product)(__m256 a, __m256 b) { return _mm256_mul_ps(a, b); }

ST_INLINE __m256 NAME(add_product)(__m256 a, __m256 b, __m256 c)
{
    return _mm256_fmadd_ps(b, c, a);
}

ST_INLINE __m256 NAME(add_scaled)(__m256 a, float s, __m256 b)
{
    return _mm256_fmadd_ps(_mm256_set1_ps(s), b, a);
}

ST_INLINE __m256 NAME(running)(__m256 a)
{
    __m256i bits = _mm256_slli_si256(_mm256_castps_si256(a), 4);
    a = _mm256_add_ps(a, _mm256_castsi256_ps(bits));
    bits = _mm256_slli_si256(_mm256_castps_si256(a), 8);
    a = _mm256_add_ps(a, _mm256_castsi256_ps(bits));
    const __m256 half = _mm256_permute_ps(_mm256_permute2f128_ps(a, a, 0x08), 0xff);
    return _mm256_add_ps(a, half);
}

ST_INLINE __m256 NAME(raised)(__m256 a, float s) { return _mm256_add_ps(a, _mm256_set1_ps(s)); }

ST_INLINE float NAME(last)(__m256 a)
{
    return _mm_cvtss_f32(_mm_permute_ps(_mm256_extractf128_ps(a, 1), 0xff));
}

ST_INLINE __m256 NAME(one_hot)(int place, int first, float value)
{
    const __m256i from_zero = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i lanes = _mm256_add_epi32(from_zero, _mm256_set1_epi32(first));
    const __m256i equal = _mm256_cmpeq_epi32(lanes, _mm256_set1_epi32(place));
    return _mm256_and_ps(_mm256_castsi256_ps(equal), _mm256_set1_ps(value));
}

ST_INLINE unsigned NAME(above)(__m256 a, float threshold, __m256 term)
{
    const __m256 more = _mm256_cmp_ps(a, _mm256_set1_ps(threshold), _CMP_GT_OQ);
    const __m256 possible = _mm256_cmp_ps(term, _mm256_setzero_ps(), _CMP_GT_OQ);
    return (unsigned)_mm256_movemask_ps(_mm256_and_ps(more, possible));
}

ST_INLINE ptrdiff_t NAME(n_below)(const __m256 *rows, ptrdiff_t n, __m256 most, int lane)
{
    __m256i n_below = _mm256_setzero_si256();
    for (ptrdiff_t i = 0; i < n; i++) {
        const __m256 below = _mm256_cmp_ps(rows[i], most, _CMP_NGT_UQ);
        n_below = _mm256_sub_epi32(n_below, _mm256_castps_si256(below));
    }
    n_below = _mm256_permutevar8x32_epi32(n_below, _mm256_castsi128_si256(_mm_cvtsi32_si128(lane)));
    return _mm_cvtsi128_si32(_mm256_castsi256_si128(n_below));
}

ST_INLINE __m256 NAME(at_least_0)(__m256 a) { return _mm256_max_ps(a, _mm256_setzero_ps()); }
