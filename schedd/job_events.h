/* schedd/job_events.h - writes the events of a job's life to its event logs.
 *
 * Design.  Each function tells one event.  Whoever changes a job calls the function within the same
 * struct change, and before it removes attributes that the event shows: the text of the event is
 * made at once from the job's present ad, and is committed together with the change (event_rows.h).
 * For a job without a log, the function costs only one look-up of an attribute.  Which event is
 * told at which time is the same as in HTCondor (tests/conformance/eventlog): for example, when a
 * user holds a running job, an eviction and a hold are logged; when a policy holds the job, only
 * the hold is logged.
 *
 * The numbers (000, 001, ...) are HTCondor's numbers of the events.
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

/* HTCondor's reason codes for events_evicted().  When a hold evicts the job, the hold's own code is
 * used instead. */
#define EVICTED_BY_VACATE 1022
#define EVICTED_BY_REMOVE 1023

void events_submitted(struct change *change, struct job *job); /* logs event 000: submitted */
/* Logs event 001: the program started.  started: the starter's report of the run, read for
 * CondorScratchDir. */
void events_executing(struct change *change, struct job *job, const struct ad *started);
/* Logs event 006: the job's memory size.  Logged only when the job has grown since the last 006
 * (events_usage_is_news()), else nothing happens.  usage: the starter's report of what the job
 * uses. */
void events_usage(struct change *change, struct job *job, const struct ad *usage);
/* Returns true when events_usage() would log an event for this report (usage). */
bool events_usage_is_news(const struct schedd *schedd, const struct job *job,
                          const struct ad *usage);
/* logs event 003: a checkpoint was taken */
void events_checkpointed(struct change *change, struct job *job);
/* Logs event 004: the job was evicted after its program had started.  The event says whether this
 * run was checkpointed.  code and subcode: the reason as numbers; with code 0 they are left out. */
void events_evicted(struct change *change, struct job *job, int64_t code, int64_t subcode,
                    const char *reason);
/* Logs event 004: the job ended, and its policy puts it back into the queue. */
void events_requeued(struct change *change, struct job *job, const char *reason);
/* Logs event 005: the job's program ended.  For a job that was skipped because its output is newer
 * than its input (DataflowJobSkipped), logs event 046 instead. */
void events_terminated(struct change *change, struct job *job);
/* Logs event 009: the job was removed. */
void events_aborted(struct change *change, struct job *job, const char *reason);
/* Logs event 010: the job was suspended.  processes: how many of its processes were
 * suspended. */
void events_suspended(struct change *change, struct job *job, int64_t processes);
/* logs event 011: the job continues after a suspension */
void events_unsuspended(struct change *change, struct job *job);
void events_held(struct change *change, struct job *job); /* logs event 012: held */
/* Logs event 013: the job was released from hold. */
void events_released(struct change *change, struct job *job, const char *reason);
/* Logs event 022: the connection to the job was lost. */
void events_disconnected(struct change *change, struct job *job, const char *reason);
/* logs event 023: the connection to the job is back */
void events_reconnected(struct change *change, struct job *job);
/* logs event 024: the connection did not come back, so the run is lost */
void events_lost(struct change *change, struct job *job, const char *reason);
/* Logs event 007: the starter failed. */
void events_starter_failed(struct change *change, struct job *job, const char *why);
/* Logs event 033: the job's attribute `name` is about to get this value.  Call before the change:
 * the event shows the old value, too. */
void events_attribute(struct change *change, struct job *job, const char *name,
                      const struct ad_expr *value);
/* Logs event 040: a file transfer of the job waits, has started or has ended.  at_ms: wall clock of
 * the moment, in milliseconds; 0: now. */
void events_transfer(struct change *change, struct job *job, enum event_transfer type,
                     int64_t at_ms);
/* Logs event 035: a cluster whose jobs are made one by one (submission/job_factory.h) was
 * submitted. */
void events_cluster_submitted(struct change *change, const struct cluster *cluster);
/* Logs event 036: a cluster whose jobs were made one by one (submission/job_factory.h) has left the
 * queue.  jobs: how many jobs were made.  rows: how many items the cluster makes jobs from.
 * completion: 1 when all jobs were made, 0 when not all, negative after an error.  notes: further
 * text for the event; NULL: none. */
void events_cluster_removed(struct change *change, const struct cluster *cluster, int64_t jobs,
                            int64_t rows, int64_t completion, const char *notes);
/* Logs event 037: the cluster makes no further jobs for the time being.  pause_code: the
 * new JobMaterializePaused; hold_code: why the cluster is held, as a number; 0 is left out. */
void events_factory_paused(struct change *change, const struct cluster *cluster, const char *reason,
                           int64_t pause_code, int64_t hold_code);
/* Logs event 038: the cluster makes further jobs again. */
void events_factory_resumed(struct change *change, const struct cluster *cluster,
                            const char *reason);

#endif
