/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inference of one document under eight classes for one type: REAL is float or double and
 * NAME(x) is st_x_float or st_x_double. Included once for each by _classes.h.
 */

/* Eight classes in one variable. */
#if defined(__GNUC__)
typedef REAL NAME(eight) __attribute__((vector_size(ST_EIGHT * sizeof(REAL)),
                                        aligned(sizeof(REAL)), may_alias));
#endif

/* What is known of a document under eight classes. Rows of topics are [topic][class]. */
typedef struct {
    REAL *tokens;           /* expected tokens of each topic */
    REAL *first, *middle;   /* of former sweeps, to extrapolate from */
    REAL change[ST_EIGHT];  /* tokens that the last sweep moved */
    REAL *alpha;            /* of each topic, eight times */
    REAL *gamma, *e, *total; /* scratch of the same shape */
    REAL *dots;             /* scratch, [word][class] */
    double *terms;          /* scratch */
    double top[ST_EIGHT];   /* log of the factor that e lacks */
    double from_prior[ST_EIGHT];
} NAME(lanes);

#if ST_IS_FLOAT
/* log(x) for normal x > 0, relative error below 2e-7. */
ST_INLINE float st_log_float(float x)
{
    uint32_t bits;
    float m;
    memcpy(&bits, &x, sizeof bits);
    const int32_t e = (int32_t)(bits - 0x3f3504f3u) >> 23;
    bits -= (uint32_t)e << 23;
    memcpy(&m, &bits, sizeof m);
    const float f = (m - 1.0f) / (m + 1.0f), g = f * f;
    const float p = g * (2.0f / 3 + g * (2.0f / 5 + g * (2.0f / 7 + g * (2.0f / 9))));
    return (float)e * 6.93147182e-01f + (2.0f * f + f * p);
}
#endif

/* held[j] = the tokens of block b. */
ST_INLINE void NAME(lanes_held)(const st_two_blocks *blocks, int b, const REAL *tokens,
                                double *held)
{
    memset(held, 0, ST_EIGHT * sizeof *held);
    for (ptrdiff_t k = blocks->start[b]; k < blocks->start[b + 1]; k++)
#pragma omp simd
        for (int j = 0; j < ST_EIGHT; j++)
            held[j] += tokens[k * ST_EIGHT + j];
}

/* e[k] = exp(psi(gamma_k) - psi(sum of gamma) + psi(v)) but for a factor in each class, the sums
 * and v being those of the block of topics that k is in. */
static void NAME(lanes_weigh)(const st_two_blocks *blocks, NAME(lanes) *at)
{
    const ptrdiff_t size = blocks->start[2] * ST_EIGHT;
    REAL *ST_RESTRICT e = at->e, *ST_RESTRICT gamma = at->gamma;
    const REAL *ST_RESTRICT tokens = at->tokens, *ST_RESTRICT alpha = at->alpha;
    double held[ST_EIGHT];
    REAL offset[ST_EIGHT], top[ST_EIGHT];
#pragma omp simd
    for (ptrdiff_t p = 0; p < size; p++) {
        gamma[p] = alpha[p] + tokens[p];
        e[p] = -NAME(tail)(gamma[p]);
    }
    for (int j = 0; j < ST_EIGHT; j++)
        top[j] = -INFINITY;
    for (int b = 0; b < 2; b++) {
        NAME(lanes_held)(blocks, b, tokens, held);
#pragma omp simd
        for (int j = 0; j < ST_EIGHT; j++)
            offset[j] = (REAL)(st_psi_double(blocks->prior_mass[b] + held[j])
                               - st_psi_double(blocks->share_prior[b] + held[j]));
        for (ptrdiff_t k = blocks->start[b]; k < blocks->start[b + 1]; k++)
#pragma omp simd
            for (int j = 0; j < ST_EIGHT; j++) {
                const REAL y = e[k * ST_EIGHT + j] - offset[j];
                e[k * ST_EIGHT + j] = y;
                top[j] = y > top[j] ? y : top[j];
            }
    }
    for (ptrdiff_t k = 0; k < blocks->start[2]; k++)
#pragma omp simd
        for (int j = 0; j < ST_EIGHT; j++)
            e[k * ST_EIGHT + j] -= top[j];
#pragma omp simd
    for (ptrdiff_t p = 0; p < size; p++)
        e[p] = NAME(head)(gamma[p]) * NAME(exp)(e[p] > ST_FLOOR ? e[p] : ST_FLOOR);
    for (int j = 0; j < ST_EIGHT; j++)
        at->top[j] = top[j];
}

