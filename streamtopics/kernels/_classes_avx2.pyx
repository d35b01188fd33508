# SPDX-License-Identifier: BSD-3-Clause
include "_classes.pxi"
