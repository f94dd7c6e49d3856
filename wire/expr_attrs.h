/* wire/expr_attrs.h - finds misspelt attributes in the expressions of a configuration.
 *
 * An attribute that no ad has is undefined, and START = (KeyboradIdle > 60) never true: the pool
 * stands still without an error.  Custom attributes of machines (STARTD_ATTRS) are defined in the
 * configuration, those of jobs are not; so a name is reported only if it is neither known nor
 * defined, and similar to a known one, or if it is looked up in the slot itself (MY.).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_EXPR_ATTRS_H
#define WIRE_EXPR_ATTRS_H

struct config;
struct log;

/* Receives one line: "FILE:LINE: START names the attribute ...". */
typedef void (*expr_attrs_f)(void *arg, const char *text);

/* Calls warn for each doubtful name in the expressions that files, run-time settings or the
 * environment set. */
void expr_attrs_check(const struct config *config, expr_attrs_f warn, void *arg);
/* Logs these lines as warnings (config.attribute). */
void expr_attrs_log(const struct config *config, struct log *log);

#endif
