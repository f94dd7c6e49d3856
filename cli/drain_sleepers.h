/* cli/drain_sleepers.h - what `roost drain` does with machines that are asleep.
 *
 * They have no job and do not answer.  What is to stay out of work, the collector locks; what is to
 * sleep sleeps already.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_DRAIN_SLEEPERS_H
#define CLI_DRAIN_SLEEPERS_H

#include <stddef.h>

struct ad;
struct cli;
struct drain_words;

/* Changes the results (drain_show_plan.h) of machines that did not answer: does with those that are
 * asleep what words ask for, and says why the others are not there.  cli is connected to the
 * collector. */
void drain_sleepers(struct cli *cli, const struct drain_words *words, struct ad *const *results,
                    size_t count);

#endif
