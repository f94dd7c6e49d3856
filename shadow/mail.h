/* shadow/mail.h - sends mail to the owner of a job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_MAIL_H
#define SHADOW_MAIL_H

struct shadow;
struct wire_request;

/* To be called once at the start.  sendmail: path of the program that sends mail; "": send no
 * mail. */
void mail_begin(struct shadow *shadow, const char *sendmail);
/* Handles a JOB_EVENT of the schedd that carries a mail instead of events. */
void mail_handle(struct shadow *shadow, struct wire_request *request);
/* To be called when the process ends: gives up the mail that is being sent, answers its JOB_EVENT
 * with -ESHUTDOWN, and frees the memory. */
void mail_forget(struct shadow *shadow);

#endif
