/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The chain of one document, with counts of type REAL. Included by _gibbs.h once
 * for float, where all weights are 1, and once for double. Weights are rounded to
 * 2**-52 of the document, so that counts are exact however often they change.
 */
typedef struct {
    const st_job *job;
    ptrdiff_t document, n_words, n_tokens, n_columns, n_blocks, position, sweep;
    int averaging, failed, with_alpha;
    uint64_t state;
    double length;
    /* of each word: weight of a token, sum of b alpha, sum of 1 / Z; of each token: its
     * word, and its column */
    REAL *weight, *mass, *inverse;
    int *word, *at;
    /* of each column: topic, weight of its tokens, alpha if all are columns; of each topic:
     * its column, or -1; room for three numbers of each column */
    int *topic, *column;
    REAL *counts, *base, *scratch;
    /* of each block, word and lane: b, sum of N / Z */
    REAL *b, *share;
    st_buffer words, tokens, columns, topics, blocks, shares, expected;
    /* columns that have made room for others: their topics, and values for each word */
    st_list left, left_values;
} NAME(chain);

static void NAME(release)(NAME(chain) *c)
{
    free(c->words.block);
    free(c->tokens.block);
    free(c->columns.block);
    free(c->topics.block);
    free(c->blocks.block);
    free(c->shares.block);
    free(c->expected.block);
    free(c->left.data);
    free(c->left_values.data);
}

ST_INLINE int NAME(all_columns)(const NAME(chain) *c)
{
    return c->job->n_topics <= ST_ALL_COLUMNS;
}

/* Room for n_blocks blocks, of which those after n_kept are new and all 0. */
static int NAME(reserve_blocks)(NAME(chain) *c, ptrdiff_t n_blocks, ptrdiff_t n_kept)
{
    const size_t size = ST_LANES * c->n_words * sizeof(REAL);
    if (st_reserve(&c->blocks, n_blocks * size, n_kept * size)
        || (c->averaging && st_reserve(&c->shares, n_blocks * size, n_kept * size)))
        return -1;
    c->b = (REAL *)c->blocks.data;
    c->share = (REAL *)c->shares.data;
    memset(c->blocks.data + n_kept * size, 0, (n_blocks - n_kept) * size);
    if (c->averaging)
        memset(c->shares.data + n_kept * size, 0, (n_blocks - n_kept) * size);
    for (ptrdiff_t i = ST_LANES * n_kept; i < ST_LANES * n_blocks; i++) {
        c->topic[i] = i < c->n_columns ? c->topic[i] : 0;
        c->counts[i] = 0;
        c->base[i] = 0;
    }
    c->n_blocks = n_blocks;
    return 0;
}

/* Note the sums of column i, for the statistics, before it is used otherwise. */
static int NAME(leave)(NAME(chain) *c, ptrdiff_t i)
{
    const ptrdiff_t first = i / ST_LANES * ST_LANES * c->n_words + i % ST_LANES;
    int *topic = (int *)st_extend(&c->left, sizeof(int));
    REAL *values = (REAL *)st_extend(&c->left_values, c->n_words * sizeof(REAL));
    if (topic == NULL || values == NULL)
        return -1;
    *topic = c->topic[i];
    for (ptrdiff_t u = 0; u < c->n_words; u++) {
        values[u] = c->share[first + ST_LANES * u] * c->b[first + ST_LANES * u];
        c->share[first + ST_LANES * u] = 0;
    }
    return 0;
}

/* The weights of the document's words in its columns. */
static void NAME(fill)(NAME(chain) *c)
{
    const st_job *job = c->job;
    const int *words = job->words + job->indptr[c->document];
    for (ptrdiff_t u = 0; u < c->n_words; u++) {
        for (ptrdiff_t i = 0; job->lists != NULL && i < c->n_columns; i++)
            c->b[ST_LANES * (i / ST_LANES * c->n_words + u) + i % ST_LANES]
                = st_listed(job->lists, words[u], c->topic[i]);
        if (job->lists != NULL)
            continue;
        const float *row = job->weights + words[u] * job->width;
        for (ptrdiff_t block = 0; block < c->n_blocks; block++) {
            REAL *b = c->b + ST_LANES * (block * c->n_words + u);
            NAME(store)(b, NAME(gather)(row, c->topic + ST_LANES * block));
        }
    }
}

