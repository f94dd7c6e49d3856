/* schedd/shadows/shadow_hello.h - the request SHADOW_HELLO: a shadow has connected, and learns what
 * to do and which files to keep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SHADOWS_SHADOW_HELLO_H
#define SCHEDD_SHADOWS_SHADOW_HELLO_H

struct schedd;
struct wire_request;

/* Handles SHADOW_HELLO, which must come over the Unix socket.  Answers which files the shadow is to
 * keep, tells it its runs, and hands over the connections and requests that waited for it. */
void shadow_hello_handle(struct schedd *schedd, struct wire_request *request);

#endif
