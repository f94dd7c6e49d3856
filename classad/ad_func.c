/* classad/ad_func.c - the table of built-in functions.
 *
 * To add one: a row here, in the order of the alphabet, its name in ad_func.h, one function in the
 * ad_func_*.c it fits, and a test.  Rows are found by binary search when an expression is parsed;
 * their place is not part of any stored form.
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
    {"abstime", ad_func_abstime, 0, 2, 0},
    {"allcompare", ad_func_list_compare, 3, 3, 1},
    {"anycompare", ad_func_list_compare, 3, 3, 0},
    {"argstolist", ad_func_args_to_list, 1, 2, 0},
    {"avg", ad_func_total, 1, 1, AD_TOTAL_AVG},
    {"bool", ad_func_bool, 1, 1, 0},
    {"ceil", ad_func_round, 1, 1, AD_ROUND_UP},
    {"ceiling", ad_func_round, 1, 1, AD_ROUND_UP},
    {"countmatches", ad_func_count_matches, 2, 2, 0},
    {"currenttime", ad_func_time, 0, 0, AD_TIME_CURRENT},
    {"daytime", ad_func_time, 0, 0, AD_TIME_DAY},
    {"debug", ad_func_debug, 1, 1, 0},
    {"envv1tov2", ad_func_env_v1_to_v2, 1, 1, 0},
    {"eval", ad_func_eval, 1, 1, 0},
    {"evalineachcontext", ad_func_each_context, 2, 2, 0},
    {"floor", ad_func_round, 1, 1, AD_ROUND_DOWN},
    {"formattime", ad_func_format_time, 0, 2, 0},
    {"getdayofmonth", ad_func_get, 1, 1, AD_PART_DAY},
    {"getdayofweek", ad_func_get, 1, 1, AD_PART_WEEKDAY},
    {"getdayofyear", ad_func_get, 1, 1, AD_PART_YEARDAY},
    {"getdays", ad_func_get, 1, 1, AD_PART_DAYS},
    {"gethours", ad_func_get, 1, 1, AD_PART_HOURS},
    {"getminutes", ad_func_get, 1, 1, AD_PART_MINUTES},
    {"getmonth", ad_func_get, 1, 1, AD_PART_MONTH},
    {"getseconds", ad_func_get, 1, 1, AD_PART_SECONDS},
    {"getyear", ad_func_get, 1, 1, AD_PART_YEAR},
    {"identicalmember", ad_func_member, 2, 2, AD_OP_IS},
    {"ifthenelse", ad_func_if, 3, 3, 0},
    {"int", ad_func_int, 1, 1, 0},
    {"interval", ad_func_interval, 1, 1, 0},
    {"isabstime", ad_func_type_is, 1, 1, AD_TYPE_ABSTIME},
    {"isboolean", ad_func_type_is, 1, 1, AD_TYPE_BOOL},
    {"isclassad", ad_func_type_is, 1, 1, AD_TYPE_AD},
    {"iserror", ad_func_type_is, 1, 1, AD_TYPE_ERROR},
    {"isinteger", ad_func_type_is, 1, 1, AD_TYPE_INT},
    {"islist", ad_func_type_is, 1, 1, AD_TYPE_LIST},
    {"isreal", ad_func_type_is, 1, 1, AD_TYPE_REAL},
    {"isreltime", ad_func_type_is, 1, 1, AD_TYPE_RELTIME},
    {"isstring", ad_func_type_is, 1, 1, AD_TYPE_STRING},
    {"isundefined", ad_func_type_is, 1, 1, AD_TYPE_UNDEFINED},
    {"join", ad_func_join, 0, ANY, 0},
    {"listtoargs", ad_func_list_to_args, 1, 2, 0},
    {"max", ad_func_total, 1, 1, AD_TOTAL_MAX},
    {"member", ad_func_member, 2, 2, AD_OP_EQ},
    {"mergeenvironment", ad_func_merge_environment, 0, ANY, 0},
    {"min", ad_func_total, 1, 1, AD_TOTAL_MIN},
    {"pow", ad_func_pow, 2, 2, 0},
    {"quantize", ad_func_quantize, 2, 2, 0},
    {"random", ad_func_random, 0, 1, 0},
    {"real", ad_func_real, 1, 1, 0},
    {"regexp", ad_func_regexp, 2, 3, 0},
    {"regexpmember", ad_func_regexp_member, 2, 3, 0},
    {"regexps", ad_func_regexps, 3, 4, AD_REPLACE_NONE},
    {"reltime", ad_func_reltime, 1, 1, 0},
    {"replace", ad_func_regexps, 3, 4, AD_REPLACE_FIRST},
    {"replaceall", ad_func_regexps, 3, 4, AD_REPLACE_ALL},
    {"round", ad_func_round, 1, 1, AD_ROUND_NEAREST},
    {"size", ad_func_size, 1, 1, 0},
    {"split", ad_func_split, 1, 2, 0},
    {"splitslotname", ad_func_split_at, 1, 1, 1},
    {"splittime", ad_func_split_time, 1, 1, 0},
    {"splitusername", ad_func_split_at, 1, 1, 0},
    {"strcat", ad_func_strcat, 0, ANY, 0},
    {"strcmp", ad_func_compare, 2, 2, 0},
    {"stricmp", ad_func_compare, 2, 2, 1},
    {"string", ad_func_string, 1, 1, 0},
    {"stringlist_regexpmember", ad_func_list_regexp, 2, 4, 0},
    {"stringlistavg", ad_func_list_total, 1, 2, AD_TOTAL_AVG},
    {"stringlistimember", ad_func_list_member, 2, 3, 1},
    {"stringlistisubsetmatch", ad_func_list_subset, 2, 3, 1},
    {"stringlistmax", ad_func_list_total, 1, 2, AD_TOTAL_MAX},
    {"stringlistmember", ad_func_list_member, 2, 3, 0},
    {"stringlistmin", ad_func_list_total, 1, 2, AD_TOTAL_MIN},
    {"stringlistsintersect", ad_func_lists_intersect, 2, 3, 0},
    {"stringlistsize", ad_func_list_size, 1, 2, 0},
    {"stringlistsubsetmatch", ad_func_list_subset, 2, 3, 0},
    {"stringlistsum", ad_func_list_total, 1, 2, AD_TOTAL_SUM},
    {"substr", ad_func_substr, 2, 3, 0},
    {"sum", ad_func_total, 1, 1, AD_TOTAL_SUM},
    {"time", ad_func_time, 0, 0, AD_TIME_NOW},
    {"timezoneoffset", ad_func_time, 0, 0, AD_TIME_ZONE},
    {"tolower", ad_func_case, 1, 1, 0},
    {"toupper", ad_func_case, 1, 1, 1},
    {"unparse", ad_func_unparse, 1, 1, 0},
    {"unresolved", ad_func_unresolved, 1, 2, 0},
    {"userhome", ad_func_user_home, 1, 2, 0},
    {"usermap", ad_func_user_map, 2, 4, 0},
    {"version_in_range", ad_func_version, 3, 3, AD_VERSION_IN_RANGE},
    {"versioncmp", ad_func_version, 2, 2, AD_VERSION_CMP},
    {"versioneq", ad_func_version, 2, 2, AD_VERSION_EQ},
    {"versionge", ad_func_version, 2, 2, AD_VERSION_GE},
    {"versiongt", ad_func_version, 2, 2, AD_VERSION_GT},
    {"versionle", ad_func_version, 2, 2, AD_VERSION_LE},
    {"versionlt", ad_func_version, 2, 2, AD_VERSION_LT},
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
