/* classad/ad_func_variants.h - what distinguishes rows of the function table that share a C
 * function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_FUNC_VARIANTS_H
#define CLASSAD_AD_FUNC_VARIANTS_H

enum ad_total { AD_TOTAL_SUM, AD_TOTAL_AVG, AD_TOTAL_MIN, AD_TOTAL_MAX };
enum ad_round { AD_ROUND_DOWN, AD_ROUND_UP, AD_ROUND_NEAREST };
enum ad_time_kind { AD_TIME_NOW, AD_TIME_CURRENT, AD_TIME_DAY, AD_TIME_ZONE };

#endif
