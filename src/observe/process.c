// Facts of the process and its machine, from the kernel.
#include "observe/observe.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/memory.h"

#include <dirent.h>
#include <elf.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
    LINE_BYTES = 512,
    NOTE_BYTES_MAX = 64,
};

// The value behind "name" and blanks or a separator in a file of lines; "" if there is none.
static Str line_value(const char *path, const char *name, char separator)
{
    char line[LINE_BYTES];
    FILE *file = fopen(path, "r");
    Str found = S("");

    while (file && !found.len && fgets(line, sizeof line, file)) {
        Str rest = str_of(line);
        ptrdiff_t at = str_find_char(rest, separator, 0);
        if (at > 0 && str_eq_z(str_trim(str_sub(rest, 0, (size_t)at)), name)) {
            rest = str_trim(str_sub(rest, (size_t)at + 1, rest.len));
            found = str_copy(arena_current(), rest);
        }
    }
    if (file) {
        fclose(file);
    }
    return found;
}

static int64_t status_number(const char *name)
{
    Str text = line_value("/proc/self/status", name, ':'), number = {0};
    int64_t value = 0;

    (void)str_next(&text, ' ', &number);
    return str_int64(number, &value) ? value : 0;
}

static int open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    while (dir && readdir(dir)) {
        n++;
    }
    if (dir) {
        closedir(dir);
    }
    return n > 3 ? n - 3 : 0; // ".", "..", and the folder itself
}

ProcessFacts process_facts(void)
{
    struct rusage usage;
    cpu_set_t set;

    getrusage(RUSAGE_SELF, &usage);
    return (ProcessFacts){
        .cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
        .rss_bytes = status_number("VmRSS") * 1024,
        .anonymous_bytes = status_number("RssAnon") * 1024,
        .memory_limit_bytes = memory_group_limit(),
        .threads = (int)status_number("Threads"),
        .open_files = open_files(),
        .cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1,
    };
}

HostFacts host_facts(void)
{
    struct utsname names;
    Str distribution = line_value("/etc/os-release", "PRETTY_NAME", '=');
    Str kernel = uname(&names) == 0
                     ? str_fmt("%s %s %s", names.sysname, names.release, names.machine)
                     : S("");

    if (distribution.len > 2 && distribution.at[0] == '"') {
        distribution = str_sub(distribution, 1, distribution.len - 1);
    }
    return (HostFacts){
        .cpu_model = line_value("/proc/cpuinfo", "model name", ':'),
        .kernel = kernel,
        .distribution = distribution,
        .cores = (int)sysconf(_SC_NPROCESSORS_ONLN),
        .memory_bytes = memory_of_machine(),
    };
}

// ---------------------------------------------------------------------------------------------
// Build

typedef struct {
    const unsigned char *at;
    size_t len;
} Note;

static void note_find(const char *at, size_t size, Note *out)
{
    const char *end = at + size;

    while ((size_t)(end - at) >= sizeof(ElfW(Nhdr)) && !out->at) {
        const ElfW(Nhdr) *head = (const void *)at;
        size_t name = (head->n_namesz + 3u) & ~3u, text = (head->n_descsz + 3u) & ~3u;
        at += sizeof *head;
        if (name + text > (size_t)(end - at)) {
            return;
        }
        if (head->n_type == NT_GNU_BUILD_ID && head->n_descsz <= NOTE_BYTES_MAX &&
            head->n_namesz == 4 && memcmp(at, "GNU", 4) == 0) {
            *out = (Note){(const unsigned char *)at + name, head->n_descsz};
        }
        at += name + text;
    }
}

// The first object is the program itself.
static int program_look_at(struct dl_phdr_info *info, size_t size, void *note)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_NOTE) {
            note_find((const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                      info->dlpi_phdr[i].p_memsz, note);
        }
    }
    return 1;
}

Str build_id(void)
{
    Note note = {0};
    Buf hex = buf_new(arena_current(), 2 * NOTE_BYTES_MAX + 1);

    dl_iterate_phdr(program_look_at, &note);
    for (size_t i = 0; i < note.len; i++) {
        buf_fmt(&hex, "%02x", note.at[i]);
    }
    return buf_str(&hex);
}
