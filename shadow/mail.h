/* shadow/mail.h - mail to the owner of a job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_MAIL_H
#define SHADOW_MAIL_H

struct shadow;
struct wire_request;

void mail_begin(struct shadow *shadow, const char *sendmail);          /* "": mail is not sent */
void mail_handle(struct shadow *shadow, struct wire_request *request); /* JOB_EVENT with Mail */
void mail_forget(struct shadow *shadow);                               /* the process ends */

#endif
