/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inference of one document under eight classes at once, a class in each lane; see _classes.pxi.
 */
#ifndef STREAMTOPICS_CLASSES_H
#define STREAMTOPICS_CLASSES_H

#include "_vector.h"

/* Classes that are inferred together. */
#define ST_EIGHT 8

/* The topics of a class and those that all share: topics start[b] to start[b + 1] are block b. */
typedef struct {
    ptrdiff_t start[3];
    const double *alpha;
    double prior_mass[2], share_prior[2];
    double constant; /* of the bound: what depends on the priors alone */
} st_two_blocks;

/* Which of the classes a document may be of. */
typedef struct {
    ptrdiff_t n_classes, max_sweeps;
    const double *log_prior; /* of each class */
    double margin, tol;
} st_contest;

/* log Gamma(alpha + n) - n psi(alpha + n): Stirling's series, below 16 after eight steps up. */
ST_INLINE double st_of_tokens(double alpha, double n)
{
    const double x = alpha + n, a = x * (x + 7.0), b = a * (a + 6.0), c = (a + 10.0) * (a + 12.0);
    const int low = x < 16.0;
    const double y = low ? x + 8.0 : x, below = low ? b * c : 1.0;
    const double q = 1.0 / y, q2 = q * q, log_y = st_log_double(y);
    const double series = q * (1.0 / 12 - q2 * (1.0 / 360 - q2 * (1.0 / 1260 - q2 * (1.0 / 1680
                        - q2 * (1.0 / 1188 - q2 * (691.0 / 360360 - q2 * (1.0 / 156)))))));
    const double log_gamma = (y - 0.5) * log_y - y + (9.1893853320467274178e-01 + series)
                           - st_log_double(below);
    const double psi = log_y - 0.5 * q - q2 * (1.0 / 12 - q2 * (1.0 / 120 - q2 * (1.0 / 252
                     - q2 * (1.0 / 240 - q2 * (1.0 / 132 - q2 * (691.0 / 32760 - q2 / 12.0))))));
    const double tail = low ? (2.0 * x + 7.0) * ((2.0 * a + 6.0) * c + (2.0 * a + 22.0) * b)
                            / (b * c) : 0.0;
    return log_gamma - n * (psi - tail);
}

ST_INLINE ptrdiff_t st_groups(ptrdiff_t n_classes)
{
    return (n_classes + ST_EIGHT - 1) / ST_EIGHT;
}

ST_INLINE ptrdiff_t st_padded(ptrdiff_t n_words)
{
    return (n_words + 7) / 8 * 8;
}

/* Numbers that are known of a document of n_words words under n_classes, n topics of which n_own
 * are of classes. */
ST_INLINE ptrdiff_t st_state_size(ptrdiff_t n_words, ptrdiff_t n_classes, ptrdiff_t n_own,
                                  ptrdiff_t n)
{
    const ptrdiff_t n_groups = st_groups(n_classes), n_padded = st_padded(n_words);
    return (3 * n_groups + 4) * n * ST_EIGHT + n_padded * (ST_EIGHT + 1)
         + n_words * (n_groups - 1) * n_own * ST_EIGHT;
}

/* Plain sweeps; of those after, every third one starts from an extrapolation. */
#define ST_PLAIN_SWEEPS 2

/* Times of the last gain that the later ones may come to, all together. In 1,500 newsgroups
 * articles under 20 classes they came to 5.5 times the gain of one of the first sweeps at most. */
#define ST_LATER_GAINS 8.0

/* Keep those of n classes that may still come within the margin of the best; returns how many. */
static inline ptrdiff_t st_give_up(const st_contest *contest, const double *bound,
                                   const double *gain, ptrdiff_t n, int *lane, int *class_of)
{
    double best = -INFINITY;
    ptrdiff_t n_left = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        best = bound[class_of[i]] > best ? bound[class_of[i]] : best;
    for (ptrdiff_t i = 0; i < n; i++) {
        const int c = class_of[i];
        const double more = gain[c] > 0 ? ST_LATER_GAINS * gain[c] : 0;
        if (bound[c] + more + contest->margin < best)
            continue;
        lane[n_left] = lane[i];
        class_of[n_left++] = c;
    }
    return n_left;
}

#define REAL float
#define NAME(name) st_##name##_float
#define ST_FLOOR -41.0f
#define ST_IS_FLOAT 1
#include "_class_lanes.h"
#undef REAL
#undef NAME
#undef ST_FLOOR
#undef ST_IS_FLOAT

#define REAL double
#define NAME(name) st_##name##_double
#define ST_FLOOR -340.0
#define ST_IS_FLOAT 0
#include "_class_lanes.h"
#undef REAL
#undef NAME
#undef ST_FLOOR
#undef ST_IS_FLOAT

#endif
