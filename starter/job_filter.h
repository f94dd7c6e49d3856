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

/* Refuses the system calls that no job needs; debuggers, compilers and containers work with this
 * filter. */
extern const struct os_filter job_filter_standard;
/* Refuses what job_filter_standard refuses, and also tracing other processes, making namespaces,
 * and mounting. */
extern const struct os_filter job_filter_strict;
/* Refuses the kinds of sockets that a network namespace does not isolate (vsock, between a virtual
 * machine and its host).  Used in addition to job_filter_standard or job_filter_strict if the job
 * may not use the network. */
extern const struct os_filter job_filter_offline;

#endif
