/* classad/ad_func.c - the built-in functions by their place in the table (ad_func_table.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_func.h"

#include "base/check.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func_table.h"
#include "classad/ad_func_variants.h"

#define FUNCTION(name, ...) {name, __VA_ARGS__},

static const struct ad_func FUNCTIONS[] = {AD_FUNCTIONS(FUNCTION)};

const struct ad_func *ad_func_at(uint8_t index)
{
    return index < ARRAY_COUNT(FUNCTIONS) ? &FUNCTIONS[index] : NULL;
}
