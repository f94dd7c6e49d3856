/* ckpt/library/tag.h - a text in a program by which roost-ckpt recognises that the program was
 * linked with the checkpoint library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_LIBRARY_TAG_H
#define CKPT_LIBRARY_TAG_H

#define LIBRARY_TAG "@(#)roost_checkpoint 1"

#endif