/* Columns for the topics that tokens hold; `at` has topics before, columns after. */
static int NAME(arrange)(NAME(chain) *c)
{
    const st_job *job = c->job;
    ptrdiff_t n, i;
    for (i = 0; i < c->n_columns; i++)
        c->column[c->topic[i]] = -1;
    c->n_columns = NAME(all_columns)(c) ? job->n_topics : 0;
    for (i = 0; i < c->n_columns; i++)
        c->topic[i] = c->column[i] = (int)i;
    for (n = 0; n < c->n_tokens; n++) {
        if (c->column[c->at[n]] < 0) {
            c->topic[c->n_columns] = c->at[n];
            c->column[c->at[n]] = (int)c->n_columns++;
        }
        c->at[n] = c->column[c->at[n]];
    }
    const ptrdiff_t n_blocks = (c->n_columns + ST_LANES - 1) / ST_LANES;
    if (NAME(reserve_blocks)(c, n_blocks > 0 ? n_blocks : 1, 0))
        return -1;
    for (i = 0; NAME(all_columns)(c) && i < c->n_columns; i++)
        c->base[i] = (REAL)job->alpha[i];
    for (n = 0; n < c->n_tokens; n++)
        c->counts[c->at[n]] += c->weight[c->word[n]];
    NAME(fill)(c);
    return 0;
}

/* Topics in place of columns. */
ST_INLINE void NAME(name_topics)(const NAME(chain) *c, int *z)
{
    for (ptrdiff_t n = 0; n < c->n_tokens; n++)
        z[n] = c->topic[c->at[n]];
}

/* A column for a topic that has none: an unused one, that of a topic without
 * tokens, or the first of a new block. */
static int NAME(new_column)(NAME(chain) *c, int topic)
{
    const st_job *job = c->job;
    const int *words = job->words + job->indptr[c->document];
    ptrdiff_t i = c->n_columns, u;
    if (i == ST_LANES * c->n_blocks) {
        for (i = 0; i < c->n_columns && c->counts[i] != 0; i++) {
        }
        if (i == c->n_columns && NAME(reserve_blocks)(c, c->n_blocks + 1, c->n_blocks))
            return -1;
    }
    if (i == c->n_columns) {
        c->n_columns++;
    } else {
        if (c->averaging && NAME(leave)(c, i))
            return -1;
        c->column[c->topic[i]] = -1;
    }
    c->topic[i] = topic;
    c->column[topic] = (int)i;
    REAL *b = c->b + i / ST_LANES * ST_LANES * c->n_words + i % ST_LANES;
    for (u = 0; u < c->n_words; u++)
        b[ST_LANES * u] = job->lists != NULL ? st_listed(job->lists, words[u], topic)
                                             : job->weights[words[u] * job->width + topic];
    return (int)i;
}

/* The last column that word u can be in; where rounding left no other. */
static int NAME(last_possible)(const NAME(chain) *c, ptrdiff_t u)
{
    ptrdiff_t i = ST_LANES * c->n_blocks - 1;
    for (; i > 0; i--) {
        const REAL b = c->b[ST_LANES * (i / ST_LANES * c->n_words + u) + i % ST_LANES];
        if (b * (c->counts[i] + c->base[i]) > 0)
            break;
    }
    return (int)i;
}

/* Put a token of word u into a column that was not found among the terms b N. */
ST_NOINLINE int NAME(elsewhere)(NAME(chain) *c, ptrdiff_t u, int from_prior)
{
    int i;
    if (from_prior) {
        const st_job *job = c->job;
        const ptrdiff_t word = job->words[job->indptr[c->document] + u];
        /* Of weights that are no numbers any lane may be drawn, one beside the topics too. */
        const int topic = (int)st_smaller(st_draw_prior(job, word, &c->state), job->n_topics - 1);
        i = c->column[topic];
        if (i < 0)
            i = NAME(new_column)(c, topic);
        if (i < 0) {
            c->failed = 1;
            return 0;
        }
    } else {
        i = NAME(last_possible)(c, u);
    }
    c->counts[i] += c->weight[u];
    return i;
}

/* Draw the topic of the next token again, given n_blocks blocks; alpha is among the
 * terms where all topics are columns. */
