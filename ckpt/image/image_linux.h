/* ckpt/image/image_linux.h - opens and verifies images in files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_IMAGE_IMAGE_LINUX_H
#define CKPT_IMAGE_IMAGE_LINUX_H

#include <sys/types.h>

struct err;
struct image;

/* Reads the tables of an image file.  Returns 0; -EBADMSG: not an image, or damaged;
 * -EPROTONOSUPPORT: another version of the format; or another -errno. */
int image_open(const char *path, struct image **ret, struct err *err);
/* Reads the tables of the image that a process runs. *ret is NULL if the process runs another
 * program than an image.  Returns 0 or -errno. */
int image_of_process(pid_t pid, struct image **ret, struct err *err);
/* Compares all contents of the image with their checksums.  Reads the whole file.  Returns 0;
 * -EBADMSG: a checksum differs; or another -errno. */
int image_verify(const char *path, const struct image *image, struct err *err);

#endif
