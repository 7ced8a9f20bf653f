// Seed 002: maps a file and adds 1 to each byte where it is.
#include "add-one.h"

int main(int argc, char **argv) {
    if (argc != 2) return 64;
    int fd = open_file(argv[1], O_RDWR);
    size_t size = size_of(fd);
    uint64_t sum = add_one(map_file(fd, size, PROT_READ | PROT_WRITE, MAP_SHARED), size);
    printf("add-one %llu  %zu bytes\n", (unsigned long long)sum, size);
}
