/* shadow/mail.h - sends mail to the owner of a job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_MAIL_H
#define SHADOW_MAIL_H

struct shadow;
struct wire_request;

/* sendmail: path of the program; "": send no mail. */
void mail_begin(struct shadow *shadow, const char *sendmail);
/* Handles JOB_EVENT with Mail. */
void mail_handle(struct shadow *shadow, struct wire_request *request);
void mail_forget(struct shadow *shadow); /* frees all, at the end of the process */

#endif
