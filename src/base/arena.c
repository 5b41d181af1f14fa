// Arenas: chunks in a list, the newest first; a mark remembers the chunk and how far it was used.
#include "base/arena.h"

#include "base/die.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__clang__)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1 // as gcc says it
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum {
    FIRST_CHUNK = 64 * 1024,
    LARGEST_CHUNK = 4 * 1024 * 1024,
    ALIGNMENT = 16,
    FILE_FACTOR = 2,  // beyond so many times its limit an arena is on the disk
    STOP_FACTOR = 64, // and here it ends
    ROOM_FIRST = 16,  // items of an array that grows
};

static const size_t THREAD_ARENA_LIMIT = (size_t)64 * 1024 * 1024;

typedef struct Chunk {
    struct Chunk *older;
    size_t size;
    size_t used;
    size_t mapped; // bytes of the file it is, 0: memory
    char bytes[];
} Chunk;

struct Arena {
    Chunk *newest;
    size_t limit;
    size_t total; // bytes handed out since the last reset
    size_t high_water;
};

// Pages of a file without a name, which the kernel may write out when memory is short; NULL if
// there is no room on the disk.
static void *pages_of_file(size_t size)
{
    int fd = open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    bool has_room = fd >= 0 && posix_fallocate(fd, 0, (off_t)size) == 0;
    void *at = has_room ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;

    if (fd >= 0) {
        close(fd);
    }
    return at == MAP_FAILED ? NULL : at;
}

static Chunk *chunk_new(size_t size, Chunk *older, bool is_on_disk)
{
    size_t mapped = is_on_disk ? sizeof(Chunk) + size : 0;
    Chunk *chunk = is_on_disk ? pages_of_file(mapped) : malloc(sizeof(Chunk) + size);

    if (!chunk) {
        die("out of memory: cannot get %zu bytes", size);
    }
    *chunk = (Chunk){.older = older, .size = size, .mapped = mapped};
    POISON(chunk->bytes, size);
    return chunk;
}

static void chunk_free(Chunk *chunk)
{
    UNPOISON(chunk->bytes, chunk->size);
    if (chunk->mapped) {
        munmap(chunk, chunk->mapped);
    } else {
        free(chunk);
    }
}

Arena *arena_new(size_t limit_bytes)
{
    Arena *arena = calloc(1, sizeof *arena);

    if (!arena) {
        die("out of memory");
    }
    arena->limit = limit_bytes;
    return arena;
}

void arena_free(Arena *arena)
{
    if (!arena) {
        return;
    }
    for (Chunk *chunk = arena->newest, *older; chunk; chunk = older) {
        older = chunk->older;
        chunk_free(chunk);
    }
    free(arena);
}

