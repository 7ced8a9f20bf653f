// The work of seed 004.
#pragma once
#include "common.h"

static inline unsigned char xor_of(const unsigned char *bytes, size_t count) {
    unsigned char hash = 0;
    while (count--) hash ^= *bytes++;
    return hash;
}
