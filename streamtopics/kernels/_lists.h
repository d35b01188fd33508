/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums of a word by topic, of which few are not 0, and the list that is made of them: its topics
 * in ascending order, and a count of each.
 */
#ifndef STREAMTOPICS_LISTS_H
#define STREAMTOPICS_LISTS_H

#include "_vector.h"

enum { ST_GROUP = 64 }; /* topics whose bits are one number */

/* Sums, and bits of the topics that may have one; all are 0 in between. */
typedef struct {
    double *sums;
    uint64_t *bits;
    ptrdiff_t n_groups;
} st_totals;

ST_INLINE void st_add_total(st_totals *totals, int topic, double value)
{
    totals->sums[topic] += value;
    totals->bits[topic / ST_GROUP] |= UINT64_C(1) << (topic % ST_GROUP);
}

/* A list that is being written. A count is `unit` times as many tokens, or as many. A count of less
 * than `least` tokens, all of which are below `most`, becomes so many or 0: so many where the
 * running sums of such tokens pass places at this distance, from `place` on. */
typedef struct {
    const double *unit;
    double least, most, place;
    int *topics;
    double *counts;
    ptrdiff_t n;
    /* how much the counts of each topic have grown, or NULL */
    double *change;
} st_writer;

ST_INLINE void st_write_count(st_writer *to, int topic, double old, double count)
{
    double kept = count > 0 ? count : 0;
    if (kept > 0 && kept < to->most) {
        const double tokens = to->unit ? kept * to->unit[topic] : kept;
        if (tokens < to->least) {
            to->place -= tokens;
            kept = to->place < 0 ? to->least / (to->unit ? to->unit[topic] : 1) : 0;
            to->place += to->place < 0 ? to->least : 0;
        }
    }
    if (to->change != NULL && kept != old)
        to->change[topic] += kept - old;
    to->topics[to->n] = topic;
    to->counts[to->n] = kept;
    to->n += kept > 0;
}

/* Write a list plus the totals, which become 0. */
static void st_write_totals(st_writer *to, st_totals *totals, const int *topics,
                            const double *counts, ptrdiff_t n)
{
    ptrdiff_t i = 0;
    for (ptrdiff_t group = 0; group < totals->n_groups; group++) {
        for (uint64_t bits = totals->bits[group]; bits; bits &= bits - 1) {
            const int topic = (int)(ST_GROUP * group) + st_lowest(bits);
            for (; i < n && topics[i] < topic; i++)
                st_write_count(to, topics[i], counts[i], counts[i]);
            const double old = i < n && topics[i] == topic ? counts[i++] : 0;
            st_write_count(to, topic, old, old + totals->sums[topic]);
            totals->sums[topic] = 0;
        }
        totals->bits[group] = 0;
    }
    for (; i < n; i++)
        st_write_count(to, topics[i], counts[i], counts[i]);
}

#endif
