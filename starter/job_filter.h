/* starter/job_filter.h - the filters of system calls that jobs are put under (JOB_SECCOMP).
 *
 * Made when Roost is built, by tools/job_filters.c, which says what they refuse and why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_FILTER_H
#define STARTER_JOB_FILTER_H

#include "base/os/os_cage.h"

extern const struct os_filter job_filter_standard;
extern const struct os_filter job_filter_strict;
/* Beside one of them, where the network is not allowed. */
extern const struct os_filter job_filter_offline;

#endif
