/* SPDX-License-Identifier: BSD-3-Clause */
/* Moments of values by bins: see posteriors/bins.py. */
#ifndef ST_BINS_H
#define ST_BINS_H
#include <stdint.h>
#include <string.h>

/* One bin for [0, 1), two for each power of two from 1 to 2^64, one for what is beyond. */
enum { ST_BINS = 130, ST_MOMENTS = 8 };

/* For each k, sign times the Chebyshev polynomials T_0 .. T_7 at the place that scale row[k]
 * has in its bin, in units of 2^-36, are added to sums[bin][k]. Sums of whole numbers are
 * exact, so that what is taken away again leaves nothing, and their order does not matter. */
static void st_count_in_bins(const double *row, Py_ssize_t n, double scale, int sign,
                             long long *sums)
{
    const double unit = (double)sign * 68719476736.0, round = 6755399441055744.0;
    int64_t of_round;
    memcpy(&of_round, &round, sizeof of_round);
    for (Py_ssize_t k = 0; k < n; k++) {
        /* Without branches, which nobody can predict. */
        const double v = scale * (row[k] > 0.0 ? row[k] : 0.0);
        uint64_t bits;
        int64_t places[2];
        double m, x;
        memcpy(&bits, &v, sizeof bits);
        const int64_t e = (int64_t)(bits >> 52) - 1023, upper = (int64_t)(bits >> 51) & 1;
        const int64_t is_low = e >> 63;
        bits = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x3ff0000000000000);
        memcpy(&m, &bits, sizeof m);
        const double in_bin[2] = {4.0 * m - 5.0 - 2.0 * (double)upper, 2.0 * v - 1.0};
        memcpy(places, in_bin, sizeof places);
        places[0] = (places[0] & ~is_low) | (places[1] & is_low);
        memcpy(&x, places, sizeof x);
        int64_t bin = (1 + 2 * e + upper) & ~is_low;
        bin = bin < ST_BINS - 1 ? bin : ST_BINS - 1;
        const double t2 = 2.0 * x * x - 1.0, t3 = 2.0 * x * t2 - x, t4 = 2.0 * t2 * t2 - 1.0;
        const double t[ST_MOMENTS] = {1.0, x, t2, t3, t4, 2.0 * x * t4 - t3, 2.0 * t3 * t3 - 1.0,
                                      2.0 * t3 * t4 - x};
        long long *moments = sums + (bin * n + k) * ST_MOMENTS;
        for (int j = 0; j < ST_MOMENTS; j++) {
            const double shifted = unit * t[j] + round;
            int64_t whole;
            memcpy(&whole, &shifted, sizeof whole);
            moments[j] += (long long)(whole - of_round);
        }
    }
}

/* The largest of x[k] y[k] and 0. */
static double st_largest_product(const double *x, const double *y, Py_ssize_t n)
{
    double largest = 0;
#pragma omp simd reduction(max : largest)
    for (Py_ssize_t k = 0; k < n; k++)
        largest = x[k] * y[k] > largest ? x[k] * y[k] : largest;
    return largest;
}
#endif
