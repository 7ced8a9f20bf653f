// Seed 004: XOR of all bytes, by read(2) into one buffer of 16 pages.
#include "xor.h"

int main(int argc, char **argv) {
    if (argc != 2) return 64;
    int fd = open_file(argv[1], O_RDONLY);
    size_t room = 16 * sysconf(_SC_PAGESIZE), size = 0;
    unsigned char *buffer = got(malloc(room)), hash = 0;
    ssize_t count;
    while ((count = read(fd, buffer, room)) > 0) {
        hash ^= xor_of(buffer, count);
        size += count;
    }
    if (count < 0) die("read");
    printf("xor %02x  %zu bytes\n", hash, size);
}
