// Files and properties of a plan: read or set once, used by all users.
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILES_MAX = 256,
    PROPERTIES_MAX = 512,
};

struct PlanFiles {
    pthread_mutex_t lock; // guards the list and the arena
    Str folder;
    Arena *arena; // of the names
    struct {
        Str name, content;
    } at[FILES_MAX];
    size_t len;
};

struct PlanProperties {
    PlanVariable at[PROPERTIES_MAX];
    size_t len;
    Arena *arena; // of the plan: properties are set between the setup groups and the others
};

void plan_open_files(Plan *plan, Str folder)
{
    plan->files = NEW(struct PlanFiles);
    pthread_mutex_init(&plan->files->lock, NULL);
    plan->files->folder = str_copy(arena_current(), folder);
    plan->files->arena = arena_new(1 << 20);
    plan->properties = NEW(struct PlanProperties);
    plan->properties->arena = arena_current();
}

void plan_close_files(Plan *plan)
{
    for (size_t i = 0; i < plan->files->len; i++) {
        if (plan->files->at[i].content.len > 0) {
            munmap((char *)plan->files->at[i].content.at, plan->files->at[i].content.len);
        }
    }
    arena_free(plan->files->arena);
    regexps_close(plan->regexps);
    plan->regexps = NULL;
}

// Mapped, so that a large file to upload costs no memory of its own.
static Err *map_file(const char *path, Str *content)
{
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0 || fstat(file, &info)) {
        Err *err = err_text(400, "%s: %s", path, strerror(errno));
        if (file >= 0) {
            close(file);
        }
        return err;
    }
    *content = (Str){"", 0};
    if (info.st_size > 0) {
        void *at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (at == MAP_FAILED) {
            Err *err = err_text(400, "%s: %s", path, strerror(errno));
            close(file);
            return err;
        }
        *content = (Str){at, (size_t)info.st_size};
    }
    close(file);
    return NULL;
}

static Err *load_file(struct PlanFiles *files, Str name, Str *content)
{
    bool is_absolute = str_starts(name, S("/"));
    const char *path = str_z(
        is_absolute ? name : str_fmt(STR_FMT "/" STR_FMT, STR_ARG(files->folder), STR_ARG(name)));

    for (size_t i = 0; i < files->len; i++) {
        if (str_eq(files->at[i].name, name)) {
            *content = files->at[i].content;
            return NULL;
        }
    }
    if (files->len == FILES_MAX) {
        return err_text(400, "more than %d files", FILES_MAX);
    }
    TRY(map_file(path, content));
    files->at[files->len].name = str_copy(files->arena, name);
    files->at[files->len++].content = *content;
    return NULL;
}

Err *plan_file(const Plan *plan, Str name, Str *content)
{
    name = str_trim(name);
    if (name.len == 0 || str_find(name, S(".."), 0) >= 0) {
        return err_text(400, "\"" STR_FMT "\" is no name of a data file", STR_ARG(name));
    }
    pthread_mutex_lock(&plan->files->lock);
    Err *err = load_file(plan->files, name, content);
    pthread_mutex_unlock(&plan->files->lock);
    return err;
}

bool plan_property(const Plan *plan, Str name, Str *value)
{
    for (size_t i = plan->properties->len; i-- > 0;) {
        if (str_eq(plan->properties->at[i].name, name)) {
            *value = plan->properties->at[i].value;
            return true;
        }
    }
    return false;
}

void plan_set_property(const Plan *plan, Str name, Str value)
{
    struct PlanProperties *properties = plan->properties;
    Str kept = str_copy(properties->arena, value);

    for (size_t i = 0; i < properties->len; i++) {
        if (str_eq(properties->at[i].name, name)) {
            properties->at[i].value = kept;
            return;
        }
    }
    if (properties->len < PROPERTIES_MAX) {
        properties->at[properties->len++] =
            (PlanVariable){.name = str_copy(properties->arena, name), .value = kept};
    }
}
