/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The row operation of supervised inference; see _supervised.pxi.
 */
#ifndef STREAMTOPICS_SUPERVISED_H
#define STREAMTOPICS_SUPERVISED_H

#include "_vector.h"

/* out[k] = e[k] b[k] exp(s x[k] - h x[k]^2 - shift); returns the sum. The exponent must not
 * be above 0; below -700 it is taken for that. */
ST_INLINE double st_tilt(const double *ST_RESTRICT e, const double *ST_RESTRICT b,
                         const double *ST_RESTRICT x, double s, double h, double shift,
                         ptrdiff_t n, double *ST_RESTRICT out)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t k = 0; k < n; k++) {
        const double y = (s - h * x[k]) * x[k] - shift;
        const double value = e[k] * b[k] * st_exp_double(y > -700.0 ? y : -700.0);
        out[k] = value;
        sum += value;
    }
    return sum;
}

#endif
