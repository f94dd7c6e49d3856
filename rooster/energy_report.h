/* rooster/energy_report.h - answers queries about energy with sums of the rows of energy_days.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_ENERGY_REPORT_H
#define ROOSTER_ENERGY_REPORT_H

#include <stdint.h>

struct energy_reports; /* the queries of type Energy that are under way */
struct store;
struct wire_request;

struct energy_reports *energy_reports_create(void);
/* Answers all queries under way with an error and frees reports.  To be called after the store was
 * closed, because then the store no longer calls back. */
void energy_reports_destroy(struct energy_reports *reports);
/* Answers a QUERY of type Energy (see energy_query() in energy.h) from the rows in store.  now_s:
 * the present time; began_s: time at which the database began; both in seconds since 1970. */
void energy_report_answer(struct energy_reports *reports, struct store *store, int64_t now_s,
                          int64_t began_s, struct wire_request *request);

#endif
