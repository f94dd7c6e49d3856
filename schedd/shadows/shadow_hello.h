/* schedd/shadows/shadow_hello.h - SHADOW_HELLO: a shadow is there, and is told what it is to do and
 * keep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SHADOWS_SHADOW_HELLO_H
#define SCHEDD_SHADOWS_SHADOW_HELLO_H

struct schedd;
struct wire_request;

/* SHADOW_HELLO on a connection of the Unix socket: answers what is to be kept, tells the shadow its
 * runs, and whatever else has waited for it. */
void shadow_hello_handle(struct schedd *schedd, struct wire_request *request);

#endif
