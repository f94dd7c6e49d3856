/* ckpt/library/roost_checkpoint.h - makes checkpoint images of a program that was linked with
 * roost-compile.
 *
 * An image is a file that holds the whole job (this process and its descendants) and is itself a
 * program: run it, and the job continues where it was.  A program need not call any of these
 * functions: signals and the environment ask for images, too.
 *
 *     SIGUSR2                        makes an image, and the job continues
 *     SIGTSTP                        makes an image, and the job ends (by SIGUSR2)
 *     ROOST_CHECKPOINT_INTERVAL=600  an image every 600 seconds
 *     ROOST_CHECKPOINT_FILE=PATH     its file; default: PROGRAM.ckpt in the directory of the start
 *     ROOST_CHECKPOINT_LOG=PATH      gets a line for each image that was made, or that failed
 *
 * A thread of the library takes both signals, so that no system call of the program ends with
 * EINTR. They are blocked in all other threads, and in programs that these start.  A program that
 * uses one of these signals itself cannot be linked with this library.
 *
 * A program that is started by such a program belongs to the same job and its images.  If it was
 * linked with the library as well, it makes no images of its own: it finds ROOST_CHECKPOINT_JOB,
 * which the first program has set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_LIBRARY_ROOST_CHECKPOINT_H
#define CKPT_LIBRARY_ROOST_CHECKPOINT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an image now, of all threads and processes of the job, and returns when it is complete and
 * durable.  0: the image was made, and the job continues.  1: the job was resumed from the image;
 * the same call returns a second time, in the resumed process.  A negative errno: no image was made
 * (roost_checkpoint_error() tells why), and an earlier image is unchanged.  -EBUSY: called in a
 * section that roost_checkpoint_disable() began, in a hook, or in the handler of a signal that
 * interrupted this thread while it makes an image; other signal handlers may call it.  -EPERM:
 * called by a child; only the process that the job began as may call it. */
int roost_checkpoint(void);

/* Begin and end a section in which no image is made, whoever asks for one; it is made after the
 * last section has ended.  Sections nest, and belong to the thread that calls.  The first call
 * waits for an image that is just being begun (milliseconds).  Signal handlers may have sections,
 * too.  But a handler that runs in the thread that makes an image, while it does, is in the image
 * wherever it was. */
void roost_checkpoint_disable(void);
void roost_checkpoint_enable(void);

/* Sets functions that are called around each image that the library makes; each may be NULL.
 * before: before the image. after: after it, in the job that continues, with the result of
 * roost_checkpoint(). resumed: instead of after, in a job that was resumed from the image.  For
 * roost_checkpoint() they run in the thread that called it; for signals and the interval in a
 * thread of the library.  So a program with hooks has several threads; if its first thread leaves
 * by pthread_exit(), the program ends up to a second later.  Images that others make (`roost-ckpt
 * dump`) call no hooks.  0, or a negative errno when that thread cannot be made. */
int roost_checkpoint_hooks(void (*before)(void *arg), void (*after)(void *arg, int result),
                           void (*resumed)(void *arg), void *arg);

/* Makes an image every so many seconds; 0: none. */
void roost_checkpoint_interval(unsigned seconds);

/* Sets the file for the next images.  0 or -ENAMETOOLONG. */
int roost_checkpoint_file(const char *path);

/* Returns why the latest image was not made, in one line; "" if it was made.  Valid until the next
 * image. */
const char *roost_checkpoint_error(void);

#ifdef __cplusplus
}
#endif

#endif
