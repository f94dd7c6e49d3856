/* schedd/job_events.h - what the job event log says of each turn of a job's life.
 *
 * Design.  Whoever moves a job calls one of these in the same change, before the attributes that it
 * tells of are taken away: the event is printed then, from the job's ad as it is then, and goes
 * with the commit (event_rows.h).  A job without UserLog costs one look-up.  Which event is told
 * when is HTCondor's habit, as seen in tests/conformance/eventlog: a user's hold of a running job
 * is an eviction and a hold, a policy's is a hold alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_EVENTS_H
#define SCHEDD_JOB_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "eventlog/event_text.h"

struct ad;
struct ad_expr;
struct change;
struct cluster;
struct job;
struct schedd;

#define EVICTED_BY_VACATE 1022 /* HTCondor's codes of an eviction that is no hold's */
#define EVICTED_BY_REMOVE 1023

void events_submitted(struct change *change, struct job *job); /* 000 */
/* 001; started: what the starter said of the run (CondorScratchDir). */
void events_executing(struct change *change, struct job *job, const struct ad *started);
/* 006, when the job is larger than what was told before; usage: what its starter said. */
void events_usage(struct change *change, struct job *job, const struct ad *usage);
/* Is there anything for events_usage() to tell? */
bool events_usage_is_news(const struct schedd *schedd, const struct job *job,
                          const struct ad *usage);
void events_checkpointed(struct change *change, struct job *job); /* 003 */
/* 004, which says whether the run was checkpointed; code 0: none.  For a job whose program ran. */
void events_evicted(struct change *change, struct job *job, int64_t code, int64_t subcode,
                    const char *reason);
/* 004 of a job that ended and tries again. */
void events_requeued(struct change *change, struct job *job, const char *reason);
void events_terminated(struct change *change, struct job *job);                       /* 005, 046 */
void events_aborted(struct change *change, struct job *job, const char *reason);      /* 009 */
void events_suspended(struct change *change, struct job *job, int64_t processes);     /* 010 */
void events_unsuspended(struct change *change, struct job *job);                      /* 011 */
void events_held(struct change *change, struct job *job);                             /* 012 */
void events_released(struct change *change, struct job *job, const char *reason);     /* 013 */
void events_disconnected(struct change *change, struct job *job, const char *reason); /* 022 */
void events_reconnected(struct change *change, struct job *job);                      /* 023 */
void events_lost(struct change *change, struct job *job, const char *reason);         /* 024 */
/* 007: its starter failed. */
void events_starter_failed(struct change *change, struct job *job, const char *why);
/* 033: somebody is about to set that attribute of it to that expression. */
void events_attribute(struct change *change, struct job *job, const char *name,
                      const struct ad_expr *value);
/* 040; at_ms: when it was, 0: now. */
void events_transfer(struct change *change, struct job *job, enum event_transfer type,
                     int64_t at_ms);
/* Of a cluster whose jobs are made one by one: 035 and 036; completion 1: all, 0: not all,
 * negative: an error. */
void events_cluster_submitted(struct change *change, const struct cluster *cluster);
void events_cluster_removed(struct change *change, const struct cluster *cluster, int64_t jobs,
                            int64_t rows, int64_t completion, const char *notes);
/* 037 and 038. */
void events_factory_paused(struct change *change, const struct cluster *cluster, const char *reason,
                           int64_t pause_code, int64_t hold_code);
void events_factory_resumed(struct change *change, const struct cluster *cluster,
                            const char *reason);

#endif