/* dots[i] = sum_k e_k b_ik of four words: own are their rows in the topics of classes, shared
 * those in the topics that all share. */
ST_INLINE void NAME(lanes_dots)(const st_two_blocks *blocks, const REAL *e, const REAL *const *own,
                                const REAL *const *shared, REAL *dots)
{
    const ptrdiff_t n_own = blocks->start[1], n = blocks->start[2];
#if defined(__GNUC__)
    NAME(eight) r0 = {0}, r1 = {0}, r2 = {0}, r3 = {0};
    const REAL *b0 = own[0], *b1 = own[1], *b2 = own[2], *b3 = own[3];
    const REAL *s0 = shared[0] - n_own, *s1 = shared[1] - n_own;
    const REAL *s2 = shared[2] - n_own, *s3 = shared[3] - n_own;
    for (ptrdiff_t k = 0; k < n_own; k++) {
        const NAME(eight) x = *(const NAME(eight) *)(e + k * ST_EIGHT);
        r0 += x * *(const NAME(eight) *)(b0 + k * ST_EIGHT);
        r1 += x * *(const NAME(eight) *)(b1 + k * ST_EIGHT);
        r2 += x * *(const NAME(eight) *)(b2 + k * ST_EIGHT);
        r3 += x * *(const NAME(eight) *)(b3 + k * ST_EIGHT);
    }
    for (ptrdiff_t k = n_own; k < n; k++) {
        const NAME(eight) x = *(const NAME(eight) *)(e + k * ST_EIGHT);
        r0 += x * s0[k];
        r1 += x * s1[k];
        r2 += x * s2[k];
        r3 += x * s3[k];
    }
    *(NAME(eight) *)dots = r0;
    *(NAME(eight) *)(dots + ST_EIGHT) = r1;
    *(NAME(eight) *)(dots + 2 * ST_EIGHT) = r2;
    *(NAME(eight) *)(dots + 3 * ST_EIGHT) = r3;
#else
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < ST_EIGHT; j++) {
            REAL sum = 0;
            for (ptrdiff_t k = 0; k < n; k++)
                sum += e[k * ST_EIGHT + j]
                     * (k < n_own ? own[i][k * ST_EIGHT + j] : shared[i][k - n_own]);
            dots[i * ST_EIGHT + j] = sum;
        }
#endif
}

/* total[k] += sum_i r_i b_ik of four words. */
ST_INLINE void NAME(lanes_add)(const st_two_blocks *blocks, const REAL *r, const REAL *const *own,
                               const REAL *const *shared, REAL *total)
{
    const ptrdiff_t n_own = blocks->start[1], n = blocks->start[2];
#if defined(__GNUC__)
    const NAME(eight) r0 = *(const NAME(eight) *)r, r1 = *(const NAME(eight) *)(r + ST_EIGHT);
    const NAME(eight) r2 = *(const NAME(eight) *)(r + 2 * ST_EIGHT);
    const NAME(eight) r3 = *(const NAME(eight) *)(r + 3 * ST_EIGHT);
    const REAL *b0 = own[0], *b1 = own[1], *b2 = own[2], *b3 = own[3];
    const REAL *s0 = shared[0] - n_own, *s1 = shared[1] - n_own;
    const REAL *s2 = shared[2] - n_own, *s3 = shared[3] - n_own;
    for (ptrdiff_t k = 0; k < n_own; k++)
        *(NAME(eight) *)(total + k * ST_EIGHT)
            += (r0 * *(const NAME(eight) *)(b0 + k * ST_EIGHT)
                + r1 * *(const NAME(eight) *)(b1 + k * ST_EIGHT))
             + (r2 * *(const NAME(eight) *)(b2 + k * ST_EIGHT)
                + r3 * *(const NAME(eight) *)(b3 + k * ST_EIGHT));
    for (ptrdiff_t k = n_own; k < n; k++)
        *(NAME(eight) *)(total + k * ST_EIGHT)
            += (r0 * s0[k] + r1 * s1[k])
             + (r2 * s2[k] + r3 * s3[k]);
#else
    for (ptrdiff_t k = 0; k < n; k++)
        for (int j = 0; j < ST_EIGHT; j++)
            for (int i = 0; i < 4; i++)
                total[k * ST_EIGHT + j] += r[i * ST_EIGHT + j]
                    * (k < n_own ? own[i][k * ST_EIGHT + j] : shared[i][k - n_own]);
#endif
}

/* total[k] = sum_u b_uk c_u / (sum_k e_k b_uk), and these sums over k in `dots`. The rows are of
 * as many words as are a multiple of four, counts beyond the words 0. */
