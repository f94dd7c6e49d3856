/* pcontrol/show.h - what "status" prints: text for people, JSON for programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_SHOW_H
#define PCONTROL_SHOW_H

#include <stdbool.h>

struct controller;
struct phost_name;
struct pjob;
struct strbuf;

/* How many jobs of each state there are, what each host entry does, and which jobs run. */
void show_queues(const struct controller *controller, bool json, struct strbuf *out);
void show_job(const struct pjob *job, bool json, struct strbuf *out);
/* All entries of one name. */
void show_machine(const struct phost_name *name, bool json, struct strbuf *out);
/* One line: "job 3 EXIT 0", as "check job" prints it. */
void show_job_line(const struct pjob *job, struct strbuf *out);

#endif
