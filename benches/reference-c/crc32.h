// CRC-32 (IEEE), as fast as the processor has it where that is x86-64 with PCLMULQDQ: 64 bytes are
// folded into the next 64 by carry-less multiplication (V. Gopal et al., "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009), the 16 that are left go through
// the table. So the answer costs a C program no more than it costs the strategy.
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __PCLMUL__
#include <immintrin.h>

static inline __m128i fold(__m128i sum, __m128i by, const unsigned char *next) {
    __m128i low = _mm_clmulepi64_si128(sum, by, 0x00);
    __m128i high = _mm_clmulepi64_si128(sum, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), _mm_loadu_si128((const __m128i *)next));
}
#endif

static inline uint32_t crc32_by_table(uint32_t crc, const unsigned char *bytes, size_t count) {
    static uint32_t table[256];
    if (!table[1]) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t entry = i;
            for (int bit = 0; bit < 8; bit++) entry = entry >> 1 ^ (entry & 1 ? 0xedb88320 : 0);
            table[i] = entry;
        }
    }
    while (count--) crc = crc >> 8 ^ table[(crc ^ *bytes++) & 0xff];
    return crc;
}

// The CRC-32 of what had `crc` (0 for nothing) and `count` bytes more.
static inline uint32_t crc32(uint32_t crc, const void *data, size_t count) {
    const unsigned char *bytes = data;
    crc = ~crc;
#ifdef __PCLMUL__
    if (count >= 64) {
        // x^(512+32), x^(512-32) and x^(128+32), x^(128-32) modulo the polynomial, bits reversed.
        const __m128i by_64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
        const __m128i by_16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
        const __m128i *first = data;
        __m128i a = _mm_xor_si128(_mm_loadu_si128(first), _mm_cvtsi32_si128(crc));
        __m128i b = _mm_loadu_si128(first + 1);
        __m128i c = _mm_loadu_si128(first + 2);
        __m128i d = _mm_loadu_si128(first + 3);
        for (bytes += 64, count -= 64; count >= 64; bytes += 64, count -= 64) {
            a = fold(a, by_64, bytes);
            b = fold(b, by_64, bytes + 16);
            c = fold(c, by_64, bytes + 32);
            d = fold(d, by_64, bytes + 48);
        }
        __m128i rest[4] = {a, b, c, d};
        for (int i = 1; i < 4; i++) rest[i] = fold(rest[i - 1], by_16, (unsigned char *)&rest[i]);
        crc = crc32_by_table(0, (unsigned char *)&rest[3], 16);
    }
#endif
    return ~crc32_by_table(crc, bytes, count);
}
