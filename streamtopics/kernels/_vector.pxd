# SPDX-License-Identifier: BSD-3-Clause
"""The row operations of _vector.h, for float and for double."""

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
