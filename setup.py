# SPDX-License-Identifier: BSD-3-Clause
"""Build of the compiled kernels; everything else is in pyproject.toml.

STREAMTOPICS_DEBUG=1 turns bounds checks on and optimisation off.
STREAMTOPICS_SANITIZE=address,undefined (what gcc or clang take after -fsanitize=) compiles with
sanitizers, whose libraries have to be loaded before Python: `.ci/sanitizers` does that.

A wheel is built within Python's limited API, so that one serves Python 3.11 and all later ones.
What is built in place is for one Python, and so is all of a free-threaded one, which has no
limited API yet. A wheel's kernels take as long as these, within 3 %, for whole minibatches and
corpora, and some 5 % longer for small calls, such as one document or a hundred titles.
"""

import multiprocessing
import os
import platform
import sys
import sysconfig

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("STREAMTOPICS_DEBUG", "0") not in ("", "0")
SANITIZE = os.environ.get("STREAMTOPICS_SANITIZE", "")
MSVC = sys.platform == "win32"
LIMITED_API = "bdist_wheel" in sys.argv and not sysconfig.get_config_var("Py_GIL_DISABLED")
X86 = platform.machine().lower() in ("x86_64", "amd64", "i686", "x86")

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,
}

LINK_FLAGS = []
if MSVC:
    FLAGS = ["/Od" if DEBUG else "/O2"]
    INSTRUCTION_SETS = {}
else:
    FLAGS = ["-O0", "-g"] if DEBUG else ["-O3", "-g0"]
    if SANITIZE:
        LINK_FLAGS = [f"-fsanitize={SANITIZE}"]
        # clang counts it to `undefined`, gcc does not.
        FLAGS = ["-O1", "-g1", "-fno-omit-frame-pointer", *LINK_FLAGS]
        FLAGS += ["-fno-sanitize=float-cast-overflow"]
    FLAGS += ["-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math"]
    INSTRUCTION_SETS = {
        "avx2": ["-mavx2", "-mfma"],
        "avx512": ["-mavx2", "-mfma", "-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl"],
    }
MACROS: list[tuple[str, str | None]] = [("Py_LIMITED_API", "0x030B0000")] if LIMITED_API else []
INSTRUCTION_SETS = {"baseline": []} | (INSTRUCTION_SETS if X86 else {})

# Those that take longest to compile come first, so that no processor waits at the end.
PER_INSTRUCTION_SET = [
    "_variational", "_gibbs", "_profiles", "_supervised", "_dirichlet", "_classes",
]  # fmt: skip
ONCE = [
    "_was", "_tokens", "_hdp", "_rows", "_minibatch", "_sentences", "_asum", "_dpp",
    "_groups", "_left_to_right", "_cpu",
]  # fmt: skip
# Cython's own code for memoryviews: one module that all kernels import, not a copy in each.
SHARED = "streamtopics.kernels._cyutility"
# Cython's processes start again from this file where they are not forked.
N_PROCESSES = os.cpu_count() if multiprocessing.get_start_method() == "fork" else 0


def extension(module: str, flags: list[str]) -> Extension:
    """One kernel module, rebuilt when a file that it includes changes."""
    folder = "streamtopics/kernels"
    shared = [
        "_doors.pxd",
        "_random.pxd",
        "_lists.h",
        "_lists.pxd",
        "_vector.h",
        "_vector_rows.h",
        "_vector.pxd",
        "_gibbs.h",
    ]
    shared += [
        "_gibbs_chain.h",
        "_gibbs_lists.h",
        "_gibbs_lanes.h",
        "_gibbs_lanes_avx2.h",
        "_gibbs_lanes_avx512.h",
        "_gibbs_search.h",
    ]
    if module == "_tokens":
        shared.append("_tokens.h")
    if module.startswith("_supervised"):
        shared.append("_supervised.h")
    if module.startswith("_classes"):
        shared += ["_classes.h", "_class_lanes.h"]
    if module == "_rows":
        shared += ["_bins.h", "_lists.pxi"]
    return Extension(
        f"streamtopics.kernels.{module}",
        [f"{folder}/{module}.pyx"],
        include_dirs=[folder],
        depends=[f"{folder}/{name}" for name in shared],
        extra_compile_args=FLAGS + flags,
        extra_link_args=LINK_FLAGS,
        define_macros=MACROS,
        py_limited_api=LIMITED_API,
    )


extensions = [
    extension(f"{module}_{name}", flags)
    for module in PER_INSTRUCTION_SET
    for name, flags in INSTRUCTION_SETS.items()
]
extensions += [extension(module, []) for module in ONCE]
extensions.append(
    Extension(
        SHARED,
        [SHARED.replace(".", "/") + ".c"],
        extra_compile_args=FLAGS,
        extra_link_args=LINK_FLAGS,
        define_macros=MACROS,
        py_limited_api=LIMITED_API,
    )
)

setup(
    ext_modules=cythonize(
        extensions,
        nthreads=N_PROCESSES,
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED,
    ),
    options={
        "build_ext": {"parallel": os.cpu_count()},
        "bdist_wheel": {"py_limited_api": "cp311" if LIMITED_API else False},
    },
)
