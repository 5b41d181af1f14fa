// Making, keeping and copying prepared libraries.
#include "prepared.h"

#include "base/sort.h"

#include "server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE = 1 << 16,
    TEXT_BYTES_MAX = 1 << 20,
    CHECKS_MAX = 64,
    BUILDS_KEPT = 3,
};

#define SUM_SEED 0xcbf29ce484222325u

static Err *file_error(Str name)
{
    return err_text(500, STR_FMT ": %s", STR_ARG(name), strerror(errno));
}

Err *make_folders(Str path)
{
    for (size_t i = 1; i <= path.len; i++) {
        if ((i == path.len || path.at[i] == '/') && mkdir(str_z(str_sub(path, 0, i)), 0750) &&
            errno != EEXIST) {
            return file_error(str_sub(path, 0, i));
        }
    }
    return NULL;
}

void remove_tree(Str path)
{
    DIR *dir = opendir(str_z(path));

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        Str child = str_fmt(STR_FMT "/%s", STR_ARG(path), entry->d_name);
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            lstat(str_z(child), &info)) {
            continue;
        }
        if (S_ISDIR(info.st_mode)) {
            remove_tree(child);
        } else {
            unlink(str_z(child));
        }
    }
    if (dir) {
        closedir(dir);
    }
    rmdir(str_z(path));
}