static void NAME(lanes_sweep)(const st_two_blocks *blocks, const REAL *const *own,
                              const REAL *const *shared, const REAL *counts, ptrdiff_t n_words,
                              NAME(lanes) *at)
{
    REAL r[4 * ST_EIGHT];
    memset(at->total, 0, blocks->start[2] * ST_EIGHT * sizeof(REAL));
    for (ptrdiff_t u = 0; u < n_words; u += 4) {
        REAL *ST_RESTRICT dots = at->dots + u * ST_EIGHT;
        /* After the last words of these classes come the first ones of the next. */
        for (int i = 0; i < 4; i++)
            for (ptrdiff_t p = 0; p < blocks->start[1] * ST_EIGHT; p += 64 / (ptrdiff_t)sizeof(REAL))
                st_prefetch(own[u + 8 + i] + p);
        NAME(lanes_dots)(blocks, at->e, own + u, shared + u, dots);
        for (int i = 0; i < 4; i++)
#pragma omp simd
            for (int j = 0; j < ST_EIGHT; j++)
                r[i * ST_EIGHT + j] = counts[u + i] / dots[i * ST_EIGHT + j];
        NAME(lanes_add)(blocks, r, own + u, shared + u, at->total);
    }
}

/* tokens[k] = e[k] total[k], and what that changes. */
ST_INLINE void NAME(lanes_update)(ptrdiff_t n, NAME(lanes) *at)
{
    REAL change[ST_EIGHT] = {0};
    for (ptrdiff_t k = 0; k < n; k++)
#pragma omp simd
        for (int j = 0; j < ST_EIGHT; j++) {
            const REAL next = at->e[k * ST_EIGHT + j] * at->total[k * ST_EIGHT + j];
            const REAL moved = next - at->tokens[k * ST_EIGHT + j];
            change[j] += moved < 0 ? -moved : moved;
            at->tokens[k * ST_EIGHT + j] = next;
        }
    memcpy(at->change, change, sizeof change);
}

/* `extrapolate` of _vector_rows.h in each class whose last sweep moved `limit` tokens or more:
 * tokens, to which `first` led by way of `middle`, are taken on in the same direction; no topic
 * loses more than half of what it has. Nothing of a class depends on those in other lanes. */
ST_INLINE void NAME(lanes_extrapolate)(ptrdiff_t n, double limit, NAME(lanes) *at)
{
    REAL moved[ST_EIGHT] = {0}, bent[ST_EIGHT] = {0}, a[ST_EIGHT];
    const REAL *first = at->first, *middle = at->middle;
    for (ptrdiff_t k = 0; k < n; k++)
#pragma omp simd
        for (int j = 0; j < ST_EIGHT; j++) {
            const ptrdiff_t p = k * ST_EIGHT + j;
            const REAL r = middle[p] - first[p], v = at->tokens[p] - middle[p] - r;
            moved[j] += r * r;
            bent[j] += v * v;
        }
    for (int j = 0; j < ST_EIGHT; j++) {
        const REAL ratio = moved[j] < 16 * bent[j] ? moved[j] / bent[j] : 16;
        a[j] = moved[j] > bent[j] ? (REAL)sqrt(ratio) : 1;
        if (at->change[j] < limit)
            a[j] = 0;
    }
    for (ptrdiff_t k = 0; k < n; k++)
#pragma omp simd
        for (int j = 0; j < ST_EIGHT; j++) {
            const ptrdiff_t p = k * ST_EIGHT + j;
            const REAL now = at->tokens[p], r = middle[p] - first[p], v = now - middle[p] - r;
            const REAL further = first[p] + a[j] * (2 * r + a[j] * v);
            const REAL next = a[j] > 0 ? further : now;
            at->tokens[p] = next > (REAL)0.5 * now ? next : (REAL)0.5 * now;
        }
}

