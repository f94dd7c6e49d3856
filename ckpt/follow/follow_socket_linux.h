/* ckpt/follow/follow_socket_linux.h - lets other processes ask a follower for images.
 *
 * The follower, `roost-ckpt follow --at SOCKET`, stays beside the job and knows what memory
 * changes. `roost-ckpt dump --through SOCKET` is its client: it asks the follower for one image,
 * and itself runs the command that saves the job's files at the same moment, with the client's
 * directory and streams.  Each connection is for one image; each message is a line:
 *
 *     client     image|kill NAME BASE   make an image (kill: and end the job) in the file NAME of
 *                                       the follower's directory; a delta only against the image
 *                                       with the id BASE (0: no delta)
 *     follower   still                  the job stands still
 *     client     on                     the client's command has ended; the job may continue
 *                off MESSAGE            the client's command failed; make no image
 *     follower   made delta|whole BYTES MEMORY_BYTES FROZEN_NS
 *                failed CODE MESSAGE
 *
 * The job may find the socket, and any process of the job's Unix user may send orders.  So the
 * follower makes images only in its own directory, and waits for no client for long.
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
    char name[256];   /* file name of the image, without a directory */
    uint64_t base_id; /* id of the image that a delta may build upon; 0: make a whole image */
};

/* ---- the follower's side */

/* Makes the follower's socket at `path`, replacing what is there.  Returns a descriptor or a
 * negative errno. */
int follow_listen(const char *path, struct err *err);
/* Accepts one connection and reads the client's order.  Returns the connection's descriptor;
 * or a negative errno: no connection came, or the client sent no valid order. */
int follow_accept(int listener, struct follow_order *ret);
/* For dump_options.while_still, called while the job stands still: sends "still" to the client and
 * waits for its answer, "on" or "off". arg: pointer to the connection's descriptor (int).  Returns
 * 0 after "on", else -errno. */
int follow_tell_still(void *arg, struct err *err);
/* Sends the result of an order to the client, over the connection fd: `made` if rc is 0, else
 * `failed` with rc and err's text. */
void follow_answer(int fd, int rc, const struct dump_result *result, const struct err *err);

/* ---- the client's side */

/* Asks the follower at the socket `path` for an image; *ret and the returned value are as for
 * ckpt_dump().  order->name is a file in the follower's directory.  Of the options only kill,
 * while_still and still_arg are used.  Returns -ECONNREFUSED if no follower listens there; then
 * nothing was done. */
int follow_ask(const char *path, const struct follow_order *order,
               const struct dump_options *options, struct dump_result *ret, struct err *err);

#endif
