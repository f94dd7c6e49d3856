/* factory/log_plan.h - the end of a text that strangers have written: a glidein's log.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_LOG_PLAN_H
#define FACTORY_LOG_PLAN_H

#include <stddef.h>

/* Returns the end of a UTF-8 text of at most `most` bytes; no character is cut. */
const char *log_plan_end(const char *text, size_t most);
/* Copies the last line that is not blank to ret, a buffer of size bytes, without control
 * characters; "": there is none. */
void log_plan_last_line(const char *text, char *ret, size_t size);

#endif