/* from_prior[j] = the terms of the bound that are not of words, at the tokens that e was made of. */
static void NAME(lanes_prior)(const st_two_blocks *blocks, double n_tokens, NAME(lanes) *at)
{
    const ptrdiff_t size = blocks->start[2] * ST_EIGHT;
    double *ST_RESTRICT terms = at->terms, *found = at->from_prior;
    double both[ST_EIGHT] = {0}, held[ST_EIGHT];
    for (int j = 0; j < ST_EIGHT; j++)
        found[j] = blocks->constant + n_tokens * at->top[j];
#pragma omp simd
    for (ptrdiff_t p = 0; p < size; p++)
        terms[p] = st_of_tokens(at->alpha[p], at->tokens[p]);
    for (ptrdiff_t p = 0; p < size; p += ST_EIGHT)
#pragma omp simd
        for (int j = 0; j < ST_EIGHT; j++)
            found[j] += terms[p + j];
    for (int b = 0; b < 2; b++) {
        NAME(lanes_held)(blocks, b, at->tokens, held);
#pragma omp simd
        for (int j = 0; j < ST_EIGHT; j++) {
            both[j] += blocks->share_prior[b] + held[j];
            found[j] += st_of_tokens(blocks->share_prior[b], held[j])
                      - st_of_tokens(blocks->prior_mass[b], held[j]);
        }
    }
#pragma omp simd
    for (int j = 0; j < ST_EIGHT; j++)
        found[j] -= st_log_gamma_double(both[j]);
}

/* The bound on log p(words), at the tokens that the dots and from_prior were made of. */
static void NAME(lanes_bound)(const REAL *counts, ptrdiff_t n_words, NAME(lanes) *at,
                              double *bound)
{
    REAL *ST_RESTRICT dots = at->dots;
#pragma omp simd
    for (ptrdiff_t p = 0; p < n_words * ST_EIGHT; p++)
        dots[p] = NAME(log)(dots[p]);
    memcpy(bound, at->from_prior, ST_EIGHT * sizeof(double));
    for (ptrdiff_t u = 0; u < n_words; u++)
#pragma omp simd
        for (int j = 0; j < ST_EIGHT; j++)
            bound[j] += (double)counts[u] * dots[u * ST_EIGHT + j];
}

/* Read the rows of the words in the topics of the classes that are left, eight and eight, into
 * `kept`, and move what is known of these classes to their new lanes. */
static inline void NAME(gather_classes)(const st_two_blocks *blocks, const REAL *own,
                                        const int *words, ptrdiff_t n_words, ptrdiff_t n_groups,
                                        const int *lane, const int *class_of, ptrdiff_t n_left,
                                        REAL *kept, REAL *tokens, REAL *first)
{
    const ptrdiff_t n_own = blocks->start[1], size = blocks->start[2] * ST_EIGHT;
    const ptrdiff_t now = (n_left + ST_EIGHT - 1) / ST_EIGHT, row = n_own * ST_EIGHT;
    for (ptrdiff_t i = 0; i < n_left; i++) {
        const ptrdiff_t from = lane[i] / ST_EIGHT * size + lane[i] % ST_EIGHT;
        const ptrdiff_t to = i / ST_EIGHT * size + i % ST_EIGHT;
        for (ptrdiff_t k = 0; k < size; k += ST_EIGHT) {
            tokens[to + k] = tokens[from + k];
            first[to + k] = first[from + k];
        }
    }
    for (ptrdiff_t u = 0; u < n_words; u++) {
        const REAL *b = own + words[u] * n_groups * row;
        REAL *out = kept + u * now * row;
        for (ptrdiff_t i = 0; i < now * ST_EIGHT; i++) {
            const int c = class_of[i < n_left ? i : 0];
            const REAL *column = b + c / ST_EIGHT * row + c % ST_EIGHT;
            REAL *to = out + i / ST_EIGHT * row + i % ST_EIGHT;
            for (ptrdiff_t k = 0; k < row; k += ST_EIGHT)
                to[k] = column[k];
        }
    }
}

/* Set the places of the words' rows in each group of eight classes; those beyond, up to a
 * multiple of eight, are the first word's. */
static inline void NAME(point)(const REAL *base, const int *words, ptrdiff_t n_words,
                               ptrdiff_t n_groups, ptrdiff_t row, const REAL **rows)
{
    const ptrdiff_t n_padded = st_padded(n_words);
    for (ptrdiff_t g = 0; g < n_groups; g++)
        for (ptrdiff_t i = 0; i < n_padded; i++) {
            const ptrdiff_t u = i < n_words ? i : 0;
            rows[g * n_padded + i] = base + ((words ? words[u] : u) * n_groups + g) * row;
        }
}

/* Find bound[c] = log p(c) and the bound on log p(words | c) of a document under each class; see
 * _classes.pxi. The scratch has room for `state_size` numbers, n_padded places of rows for each
 * group of eight classes and once more, two eights of ints for each group, and a double for each
 * class and, beyond, for all topics under eight classes. */
