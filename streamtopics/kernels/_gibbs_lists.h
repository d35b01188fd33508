/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Topics of words in lists: a word has the weight
 *
 *     b_wk = prior_w base_k + n_wk scale_k
 *
 * in topic k, with n_wk > 0 for the topics of its list alone. Sums of b alpha are those over the
 * list, and prior_w times one number for all words. Included by _gibbs.h.
 */
enum { ST_INDEXED = 16 }; /* topics in a list, above which it has an index */

struct st_lists {
    /* IN: (n_words, 3): the first place, the length and the room of each list; their topics, counts */
    const int64_t *places;
    const int *topics;
    const double *counts;
    /* IN: (n_words,); the others (n_topics,), with scale alpha, and running sums of base alpha */
    const float *prior, *scale, *base, *alpha, *weight, *prior_sums;
    ptrdiff_t n_topics;
    /* (n_words,): where the index of a list begins: bits of the topics of each group, and how many
     * topics come before it, in turn */
    const int64_t *group;
    uint64_t *index;
    /* at the places of the lists: running sums of n scale alpha; (n_words,): sums of b alpha */
    float *sums, *mass;
};

/* Sums and index of the list of a word; -1 if its topics do not ascend. */
static int st_prepare_list(st_lists *lists, ptrdiff_t word)
{
    const ptrdiff_t first = lists->places[3 * word], n = lists->places[3 * word + 1];
    const int *topics = lists->topics + first;
    const double *counts = lists->counts + first;
    float *sums = lists->sums + first, total = 0;
    ptrdiff_t j;
    for (j = 0; j < n; j++) {
        if (topics[j] <= (j > 0 ? topics[j - 1] : -1) || topics[j] >= lists->n_topics)
            return -1;
        total += (float)counts[j] * lists->weight[topics[j]];
        sums[j] = total;
    }
    lists->mass[word] = total + lists->prior[word] * lists->prior_sums[lists->n_topics - 1];
    uint64_t *index = lists->index + 2 * lists->group[word];
    for (ptrdiff_t group = j = 0; n > ST_INDEXED && ST_GROUP * group < lists->n_topics; group++) {
        index[2 * group] = 0;
        index[2 * group + 1] = (uint64_t)j;
        for (; j < n && topics[j] / ST_GROUP == group; j++)
            index[2 * group] |= UINT64_C(1) << (topics[j] % ST_GROUP);
    }
    return 0;
}

/* How many bits are set; compilers know this form. */
ST_INLINE int st_count_bits(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int)(x * UINT64_C(0x0101010101010101) >> 56);
}

/* The weight of a word in a topic, without branches that depend on it. */
ST_INLINE float st_listed(const st_lists *lists, ptrdiff_t word, int topic)
{
    const ptrdiff_t first = lists->places[3 * word], n = lists->places[3 * word + 1];
    const int *topics = lists->topics + first;
    float found = 0;
    if (n > ST_INDEXED) {
        const uint64_t *index = lists->index + 2 * (lists->group[word] + topic / ST_GROUP);
        const uint64_t bit = UINT64_C(1) << (topic % ST_GROUP), below = index[0] & (bit - 1);
        const ptrdiff_t j = st_smaller((ptrdiff_t)index[1] + st_count_bits(below), n - 1);
        found = (float)((index[0] & bit) != 0) * (float)lists->counts[first + j];
    } else {
        for (ptrdiff_t j = 0; j < n; j++)
            found = topics[j] == topic ? (float)lists->counts[first + j] : found;
    }
    return lists->prior[word] * lists->base[topic] + found * lists->scale[topic];
}

/* The first of n running sums above the threshold, or else the last. */
ST_INLINE ptrdiff_t st_first_above(const float *sums, ptrdiff_t n, float threshold)
{
    ptrdiff_t low = 0, high = n - 1;
    while (low < high) {
        const ptrdiff_t middle = (low + high) / 2;
        if (sums[middle] > threshold)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* A topic of the word in proportion to b alpha. */
static int st_draw_listed(const st_lists *lists, ptrdiff_t word, uint64_t *state)
{
    const ptrdiff_t first = lists->places[3 * word], n = lists->places[3 * word + 1];
    const float threshold = st_uniform_float(state) * lists->mass[word];
    const float uniform = st_uniform_float(state), *sums = lists->prior_sums;
    if (n > 0 && threshold < lists->sums[first + n - 1])
        return lists->topics[first + st_first_above(lists->sums + first, n, threshold)];
    return (int)st_first_above(sums, lists->n_topics, uniform * sums[lists->n_topics - 1]);
}

/* f += sum of factor[u] b alpha over some words */
static void st_add_lists(const st_lists *lists, const int *words, const float *factor,
                         ptrdiff_t n_words, float *f)
{
    float of_prior = 0;
    for (ptrdiff_t u = 0; u < n_words; u++) {
        const int64_t *place = lists->places + 3 * (ptrdiff_t)words[u];
        for (ptrdiff_t j = place[0]; j < place[0] + place[1]; j++)
            f[lists->topics[j]] += factor[u]
                                 * ((float)lists->counts[j] * lists->weight[lists->topics[j]]);
        of_prior += factor[u] * lists->prior[words[u]];
    }
    for (ptrdiff_t k = 0; k < lists->n_topics; k++)
        f[k] += of_prior * (lists->base[k] * lists->alpha[k]);
}

/* Add factor b alpha of the word to the totals: the terms of its list, and those of the prior, or,
 * where these are more, draws of `least` tokens at equal distances, from a random place on. */
static void st_add_mass(const st_lists *lists, ptrdiff_t word, double factor, double least,
                        uint64_t *state, st_totals *totals)
{
    const ptrdiff_t first = lists->places[3 * word], n = lists->places[3 * word + 1];
    const double of_prior = factor * lists->prior[word];
    const double all = of_prior * lists->prior_sums[lists->n_topics - 1];
    ptrdiff_t k;
    for (ptrdiff_t j = first; j < first + n; j++)
        st_add_total(totals, lists->topics[j],
                     factor * ((float)lists->counts[j] * lists->weight[lists->topics[j]]));
    if (all < least * (double)lists->n_topics) {
        for (double place = st_uniform_double(state) * least; place < all; place += least) {
            k = st_first_above(lists->prior_sums, lists->n_topics, (float)(place / of_prior));
            st_add_total(totals, (int)k, least);
        }
    } else {
        for (k = 0; k < lists->n_topics; k++)
            st_add_total(totals, (int)k, of_prior * lists->base[k] * lists->alpha[k]);
    }
}
