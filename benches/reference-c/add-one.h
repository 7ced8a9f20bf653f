// The work of seed 002, and the sum of the new bytes, for the answer.
#pragma once
#include "common.h"

static inline uint64_t add_one(unsigned char *bytes, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += ++bytes[i];
    return sum;
}
