/* schedd/queue/event_rows.h - events on their way to the logs: durable until a shadow has written
 * them.
 *
 * Design.  An event is printed when it happens and becomes a row of the table `events`, committed
 * with the change of the job that it tells of.  After the commit it stands in its owner's queue;
 * the owner's shadow (started for that, if none runs) appends it as the owner and answers; then the
 * row goes.  The text is made once, so that what is told again after somebody died is the same to
 * the byte, and the shadow can see whether it is in the log already (eventlog/log_append.h).
 *
 * One owner has EVENT_STREAMS streams; a log belongs to one of them by its name.  A stream has one
 * batch under way and sends the next after the rows of that one are gone, so events come in order,
 * a log that hangs stops its own stream only, and while one batch is written the next gathers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_EVENT_ROWS_H
#define SCHEDD_QUEUE_EVENT_ROWS_H

#include <stddef.h>

struct change;
struct err;
struct owner;
struct schedd;

#define EVENT_STREAMS      4
#define EVENT_BATCH_BYTES  ((size_t)1 << 20)
#define EVENT_LOG_PATH_MAX 4000

/* Loads what waits; after queue_init(). */
int event_rows_init(struct schedd *schedd, struct err *err);
/* When this life has its number and shadows can dial; before there is the first event. */
void event_rows_start(struct schedd *schedd);
void event_rows_fini(struct schedd *schedd);

/* One printed event for the log at path.  A path with a line break or above EVENT_LOG_PATH_MAX
 * bytes is no log. */
void event_rows_add(struct change *change, struct owner *owner, const char *path, const char *text);
/* One for the site's log, of whosever job it is. */
void event_rows_add_site(struct change *change, const char *text);
/* A mail to the owner: the whole message, its header included. */
void event_rows_add_mail(struct change *change, struct owner *owner, const char *message);
/* The owner's shadow is there (again): what it was told before is told again. */
void event_rows_shadow_up(struct schedd *schedd, struct owner *owner);

#endif