ST_INLINE void NAME(visit)(NAME(chain) *c, ptrdiff_t n_blocks, int with_alpha,
                           NAME(lanes) *removed, NAME(lanes) *sums)
{
    const ptrdiff_t n = c->position++, u = c->word[n], stride = ST_LANES * c->n_words;
    const REAL *b = c->b + ST_LANES * u;
    const REAL weight = WEIGHT(c, u);
    const int old = c->at[n];
    ptrdiff_t i;
    for (i = 0; i < n_blocks; i++) {
        const int first = ST_LANES * (int)i;
        const NAME(lanes) own = NAME(load)(b + stride * i);
        removed[i] = NAME(difference)(NAME(load)(c->counts + first),
                                      NAME(one_hot)(old, first, weight));
        const NAME(lanes) counts = with_alpha ? NAME(sum)(removed[i], NAME(load)(c->base + first))
                                              : removed[i];
        sums[i] = i > 0 ? NAME(add_product)(sums[i - 1], own, counts)
                        : NAME(product)(own, counts);
    }
    const NAME(lanes) lanes = NAME(running)(sums[n_blocks - 1]);
    const REAL total = NAME(last)(lanes), z = with_alpha ? total : total + c->mass[u];
    const REAL threshold = UNIFORM(&c->state) * z;
    const int column = NAME(find)(lanes, threshold, sums, n_blocks);
    if (c->averaging) {
        REAL *share = c->share + ST_LANES * u;
        const REAL inverse = 1 / z;
        c->inverse[u] += inverse;
        for (i = 0; i < n_blocks; i++) {
            NAME(lanes) counts = removed[i];
            if (with_alpha)
                counts = NAME(sum)(counts, NAME(load)(c->base + ST_LANES * i));
            NAME(store)(share + stride * i,
                        NAME(add_scaled)(NAME(load)(share + stride * i), inverse, counts));
        }
    }
    if (ST_UNLIKELY(column < 0)) {
        for (i = 0; i < n_blocks; i++)
            NAME(store)(c->counts + ST_LANES * i, removed[i]);
        c->at[n] = NAME(elsewhere)(c, u, !(threshold < total));
        return;
    }
    for (i = 0; i < n_blocks; i++) {
        const int first = ST_LANES * (int)i;
        NAME(store)(c->counts + first,
                    NAME(sum)(removed[i], NAME(one_hot)(column, first, weight)));
    }
    c->at[n] = column;
}

/* `visit` with all that it may know at compile time. */
ST_INLINE void NAME(step)(NAME(chain) *c)
{
    NAME(lanes) removed[10], sums[10];
    switch (c->with_alpha ? -c->n_blocks : c->n_blocks) {
#define CASE(n, with_alpha)                           \
    case with_alpha ? -(n) : (n):                     \
        NAME(visit)(c, n, with_alpha, removed, sums); \
        return;
    CASE(1, 0) CASE(2, 0) CASE(3, 0) CASE(4, 0) CASE(5, 0)
    CASE(6, 0) CASE(7, 0) CASE(8, 0) CASE(9, 0) CASE(10, 0)
    CASE(1, 1) CASE(2, 1) CASE(3, 1) CASE(4, 1)
#undef CASE
    }
    NAME(lanes) *scratch = (NAME(lanes) *)c->scratch;
    NAME(visit)(c, c->n_blocks, 0, scratch, scratch + c->n_blocks);
}

/* n tokens of one document, or of each of two in turn */
ST_NOINLINE void NAME(run)(NAME(chain) *c, ptrdiff_t n)
{
    for (; n > 0; n--)
        NAME(step)(c);
}

ST_NOINLINE void NAME(run_two)(NAME(chain) *c, NAME(chain) *d, ptrdiff_t n)
{
    for (; n > 0; n--) {
        NAME(step)(c);
        NAME(step)(d);
    }
}

/* Weights of the tokens of each word: 1 where REAL is float, or else multiples of 2**-52 of a
 * power of 2, and never 0: a column whose weight is 0 has no tokens. */
static void NAME(weigh)(NAME(chain) *c, const double *token_weight, const int *first_token)
{
    double length = 0, unit = 0;
    ptrdiff_t u;
    int exponent;
    if (sizeof(REAL) == sizeof(float)) {
        for (u = 0; u < c->n_words; u++)
            c->weight[u] = 1;
        c->length = (double)c->n_tokens;
        return;
    }
    for (u = 0; u < c->n_words; u++)
        length += token_weight[u] * (first_token[u + 1] - first_token[u]);
    frexp(length, &exponent);
    unit = ldexp(1.0, exponent - 52);
    c->length = 0;
    for (u = 0; u < c->n_words; u++) {
        c->weight[u] = (REAL)(fmax(nearbyint(token_weight[u] / unit), 1.0) * unit);
        c->length += c->weight[u] * (first_token[u + 1] - first_token[u]);
    }
}

