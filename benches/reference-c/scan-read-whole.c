// Seed 000: the whole file into one buffer by read(2), then its newlines, in a 32-bit counter.
#include "common.h"

int main(int argc, char **argv) {
    if (argc != 2) return 64;
    int fd = open_file(argv[1], O_RDONLY);
    size_t size = size_of(fd), filled = 0;
    char *buffer = got(malloc(size + 1));
    while (filled < size) {
        size_t rest = size - filled;
        ssize_t count = read(fd, buffer + filled, rest < INT32_MAX ? rest : INT32_MAX);
        if (count <= 0) die("read");
        filled += count;
    }
    uint32_t newlines = 0;
    for (size_t i = 0; i < size; i++) {
        if (buffer[i] == '\n') newlines++;
    }
    printf("newlines-u32 %u  %zu bytes\n", newlines, size);
}
