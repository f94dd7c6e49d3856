/* startd/activation.h - jobs on a claim, asked for on the claim's connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_ACTIVATION_H
#define STARTD_ACTIVATION_H

#include <stdbool.h>

struct claim;
struct wire_request;

void activation_request(void *claim, struct wire_request *request);
void activation_starter_gone(struct claim *claim);
void activation_destroy(struct claim *claim);
/* A job waits for the claim to be idle. */
bool activation_waits(struct claim *claim);
/* The run is committed, and no starter is in its way. */
void activation_start(struct claim *claim);

#endif
