/* ckpt/stub_code.h - the stub, the program at the head of each image, as bytes.
 *
 * The build makes this flat program from ckpt/stub/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_STUB_CODE_H
#define CKPT_STUB_CODE_H

#include <stddef.h>

extern const unsigned char stub_code[];
extern const size_t stub_code_bytes; /* size of stub_code, a multiple of the page size */

#endif
