/* starter/job_filter.h - the filters of system calls (seccomp) that jobs run under; the knob
 * JOB_SECCOMP chooses.
 *
 * The tables are generated when Roost is built, by tools/job_filters.c, which says which calls each
 * filter refuses, and why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_FILTER_H
#define STARTER_JOB_FILTER_H

#include "base/os/os_cage.h"

/* Refuses what no job needs; debuggers, compilers and containers work. */
extern const struct os_filter job_filter_standard;
/* Refuses also tracing other processes, namespaces and mounts. */
extern const struct os_filter job_filter_strict;
/* Used in addition to one of the two above when the job may not use the network. */
extern const struct os_filter job_filter_offline;

#endif
