// Seed 002: fread 1 KiB, add 1 to each byte, fwrite it to a second file.
#include "add-one.h"

int main(int argc, char **argv) {
    if (argc != 3) return 64;
    FILE *source = open_stream(argv[1], "r"), *copy = open_stream(argv[2], "w");
    unsigned char buffer[1024];
    uint64_t sum = 0;
    size_t size = 0, count;
    while ((count = fread(buffer, 1, sizeof buffer, source)) > 0) {
        sum += add_one(buffer, count);
        if (fwrite(buffer, 1, count, copy) < count) die("fwrite");
        size += count;
    }
    if (ferror(source)) die("fread");
    if (fclose(copy)) die("fclose");
    printf("add-one %llu  %zu bytes\n", (unsigned long long)sum, size);
}
