/* schedd/queue/job_change.h - what must be durable: rows for the store, and what is told after the
 * commit.
 *
 * What must be durable is collected in a struct change: rows for the store, and what watchers are
 * told, after the commit and not before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_JOB_CHANGE_H
#define SCHEDD_QUEUE_JOB_CHANGE_H

#include <stddef.h>

struct ad;
struct change;
struct cluster;
struct job;
struct schedd;

struct change *change_begin(struct schedd *schedd);
struct schedd *change_schedd(const struct change *change);
void change_job(struct change *change, struct job *job); /* its row as it is now */
void change_cluster(struct change *change, struct cluster *cluster);
void change_put(struct change *change, const char *table, const char *key, const struct ad *ad);
void change_put_bytes(struct change *change, const char *table, const char *key, const void *data,
                      size_t length); /* at most STORE_VALUE_MAX */
void change_delete(struct change *change, const char *table, const char *key);
/* call(arg) comes after the commit, before change_commit()'s done; in the order given.  arg is on
 * the heap: call frees it, or the schedd when it ends before. */
void change_then(struct change *change, void (*call)(void *arg), void *arg);
/* Takes change; done(arg) comes after the commit.  When the schedd ends before, drop(arg) comes
 * instead, which frees what done would have.  Both may be NULL. */
void change_commit(struct change *change, void (*done)(void *arg), void (*drop)(void *arg),
                   void *arg);

/* The job leaves the queue: watchers are told its last ad, then that it is gone. */
void change_job_gone(struct change *change, const struct job *job, const struct ad *flat);

void changes_drop(struct schedd *schedd); /* the schedd ends: those that wait for the store */

#endif
