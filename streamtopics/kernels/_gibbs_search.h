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

/* The column at which the sums over columns exceed the threshold, in the order of their lanes
 * and in each lane of their blocks, or -1: sums[i] are those of the blocks up to i in each
 * lane, `lanes` the running sums of the lanes' totals, the last of them. */
ST_INLINE int NAME(find)(NAME(lanes) lanes, REAL threshold, const NAME(lanes) *sums,
                         ptrdiff_t n_blocks)
{
    const NAME(lanes) total = sums[n_blocks - 1];
    const unsigned after = NAME(above)(lanes, threshold, total);
    const NAME(lanes) rest = NAME(at_least_0)(NAME(raised)(NAME(difference)(total, lanes),
                                                           threshold));
    if (ST_UNLIKELY(after == 0))
        return -1;
    const int lane = st_lowest(after);
    const ptrdiff_t block = NAME(n_below)(sums, n_blocks, rest, lane);
    return block < n_blocks ? (int)(ST_LANES * block) + lane : -1;
}