static void NAME(classify)(const st_two_blocks *blocks, const st_contest *contest, const REAL *own,
                           const REAL *shared, const int *words, const REAL *counts,
                           ptrdiff_t n_words, REAL *state, const REAL **rows, int *lane,
                           double *gain, double *bound)
{
    const ptrdiff_t n = blocks->start[2], size = n * ST_EIGHT;
    const ptrdiff_t n_own = blocks->start[1], own_row = n_own * ST_EIGHT;
    const ptrdiff_t all_groups = st_groups(contest->n_classes), n_padded = st_padded(n_words);
    ptrdiff_t n_groups = all_groups, n_left = contest->n_classes, sweeps = 0;
    const REAL **of_all = rows + n_groups * n_padded;
    int *class_of = lane + n_groups * ST_EIGHT;
    REAL *tokens = state, *first = tokens + n_groups * size, *middle = first + n_groups * size;
    NAME(lanes) at = {.alpha = middle + n_groups * size, .terms = gain + contest->n_classes};
    REAL *c = at.alpha + 4 * size, *kept = c + n_padded * (ST_EIGHT + 1);
    double n_tokens = 0, found[ST_EIGHT];
    at.gamma = at.alpha + size;
    at.e = at.alpha + 2 * size;
    at.total = at.alpha + 3 * size;
    at.dots = c + n_padded;
    for (ptrdiff_t u = 0; u < n_padded; u++) {
        c[u] = u < n_words ? counts[u] : 0;
        n_tokens += c[u];
    }
    for (ptrdiff_t p = 0; p < size; p++)
        at.alpha[p] = (REAL)blocks->alpha[p / ST_EIGHT];
    for (ptrdiff_t p = 0; p < n_groups * size; p++)
        tokens[p] = (REAL)(n_tokens / n);
    for (int i = 0; i < n_left; i++) {
        lane[i] = class_of[i] = i;
        bound[i] = n_tokens > 0 ? -INFINITY : contest->log_prior[i];
    }
    NAME(point)(own, words, n_words, n_groups, own_row, rows);
    NAME(point)(shared, words, n_words, 1, n - n_own, of_all);
    const double limit = contest->tol * n_tokens;
    int going = n_tokens > 0, moving = going;
    while (going) {
        /* The sweep after the last one only reads the bound. */
        const int ends = !moving || sweeps >= contest->max_sweeps;
        const ptrdiff_t phase = sweeps < ST_PLAIN_SWEEPS ? -1 : (sweeps - ST_PLAIN_SWEEPS) % 3;
        const int looks = ends || sweeps <= ST_PLAIN_SWEEPS || phase == 0;
        moving = 0;
        if (phase == 0 || phase == 1)
            memcpy(phase ? middle : first, tokens, n_groups * size * sizeof(REAL));
        for (ptrdiff_t g = 0, i = 0; g < n_groups; g++) {
            at.tokens = tokens + g * size;
            at.first = first + g * size;
            at.middle = middle + g * size;
            if (sweeps > 0 || g == 0) /* All classes start alike. */
                NAME(lanes_weigh)(blocks, &at);
            if (looks && (sweeps > 0 || g == 0))
                NAME(lanes_prior)(blocks, n_tokens, &at);
            NAME(lanes_sweep)(blocks, rows + g * n_padded, of_all, c, n_words, &at);
            if (looks)
                NAME(lanes_bound)(c, n_words, &at, found);
            NAME(lanes_update)(n, &at);
            double change = 0;
            for (; i < n_left && lane[i] / ST_EIGHT == g; i++) {
                const int j = lane[i] % ST_EIGHT, own_class = class_of[i];
                change = at.change[j] > change ? at.change[j] : change;
                if (looks) {
                    const double now = found[j] + contest->log_prior[own_class];
                    gain[own_class] = now - bound[own_class];
                    bound[own_class] = now;
                }
            }
            moving |= !(change < limit);
            if (phase == 1 && !(change < limit) && sweeps + 1 < contest->max_sweeps)
                NAME(lanes_extrapolate)(n, limit, &at);
        }
        sweeps++;
        going = !ends;
        if (going && looks && sweeps > 1) {
            n_left = st_give_up(contest, bound, gain, n_left, lane, class_of);
            going = n_left > 1 || contest->n_classes == 1;
            if (going && st_groups(n_left) < n_groups) {
                n_groups = st_groups(n_left);
                NAME(gather_classes)(blocks, own, words, n_words, all_groups, lane, class_of,
                                     n_left, kept, tokens, first);
                NAME(point)(kept, NULL, n_words, n_groups, own_row, rows);
                for (int i = 0; i < n_left; i++)
                    lane[i] = i;
            }
        }
    }
}