Err *file_text(Str file, Str *text)
{
    FILE *from = fopen(str_z(file), "rb");
    Buf buf = buf_new(arena_current(), TEXT_BYTES_MAX);

    if (!from) {
        return file_error(file);
    }
    for (size_t n = 1; n > 0;) {
        char *room = buf_room(&buf, 65536);
        n = room ? fread(room, 1, 65536, from) : 0;
        buf.len += n;
    }
    fclose(from);
    *text = buf_str(&buf);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Copies

static uint64_t sum_words(uint64_t sum, const uint64_t *words, size_t bytes)
{
    for (size_t i = 0; i < (bytes + 7) / 8; i++) {
        sum = (sum ^ words[i]) * 0x100000001b3u;
    }
    return sum;
}

// Writes the piece unless it is there already: a cell changes little of a library.
static bool write_changed(int to, const void *piece, size_t bytes, off_t at)
{
    static char former[PIECE];

    return (pread(to, former, bytes, at) == (ssize_t)bytes && memcmp(former, piece, bytes) == 0) ||
           pwrite(to, piece, bytes, at) == (ssize_t)bytes;
}

// Sums up the file; without a clone of its blocks its content goes to `to` on the way.
static Err *copy_blocks(int from, int to, Str name, uint64_t *sum)
{
    static uint64_t piece[PIECE / 8];
    bool writes = to >= 0 && ioctl(to, FICLONE, from) != 0;
    off_t at = 0;

    for (ssize_t n = 0; (n = pread(from, piece, PIECE, at)) != 0; at += n) {
        if (n < 0) {
            return file_error(name);
        }
        memset((char *)piece + n, 0, (size_t)(8 - n % 8) % 8);
        *sum = sum_words(*sum, piece, (size_t)n);
        if (writes && !write_changed(to, piece, (size_t)n, at)) {
            return file_error(name);
        }
    }
    // Written back now, not in the middle of a measurement.
    return to >= 0 && (ftruncate(to, at) || fdatasync(to)) ? file_error(name) : NULL;
}

static Err *copy_file(Str from_name, Str to_name, uint64_t *sum)
{
    int from = open(str_z(from_name), O_RDONLY | O_CLOEXEC);
    int to = to_name.len ? open(str_z(to_name), O_RDWR | O_CREAT | O_CLOEXEC, 0640) : -1;
    Err *err = from < 0                    ? file_error(from_name)
               : to_name.len > 0 && to < 0 ? file_error(to_name)
                                           : copy_blocks(from, to, from_name, sum);

    if (from >= 0) {
        close(from);
    }
    if (to >= 0) {
        close(to);
    }
    return err;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

// Its plain files in order of their names: databases and keys.
static Err *files_of(Str folder, StrList *out)
{
    DIR *dir = opendir(str_z(folder));

    if (!dir) {
        return file_error(folder);
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct stat info;
        Str path = str_fmt(STR_FMT "/%s", STR_ARG(folder), entry->d_name);
        if (stat(str_z(path), &info) == 0 && S_ISREG(info.st_mode) &&
            strcmp(entry->d_name, "checksum") != 0) {
            str_list_add(out, str_fmt("%s", entry->d_name));
        }
    }
    closedir(dir);
    if (out->len > 0) {
        sort_array(out->at, out->len, sizeof *out->at, by_name);
    }
    return NULL;
}

// Copies the files to `to`; empty: only sums them up.
static Err *copy_library(Str from, Str to, Str *checksum)
{
    uint64_t sum = SUM_SEED;
    StrList files = {0};

    TRY(files_of(from, &files));
    for (size_t i = 0; i < files.len; i++) {
        Str name = files.at[i];
        Str target = to.len ? str_fmt(STR_FMT "/" STR_FMT, STR_ARG(to), STR_ARG(name)) : S("");
        TRY(copy_file(str_fmt(STR_FMT "/" STR_FMT, STR_ARG(from), STR_ARG(name)), target, &sum));
    }
    *checksum = str_fmt("%016llx", (unsigned long long)sum);
    return NULL;
}

Err *prepared_copy(const Prepared *prepared, Str work)
{
    StrList left = {0}, wanted = {0};
    Str checksum = {0};

    TRY(make_folders(work));
    TRY(files_of(work, &left));
    TRY(files_of(prepared->folder, &wanted));
    for (size_t i = 0; i < left.len; i++) {
        if (!str_list_has(&wanted, left.at[i])) {
            unlink(str_z(str_fmt(STR_FMT "/" STR_FMT, STR_ARG(work), STR_ARG(left.at[i]))));
        }
    }
    TRY(copy_library(prepared->folder, work, &checksum));
    return str_eq(checksum, prepared->checksum)
               ? NULL
               : err_text(500,
                          STR_FMT " was changed: its checksum is " STR_FMT ", not " STR_FMT
                                  "; remove it to have it made again",
                          STR_ARG(prepared->folder), STR_ARG(checksum),
                          STR_ARG(prepared->checksum));
}

// ---------------------------------------------------------------------------------------------
// Making

Str program_build(void)
{
    static char build[17];
    uint64_t sum = SUM_SEED;

    if (!build[0]) {
        Err *err = copy_file(S("/proc/self/exe"), S(""), &sum);
        snprintf(build, sizeof build, "%016llx", err ? 0ull : (unsigned long long)sum);
    }
    return str_of(build);
}

static Err *save_checksum(Prepared *prepared, Str folder)
{
    Str file = str_fmt(STR_FMT "/checksum", STR_ARG(folder));

    TRY(copy_library(folder, S(""), &prepared->checksum));
    FILE *to = fopen(str_z(file), "w");
    bool is_written = to && fprintf(to, STR_FMT "\n", STR_ARG(prepared->checksum)) > 0;
    return (to ? fclose(to) == 0 : false) && is_written ? NULL : file_error(file);
}

static Err *make_library(Str recipe, uint64_t seed, Str log, Prepared *prepared)
{
    Str half = str_fmt(STR_FMT ".half", STR_ARG(prepared->folder));
    Str number = str_fmt("%llu", (unsigned long long)seed), words = {0};
    int64_t begun = clock_ns();
    StrList command = {0};
    const Str parts[] = {S("bench"),  S("data"), S("make"),   S("--recipe"), recipe,
                         S("--data"), half,      S("--seed"), number};

    remove_tree(half);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        str_list_add(&command, parts[i]);
    }
    int code = program_run(&command, log);
    if (code != 0) {
        Err *err = file_text(log, &words);
        return err_text(500, "the library cannot be made (code %d): " STR_FMT, code,
                        STR_ARG(err ? err->message : str_trim(words)));
    }
    // A copy of the database for `octavo bench data reset`, which is not used here.
    remove_tree(str_fmt(STR_FMT "/prepared", STR_ARG(half)));
    TRY(save_checksum(prepared, half));
    if (rename(str_z(half), str_z(prepared->folder))) {
        return file_error(prepared->folder);
    }
    prepared->made_s = (double)(clock_ns() - begun) / 1e9;
    return NULL;
}

typedef struct {
    Str path;
    time_t used_at;
} Kept;

static int newest_first(const void *a, const void *b)
{
    const Kept *x = a, *y = b;
    return (x->used_at < y->used_at) - (x->used_at > y->used_at);
}

// Libraries of older builds go, but for the last few: comparing two builds needs both.
static void remove_old(Str cache, Str prefix)
{
    DIR *dir = opendir(str_z(cache));
    Kept kept[256];
    size_t n = 0;

    for (struct dirent *entry; dir && n < sizeof kept / sizeof *kept && (entry = readdir(dir));) {
        struct stat info;
        Str path = str_fmt(STR_FMT "/%s", STR_ARG(cache), entry->d_name);
        if (str_starts(str_of(entry->d_name), prefix) && stat(str_z(path), &info) == 0) {
            kept[n++] = (Kept){path, info.st_mtime};
        }
    }
    if (dir) {
        closedir(dir);
    }
    sort_array(kept, n, sizeof *kept, newest_first);
    for (size_t i = BUILDS_KEPT; i < n; i++) {
        remove_tree(kept[i].path);
    }
}

Err *prepared_open(Str cache, Str recipe, uint64_t seed, void (*say)(Str text), Prepared *out)
{
    Str prefix = str_fmt(STR_FMT "-%llu-", STR_ARG(recipe), (unsigned long long)seed);
    Str folder = str_fmt(STR_FMT "/" STR_FMT STR_FMT, STR_ARG(cache), STR_ARG(prefix),
                         STR_ARG(program_build()));
    Str saved = {0};

    *out = (Prepared){.folder = folder, .inputs = str_fmt(STR_FMT "/inputs", STR_ARG(folder))};
    TRY(make_folders(cache));
    if (file_text(str_fmt(STR_FMT "/checksum", STR_ARG(folder)), &saved) == NULL) {
        out->checksum = str_trim(saved);
        return NULL;
    }
    say(str_fmt("making the library \"" STR_FMT "\" in " STR_FMT
                "; later runs of this build find it there",
                STR_ARG(recipe), STR_ARG(cache)));
    TRY(make_library(recipe, seed, str_fmt(STR_FMT "/make.log", STR_ARG(cache)), out));
    remove_old(cache, prefix);
    return NULL;
}

// ---------------------------------------------------------------------------------------------

// Lines of `octavo bench data check`: "ok      sentence" or "BROKEN  sentence (7 times)".
static bool read_check(Str line, DataCheck *out)
{
    bool is_ok = str_starts(line, S("ok ")), is_broken = str_starts(line, S("BROKEN "));
    Str sentence = str_trim(str_sub(line, 7, line.len));
    ptrdiff_t times =
        is_broken && str_ends(sentence, S(" times)")) ? str_find(sentence, S(" ("), 0) : -1;

    *out = (DataCheck){.name = sentence, .is_right = is_ok, .found = is_broken};
    if (times >= 0) {
        Str count = str_sub(sentence, (size_t)times + 2, sentence.len - 7);
        out->name = str_sub(sentence, 0, (size_t)times);
        out->found = str_int64(count, &out->found) ? out->found : 1;
    }
    return is_ok || is_broken;
}

Err *library_check(Str work, DataCheck **checks, size_t *len)
{
    Str output = str_fmt(STR_FMT "/../logs/check.txt", STR_ARG(work)), text = {0}, line;
    const Str parts[] = {S("bench"), S("data"), S("check"), S("--data"), work};
    StrList command = {0};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        str_list_add(&command, parts[i]);
    }
    int code = program_run(&command, output);
    TRY(file_text(output, &text));
    *checks = NEW_ARRAY(DataCheck, CHECKS_MAX);
    *len = 0;
    for (Str rest = text; *len < CHECKS_MAX && str_next(&rest, '\n', &line);) {
        *len += read_check(line, &(*checks)[*len]);
    }
    return *len > 0 && (code == 0 || code == 1)
               ? NULL
               : err_text(500, "the library cannot be checked: " STR_FMT, STR_ARG(str_trim(text)));
}
