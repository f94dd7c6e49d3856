/* wire/watch_protocol.h - event names and operation codes in the parts of a WATCH:
 * docs/protocol/wire.md §4.5.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_WATCH_PROTOCOL_H
#define WIRE_WATCH_PROTOCOL_H

#define WATCH_EVENT_CHANGES "Changes"
#define WATCH_EVENT_SYNCED  "Synced"
#define WATCH_EVENT_RESYNC  "Resync"

/* The operation in one entry of the blob of an event Changes.  An entry is: u8 operation, u16
 * length of the key, the key. */
enum watch_operation { WATCH_CHANGED = 1, WATCH_GONE = 2 };

#endif
