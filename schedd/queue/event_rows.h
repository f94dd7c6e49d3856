/* schedd/queue/event_rows.h - keeps printed events in the store until they are written to the event
 * logs.
 *
 * Design.  An event is printed when it happens.  Its text becomes a row of the table `events`,
 * committed together with the change of the job that the event tells of.  After the commit the row
 * stands in the queue of the job's owner.  The owner's shadow (started for this if none runs)
 * appends the text to the log as the owner and answers; then the row is deleted.  The text is made
 * once: when it is sent again after a crash, it is the same to the byte, so the shadow can see
 * whether the log already has it (eventlog/log_append.h).
 *
 * Each owner has EVENT_STREAMS streams; the path of a log decides to which stream the log belongs.
 * A stream has one batch under way, and sends the next one after the rows of the first are deleted.
 * So events stay in order, a log that hangs stops its own stream only, and while one batch is
 * written the next one gathers.
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

#define EVENT_STREAMS     4
#define EVENT_BATCH_BYTES ((size_t)1 << 20)
/* most bytes of the path of an event log, without the terminating zero */
#define EVENT_LOG_PATH_MAX 4000

/* Loads the events that are not written yet.  Call after queue_init().  Returns 0, or a negative
 * errno with err. */
int event_rows_init(struct schedd *schedd, struct err *err);
/* To be called once, when schedd->self.life (the number of this run of the schedd) is known and
 * shadows can connect, but before the first new event: sends the loaded events. */
void event_rows_start(struct schedd *schedd);
void event_rows_fini(struct schedd *schedd);

/* Adds the text of one event for the log at path to the change.  A path that is not absolute, has a
 * line break, or is longer than EVENT_LOG_PATH_MAX bytes is refused with a warning in the daemon's
 * log, and the event is dropped. */
void event_rows_add(struct change *change, struct owner *owner, const char *path, const char *text);
/* Adds the text of one event, of a job of any owner, for the site's log (site_log.h). */
void event_rows_add_site(struct change *change, const char *text);
/* Adds a mail to the change; after the commit the owner's shadow sends it to the owner.  message:
 * the whole message with its headers. */
void event_rows_add_mail(struct change *change, struct owner *owner, const char *message);
/* To be called when the owner's shadow has connected (again): sends the events that wait, even
 * those that may have been sent to the shadow before. */
void event_rows_shadow_up(struct schedd *schedd, struct owner *owner);

#endif
