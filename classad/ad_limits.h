/* classad/ad_limits.h - every limit of the ClassAd library, by name.  Exceeding a limit is an
 * error, never a crash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_LIMITS_H
#define CLASSAD_AD_LIMITS_H

#include <stddef.h>

#define AD_ATTRS_MAX 20000 /* attributes of a parsed or decoded ad */
/* bytes of an attribute or function name, without the terminating zero */
#define AD_NAME_MAX 1024
/* bytes of one string literal, and of a string that evaluation makes, without the terminating zero
 */
#define AD_STRING_MAX ((size_t)1 << 20)
/* bytes of a text to parse (without the terminating zero), or of a binary ad */
#define AD_TEXT_MAX ((size_t)10 << 20)
/* nesting of brackets, operators and ads in a text */
#define AD_DEPTH_MAX 160
/* most nodes from an expression's root to a leaf; each level of nesting in the text may add ten,
 * one for each precedence of operators */
#define AD_TREE_DEPTH_MAX 2000
#define AD_EVAL_DEPTH_MAX 3000 /* nesting of evaluations; beyond it the value is error */
/* steps of one evaluation (about one for each node visited); beyond it the value is error */
#define AD_EVAL_STEPS_MAX 200000
/* A daemon that evaluates expressions of others (constraints, policies) does so in slices of this
 * many steps and returns to the event loop between slices.  A slice ends with the evaluation that
 * exceeds this number.  bench/evaluation_work.c measures how long a slice takes; the event loop
 * allows 10 ms. */
#define AD_SLICE_STEPS 50000
/* steps that a slice counts for each ad that it examines, besides those of evaluations in the ad */
#define AD_LOOK_STEPS 20
/* steps of one evaluation by a getter such as ad_get_int().  Its caller has no budget to charge, so
 * the limit is much smaller than AD_EVAL_STEPS_MAX. */
#define AD_GET_STEPS_MAX 5000
/* bytes that one evaluation may allocate for strings and lists */
#define AD_EVAL_BYTES_MAX ((size_t)16 << 20)
#define AD_NODES_MAX      2000000 /* nodes of one expression */
/* names of one parsed ad that fall on the same place of the hash index */
#define AD_COLLISIONS_MAX 512

#endif
