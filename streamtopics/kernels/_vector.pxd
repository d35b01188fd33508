# SPDX-License-Identifier: BSD-3-Clause
"""The row operations of _vector.h, for float and for double."""

from cython cimport floating


cdef extern from "_vector.h" nogil:
    void st_dot4_float(const float *a, const float *b0, const float *b1, const float *b2,
                       const float *b3, Py_ssize_t n, float *out) noexcept
    void st_dot4_double(const double *a, const double *b0, const double *b1, const double *b2,
                        const double *b3, Py_ssize_t n, double *out) noexcept
    float st_dot_float(const float *a, const float *b, Py_ssize_t n) noexcept
    double st_dot_double(const double *a, const double *b, Py_ssize_t n) noexcept
    void st_add4_float(float *sum, const float *r, const float *b0, const float *b1,
                       const float *b2, const float *b3, Py_ssize_t n) noexcept
    void st_add4_double(double *sum, const double *r, const double *b0, const double *b1,
                        const double *b2, const double *b3, Py_ssize_t n) noexcept
    void st_add_float(float *sum, float r, const float *b, Py_ssize_t n) noexcept
    void st_add_double(double *sum, double r, const double *b, Py_ssize_t n) noexcept
    float st_exp_digamma_float(const float *x, const float *offset, float *out,
                               Py_ssize_t n) noexcept
    double st_exp_digamma_double(const double *x, const double *offset, double *out,
                                 Py_ssize_t n) noexcept
    float st_update_float(const float *alpha, const float *e, const float *sum, Py_ssize_t n,
                          float *gamma) noexcept
    double st_update_double(const double *alpha, const double *e, const double *sum,
                            Py_ssize_t n, double *gamma) noexcept
    void st_sweep_float(const float *e, float scale, const float *shared, const float **rows,
                        const float *counts, Py_ssize_t n_words, Py_ssize_t n,
                        float *total) noexcept
    void st_extrapolate_float(const float *first, const float *middle, const float *alpha,
                              Py_ssize_t n, float *gamma) noexcept
    void st_sweep_double(const double *e, double scale, const double *shared, const double **rows,
                         const double *counts, Py_ssize_t n_words, Py_ssize_t n,
                         double *total) noexcept
    void st_extrapolate_double(const double *first, const double *middle, const double *alpha,
                               Py_ssize_t n, double *gamma) noexcept
    void st_add_divergences(const double *q, const double *p, const double *eta,
                            Py_ssize_t eta_step, const double *weight,
                            Py_ssize_t weight_step, Py_ssize_t n, double *from_p,
                            double *from_eta) noexcept
    double st_psi_double(double x) noexcept


cdef inline floating exp_digamma(const floating *x, const floating *offset, floating *out,
                                 Py_ssize_t n) noexcept nogil:
    if floating is float:
        return st_exp_digamma_float(x, offset, out, n)
    else:
        return st_exp_digamma_double(x, offset, out, n)


cdef inline floating dot(const floating *a, const floating *b, Py_ssize_t n) noexcept nogil:
    if floating is float:
        return st_dot_float(a, b, n)
    else:
        return st_dot_double(a, b, n)


cdef inline void add(floating *total, floating r, const floating *row,
                     Py_ssize_t n) noexcept nogil:
    if floating is float:
        st_add_float(total, r, row, n)
    else:
        st_add_double(total, r, row, n)


cdef inline floating update(const floating *alpha, const floating *e, const floating *total,
                            Py_ssize_t n, floating *gamma) noexcept nogil:
    if floating is float:
        return st_update_float(alpha, e, total, n, gamma)
    else:
        return st_update_double(alpha, e, total, n, gamma)


cdef inline void sweep(const floating *e, floating scale, const floating *shared,
                       const floating **rows, const floating *counts, Py_ssize_t n_words,
                       Py_ssize_t n, floating *total) noexcept nogil:
    if floating is float:
        st_sweep_float(e, scale, shared, rows, counts, n_words, n, total)
    else:
        st_sweep_double(e, scale, shared, rows, counts, n_words, n, total)


cdef inline void extrapolate(const floating *first, const floating *middle,
                             const floating *alpha, Py_ssize_t n, floating *gamma) noexcept nogil:
    if floating is float:
        st_extrapolate_float(first, middle, alpha, n, gamma)
    else:
        st_extrapolate_double(first, middle, alpha, n, gamma)
