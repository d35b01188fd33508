/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The row operations of supervised inference; see _supervised.pxi.
 */
#ifndef STREAMTOPICS_SUPERVISED_H
#define STREAMTOPICS_SUPERVISED_H

#include "_vector.h"

/* Largest exponent of `st_near`, whose polynomial is exact to rounding up to there. */
#define ST_NEAR 0.0625

/* out[k] = e[k] exp(s x[k] - h x[k]^2 - shift). The exponent must not be above 0; below -700 it
 * is taken for that. */
ST_INLINE void st_tilt(const double *ST_RESTRICT e, const double *ST_RESTRICT x, double s,
                       double h, double shift, ptrdiff_t n, double *ST_RESTRICT out)
{
#pragma omp simd
    for (ptrdiff_t k = 0; k < n; k++) {
        const double y = (s - h * x[k]) * x[k] - shift;
        out[k] = e[k] * st_exp_double(y > -700.0 ? y : -700.0);
    }
}

/* out[k] = base[k] b[k] exp(s x[k]), |s x[k]| being at most ST_NEAR; returns the sum, and in
 * `first` that of x[k] out[k]. */
ST_INLINE double st_near(const double *ST_RESTRICT base, const double *ST_RESTRICT b,
                         const double *ST_RESTRICT x, double s, ptrdiff_t n,
                         double *ST_RESTRICT out, double *first)
{
    double sum = 0, of_x = 0;
#pragma omp simd reduction(+ : sum, of_x)
    for (ptrdiff_t k = 0; k < n; k++) {
        const double y = s * x[k];
        /* Even and odd powers apart, as words wait for each other. */
        const double y2 = y * y, y4 = y2 * y2;
        const double even = (1.0 + y2 * 0.5) + y4 * ((1.0 / 24 + y2 * (1.0 / 720))
                          + y4 * (1.0 / 40320));
        const double odd = (1.0 + y2 * (1.0 / 6)) + y4 * (1.0 / 120 + y2 * (1.0 / 5040));
        const double p = even + y * odd;
        const double value = base[k] * b[k] * p;
        out[k] = value;
        sum += value;
        of_x += x[k] * value;
    }
    *first = of_x;
    return sum;
}

#endif
