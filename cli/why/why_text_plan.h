/* cli/why/why_text_plan.h - clauses and values as `roost why` shows them: on one line, not too
 * long. Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_TEXT_PLAN_H
#define CLI_WHY_WHY_TEXT_PLAN_H

#include <stddef.h>

/* most bytes of a clause in the output, without the terminating zero; longer clauses are cut */
#define WHY_TEXT_MAX  240
#define WHY_PRINT_MAX ((size_t)1 << 20) /* longest text, bytes, that is made before it is cut */

struct ad_expr;
struct strbuf;

/* The expression in long form, cut at WHY_TEXT_MAX.  Owned by the caller (mem_free()). */
char *why_text_clause(const struct ad_expr *expr);

/* The text of out, cut at max bytes; releases out.  Owned by the caller (mem_free()). */
char *why_text_finish(struct strbuf *out, size_t max);

#endif