/* Start averaging, with the columns as they are. */
static int NAME(start_averaging)(NAME(chain) *c)
{
    const size_t size = ST_LANES * c->n_words * sizeof(REAL) * c->n_blocks;
    c->averaging = 1;
    if (st_reserve(&c->shares, size, 0))
        return -1;
    c->share = (REAL *)c->shares.data;
    memset(c->share, 0, size);
    return 0;
}

/* Columns for the topics with f > 0, and their f in `scratch`. */
static int NAME(expected_columns)(NAME(chain) *c, const float *f)
{
    const st_job *job = c->job;
    const int all = NAME(all_columns)(c);
    ptrdiff_t i, k;
    for (i = 0; i < c->n_columns; i++)
        c->column[c->topic[i]] = -1;
    c->n_columns = 0;
    for (i = 0; i < job->n_topics; i += ST_LANES) {
        const ptrdiff_t n_here = st_smaller(ST_LANES, job->n_topics - i);
        uint64_t mask = all ? (UINT64_C(1) << n_here) - 1 : st_above_0(f + i);
        for (; mask; mask &= mask - 1) {
            k = i + st_lowest(mask);
            c->scratch[c->n_columns] = f[k];
            c->topic[c->n_columns] = (int)k;
            c->column[k] = (int)c->n_columns++;
        }
    }
    const ptrdiff_t n_blocks = (c->n_columns + ST_LANES - 1) / ST_LANES;
    if (NAME(reserve_blocks)(c, n_blocks > 0 ? n_blocks : 1, 0))
        return -1;
    for (i = 0; all && i < c->n_columns; i++)
        c->base[i] = (REAL)job->alpha[i];
    for (i = c->n_columns; i < ST_LANES * c->n_blocks; i++)
        c->scratch[i] = 0;
    NAME(fill)(c);
    return 0;
}

/* Draw the topics of all tokens from b f, or from b alpha where that is 0. */
static int NAME(start)(NAME(chain) *c, const int *first_token)
{
    const st_job *job = c->job;
    const ptrdiff_t n_lanes = (job->n_topics / ST_LANES + 2) * ST_LANES;
    NAME(lanes) *sums = (NAME(lanes) *)(c->scratch + n_lanes);
    ptrdiff_t u, n, i, n_left = 0;
    if (st_reserve(&c->expected, (job->width + c->n_words) * sizeof(float), 0))
        return -1;
    float *f = (float *)c->expected.data, *weight = f + job->width;
    for (u = 0; u < c->n_words; u++)
        weight[u] = (float)(c->weight[u] * (first_token[u + 1] - first_token[u]));
    st_expect(job, job->words + job->indptr[c->document], weight, c->n_words, (float)c->length, f);
    if (NAME(expected_columns)(c, f))
        return -1;
    const ptrdiff_t n_blocks = c->n_blocks;
    for (u = 0; u < c->n_words; u++) {
        for (i = 0; i < n_blocks; i++) {
            const NAME(lanes) b = NAME(load)(c->b + ST_LANES * (i * c->n_words + u));
            const NAME(lanes) own = NAME(load)(c->scratch + ST_LANES * i);
            sums[i] = i > 0 ? NAME(add_product)(sums[i - 1], b, own) : NAME(product)(b, own);
        }
        const NAME(lanes) lanes = NAME(running)(sums[n_blocks - 1]);
        const REAL total = NAME(last)(lanes);
        for (n = first_token[u] - first_token[0]; n < first_token[u + 1] - first_token[0]; n++) {
            c->at[n] = NAME(find)(lanes, UNIFORM(&c->state) * total, sums, n_blocks);
            if (c->at[n] < 0)
                n_left++;
            else
                c->counts[c->at[n]] += c->weight[u];
        }
    }
    for (n = 0; n < c->n_tokens && n_left > 0; n++)
        if (c->at[n] < 0)
            c->at[n] = NAME(elsewhere)(c, c->word[n], 1);
    return c->failed ? -1 : 0;
}

