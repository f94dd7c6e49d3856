/* ckpt/library/tag.h - by which a program is known to have the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_LIBRARY_TAG_H
#define CKPT_LIBRARY_TAG_H

#define LIBRARY_TAG "@(#)roost_checkpoint 1"

#endif
