/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Has one allocation fail: of Python's allocators, where faults_hook was given theirs, or of malloc,
 * calloc and realloc where the code that calls them lies in one of the given ranges, such as that of
 * a library. The latter needs LD_PRELOAD and glibc. Says in which library the process dies of an
 * address that is none. See proof/fault_means.py.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <ucontext.h>

enum { MOST_RANGES = 256, DOMAINS = 3 };
enum { NOTHING, KERNELS, OBJECTS };

/* Of all counts: which kind is counted now, how many there were, and which one is to fail. Threads
 * count at once. */
int faults_kind = NOTHING;
long faults_seen = 0, faults_at = 0;

static struct {
    const char *start, *end;
} ranges[MOST_RANGES];
static int n_ranges = 0;

int faults_add_range(const char *start, const char *end) {
    if (n_ranges == MOST_RANGES)
        return 0;
    ranges[n_ranges].start = start;
    ranges[n_ranges++].end = end;
    return 1;
}

static int fails(void) {
    if (__atomic_add_fetch(&faults_seen, 1, __ATOMIC_RELAXED) != faults_at)
        return 0;
    errno = ENOMEM;
    return 1;
}

static int fails_for(const char *caller) {
    if (faults_kind == KERNELS)
        for (int i = 0; i < n_ranges; i++)
            if (caller >= ranges[i].start && caller < ranges[i].end)
                return fails();
    return 0;
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

void *malloc(size_t size) {
    return fails_for(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    return fails_for(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size) {
    return fails_for(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

/* As Python has it. */
typedef struct {
    void *context;
    void *(*malloc)(void *, size_t);
    void *(*calloc)(void *, size_t, size_t);
    void *(*realloc)(void *, void *, size_t);
    void (*free)(void *, void *);
} Allocator;

static Allocator own[DOMAINS];

static int object_fails(void) { return faults_kind == OBJECTS && fails(); }

static void *hooked_malloc(void *context, size_t size) {
    Allocator *of = context;
    return object_fails() ? NULL : of->malloc(of->context, size);
}

static void *hooked_calloc(void *context, size_t n, size_t size) {
    Allocator *of = context;
    return object_fails() ? NULL : of->calloc(of->context, n, size);
}

static void *hooked_realloc(void *context, void *old, size_t size) {
    Allocator *of = context;
    return object_fails() ? NULL : of->realloc(of->context, old, size);
}

static void hooked_free(void *context, void *old) {
    Allocator *of = context;
    of->free(of->context, old);
}

/* Stand before the allocators of Python's objects and of what they hold. */
void faults_hook(void (*get)(int, Allocator *), void (*set)(int, Allocator *)) {
    for (int domain = 1; domain < DOMAINS; domain++) {
        get(domain, &own[domain]);
        Allocator hooked = {&own[domain], hooked_malloc, hooked_calloc, hooked_realloc, hooked_free};
        set(domain, &hooked);
    }
}

/* Where the process was when it was signalled. */
static void *place_of(const ucontext_t *context) {
#if defined(__x86_64__)
    return (void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (void *)context->uc_mcontext.pc;
#else
    return NULL;
#endif
}

static void died(int number, siginfo_t *told, void *context) {
    Dl_info found;
    (void)told;
    if (dladdr(place_of(context), &found))
        dprintf(2, "\ndied in %s\n", found.dli_fname);
    signal(number, SIG_DFL);
    raise(number);
}

/* Write to the standard error in which library the process dies, if it does. */
void faults_tell_of_death(void) {
    struct sigaction action = {.sa_sigaction = died, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}