static int NAME(begin)(NAME(chain) *c, const st_job *job, ptrdiff_t document)
{
    const ptrdiff_t first = job->indptr[document], n_words = job->indptr[document + 1] - first;
    const int *first_token = job->first_token + first;
    const ptrdiff_t n_tokens = first_token[n_words] - first_token[0];
    const ptrdiff_t n_lanes = (job->n_topics / ST_LANES + 2) * ST_LANES;
    ptrdiff_t u, n, k;
    c->job = job;
    c->document = document;
    c->n_words = n_words;
    c->n_tokens = n_tokens;
    c->state = st_mix(job->seeds[document]);
    c->position = c->sweep = 0;
    c->averaging = c->failed = 0;
    c->with_alpha = NAME(all_columns)(c);
    c->left.n_bytes = c->left_values.n_bytes = 0;
    if (st_reserve(&c->words, 3 * n_words * sizeof(REAL), 0)
        || st_reserve(&c->tokens, 2 * n_tokens * sizeof(int), 0)
        || st_reserve(&c->columns, 5 * n_lanes * sizeof(REAL) + n_lanes * sizeof(int), 0))
        return -1;
    if (c->topics.block == NULL) {
        if (st_reserve(&c->topics, job->n_topics * sizeof(int), 0))
            return -1;
        c->column = (int *)c->topics.data;
        for (k = 0; k < job->n_topics; k++)
            c->column[k] = -1;
        c->n_columns = 0;
    }
    c->weight = (REAL *)c->words.data;
    c->mass = c->weight + n_words;
    c->inverse = c->mass + n_words;
    c->word = (int *)c->tokens.data;
    c->at = c->word + n_tokens;
    c->scratch = (REAL *)c->columns.data;
    c->counts = c->scratch + 3 * n_lanes;
    c->base = c->counts + n_lanes;
    c->topic = (int *)(c->base + n_lanes);
    NAME(weigh)(c, job->token_weight + first, first_token);
    for (u = 0; u < n_words; u++) {
        const ptrdiff_t word = job->words[first + u];
        c->mass[u] = NAME(all_columns)(c) ? 0 : st_mass(job, word);
        c->inverse[u] = 0;
        for (n = first_token[u]; n < first_token[u + 1]; n++)
            c->word[n - first_token[0]] = (int)u;
    }
    if (job->continued)
        memcpy(c->at, job->z + first_token[0], n_tokens * sizeof(int));
    if (job->continued ? NAME(arrange)(c) : NAME(start)(c, first_token))
        return -1;
    if (job->averages && job->n_averaged == job->n_sweeps)
        return NAME(start_averaging)(c);
    return 0;
}

/* Take the counts of the last sample for the mean, if there is none, and add E[log theta]. */
static void NAME(record)(const NAME(chain) *c)
{
    const st_job *job = c->job;
    for (ptrdiff_t i = 0; i < c->n_columns; i++) {
        const int k = c->topic[i];
        if (c->counts[i] == 0)
            continue;
        if (job->mean_counts != NULL && !job->averages)
            job->mean_counts[c->document * job->n_topics + k] += c->counts[i];
        if (job->log_theta != NULL) {
            job->log_theta[k] += st_digamma(job->alpha[k] + c->counts[i]);
            job->held[k] += 1;
        }
    }
}

/* Move the columns `kept`, in ascending order, to the front, and drop the others. */
static void NAME(keep_columns)(NAME(chain) *c, const int *kept, ptrdiff_t n_kept, int *moved)
{
    const ptrdiff_t n_blocks = (n_kept + ST_LANES - 1) / ST_LANES, stride = ST_LANES * c->n_words;
    ptrdiff_t i, u, n;
    for (i = 0; i < c->n_columns; i++)
        c->column[c->topic[i]] = -1;
    for (i = 0; i < n_kept; i++) {
        moved[kept[i]] = (int)i;
        c->topic[i] = c->topic[kept[i]];
        c->counts[i] = c->counts[kept[i]];
        c->column[c->topic[i]] = (int)i;
    }
    for (; i < ST_LANES * n_blocks; i++)
        c->counts[i] = 0;
    for (n = 0; n < c->n_tokens; n++)
        c->at[n] = moved[c->at[n]];
    for (i = 0; i < n_kept; i++)
        moved[i] = (int)(kept[i] / ST_LANES * stride + kept[i] % ST_LANES);
    for (; i < ST_LANES * n_blocks; i++)
        moved[i] = 0;
    for (u = 0; u < c->n_words; u++) {
        REAL *b = c->b + ST_LANES * u;
        for (n = 0; n < n_blocks; n++) {
            REAL row[ST_LANES];
            for (i = 0; i < ST_LANES; i++)
                row[i] = b[moved[ST_LANES * n + i]];
            memcpy(b + stride * n, row, sizeof row);
        }
    }
    c->n_columns = n_kept;
    c->n_blocks = n_blocks;
}

