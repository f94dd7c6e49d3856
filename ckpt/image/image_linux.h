/* ckpt/image/image_linux.h - images in files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_IMAGE_IMAGE_LINUX_H
#define CKPT_IMAGE_IMAGE_LINUX_H

#include <sys/types.h>

struct err;
struct image;

/* The tables of that image.  -ENOENT and so on; -EBADMSG, -EPROTONOSUPPORT as of image_parse(). */
int image_open(const char *path, struct image **ret, struct err *err);
/* The one that this process runs; *ret is NULL where it runs another program. */
int image_of_process(pid_t pid, struct image **ret, struct err *err);
/* Are the contents of the image what they were?  Reads all of it. -EBADMSG: not. */
int image_verify(const char *path, const struct image *image, struct err *err);

#endif
