/* classad/ad_func.h - the table of built-in functions.
 *
 * A function is one row in ad_func_table.h and one C function in one of the ad_func_*.c files.  The
 * C function evaluates the arguments it wants with ad_arg() (the unevaluated arguments are
 * call->args) and sets *ret, which is undefined when the function is called.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_FUNC_H
#define CLASSAD_AD_FUNC_H

#include <stddef.h>
#include <stdint.h>

struct ad_evaluator;
struct ad_node;
struct ad_value;

struct ad_call {
    const struct ad_node *args;
    uint32_t count;
    uint32_t scope;
    int variant; /* from the table row; lets one C function implement several names */
    uint8_t text_steps;
};

typedef void ad_func_f(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret);

#define AD_ARGS_ANY UINT8_MAX

struct ad_func {
    const char *name; /* in lower case; the table is sorted by name */
    ad_func_f *run;
    uint8_t least; /* fewest arguments; a call with a wrong number of arguments yields error */
    uint8_t most;
    int8_t variant;
    uint16_t call_steps; /* steps that a call costs, besides its arguments */
    /* additional steps for each AD_TEXT_BYTES_A_STEP bytes of text arguments */
    uint8_t text_steps;
};

/* Returns the function's index in the table, or AD_CALL_UNKNOWN. */
uint8_t ad_func_index(const char *name, size_t length);
const struct ad_func *ad_func_at(uint8_t index);
/* Returns the name of a function, in lower case, that differs in at most two letters; NULL: there
 * is none. */
const char *ad_func_nearest(const char *name);

/* functions in ad_func_core.c */
ad_func_f ad_func_type_is, ad_func_if, ad_func_eval, ad_func_unparse, ad_func_debug;
/* functions in ad_func_context.c */
ad_func_f ad_func_list_compare, ad_func_each_context, ad_func_count_matches;
/* functions in ad_func_unresolved.c */
ad_func_f ad_func_unresolved;
/* functions in ad_func_user.c */
ad_func_f ad_func_user_home, ad_func_user_map;
/* functions in ad_func_number.c */
ad_func_f ad_func_int, ad_func_real, ad_func_bool, ad_func_string, ad_func_round, ad_func_pow,
    ad_func_quantize, ad_func_random;
/* functions in ad_func_string.c */
ad_func_f ad_func_strcat, ad_func_join, ad_func_case, ad_func_substr, ad_func_compare,
    ad_func_split, ad_func_split_at;
/* functions in ad_func_list.c */
ad_func_f ad_func_size, ad_func_member, ad_func_total;
/* functions in ad_func_stringlist.c */
ad_func_f ad_func_list_size, ad_func_list_member, ad_func_list_total, ad_func_list_subset,
    ad_func_lists_intersect;
/* functions in ad_func_time.c */
ad_func_f ad_func_time, ad_func_abstime, ad_func_reltime, ad_func_interval;
/* functions in ad_func_date.c */
ad_func_f ad_func_get, ad_func_split_time, ad_func_format_time;
/* functions in ad_func_regexp.c */
ad_func_f ad_func_regexp, ad_func_regexp_member, ad_func_list_regexp, ad_func_regexps;
/* functions in ad_func_version.c */
ad_func_f ad_func_version;
/* functions in ad_func_args.c */
ad_func_f ad_func_args_to_list, ad_func_list_to_args, ad_func_env_v1_to_v2,
    ad_func_merge_environment;

#endif
