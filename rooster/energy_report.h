/* rooster/energy_report.h - answers what was drawn in some days: sums of energy_days.h's rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_ENERGY_REPORT_H
#define ROOSTER_ENERGY_REPORT_H

#include <stdint.h>

struct energy_reports; /* those under way */
struct store;
struct wire_request;

struct energy_reports *energy_reports_create(void);
/* After the store is closed, whose scans call nothing any more: refuses what is left. */
void energy_reports_destroy(struct energy_reports *reports);
/* Answers a QUERY of type Energy (energy.h); began_s: when counting began at all. */
void energy_report_answer(struct energy_reports *reports, struct store *store, int64_t now_s,
                          int64_t began_s, struct wire_request *request);

#endif