/* Drop the columns without tokens, if the sweeps to come are worth it. */
static int NAME(compact)(NAME(chain) *c)
{
    int *kept = (int *)c->scratch, *moved = kept + ST_LANES * c->n_blocks;
    ptrdiff_t n_kept = 0, i;
    if (NAME(all_columns)(c) || c->n_blocks == 1)
        return 0;
    for (i = 0; i < c->n_columns; i++) {
        kept[n_kept] = (int)i;
        n_kept += c->counts[i] != 0;
    }
    const ptrdiff_t n_blocks = (n_kept + ST_LANES - 1) / ST_LANES;
    const ptrdiff_t visits = (c->n_blocks - n_blocks) * (c->job->n_sweeps - c->sweep)
                           * c->n_tokens;
    if (visits <= 2 * n_blocks * c->n_words + c->n_tokens)
        return 0;
    for (i = 0; i < c->n_columns && c->averaging; i++)
        if (NAME(leave)(c, i))
            return -1;
    NAME(keep_columns)(c, kept, n_kept, moved);
    return 0;
}

/* After the last token of a sweep: 1 if another sweep follows, 0 if not, or -1. */
static int NAME(next_sweep)(NAME(chain) *c)
{
    const st_job *job = c->job;
    const ptrdiff_t n_recorded = job->n_averaged > 0 ? job->n_averaged : 1;
    c->position = 0;
    c->sweep++;
    if (c->sweep > job->n_sweeps - n_recorded
        && (job->mean_counts != NULL || job->log_theta != NULL))
        NAME(record)(c);
    if (c->sweep == job->n_sweeps)
        return 0;
    if (NAME(compact)(c))
        return -1;
    if (job->averages && !c->averaging && c->sweep == job->n_sweeps - job->n_averaged
        && NAME(start_averaging)(c))
        return -1;
    return 1;
}

/* Places among the lanes of the columns that have shares; returns how many they are. */
static ptrdiff_t NAME(shared_columns)(const NAME(chain) *c, int *places)
{
    ptrdiff_t n = 0, i, j, u;
    for (i = 0; i < c->n_columns; i += ST_LANES) {
        const REAL *share = c->share + i * c->n_words;
        REAL sums[ST_LANES];
        NAME(lanes) total = NAME(load)(share);
        for (u = 1; u < c->n_words; u++)
            total = NAME(sum)(total, NAME(load)(share + ST_LANES * u));
        NAME(store)(sums, total);
        for (j = i; j < i + ST_LANES && j < c->n_columns; j++) {
            places[n] = (int)j;
            n += NAME(all_columns)(c) || sums[j - i] > 0;
        }
    }
    return n;
}

/* The expected counts of the document: its columns, and for each word their values. */
static int NAME(put_statistics)(NAME(chain) *c, st_job *job)
{
    const ptrdiff_t first = job->indptr[c->document], n_left = c->left.n_bytes / sizeof(int);
    const REAL *left_values = (const REAL *)c->left_values.data;
    int *places = (int *)c->base;
    REAL *row = c->scratch;
    const ptrdiff_t n_here = NAME(shared_columns)(c, places), n = n_here + n_left;
    ptrdiff_t u, i;
    job->first_column[c->document] = job->columns.n_bytes / sizeof(int);
    job->first_value[c->document] = job->values.n_bytes / sizeof(float);
    int *columns = (int *)st_extend(&job->columns, (n + 1) * sizeof(int));
    float *values = (float *)st_extend(&job->values, n * c->n_words * sizeof(float));
    if (columns == NULL || values == NULL)
        return -1;
    *columns++ = (int)n;
    for (i = 0; i < n_here; i++)
        columns[i] = c->topic[places[i]];
    for (i = 0; i < n_left; i++)
        columns[n_here + i] = ((const int *)c->left.data)[i];
    for (u = 0; u < c->n_words; u++, values += n) {
        const REAL scale = (REAL)(job->token_weight[first + u] / job->n_averaged);
        for (i = 0; i < c->n_blocks; i++) {
            const ptrdiff_t place = ST_LANES * (i * c->n_words + u);
            const NAME(lanes) b = NAME(load)(c->b + place);
            NAME(store)(row + ST_LANES * i, NAME(product)(b, NAME(load)(c->share + place)));
        }
        for (i = 0; i < n_here; i++)
            values[i] = (float)(scale * row[places[i]]);
        for (i = 0; i < n_left; i++)
            values[n_here + i] = (float)(scale * left_values[i * c->n_words + u]);
        job->inverse[first + u] = (float)(c->mass[u] > 0 ? scale * c->inverse[u] : 0);
    }
    return 0;
}

