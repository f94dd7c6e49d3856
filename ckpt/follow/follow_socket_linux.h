/* ckpt/follow/follow_socket_linux.h - lets other processes ask a follower for images.
 *
 * The follower, `roost-ckpt follow --at SOCKET`, stays beside the job and knows what memory
 * changes. `roost-ckpt dump --through SOCKET` asks it for one image, and itself runs what must be
 * of the same moment, with its own directory and streams.  Each connection is for one image; each
 * message is a line:
 *
 *     asks      image|kill NAME BASE      NAME: of a file in the follower's directory; BASE: the id
 *                                         of the image that may be built upon, 0: none
 *     answers   still                     the job stands still
 *     asks      on | off MESSAGE          what had to be done meanwhile is done, or failed
 *     answers   made delta|whole BYTES MEMORY_BYTES FROZEN_NS
 *               failed CODE MESSAGE
 *
 * The job may find the socket, and any process of its account may send orders: the follower makes
 * images only in its own directory, and waits for nobody for long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FOLLOW_FOLLOW_SOCKET_LINUX_H
#define CKPT_FOLLOW_FOLLOW_SOCKET_LINUX_H

#include <stdbool.h>
#include <stdint.h>

#include "ckpt/dump/dump_linux.h"

struct err;

struct follow_order {
    bool kill;
    char name[256];   /* of a file, without a directory */
    uint64_t base_id; /* 0: make a whole image */
};

/* ---- the follower's side */

/* Makes the follower's socket at `path`, replacing what is there.  Returns a descriptor or a
 * negative errno. */
int follow_listen(const char *path, struct err *err);
/* Accepts one connection and reads its order.  Returns a descriptor; negative: there was no valid
 * order. */
int follow_accept(int listener, struct follow_order *ret);
/* Says "still" and waits for "on" or "off": a dump_options.while_still. arg points to the
 * connection's descriptor. */
int follow_tell_still(void *arg, struct err *err);
/* Sends the result of an order: `made` if rc is 0, else `failed` with rc and err's text. */
void follow_answer(int fd, int rc, const struct dump_result *result, const struct err *err);

/* ---- who asks */

/* Asks the follower at the socket `path` for an image, with results and errors as ckpt_dump().
 * order->name is a file in the follower's directory.  Of options only kill, while_still and
 * still_arg are used.  -ECONNREFUSED: no follower is there, and nothing was done. */
int follow_ask(const char *path, const struct follow_order *order,
               const struct dump_options *options, struct dump_result *ret, struct err *err);

#endif
