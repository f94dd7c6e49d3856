/* Sums in double and vector registers, which live across the moments at which it is interrupted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 60000000

#ifdef __AVX__
#include <immintrin.h>
#endif

int main(void)
{
    double sum = 1, term = 0.7;
    uint64_t bits;
#ifdef __AVX__
    __m256d wide = _mm256_set_pd(1, 2, 3, 4), step = _mm256_set1_pd(1.0000000001);
    double four[4];
#endif
    for (int64_t i = 1; i <= ROUNDS; i++) {
        term = term * 0.9999999 + 1.0 / (double)i;
        sum += term / (double)(i + 3);
#ifdef __AVX__
        wide = _mm256_add_pd(_mm256_mul_pd(wide, step), _mm256_set1_pd(1e-9));
#endif
    }
#ifdef __AVX__
    _mm256_storeu_pd(four, wide);
    for (int i = 0; i < 4; i++) {
        sum += four[i];
    }
#endif
    memcpy(&bits, &sum, sizeof bits);
    (void)printf("%016llx\n", (unsigned long long)bits);
    return 7;
}
