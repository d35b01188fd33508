/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loops over short rows of float or double that a C compiler turns into vector
 * instructions for whatever processor the including file is compiled for.
 *
 * A sum may only be reordered where that is said, by `omp simd reduction`
 * (understood with -fopenmp-simd, no OpenMP library involved; ignored
 * elsewhere), so nothing here needs or tolerates -ffast-math.
 */
#ifndef STREAMTOPICS_VECTOR_H
#define STREAMTOPICS_VECTOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#define ST_INLINE static __forceinline
#define ST_RESTRICT __restrict
#else
#define ST_INLINE static inline __attribute__((always_inline))
#define ST_RESTRICT __restrict__
#endif

/* A module for vector instructions that this processor lacks is not loaded: the
 * first of them would end the process. */
#if defined(Py_PYTHON_H) && defined(__AVX2__) && defined(__GNUC__)
static PyObject *st_module(PyModuleDef *module)
{
#if defined(__AVX512F__)
    const int runs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
    const int runs = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    if (runs)
        return PyModuleDef_Init(module);
    PyErr_SetString(PyExc_ImportError, "this processor lacks the instructions of this kernel");
    return NULL;
}
#define PyModuleDef_Init st_module
#endif

ST_INLINE void st_prefetch(const void *address)
{
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

/* Place of the lowest bit of a mask that is not 0. */
ST_INLINE int st_lowest(uint64_t mask)
{
#if defined(__GNUC__)
    return __builtin_ctzll(mask);
#else
    int place = 0;
    for (; !(mask & 1); mask >>= 1)
        place++;
    return place;
#endif
}

/* exp(x) for -87 <= x <= 0, relative error below 2e-7: 2**n times a polynomial
 * in the remainder; the rounding to n is by the constant 1.5 * 2**23. */
ST_INLINE float st_exp_float(float x)
{
    const float shifted = x * 1.44269504f + 12582912.0f;
    const float n = shifted - 12582912.0f;
    const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    uint32_t bits;
    float scale;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + 0x3f800000;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

/* exp(x) for -700 <= x <= 0, relative error below 1e-15; the Taylor polynomial
 * of degree 12 on |r| <= log(2) / 2. */
ST_INLINE double st_exp_double(double x)
{
    const double shifted = x * 1.4426950408889634 + 6755399441055744.0;
    const double n = shifted - 6755399441055744.0;
    const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    int64_t bits;
    double scale;
    double p = 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r * r + r + 1.0;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (int64_t)((uint64_t)bits << 52) + 0x3ff0000000000000LL;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

/* digamma(x) = log(head(x)) - tail(x): the recurrence moves the argument up by
 * four (float) or eight (double), where the asymptotic series of
 * exp(digamma(t + 1/2)) = t + 1/(24 t) - 37/(5760 t^3) + ... has converged. */
ST_INLINE float st_tail_float(float x)
{
    const float a = x * (x + 3.0f);
    return (2.0f * x + 3.0f) / a * ((2.0f * a + 2.0f) / (a + 2.0f));
}

ST_INLINE float st_head_float(float x)
{
    const float t = x + 3.5f, q = 1.0f / t, q2 = q * q;
    return t + q * (4.16666667e-2f + q2 * (-6.42361111e-3f
             + q2 * (3.55248219e-3f + q2 * -3.95355748e-3f)));
}

ST_INLINE double st_tail_double(double x)
{
    const double a = x * (x + 7.0), b = a * (a + 6.0), c = (a + 10.0) * (a + 12.0);
    return (2.0 * x + 7.0) * ((2.0 * a + 6.0) * c + (2.0 * a + 22.0) * b) / (b * c);
}

ST_INLINE double st_head_double(double x)
{
    const double t = x + 7.5, q = 1.0 / t, q2 = q * q;
    return t + q * (1.0 / 24 + q2 * (-37.0 / 5760 + q2 * (10313.0 / 2903040
             + q2 * (-5509121.0 / 1393459200 + q2 * (7.365033269308669e-3
             + q2 * -2.0734675824368137e-2)))));
}

/* log(x) for normal x > 0, to 2 ulp: x = m 2^e with sqrt(1/2) <= m < sqrt(2), and
 * log(m) = 2 atanh((m - 1) / (m + 1)). */
ST_INLINE double st_log_double(double x)
{
    const uint64_t root_half = UINT64_C(0x3fe6a09e667f3bcd);
    uint64_t bits;
    double m;
    memcpy(&bits, &x, sizeof bits);
    const int64_t e = (int64_t)(bits - root_half) >> 52;
    bits -= (uint64_t)e << 52;
    memcpy(&m, &bits, sizeof m);
    const double f = (m - 1.0) / (m + 1.0), g = f * f;
    double p = 2.0 / 21;
    p = p * g + 2.0 / 19;
    p = p * g + 2.0 / 17;
    p = p * g + 2.0 / 15;
    p = p * g + 2.0 / 13;
    p = p * g + 2.0 / 11;
    p = p * g + 2.0 / 9;
    p = p * g + 2.0 / 7;
    p = p * g + 2.0 / 5;
    p = p * g + 2.0 / 3;
    const double n = (double)(int32_t)e;
    return n * 6.93147180369123816490e-01
         + (2.0 * f + (f * g * p + n * 1.90821492927058770002e-10));
}

ST_INLINE double st_psi_double(double x)
{
    return st_log_double(st_head_double(x)) - st_tail_double(x);
}

/* psi(x) and log(Gamma(x)) by their series in x, below 16 in x + 8 with the recurrence. */
ST_INLINE void st_psi_log_gamma_double(double x, double *psi, double *log_gamma)
{
    const double a = x * (x + 7.0), b = a * (a + 6.0), c = (a + 10.0) * (a + 12.0);
    const double below = x < 16.0 ? b * c : 1.0, y = x < 16.0 ? x + 8.0 : x;
    const double tail = x < 16.0 ? (2.0 * x + 7.0) * ((2.0 * a + 6.0) * c + (2.0 * a + 22.0) * b)
                                 : 0.0;
    const double q = 1.0 / y, q2 = q * q, log_y = st_log_double(y);
    const double of_psi = q * (0.5 + q * (1.0 / 12 - q2 * (1.0 / 120 - q2 * (1.0 / 252
                        - q2 * (1.0 / 240 - q2 * (1.0 / 132 - q2 * (691.0 / 32760
                        - q2 * (1.0 / 12 - q2 * (3617.0 / 8160)))))))));
    const double series = q * (1.0 / 12 - q2 * (1.0 / 360 - q2 * (1.0 / 1260 - q2 * (1.0 / 1680
                        - q2 * (1.0 / 1188 - q2 * (691.0 / 360360 - q2 * (1.0 / 156)))))));
    *psi = log_y - of_psi - tail / below;
    *log_gamma = (y - 0.5) * log_y - y + (9.1893853320467274178e-01 + series)
               - st_log_double(below);
}

ST_INLINE double st_log_gamma_double(double x)
{
    double psi, log_gamma;
    st_psi_log_gamma_double(x, &psi, &log_gamma);
    return log_gamma;
}

#define REAL float
#define NAME(name) st_##name##_float
#define ST_FLOOR -41.0f
#include "_vector_rows.h"
#undef REAL
#undef NAME
#undef ST_FLOOR

#define REAL double
#define NAME(name) st_##name##_double
#define ST_FLOOR -340.0
#include "_vector_rows.h"
#undef REAL
#undef NAME
#undef ST_FLOOR

/* For each k, the terms of KL(Dir(q) || Dir(p)) and KL(Dir(q) || Dir(eta)) that depend on q, in
 * `weight` words: from_p[k] += weight ((q - p) psi(q) - log Gamma(q)), and likewise with eta. */
ST_INLINE void st_add_divergences(const double *ST_RESTRICT q, const double *ST_RESTRICT p,
                                  const double *ST_RESTRICT eta, ptrdiff_t eta_step,
                                  const double *ST_RESTRICT weight, ptrdiff_t weight_step,
                                  ptrdiff_t n, double *ST_RESTRICT from_p,
                                  double *ST_RESTRICT from_eta)
{
#pragma omp simd
    for (ptrdiff_t k = 0; k < n; k++) {
        double psi, log_gamma;
        st_psi_log_gamma_double(q[k], &psi, &log_gamma);
        from_p[k] += weight[weight_step * k] * ((q[k] - p[k]) * psi - log_gamma);
        from_eta[k] += weight[weight_step * k] * ((q[k] - eta[eta_step * k]) * psi - log_gamma);
    }
}

#endif
