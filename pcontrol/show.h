/* pcontrol/show.h - what "status" prints: text for people, JSON for programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_SHOW_H
#define PCONTROL_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct controller;
struct phost_name;
struct pjob;
struct strbuf;

/* How many jobs of each state there are, what each host entry does, and which jobs run. */
void show_queues(const struct controller *controller, bool json, struct strbuf *out);
/* One line for each job; json: one object on each line. */
void show_jobs(const struct controller *controller, bool json, struct strbuf *out);
void show_job(const struct pjob *job, bool json, struct strbuf *out);
/* All entries of one name. */
void show_machine(const struct phost_name *name, bool json, struct strbuf *out);
/* One line: "job 3 EXIT 0", as "check job" prints it. */
void show_job_line(const struct pjob *job, struct strbuf *out);
/* Which of the jobs have not ended yet, and for each state why the first of them has not: "waits
 * for 2 jobs: 1 PENDING (there are no hosts), 1 BUSY".  ids: NULL: all jobs.  Returns their number;
 * 0: nothing is appended. */
size_t show_left(const struct controller *controller, const uint64_t *ids, size_t count,
                 struct strbuf *out);

#endif
