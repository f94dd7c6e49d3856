/* rooster/silence.h - what becomes of a machine that does not respond: see silence.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_SILENCE_H
#define ROOSTER_SILENCE_H

struct node;

/* Called in each look at the machine: begins to ask for its state if it does not respond, and stops
 * when it is heard again. */
void silence_look(struct node *node);
/* Callback of the timer of struct node_silence: asks for the state of the machine (a node). */
void silence_ask(void *node);

#endif
