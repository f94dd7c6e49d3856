/* wire/expr_attrs.h - finds probable mistakes in the expressions of a configuration: misspelt
 * attributes and functions, texts without quotes, levels that do not exist.
 *
 * An attribute that no ad has is undefined, and START = (KeyboradIdle > 60) never true: the pool
 * stands still without an error.  Custom attributes of machines (STARTD_ATTRS) are defined in the
 * configuration, those of jobs are not.  So a name that is neither known nor defined is reported
 * - if it is similar to a known one,
 * - if it is looked up in the slot itself (MY.), or
 * - if it stands alone in an expression of a slot: `Owner == alice` and `HIBERNATE = S5` are the
 *   commonest mistakes.  TARGET.Name, for a job's own attribute, is left alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_EXPR_ATTRS_H
#define WIRE_EXPR_ATTRS_H

struct config;
struct log;

/* Receives one line: "FILE:LINE: START names the attribute ...". */
typedef void (*expr_attrs_f)(void *arg, const char *text);

/* Calls warn for each doubtful thing in the expressions that files, run-time settings or the
 * environment set, at most once for a name in an expression. */
void expr_attrs_check(const struct config *config, expr_attrs_f warn, void *arg);
/* Does so for one knob. */
void expr_attrs_check_knob(const struct config *config, const char *knob, expr_attrs_f warn,
                           void *arg);
/* Logs these lines as warnings (config.attribute). */
void expr_attrs_log(const struct config *config, struct log *log);

#endif
