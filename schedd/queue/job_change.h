/* schedd/queue/job_change.h - transactions of the queue.
 *
 * A struct change collects rows for the store.  change_commit() makes them durable together.  After
 * the commit, and not before, watchers are told of the changed jobs, and callbacks are called.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_JOB_CHANGE_H
#define SCHEDD_QUEUE_JOB_CHANGE_H

#include <stddef.h>
#include <stdint.h>

struct ad;
struct change;
struct cluster;
struct job;
struct schedd;

/* Starts a change; end it with change_commit(). */
struct change *change_begin(struct schedd *schedd);
struct schedd *change_schedd(const struct change *change);
/* change_job() puts the row of the job, as it is now, into the change; change_cluster() does this
 * with the row of the cluster. */
void change_job(struct change *change, struct job *job);
void change_cluster(struct change *change, struct cluster *cluster);
/* Says that ids below `number` are given when the change is durable; see store_raise(). */
void change_raise(struct change *change, int64_t number);
/* change_put() and change_put_bytes() put one row into any table of the store, as part of the
 * change; change_delete() deletes a row. */
void change_put(struct change *change, const char *table, const char *key, const struct ad *ad);
void change_put_bytes(struct change *change, const char *table, const char *key, const void *data,
                      size_t length); /* at most STORE_VALUE_MAX bytes */
void change_delete(struct change *change, const char *table, const char *key);
/* Puts the number *value, as it is when the change is committed, into the table "counters", once
 * for all such calls of a change, which must name the same counter.  value must live until
 * change_commit(). */
void change_counter(struct change *change, const char *key, const int64_t *value);
/* Asks that call(arg) is called after the commit, but before the `done` of change_commit().
 * Several such calls are made in the order in which they were asked for.  arg is memory from
 * mem_alloc(): call frees it; if the schedd ends before the commit, call is not called and arg is
 * freed with mem_free(). */
void change_then(struct change *change, void (*call)(void *arg), void *arg);
/* Asks that call(change) is called first of all by change_commit(): it may still put rows.  All
 * such calls of a change must name the same function, which is called once. */
void change_before_commit(struct change *change, void (*call)(struct change *change));
/* Commits and frees the change.  done(arg) is called after the commit.  If the schedd ends before
 * that, drop(arg) is called instead and must free what done would have freed.  Both may be NULL. */
void change_commit(struct change *change, void (*done)(void *arg), void (*drop)(void *arg),
                   void *arg);

/* Notes that the job leaves the queue: after the commit watchers are told its last ad (flat), then
 * that the job is gone.  The caller deletes the job's row. */
void change_job_gone(struct change *change, const struct job *job, const struct ad *flat);

/* To be called when the schedd ends: frees the changes whose commits are under way, and calls
 * drop(), unless NULL, of each. */
void changes_drop(struct schedd *schedd);

#endif
