// Seed 004: XOR of all bytes of a map.
#include "xor.h"

int main(int argc, char **argv) {
    if (argc != 2) return 64;
    int fd = open_file(argv[1], O_RDONLY);
    size_t size = size_of(fd);
    printf("xor %02x  %zu bytes\n", xor_of(map_file(fd, size, PROT_READ, MAP_PRIVATE), size), size);
}
