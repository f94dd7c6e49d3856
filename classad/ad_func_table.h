/* classad/ad_func_table.h - the table of built-in functions.
 *
 * To add a function: a row here, in alphabetical order, its name in ad_func.h, the function itself
 * in the ad_func_*.c of its subject, and a test.  Rows are found by binary search when an
 * expression is parsed; their order is not part of any stored form.
 *
 * The table is a macro because two files need it: parser and decoder know only the names
 * (ad_func_name.c), only the evaluator calls the functions (ad_func.c).
 *
 * A row has the members of struct ad_func in their order.  Two of them say how many steps a call
 * adds to its evaluation: some for each call, and some for each 64 bytes of text in its arguments
 * (at least once).  A function whose work depends on anything else counts this work itself.
 * bench/evaluation_work.c calls each function, to show that no step takes much longer than another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_FUNC_TABLE_H
#define CLASSAD_AD_FUNC_TABLE_H

#define AD_FUNCTIONS(ROW)                                                         \
    ROW("abstime", ad_func_abstime, 0, 2, 0, 10, 35)                              \
    ROW("allcompare", ad_func_list_compare, 3, 3, 1, 0, 0)                        \
    ROW("anycompare", ad_func_list_compare, 3, 3, 0, 0, 0)                        \
    ROW("argstolist", ad_func_args_to_list, 1, 2, 0, 20, 67)                      \
    ROW("avg", ad_func_total, 1, 1, AD_TOTAL_AVG, 0, 0)                           \
    ROW("bool", ad_func_bool, 1, 1, 0, 0, 0)                                      \
    ROW("ceil", ad_func_round, 1, 1, AD_ROUND_UP, 0, 19)                          \
    ROW("ceiling", ad_func_round, 1, 1, AD_ROUND_UP, 0, 19)                       \
    ROW("countmatches", ad_func_count_matches, 2, 2, 0, 2, 0)                     \
    ROW("currenttime", ad_func_time, 0, 0, AD_TIME_CURRENT, 4, 0)                 \
    ROW("daytime", ad_func_time, 0, 0, AD_TIME_DAY, 4, 0)                         \
    ROW("debug", ad_func_debug, 1, 1, 0, 0, 0)                                    \
    ROW("envv1tov2", ad_func_env_v1_to_v2, 1, 1, 0, 30, 59)                       \
    ROW("eval", ad_func_eval, 1, 1, 0, 0, 0)                                      \
    ROW("evalineachcontext", ad_func_each_context, 2, 2, 0, 3, 0)                 \
    ROW("floor", ad_func_round, 1, 1, AD_ROUND_DOWN, 0, 19)                       \
    ROW("formattime", ad_func_format_time, 0, 2, 0, 40, 240)                      \
    ROW("getdayofmonth", ad_func_get, 1, 1, AD_PART_DAY, 6, 35)                   \
    ROW("getdayofweek", ad_func_get, 1, 1, AD_PART_WEEKDAY, 6, 35)                \
    ROW("getdayofyear", ad_func_get, 1, 1, AD_PART_YEARDAY, 6, 35)                \
    ROW("getdays", ad_func_get, 1, 1, AD_PART_DAYS, 6, 35)                        \
    ROW("gethours", ad_func_get, 1, 1, AD_PART_HOURS, 6, 35)                      \
    ROW("getminutes", ad_func_get, 1, 1, AD_PART_MINUTES, 6, 35)                  \
    ROW("getmonth", ad_func_get, 1, 1, AD_PART_MONTH, 6, 35)                      \
    ROW("getseconds", ad_func_get, 1, 1, AD_PART_SECONDS, 6, 35)                  \
    ROW("getyear", ad_func_get, 1, 1, AD_PART_YEAR, 6, 35)                        \
    ROW("identicalmember", ad_func_member, 2, 2, AD_OP_IS, 1, 0)                  \
    ROW("ifthenelse", ad_func_if, 3, 3, 0, 0, 0)                                  \
    ROW("int", ad_func_int, 1, 1, 0, 0, 19)                                       \
    ROW("interval", ad_func_interval, 1, 1, 0, 8, 0)                              \
    ROW("isabstime", ad_func_type_is, 1, 1, AD_TYPE_ABSTIME, 0, 0)                \
    ROW("isboolean", ad_func_type_is, 1, 1, AD_TYPE_BOOL, 0, 0)                   \
    ROW("isclassad", ad_func_type_is, 1, 1, AD_TYPE_AD, 0, 0)                     \
    ROW("iserror", ad_func_type_is, 1, 1, AD_TYPE_ERROR, 0, 0)                    \
    ROW("isinteger", ad_func_type_is, 1, 1, AD_TYPE_INT, 0, 0)                    \
    ROW("islist", ad_func_type_is, 1, 1, AD_TYPE_LIST, 0, 0)                      \
    ROW("isreal", ad_func_type_is, 1, 1, AD_TYPE_REAL, 0, 0)                      \
    ROW("isreltime", ad_func_type_is, 1, 1, AD_TYPE_RELTIME, 0, 0)                \
    ROW("isstring", ad_func_type_is, 1, 1, AD_TYPE_STRING, 0, 0)                  \
    ROW("isundefined", ad_func_type_is, 1, 1, AD_TYPE_UNDEFINED, 0, 0)            \
    ROW("join", ad_func_join, 0, AD_ARGS_ANY, 0, 4, 0)                            \
    ROW("listtoargs", ad_func_list_to_args, 1, 2, 0, 8, 0)                        \
    ROW("max", ad_func_total, 1, 1, AD_TOTAL_MAX, 0, 0)                           \
    ROW("member", ad_func_member, 2, 2, AD_OP_EQ, 1, 0)                           \
    ROW("mergeenvironment", ad_func_merge_environment, 0, AD_ARGS_ANY, 0, 30, 59) \
    ROW("min", ad_func_total, 1, 1, AD_TOTAL_MIN, 0, 0)                           \
    ROW("pow", ad_func_pow, 2, 2, 0, 4, 19)                                       \
    ROW("quantize", ad_func_quantize, 2, 2, 0, 2, 19)                             \
    ROW("random", ad_func_random, 0, 1, 0, 0, 0)                                  \
    ROW("real", ad_func_real, 1, 1, 0, 0, 19)                                     \
    ROW("regexp", ad_func_regexp, 2, 3, 0, 0, 0)                                  \
    ROW("regexpmember", ad_func_regexp_member, 2, 3, 0, 0, 0)                     \
    ROW("regexps", ad_func_regexps, 3, 4, AD_REPLACE_NONE, 0, 0)                  \
    ROW("reltime", ad_func_reltime, 1, 1, 0, 8, 35)                               \
    ROW("replace", ad_func_regexps, 3, 4, AD_REPLACE_FIRST, 0, 0)                 \
    ROW("replaceall", ad_func_regexps, 3, 4, AD_REPLACE_ALL, 0, 0)                \
    ROW("round", ad_func_round, 1, 1, AD_ROUND_NEAREST, 0, 19)                    \
    ROW("size", ad_func_size, 1, 1, 0, 0, 0)                                      \
    ROW("split", ad_func_split, 1, 2, 0, 4, 11)                                   \
    ROW("splitslotname", ad_func_split_at, 1, 1, 1, 6, 0)                         \
    ROW("splittime", ad_func_split_time, 1, 1, 0, 40, 35)                         \
    ROW("splitusername", ad_func_split_at, 1, 1, 0, 6, 0)                         \
    ROW("strcat", ad_func_strcat, 0, AD_ARGS_ANY, 0, 3, 0)                        \
    ROW("strcmp", ad_func_compare, 2, 2, 0, 5, 0)                                 \
    ROW("stricmp", ad_func_compare, 2, 2, 1, 5, 0)                                \
    ROW("string", ad_func_string, 1, 1, 0, 4, 0)                                  \
    ROW("stringlist_regexpmember", ad_func_list_regexp, 2, 4, 0, 2, 0)            \
    ROW("stringlistavg", ad_func_list_total, 1, 2, AD_TOTAL_AVG, 2, 0)            \
    ROW("stringlistimember", ad_func_list_member, 2, 3, 1, 2, 0)                  \
    ROW("stringlistisubsetmatch", ad_func_list_subset, 2, 3, 1, 2, 0)             \
    ROW("stringlistmax", ad_func_list_total, 1, 2, AD_TOTAL_MAX, 2, 0)            \
    ROW("stringlistmember", ad_func_list_member, 2, 3, 0, 2, 0)                   \
    ROW("stringlistmin", ad_func_list_total, 1, 2, AD_TOTAL_MIN, 2, 0)            \
    ROW("stringlistsintersect", ad_func_lists_intersect, 2, 3, 0, 2, 0)           \
    ROW("stringlistsize", ad_func_list_size, 1, 2, 0, 2, 0)                       \
    ROW("stringlistsubsetmatch", ad_func_list_subset, 2, 3, 0, 2, 0)              \
    ROW("stringlistsum", ad_func_list_total, 1, 2, AD_TOTAL_SUM, 2, 0)            \
    ROW("substr", ad_func_substr, 2, 3, 0, 1, 0)                                  \
    ROW("sum", ad_func_total, 1, 1, AD_TOTAL_SUM, 0, 0)                           \
    ROW("time", ad_func_time, 0, 0, AD_TIME_NOW, 0, 0)                            \
    ROW("timezoneoffset", ad_func_time, 0, 0, AD_TIME_ZONE, 4, 0)                 \
    ROW("tolower", ad_func_case, 1, 1, 0, 3, 0)                                   \
    ROW("toupper", ad_func_case, 1, 1, 1, 3, 0)                                   \
    ROW("unparse", ad_func_unparse, 1, 1, 0, 6, 0)                                \
    ROW("unresolved", ad_func_unresolved, 1, 2, 0, 20, 0)                         \
    ROW("userhome", ad_func_user_home, 1, 2, 0, 1000, 0)                          \
    ROW("usermap", ad_func_user_map, 2, 4, 0, 100, 0)                             \
    ROW("version_in_range", ad_func_version, 3, 3, AD_VERSION_IN_RANGE, 8, 3)     \
    ROW("versioncmp", ad_func_version, 2, 2, AD_VERSION_CMP, 6, 3)                \
    ROW("versioneq", ad_func_version, 2, 2, AD_VERSION_EQ, 6, 3)                  \
    ROW("versionge", ad_func_version, 2, 2, AD_VERSION_GE, 6, 3)                  \
    ROW("versiongt", ad_func_version, 2, 2, AD_VERSION_GT, 6, 3)                  \
    ROW("versionle", ad_func_version, 2, 2, AD_VERSION_LE, 6, 3)                  \
    ROW("versionlt", ad_func_version, 2, 2, AD_VERSION_LT, 6, 3)

#endif
