/* cli/token/token_show_plan.h - the table of `roost token list`.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TOKEN_TOKEN_SHOW_PLAN_H
#define CLI_TOKEN_TOKEN_SHOW_PLAN_H

#include <stddef.h>

struct ad;
struct ad_context;
struct strbuf;

void token_show_list(const struct ad *const *ads, size_t count, const struct ad_context *context,
                     struct strbuf *out);

#endif
