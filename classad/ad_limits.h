/* classad/ad_limits.h - every limit of the ClassAd library, by name.  Crossing one is an error,
 * never a crash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_LIMITS_H
#define CLASSAD_AD_LIMITS_H

#include <stddef.h>

#define AD_ATTRS_MAX 20000 /* attributes of one ad that is parsed or decoded */
#define AD_NAME_MAX  1024  /* bytes of an attribute or function name */
/* bytes of one string literal, and of a string that evaluation makes */
#define AD_STRING_MAX ((size_t)1 << 20)
#define AD_TEXT_MAX   ((size_t)10 << 20) /* bytes of a text to parse, or of a binary ad */
/* nesting of brackets, operators and ads in a text */
#define AD_DEPTH_MAX 160
/* nesting of evaluations: beyond it the value is error */
#define AD_TREE_DEPTH_MAX \
    2000 /* nodes below one another: ten precedences for each level of nesting */
#define AD_EVAL_DEPTH_MAX 3000 /* nesting of evaluations: beyond it the value is error */
/* nodes visited in one evaluation: beyond it the value is error */
#define AD_EVAL_STEPS_MAX 200000
/* Who evaluates for others (constraints, policies) does so in slices of this many steps, and lets
 * the event loop turn between two of them.  A slice ends with the evaluation that crosses it.
 * bench/evaluation_work.c shows how long that lasts; the loop's budget is 10 ms. */
#define AD_SLICE_STEPS 50000
#define AD_LOOK_STEPS  20 /* what looking at one ad counts in a slice, besides evaluating in it */
/* Steps of one evaluation by a getter (ad_get_int() and its kin), whose caller wants a value as it
 * stands and has no budget to count in: far less than a policy may take. */
#define AD_GET_STEPS_MAX 5000
/* memory that one evaluation may take for strings and lists */
#define AD_EVAL_BYTES_MAX ((size_t)16 << 20)
#define AD_NODES_MAX      2000000 /* nodes of one expression */
/* names of one parsed ad that fall on one place of the index */
#define AD_COLLISIONS_MAX 512

#endif