/* The expected counts of the document, summed over its words. */
static int NAME(put_mean)(NAME(chain) *c, const st_job *job)
{
    const ptrdiff_t first = job->indptr[c->document], n_left = c->left.n_bytes / sizeof(int);
    const REAL *left_values = (const REAL *)c->left_values.data;
    double *mean = job->mean_counts + c->document * job->n_topics;
    ptrdiff_t u, i, j;
    if (st_reserve(&c->expected, (job->width + c->n_words) * sizeof(float), 0))
        return -1;
    float *f = (float *)c->expected.data, *inverse = f + job->width;
    REAL *scale = c->weight;
    for (u = 0; u < c->n_words; u++) {
        scale[u] = (REAL)(job->token_weight[first + u] / job->n_averaged);
        inverse[u] = (float)(c->mass[u] > 0 ? scale[u] * c->inverse[u] : 0);
    }
    if (!NAME(all_columns)(c)) {
        st_add_terms(job, job->words + first, inverse, c->n_words, f);
        for (i = 0; i < job->n_topics; i++)
            mean[i] += f[i];
    }
    for (i = 0; i < c->n_blocks; i++) {
        REAL sums[ST_LANES] = {0};
        for (u = 0; u < c->n_words; u++) {
            const ptrdiff_t place = ST_LANES * (i * c->n_words + u);
            for (j = 0; j < ST_LANES; j++)
                sums[j] += scale[u] * (c->b[place + j] * c->share[place + j]);
        }
        for (j = 0; j < ST_LANES && ST_LANES * i + j < c->n_columns; j++)
            mean[c->topic[ST_LANES * i + j]] += sums[j];
    }
    for (i = 0; i < n_left; i++)
        for (u = 0; u < c->n_words; u++)
            mean[((const int *)c->left.data)[i]] += scale[u] * left_values[i * c->n_words + u];
    return 0;
}

static int NAME(finish)(NAME(chain) *c, st_job *job)
{
    const ptrdiff_t n_recorded = job->n_averaged > 0 ? job->n_averaged : 1;
    NAME(name_topics)(c, job->z + job->first_token[job->indptr[c->document]]);
    if (job->log_theta != NULL)
        *job->log_total += n_recorded * st_digamma(job->alpha_total + c->length);
    if (c->averaging && job->statistics && NAME(put_statistics)(c, job))
        return -1;
    return c->averaging && job->mean_counts != NULL ? NAME(put_mean)(c, job) : 0;
}

/* Sample these documents, two at a time; -1 without memory. */
static int NAME(sample)(st_job *job, const int *documents, ptrdiff_t n_documents)
{
    NAME(chain) chains[2];
    NAME(chain) *running[2] = {&chains[0], &chains[1]};
    ptrdiff_t next = 0;
    int n_running = 0, failed = 0, j;
    memset(chains, 0, sizeof chains);
    for (; n_running < 2 && next < n_documents && !failed; n_running++)
        failed = NAME(begin)(running[n_running], job, documents[next++]);
    while (n_running > 0 && !failed) {
        NAME(chain) *c = running[0], *d = running[n_running - 1];
        const ptrdiff_t n = st_smaller(c->n_tokens - c->position, d->n_tokens - d->position);
        if (n_running == 2)
            NAME(run_two)(c, d, n);
        else
            NAME(run)(c, n);
        for (j = n_running - 1; j >= 0 && !failed; j--) {
            c = running[j];
            failed |= c->failed;
            if (failed || c->position < c->n_tokens)
                continue;
            const int more = NAME(next_sweep)(c);
            failed |= more < 0;
            if (more != 0)
                continue;
            failed |= NAME(finish)(c, job);
            if (next < n_documents)
                failed |= NAME(begin)(c, job, documents[next++]);
            else
                running[j] = running[--n_running];
        }
    }
    NAME(release)(&chains[0]);
    NAME(release)(&chains[1]);
    return failed ? -1 : 0;
}
