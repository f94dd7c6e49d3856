/* classad/ad_func.c - the table of built-in functions.
 *
 * To add a function: a row here, in alphabetical order, its name in ad_func.h, the function itself
 * in the ad_func_*.c of its subject, and a test.  Rows are found by binary search when an
 * expression is parsed; their order is not part of any stored form.
 *
 * A row has the number of steps that a call adds to its evaluation: some for each call, and some
 * for each 64 bytes of text in its arguments (at least once).  A function whose work depends on
 * anything else counts this work itself.  bench/evaluation_work.c calls each function, to show that
 * no step takes much longer than another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_func.h"

#include <string.h>

#include "base/check.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func_variants.h"

#define ANY AD_ARGS_ANY

static const struct ad_func FUNCTIONS[] = {
    {"abstime", ad_func_abstime, 0, 2, 0, 10, 35},
    {"allcompare", ad_func_list_compare, 3, 3, 1, 0, 0},
    {"anycompare", ad_func_list_compare, 3, 3, 0, 0, 0},
    {"argstolist", ad_func_args_to_list, 1, 2, 0, 20, 67},
    {"avg", ad_func_total, 1, 1, AD_TOTAL_AVG, 0, 0},
    {"bool", ad_func_bool, 1, 1, 0, 0, 0},
    {"ceil", ad_func_round, 1, 1, AD_ROUND_UP, 0, 19},
    {"ceiling", ad_func_round, 1, 1, AD_ROUND_UP, 0, 19},
    {"countmatches", ad_func_count_matches, 2, 2, 0, 2, 0},
    {"currenttime", ad_func_time, 0, 0, AD_TIME_CURRENT, 4, 0},
    {"daytime", ad_func_time, 0, 0, AD_TIME_DAY, 4, 0},
    {"debug", ad_func_debug, 1, 1, 0, 0, 0},
    {"envv1tov2", ad_func_env_v1_to_v2, 1, 1, 0, 30, 59},
    {"eval", ad_func_eval, 1, 1, 0, 0, 0},
    {"evalineachcontext", ad_func_each_context, 2, 2, 0, 3, 0},
    {"floor", ad_func_round, 1, 1, AD_ROUND_DOWN, 0, 19},
    {"formattime", ad_func_format_time, 0, 2, 0, 40, 240},
    {"getdayofmonth", ad_func_get, 1, 1, AD_PART_DAY, 6, 35},
    {"getdayofweek", ad_func_get, 1, 1, AD_PART_WEEKDAY, 6, 35},
    {"getdayofyear", ad_func_get, 1, 1, AD_PART_YEARDAY, 6, 35},
    {"getdays", ad_func_get, 1, 1, AD_PART_DAYS, 6, 35},
    {"gethours", ad_func_get, 1, 1, AD_PART_HOURS, 6, 35},
    {"getminutes", ad_func_get, 1, 1, AD_PART_MINUTES, 6, 35},
    {"getmonth", ad_func_get, 1, 1, AD_PART_MONTH, 6, 35},
    {"getseconds", ad_func_get, 1, 1, AD_PART_SECONDS, 6, 35},
    {"getyear", ad_func_get, 1, 1, AD_PART_YEAR, 6, 35},
    {"identicalmember", ad_func_member, 2, 2, AD_OP_IS, 1, 0},
    {"ifthenelse", ad_func_if, 3, 3, 0, 0, 0},
    {"int", ad_func_int, 1, 1, 0, 0, 19},
    {"interval", ad_func_interval, 1, 1, 0, 8, 0},
    {"isabstime", ad_func_type_is, 1, 1, AD_TYPE_ABSTIME, 0, 0},
    {"isboolean", ad_func_type_is, 1, 1, AD_TYPE_BOOL, 0, 0},
    {"isclassad", ad_func_type_is, 1, 1, AD_TYPE_AD, 0, 0},
    {"iserror", ad_func_type_is, 1, 1, AD_TYPE_ERROR, 0, 0},
    {"isinteger", ad_func_type_is, 1, 1, AD_TYPE_INT, 0, 0},
    {"islist", ad_func_type_is, 1, 1, AD_TYPE_LIST, 0, 0},
    {"isreal", ad_func_type_is, 1, 1, AD_TYPE_REAL, 0, 0},
    {"isreltime", ad_func_type_is, 1, 1, AD_TYPE_RELTIME, 0, 0},
    {"isstring", ad_func_type_is, 1, 1, AD_TYPE_STRING, 0, 0},
    {"isundefined", ad_func_type_is, 1, 1, AD_TYPE_UNDEFINED, 0, 0},
    {"join", ad_func_join, 0, ANY, 0, 4, 0},
    {"listtoargs", ad_func_list_to_args, 1, 2, 0, 8, 0},
    {"max", ad_func_total, 1, 1, AD_TOTAL_MAX, 0, 0},
    {"member", ad_func_member, 2, 2, AD_OP_EQ, 1, 0},
    {"mergeenvironment", ad_func_merge_environment, 0, ANY, 0, 30, 59},
    {"min", ad_func_total, 1, 1, AD_TOTAL_MIN, 0, 0},
    {"pow", ad_func_pow, 2, 2, 0, 4, 19},
    {"quantize", ad_func_quantize, 2, 2, 0, 2, 19},
    {"random", ad_func_random, 0, 1, 0, 0, 0},
    {"real", ad_func_real, 1, 1, 0, 0, 19},
    {"regexp", ad_func_regexp, 2, 3, 0, 0, 0},
    {"regexpmember", ad_func_regexp_member, 2, 3, 0, 0, 0},
    {"regexps", ad_func_regexps, 3, 4, AD_REPLACE_NONE, 0, 0},
    {"reltime", ad_func_reltime, 1, 1, 0, 8, 35},
    {"replace", ad_func_regexps, 3, 4, AD_REPLACE_FIRST, 0, 0},
    {"replaceall", ad_func_regexps, 3, 4, AD_REPLACE_ALL, 0, 0},
    {"round", ad_func_round, 1, 1, AD_ROUND_NEAREST, 0, 19},
    {"size", ad_func_size, 1, 1, 0, 0, 0},
    {"split", ad_func_split, 1, 2, 0, 4, 11},
    {"splitslotname", ad_func_split_at, 1, 1, 1, 6, 0},
    {"splittime", ad_func_split_time, 1, 1, 0, 40, 35},
    {"splitusername", ad_func_split_at, 1, 1, 0, 6, 0},
    {"strcat", ad_func_strcat, 0, ANY, 0, 3, 0},
    {"strcmp", ad_func_compare, 2, 2, 0, 5, 0},
    {"stricmp", ad_func_compare, 2, 2, 1, 5, 0},
    {"string", ad_func_string, 1, 1, 0, 4, 0},
    {"stringlist_regexpmember", ad_func_list_regexp, 2, 4, 0, 2, 0},
    {"stringlistavg", ad_func_list_total, 1, 2, AD_TOTAL_AVG, 2, 0},
    {"stringlistimember", ad_func_list_member, 2, 3, 1, 2, 0},
    {"stringlistisubsetmatch", ad_func_list_subset, 2, 3, 1, 2, 0},
    {"stringlistmax", ad_func_list_total, 1, 2, AD_TOTAL_MAX, 2, 0},
    {"stringlistmember", ad_func_list_member, 2, 3, 0, 2, 0},
    {"stringlistmin", ad_func_list_total, 1, 2, AD_TOTAL_MIN, 2, 0},
    {"stringlistsintersect", ad_func_lists_intersect, 2, 3, 0, 2, 0},
    {"stringlistsize", ad_func_list_size, 1, 2, 0, 2, 0},
    {"stringlistsubsetmatch", ad_func_list_subset, 2, 3, 0, 2, 0},
    {"stringlistsum", ad_func_list_total, 1, 2, AD_TOTAL_SUM, 2, 0},
    {"substr", ad_func_substr, 2, 3, 0, 1, 0},
    {"sum", ad_func_total, 1, 1, AD_TOTAL_SUM, 0, 0},
    {"time", ad_func_time, 0, 0, AD_TIME_NOW, 0, 0},
    {"timezoneoffset", ad_func_time, 0, 0, AD_TIME_ZONE, 4, 0},
    {"tolower", ad_func_case, 1, 1, 0, 3, 0},
    {"toupper", ad_func_case, 1, 1, 1, 3, 0},
    {"unparse", ad_func_unparse, 1, 1, 0, 6, 0},
    {"unresolved", ad_func_unresolved, 1, 2, 0, 20, 0},
    {"userhome", ad_func_user_home, 1, 2, 0, 1000, 0},
    {"usermap", ad_func_user_map, 2, 4, 0, 100, 0},
    {"version_in_range", ad_func_version, 3, 3, AD_VERSION_IN_RANGE, 8, 3},
    {"versioncmp", ad_func_version, 2, 2, AD_VERSION_CMP, 6, 3},
    {"versioneq", ad_func_version, 2, 2, AD_VERSION_EQ, 6, 3},
    {"versionge", ad_func_version, 2, 2, AD_VERSION_GE, 6, 3},
    {"versiongt", ad_func_version, 2, 2, AD_VERSION_GT, 6, 3},
    {"versionle", ad_func_version, 2, 2, AD_VERSION_LE, 6, 3},
    {"versionlt", ad_func_version, 2, 2, AD_VERSION_LT, 6, 3},
};

_Static_assert(ARRAY_COUNT(FUNCTIONS) < AD_CALL_UNKNOWN,
               "the index of a function must fit in a byte");

uint8_t ad_func_index(const char *name, size_t length)
{
    size_t low = 0;
    size_t high = ARRAY_COUNT(FUNCTIONS);
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *known = FUNCTIONS[middle].name;
        size_t i = 0;
        while (i < length && known[i] != '\0' && ad_lower(name[i]) == known[i]) {
            i++;
        }
        if (i == length && known[i] == '\0') {
            return (uint8_t)middle;
        }
        if (i == length ||
            (known[i] != '\0' && (unsigned char)ad_lower(name[i]) < (unsigned char)known[i])) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return AD_CALL_UNKNOWN;
}

const struct ad_func *ad_func_at(uint8_t index)
{
    return index < ARRAY_COUNT(FUNCTIONS) ? &FUNCTIONS[index] : NULL;
}
