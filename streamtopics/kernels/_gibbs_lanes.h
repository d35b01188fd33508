/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Eight numbers of type REAL, in plain C. Included by _gibbs.h.
 */
typedef struct {
    REAL x[8];
} NAME(lanes);

ST_INLINE NAME(lanes) NAME(load)(const REAL *from)
{
    NAME(lanes) a;
    memcpy(a.x, from, sizeof a.x);
    return a;
}

ST_INLINE void NAME(store)(REAL *to, NAME(lanes) a) { memcpy(to, a.x, sizeof a.x); }

/* The entries of a row of float at eight places. */
ST_INLINE NAME(lanes) NAME(gather)(const float *row, const int *places)
{
    NAME(lanes) a;
    for (int i = 0; i < 8; i++)
        a.x[i] = row[places[i]];
    return a;
}

ST_INLINE NAME(lanes) NAME(sum)(NAME(lanes) a, NAME(lanes) b)
{
    for (int i = 0; i < 8; i++)
        a.x[i] += b.x[i];
    return a;
}

ST_INLINE NAME(lanes) NAME(difference)(NAME(lanes) a, NAME(lanes) b)
{
    for (int i = 0; i < 8; i++)
        a.x[i] -= b.x[i];
    return a;
}

ST_INLINE NAME(lanes) NAME(product)(NAME(lanes) a, NAME(lanes) b)
{
    for (int i = 0; i < 8; i++)
        a.x[i] *= b.x[i];
    return a;
}

/* a + b c */
ST_INLINE NAME(lanes) NAME(add_product)(NAME(lanes) a, NAME(lanes) b, NAME(lanes) c)
{
    for (int i = 0; i < 8; i++)
        a.x[i] += b.x[i] * c.x[i];
    return a;
}

/* a + s b */
ST_INLINE NAME(lanes) NAME(add_scaled)(NAME(lanes) a, REAL s, NAME(lanes) b)
{
    for (int i = 0; i < 8; i++)
        a.x[i] += s * b.x[i];
    return a;
}

/* The running sums of a. */
ST_INLINE NAME(lanes) NAME(running)(NAME(lanes) a)
{
    for (int i = 7; i >= 1; i--)
        a.x[i] += a.x[i - 1];
    for (int i = 7; i >= 2; i--)
        a.x[i] += a.x[i - 2];
    for (int i = 7; i >= 4; i--)
        a.x[i] += a.x[i - 4];
    return a;
}

/* a + s in each lane */
ST_INLINE NAME(lanes) NAME(raised)(NAME(lanes) a, REAL s)
{
    for (int i = 0; i < 8; i++)
        a.x[i] += s;
    return a;
}

ST_INLINE REAL NAME(last)(NAME(lanes) a) { return a.x[7]; }

/* The lanes first .. first + 7 of a row with `value` at `place`, and 0 elsewhere. */
ST_INLINE NAME(lanes) NAME(one_hot)(int place, int first, REAL value)
{
    NAME(lanes) a;
    for (int i = 0; i < 8; i++)
        a.x[i] = first + i == place ? value : 0;
    return a;
}

/* Bits of the lanes with a > threshold and term > 0. */
ST_INLINE unsigned NAME(above)(NAME(lanes) a, REAL threshold, NAME(lanes) term)
{
    unsigned mask = 0;
    for (int i = 0; i < 8; i++)
        mask |= (unsigned)((a.x[i] > threshold) & (term.x[i] > 0)) << i;
    return mask;
}

/* How many of n rows are not above `most` in this lane. */
ST_INLINE ptrdiff_t NAME(n_below)(const NAME(lanes) *rows, ptrdiff_t n, NAME(lanes) most, int lane)
{
    ptrdiff_t n_below = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        n_below += !(rows[i].x[lane] > most.x[lane]);
    return n_below;
}

/* The larger of a and 0 in each lane. */
ST_INLINE NAME(lanes) NAME(at_least_0)(NAME(lanes) a)
{
    for (int i = 0; i < 8; i++)
        a.x[i] = a.x[i] > 0 ? a.x[i] : 0;
    return a;
}
