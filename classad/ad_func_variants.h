/* classad/ad_func_variants.h - variants of built-in functions that share one C function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_FUNC_VARIANTS_H
#define CLASSAD_AD_FUNC_VARIANTS_H

enum ad_total { AD_TOTAL_SUM, AD_TOTAL_AVG, AD_TOTAL_MIN, AD_TOTAL_MAX };
enum ad_round { AD_ROUND_DOWN, AD_ROUND_UP, AD_ROUND_NEAREST };
enum ad_time_kind { AD_TIME_NOW, AD_TIME_CURRENT, AD_TIME_DAY, AD_TIME_ZONE };

enum ad_version {
    AD_VERSION_CMP,
    AD_VERSION_LE,
    AD_VERSION_LT,
    AD_VERSION_GE,
    AD_VERSION_GT,
    AD_VERSION_EQ,
    AD_VERSION_IN_RANGE,
};
enum ad_replace { AD_REPLACE_NONE, AD_REPLACE_FIRST, AD_REPLACE_ALL };
/* The part of a time that a function such as getYear() returns.  Relative times have only the parts
 * from AD_PART_DAYS on; absolute times have all but AD_PART_DAYS. */
enum ad_part {
    AD_PART_YEAR,
    AD_PART_MONTH,
    AD_PART_DAY,
    AD_PART_WEEKDAY,
    AD_PART_YEARDAY,
    AD_PART_DAYS,
    AD_PART_HOURS,
    AD_PART_MINUTES,
    AD_PART_SECONDS,
};

#endif
