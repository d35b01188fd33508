/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Search in the running sums of a row of blocks. Included by _gibbs.h for each type.
 */

/* The first lane with a running sum above the threshold and a term above 0, or -1.
 * Without branches among the first eight blocks: which it is, nobody can predict. */
ST_INLINE int NAME(first_above)(const NAME(lanes) *running, REAL threshold,
                                const NAME(lanes) *terms, ptrdiff_t n_blocks)
{
    for (ptrdiff_t first = 0; first < n_blocks; first += 8) {
        const ptrdiff_t n = st_smaller(8, n_blocks - first);
        uint64_t mask = 0;
        for (ptrdiff_t i = 0; i < n; i++)
            mask |= (uint64_t)NAME(above)(running[first + i], threshold, terms[first + i])
                 << (ST_LANES * i);
        if (mask)
            return (int)(ST_LANES * first) + st_lowest(mask);
    }
    return -1;
}
