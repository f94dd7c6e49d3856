/* ckpt/follow/follow_socket_linux.h - a follower that is asked for images by other processes.
 *
 * `roost-ckpt follow --at SOCKET` stays beside the job; `roost-ckpt dump --through SOCKET` asks it
 * for one image, and runs what is to be of the same moment itself, with its own directory and
 * streams.  One connection is one image, a line each:
 *
 *     asks      image|kill NAME BASE      NAME: of a file in the follower's folder; BASE: the id
 *                                         of the image that may be built upon, 0: none
 *     answers   still                     the job stands still
 *     asks      on | off MESSAGE          what was to be done meanwhile is, or could not be
 *     answers   made delta|whole BYTES MEMORY_BYTES FROZEN_NS
 *               failed CODE MESSAGE
 *
 * The socket lies where the job may find it, and what it is asked for comes from anybody of its
 * account: it makes images in its own folder and nowhere else, and waits for nobody for long.
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
    char name[256];   /* a file's, without a folder */
    uint64_t base_id; /* 0: a whole image */
};

/* ---- the follower's side */

/* A descriptor; what was there under that name is removed. */
int follow_listen(const char *path, struct err *err);
/* Takes one connection and its order: a descriptor, or negative: nobody asks rightly. */
int follow_accept(int listener, struct follow_order *ret);
/* A dump_options.while_still: arg points to the connection's descriptor. */
int follow_tell_still(void *arg, struct err *err);
void follow_answer(int fd, int rc, const struct dump_result *result, const struct err *err);

/* ---- who asks */

/* An image from the follower at that socket, as ckpt_dump(); order.name is of a file in its folder.
 * options: kill, while_still, still_arg.  -ECONNREFUSED: nobody is there, and nothing was done. */
int follow_ask(const char *path, const struct follow_order *order,
               const struct dump_options *options, struct dump_result *ret, struct err *err);

#endif