static size_t rounded(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

// Not inlined: what it needs would slow down every allocation.
static __attribute__((noinline)) Chunk *arena_grow(Arena *arena, size_t size_bytes)
{
    size_t size = arena->newest ? arena->newest->size * 2 : FIRST_CHUNK;

    if (size_bytes > SIZE_MAX / 2) {
        die("allocation of %zu bytes asked for", size_bytes);
    }
    size_t need = rounded(size_bytes);
    if (arena->total + need > arena->limit * STOP_FACTOR) {
        die("an arena limited to %zu bytes grew beyond %d times that", arena->limit, STOP_FACTOR);
    }
    if (size > LARGEST_CHUNK) {
        size = LARGEST_CHUNK;
    }
    if (size < need) {
        size = need;
    }
    bool is_on_disk = arena->total + need > arena->limit * FILE_FACTOR;
    return arena->newest = chunk_new(size, arena->newest, is_on_disk);
}

void *arena_alloc_raw(Arena *arena, size_t size_bytes)
{
    size_t size = size_bytes ? size_bytes : 1;
    Chunk *chunk = arena->newest;

    // All that a chunk holds is rounded: what fits does so when it is rounded, too.
    if (!chunk || chunk->size - chunk->used < size) {
        chunk = arena_grow(arena, size);
    }
    size = rounded(size);
    char *at = chunk->bytes + chunk->used;
    chunk->used += size;
    arena->total += size;
    UNPOISON(at, size);
    return at;
}

void *arena_alloc(Arena *arena, size_t size_bytes)
{
    return memset(arena_alloc_raw(arena, size_bytes), 0, size_bytes);
}

void *arena_try(Arena *arena, size_t size_bytes)
{
    if (size_bytes > arena->limit || arena->total > arena->limit - size_bytes) {
        return NULL;
    }
    return arena_alloc_raw(arena, size_bytes);
}

void *arena_alloc_array(Arena *arena, size_t n, size_t size_bytes)
{
    size_t total = 0;

    if (__builtin_mul_overflow(n, size_bytes, &total)) {
        die("array of %zu x %zu bytes asked for", n, size_bytes);
    }
    return arena_alloc(arena, total);
}

void *array_grow(Arena *arena, const void *at, size_t *cap, size_t item_size)
{
    size_t former = *cap;

    *cap = former ? former * 2 : ROOM_FIRST;
    void *more = arena_alloc_array(arena, *cap, item_size);
    return former ? memcpy(more, at, former * item_size) : more;
}

bool arena_is_over_limit(const Arena *arena)
{
    return arena->total > arena->limit;
}

size_t arena_left(const Arena *arena)
{
    return arena->total < arena->limit ? arena->limit - arena->total : 0;
}

ArenaMark arena_mark(const Arena *arena)
{
    return (ArenaMark){arena->newest, arena->newest ? arena->newest->used : 0, arena->total};
}

// It only falls here: nobody has to look at each allocation.
static void note_high_water(Arena *arena)
{
    if (arena->total > arena->high_water) {
        arena->high_water = arena->total;
    }
}

void arena_release(Arena *arena, ArenaMark mark)
{
    Chunk *kept = mark.chunk;

    note_high_water(arena);
    while (arena->newest && arena->newest != kept) {
        Chunk *older = arena->newest->older;
        // The first chunk of all is kept for the next user, unless one huge allocation made it.
        if (!older && !kept && arena->newest->size <= FIRST_CHUNK) {
            break;
        }
        chunk_free(arena->newest);
        arena->newest = older;
    }
    if (arena->newest) {
        size_t used = kept ? mark.used : 0;
        POISON(arena->newest->bytes + used, arena->newest->size - used);
        arena->newest->used = used;
    }
    arena->total = mark.total;
}

void arena_reset(Arena *arena)
{
    arena_release(arena, (ArenaMark){0});
}

size_t arena_used(const Arena *arena)
{
    return arena->total;
}

size_t arena_high_water(const Arena *arena)
{
    return arena->total > arena->high_water ? arena->total : arena->high_water;
}

// Threads end with their connections: a key's destructor gives their own arenas back.
static pthread_key_t own_key, scratch_key;
static pthread_once_t keys_once = PTHREAD_ONCE_INIT;
static _Thread_local Arena *current, *scratch;

static void thread_arena_end(void *arena)
{
    arena_free(arena);
}

static void keys_make(void)
{
    if (pthread_key_create(&own_key, thread_arena_end) ||
        pthread_key_create(&scratch_key, thread_arena_end)) {
        die("no thread keys left");
    }
}

static Arena *thread_arena(pthread_key_t *key)
{
    pthread_once(&keys_once, keys_make);
    Arena *arena = pthread_getspecific(*key);
    if (!arena) {
        arena = arena_new(THREAD_ARENA_LIMIT);
        pthread_setspecific(*key, arena);
    }
    return arena;
}

Arena *arena_current(void)
{
    if (!current) {
        current = thread_arena(&own_key);
    }
    return current;
}

Arena *arena_use(Arena *arena)
{
    Arena *former = arena_current();

    current = arena;
    return former;
}

Arena *scratch_arena(void)
{
    if (!scratch) {
        scratch = thread_arena(&scratch_key);
    }
    return scratch;
}
