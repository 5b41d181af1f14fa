// result.json: one table per struct says which member has which name, and serves reading and
// writing.
#include "result.h"

#include "base/file.h"

#include <errno.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NUMBER_TEXT_MAX = 32,
    LONGEST_WINDOW_S = 31 * 24 * 3600,
    BLOCKS_MAX = 100000,
};
#define FILE_MAX ((size_t)2 << 30)

typedef enum {
    TEXT,
    INTEGER,
    NUMBER,
    FLAG,
    TIME,
    DOCUMENT, // any JSON
    PACKED,   // bytes as base64
    TEXTS,
    NUMBERS, // blank-separated in one text: arrays would take 64 bytes a number when read
    SLICES,  // the same for second:base64:failed
    WORD,    // an enum, by its table of names
    LIST,
} FieldKind;

typedef struct Shape Shape;

typedef struct {
    const char *name;
    FieldKind kind;
    size_t offset;
    const Shape *of;          // LIST
    const char *const *words; // WORD, ends with NULL
} Field;

struct Shape {
    size_t size;
    const Field *fields; // ends with a NULL name
};

// All lists of a Result look like this one.
typedef struct {
    void *at;
    size_t len;
} AnyList;

#define FIELD(type, member, name_, kind_)                                                          \
    {                                                                                              \
        name_, kind_, offsetof(type, member), NULL, NULL                                           \
    }
#define WORDS(type, member, name_, words_)                                                         \
    {                                                                                              \
        name_, WORD, offsetof(type, member), NULL, words_                                          \
    }
#define LISTED(type, member, name_, shape)                                                         \
    {                                                                                              \
        name_, LIST, offsetof(type, member), &(shape), NULL                                        \
    }
#define SHAPE(type, table) static const Shape type##_shape = {sizeof(type), table}

static const char *const units[] = {"count", "1/s", "ms", "s", "vCPU", "bytes", "%", NULL};
static const char *const groups[] = {"process", "module", "database", "queue",
                                     "driver",  "host",   "load",     NULL};
static const char *const kinds[] = {"transaction", "request", NULL};
static const char *const states[] = {"planned", "done", "invalid", NULL};

const char *unit_name(Unit unit)
{
    return units[unit];
}

static const Field series_fields[] = {
    WORDS(Series, group, "group", groups),
    FIELD(Series, subject, "subject", TEXT),
    FIELD(Series, name, "name", TEXT),
    WORDS(Series, unit, "unit", units),
    FIELD(Series, is_counter, "isCounter", FLAG),
    FIELD(Series, values, "values", NUMBERS),
    {0},
};
SHAPE(Series, series_fields);

static const Field counted_fields[] = {
    FIELD(Counted, name, "name", TEXT),
    FIELD(Counted, count, "count", INTEGER),
    {0},
};
SHAPE(Counted, counted_fields);

static const Field measure_fields[] = {
    WORDS(Measure, kind, "kind", kinds),
    FIELD(Measure, workload, "workload", TEXT),
    FIELD(Measure, name, "name", TEXT),
    FIELD(Measure, ok, "ok", PACKED),
    FIELD(Measure, failed, "failed", PACKED),
    FIELD(Measure, service, "service", PACKED),
    FIELD(Measure, cut, "cut", INTEGER),
    FIELD(Measure, bytes_in, "bytesIn", INTEGER),
    FIELD(Measure, bytes_out, "bytesOut", INTEGER),
    LISTED(Measure, errors, "errors", Counted_shape),
    FIELD(Measure, slices, "slices", SLICES),
    {0},
};
SHAPE(Measure, measure_fields);

static const Field part_fields[] = {
    FIELD(Part, workload, "workload", TEXT),
    FIELD(Part, plan, "plan", TEXT),
    FIELD(Part, load, "load", TEXT),
    FIELD(Part, set, "set", TEXT),
    FIELD(Part, model, "model", TEXT),
    FIELD(Part, think_model, "thinkModel", TEXT),
    FIELD(Part, think_scale, "thinkScale", NUMBER),
    FIELD(Part, think_s, "thinkS", NUMBER),
    FIELD(Part, users, "users", INTEGER),
    FIELD(Part, rate, "rate", NUMBER),
    FIELD(Part, from_s, "fromS", NUMBER),
    FIELD(Part, window_s, "windowS", NUMBER),
    FIELD(Part, lag, "lag", PACKED),
    {0},
};
SHAPE(Part, part_fields);

static const Field list_fields[] = {
    FIELD(DataList, workload, "workload", TEXT),
    FIELD(DataList, file, "file", TEXT),
    FIELD(DataList, group, "group", TEXT),
    FIELD(DataList, lines, "lines", INTEGER),
    FIELD(DataList, first, "first", INTEGER),
    FIELD(DataList, taken, "taken", INTEGER),
    FIELD(DataList, serves_once, "servesOnce", FLAG),
    FIELD(DataList, is_used_up, "isUsedUp", FLAG),
    FIELD(DataList, used_up_s, "usedUpS", NUMBER),
    {0},
};
SHAPE(DataList, list_fields);

static const Field job_fields[] = {
    FIELD(JobRun, workload, "workload", TEXT),
    FIELD(JobRun, number, "number", INTEGER),
    FIELD(JobRun, from_s, "fromS", NUMBER),
    FIELD(JobRun, to_s, "toS", NUMBER),
    FIELD(JobRun, state, "state", TEXT),
    FIELD(JobRun, is_warmup, "isWarmup", FLAG),
    FIELD(JobRun, records, "records", INTEGER),
    FIELD(JobRun, records_failed, "recordsFailed", INTEGER),
    {0},
};
SHAPE(JobRun, job_fields);

static const Field slow_request_fields[] = {
    FIELD(SlowRequest, name, "name", TEXT),
    FIELD(SlowRequest, at_s, "atS", NUMBER),
    FIELD(SlowRequest, ms, "ms", NUMBER),
    FIELD(SlowRequest, status, "status", INTEGER),
    {0},
};
SHAPE(SlowRequest, slow_request_fields);

static const Field slow_fields[] = {
    FIELD(SlowTransaction, workload, "workload", TEXT),
    FIELD(SlowTransaction, name, "name", TEXT),
    FIELD(SlowTransaction, at_s, "atS", NUMBER),
    FIELD(SlowTransaction, ms, "ms", NUMBER),
    FIELD(SlowTransaction, trace, "trace", TEXT),
    LISTED(SlowTransaction, requests, "requests", SlowRequest_shape),
    {0},
};
SHAPE(SlowTransaction, slow_fields);

static const Field error_sample_fields[] = {
    FIELD(ErrorSample, workload, "workload", TEXT),
    FIELD(ErrorSample, request, "request", TEXT),
    FIELD(ErrorSample, error, "error", TEXT),
    FIELD(ErrorSample, why, "why", TEXT),
    FIELD(ErrorSample, sent, "sent", TEXT),
    FIELD(ErrorSample, answer, "answer", TEXT),
    FIELD(ErrorSample, times, "times", INTEGER),
    FIELD(ErrorSample, at_s, "atS", NUMBER),
    {0},
};
SHAPE(ErrorSample, error_sample_fields);

static const Field statement_fields[] = {
    FIELD(Statement, shape, "shape", TEXT),
    FIELD(Statement, route, "route", TEXT),
    FIELD(Statement, module, "module", TEXT),
    FIELD(Statement, calls, "calls", INTEGER),
    FIELD(Statement, rows, "rows", INTEGER),
    FIELD(Statement, total_ms, "totalMs", NUMBER),
    FIELD(Statement, max_ms, "maxMs", NUMBER),
    FIELD(Statement, plan, "plan", TEXT),
    {0},
};
SHAPE(Statement, statement_fields);

static const Field data_check_fields[] = {
    FIELD(DataCheck, name, "name", TEXT),
    FIELD(DataCheck, is_right, "isRight", FLAG),
    FIELD(DataCheck, expected, "expected", INTEGER),
    FIELD(DataCheck, found, "found", INTEGER),
    {0},
};
SHAPE(DataCheck, data_check_fields);

static const Field annotation_fields[] = {
    FIELD(Annotation, at, "at", TIME),         FIELD(Annotation, cell, "cell", TEXT),
    FIELD(Annotation, kind, "kind", TEXT),     FIELD(Annotation, text, "text", TEXT),
    FIELD(Annotation, source, "source", TEXT), {0},
};
SHAPE(Annotation, annotation_fields);

static const Field cell_fields[] = {
    FIELD(Cell, id, "id", TEXT),
    FIELD(Cell, block, "block", INTEGER),
    FIELD(Cell, place, "place", INTEGER),
    FIELD(Cell, attempt, "attempt", INTEGER),
    FIELD(Cell, configuration, "configuration", TEXT),
    FIELD(Cell, run, "run", TEXT),
    FIELD(Cell, load, "load", TEXT),
    WORDS(Cell, state, "state", states),
    FIELD(Cell, reasons, "reasons", TEXTS),
    FIELD(Cell, window_at, "windowAt", TIME),
    FIELD(Cell, load_from_s, "loadFromS", NUMBER),
    FIELD(Cell, planned_s, "plannedS", NUMBER),
    FIELD(Cell, window_s, "windowS", NUMBER),
    LISTED(Cell, parts, "parts", Part_shape),
    LISTED(Cell, lists, "lists", DataList_shape),
    LISTED(Cell, measures, "measures", Measure_shape),
    FIELD(Cell, ticks, "ticks", NUMBERS),
    LISTED(Cell, series, "series", Series_shape),
    LISTED(Cell, jobs, "jobs", JobRun_shape),
    LISTED(Cell, slowest, "slowest", SlowTransaction_shape),
    LISTED(Cell, error_samples, "errorSamples", ErrorSample_shape),
    LISTED(Cell, statements, "statements", Statement_shape),
    LISTED(Cell, data_checks, "dataChecks", DataCheck_shape),
    FIELD(Cell, driver_cpu_s, "driverCpuS", NUMBER),
    FIELD(Cell, driver_busiest, "driverBusiest", NUMBER),
    FIELD(Cell, is_driver_limited, "isDriverLimited", FLAG),
    FIELD(Cell, driver_late, "driverLate", PACKED),
    FIELD(Cell, deployment, "deployment", DOCUMENT),
    FIELD(Cell, processes, "processes", DOCUMENT),
    {0},
};
SHAPE(Cell, cell_fields);

static const Field configuration_fields[] = {
    FIELD(Configuration, name, "name", TEXT),
    FIELD(Configuration, label, "label", TEXT),
    FIELD(Configuration, is_baseline, "isBaseline", FLAG),
    FIELD(Configuration, options, "options", DOCUMENT),
    FIELD(Configuration, env, "env", DOCUMENT),
    FIELD(Configuration, memory_limit, "memoryLimit", TEXT),
    FIELD(Configuration, cpus, "cpus", TEXT),
    FIELD(Configuration, deployment_note, "deploymentNote", TEXT),
    FIELD(Configuration, recipe, "recipe", TEXT),
    {0},
};
SHAPE(Configuration, configuration_fields);

static const Field result_fields[] = {
    FIELD(Result, schema, "schemaVersion", INTEGER),
    FIELD(Result, id, "id", TEXT),
    FIELD(Result, profile, "profile", TEXT),
    FIELD(Result, label, "label", TEXT),
    FIELD(Result, started_at, "startedAt", TIME),
    FIELD(Result, ended_at, "endedAt", TIME),
    FIELD(Result, was_stopped, "wasStopped", FLAG),
    FIELD(Result, experiment, "experiment", DOCUMENT),
    FIELD(Result, environment, "environment", DOCUMENT),
    LISTED(Result, configurations, "configurations", Configuration_shape),
    LISTED(Result, cells, "cells", Cell_shape),
    LISTED(Result, annotations, "annotations", Annotation_shape),
    {0},
};
SHAPE(Result, result_fields);

static Json *shape_json(const Shape *shape, const void *from);

static Str base64(Str bytes)
{
    unsigned char *text = arena_alloc(arena_current(), bytes.len / 3 * 4 + 8);
    int len = EVP_EncodeBlock(text, (const unsigned char *)bytes.at, (int)bytes.len);

    return (Str){(const char *)text, (size_t)len};
}

// Short, and reads back as the same number.
static Json *numbers_json(const Numbers *numbers)
{
    Buf buf = buf_new(arena_current(), numbers->len * NUMBER_TEXT_MAX + 1);

    for (size_t i = 0; i < numbers->len; i++) {
        double value = numbers->at[i];
        char text[NUMBER_TEXT_MAX] = "-";
        for (int digits = 6; !isnan(value) && digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, value);
            if (strtod(text, NULL) == value) {
                break;
            }
        }
        if (i > 0) {
            buf_char(&buf, ' ');
        }
        buf_add_z(&buf, text);
    }
    return json_string(buf_str(&buf));
}

static Json *slices_json(const AnyList *list)
{
    const Slice *slices = list->at;
    StrList texts = {0};

    for (size_t i = 0; i < list->len; i++) {
        str_list_add(&texts, str_fmt("%lld:" STR_FMT ":%lld", (long long)slices[i].second,
                                     STR_ARG(base64(slices[i].ok)), (long long)slices[i].failed));
    }
    return json_string(str_join(texts.at, texts.len, S(" ")));
}

static Json *texts_json(const StrList *texts)
{
    Json *array = json_array();

    for (size_t i = 0; i < texts->len; i++) {
        json_add(array, json_string(texts->at[i]));
    }
    return array;
}

static Json *list_json(const AnyList *list, const Shape *shape)
{
    Json *array = json_array();

    for (size_t i = 0; i < list->len; i++) {
        json_add(array, shape_json(shape, (const char *)list->at + i * shape->size));
    }
    return array;
}

// NULL: the member is left out, as an empty one of any kind may be.
static Json *field_json(const Field *field, const void *at)
{
    switch (field->kind) {
    case TEXT:
        return ((const Str *)at)->len ? json_string(*(const Str *)at) : NULL;
    case INTEGER:
        return json_int_of(*(const int64_t *)at);
    case NUMBER:
        return json_number_of(*(const double *)at);
    case FLAG:
        return json_bool_of(*(const bool *)at);
    case TIME:
        return *(const Time *)at ? json_string(time_format_z(*(const Time *)at)) : NULL;
    case DOCUMENT:
        return *(Json *const *)at ? json_copy(*(Json *const *)at) : NULL;
    case PACKED:
        return ((const Str *)at)->len ? json_string(base64(*(const Str *)at)) : NULL;
    case TEXTS:
        return ((const StrList *)at)->len ? texts_json(at) : NULL;
    case NUMBERS:
        return ((const Numbers *)at)->len ? numbers_json(at) : NULL;
    case SLICES:
        return ((const AnyList *)at)->len ? slices_json(at) : NULL;
    case WORD:
        return json_string(str_of(field->words[*(const int *)at]));
    case LIST:
        return ((const AnyList *)at)->len ? list_json(at, field->of) : NULL;
    }
    return NULL;
}

static Json *shape_json(const Shape *shape, const void *from)
{
    Json *object = json_object();

    for (const Field *field = shape->fields; field->name; field++) {
        Json *value = field_json(field, (const char *)from + field->offset);
        if (value) {
            json_put(object, str_of(field->name), value);
        }
    }
    return object;
}

Str result_text(const Result *result)
{
    return json_text(shape_json(&Result_shape, result));
}

static Err *shape_read(const Shape *shape, const Json *from, void *to);

static Err *packed_read(Str text, Str *to)
{
    unsigned char *bytes = arena_alloc(arena_current(), text.len + 1);
    int len = text.len % 4 == 0 && text.len < INT32_MAX
                  ? EVP_DecodeBlock(bytes, (const unsigned char *)text.at, (int)text.len)
                  : -1;

    for (size_t i = text.len; len > 0 && i > 0 && text.at[i - 1] == '='; i--) {
        len--;
    }
    if (len < 0) {
        return err_text(400, "it is no base64 text");
    }
    *to = (Str){(const char *)bytes, (size_t)len};
    if (!hist_packed_each(*to, NULL, NULL)) {
        return err_text(400, "it is no packed histogram");
    }
    return NULL;
}

static Err *numbers_read(Str text, Numbers *to)
{
    to->at = NEW_ARRAY(double, text.len / 2 + 1);
    for (Str part; str_next(&text, ' ', &part);) {
        double value = NAN;
        if (!str_eq(part, S("-")) && !str_double(part, &value)) {
            return err_text(400, "\"" STR_FMT "\" is no number", STR_ARG(part));
        }
        to->at[to->len++] = value;
    }
    return NULL;
}

static Err *slice_read(Str text, Slice *to)
{
    Str second, ok;

    if (!str_next(&text, ':', &second) || !str_next(&text, ':', &ok) ||
        !str_int64(second, &to->second) || !str_int64(text, &to->failed)) {
        return err_text(400, "it is no list of second:base64:failed");
    }
    return ok.len > 0 ? packed_read(ok, &to->ok) : NULL;
}

static Err *slices_read(Str text, AnyList *to)
{
    size_t most = 1;

    for (size_t i = 0; i < text.len; i++) {
        most += text.at[i] == ' ';
    }
    Slice *slices = NEW_ARRAY(Slice, most);
    to->at = slices;
    for (Str part; str_next(&text, ' ', &part);) {
        TRY(slice_read(part, &slices[to->len++]));
    }
    return NULL;
}

static Err *word_read(Str text, const char *const *words, int *to)
{
    for (int i = 0; words[i]; i++) {
        if (str_eq_z(text, words[i])) {
            *to = i;
            return NULL;
        }
    }
    return err_text(400, "\"" STR_FMT "\" is none of its words", STR_ARG(text));
}

static Err *list_read(const Json *from, const Shape *shape, AnyList *to)
{
    to->at = arena_alloc_array(arena_current(), json_len(from), shape->size);
    JSON_EACH(element, from)
    {
        TRY(shape_read(shape, element, (char *)to->at + to->len * shape->size));
        to->len++;
    }
    return NULL;
}

static Err *field_read(const Field *field, Json *from, void *at)
{
    Str text = json_str(from, "");

    switch (field->kind) {
    case TEXT:
        *(Str *)at = text;
        return NULL;
    case INTEGER:
        *(int64_t *)at = json_int(from, "", 0);
        return NULL;
    case NUMBER:
        *(double *)at = json_number(from, "", 0);
        return NULL;
    case FLAG:
        *(bool *)at = json_flag(from, "", false);
        return NULL;
    case TIME:
        return time_parse(text, at) ? NULL : err_text(400, "it is no time");
    case DOCUMENT:
        *(Json **)at = from;
        return NULL;
    case PACKED:
        return packed_read(text, at);
    case TEXTS:
        JSON_EACH(element, from)
        {
            str_list_add(at, json_str(element, ""));
        }
        return NULL;
    case NUMBERS:
        return numbers_read(text, at);
    case SLICES:
        return slices_read(text, at);
    case WORD:
        return word_read(text, field->words, at);
    case LIST:
        return list_read(from, field->of, at);
    }
    return NULL;
}

static Err *shape_read(const Shape *shape, const Json *from, void *to)
{
    for (const Field *field = shape->fields; field->name; field++) {
        Json *value = json_get(from, field->name);
        Err *err = value ? field_read(field, value, (char *)to + field->offset) : NULL;
        if (err) {
            return err_text(400, "%s: " STR_FMT, field->name, STR_ARG(err->message));
        }
    }
    return NULL;
}

// What loops go by: no window is longer than a month, nothing begins long before it.
static Err *check_times(const Cell *cell)
{
    bool is_sound = cell->window_s >= 0 && cell->window_s <= LONGEST_WINDOW_S &&
                    cell->load_from_s <= 0 && cell->load_from_s >= -LONGEST_WINDOW_S &&
                    cell->block >= 0 && cell->block <= BLOCKS_MAX;

    for (size_t i = 0; i < cell->jobs.len; i++) {
        is_sound &= fabs(cell->jobs.at[i].from_s) <= LONGEST_WINDOW_S &&
                    fabs(cell->jobs.at[i].to_s) <= LONGEST_WINDOW_S;
    }
    return is_sound ? NULL
                    : err_text(400, "cell " STR_FMT ": its times or its block cannot be",
                               STR_ARG(cell->id));
}

Err *result_parse(Str text, Result **out)
{
    Json *root = NULL;
    Result *result = NEW(Result);

    TRY(json_parse(text, &root));
    int64_t schema = json_int(root, "schemaVersion", 0);
    if (schema < 1 || schema > RESULT_SCHEMA || !json_has(root, "experiment")) {
        return err_text(400, "it is no result of an experiment that this version reads (schema %d)",
                        RESULT_SCHEMA);
    }
    TRY(shape_read(&Result_shape, root, result));
    for (size_t i = 0; i < result->cells.len; i++) {
        TRY(check_times(&result->cells.at[i]));
    }
    *out = result;
    return NULL;
}

Err *result_save(const Result *result, const char *path)
{
    const char *part = str_z(str_fmt("%s.part", path));
    Str text = result_text(result);
    FILE *file = fopen(part, "wb");

    if (!file) {
        return err_text(500, "%s: %s", part, strerror(errno));
    }
    bool is_written = fwrite(text.at, 1, text.len, file) == text.len && fputc('\n', file) != EOF &&
                      fflush(file) == 0 && fsync(fileno(file)) == 0;
    int why = errno;
    if (fclose(file) != 0 || !is_written || rename(part, path) != 0) {
        return err_text(500, "%s: %s", path, strerror(is_written ? errno : why));
    }
    return NULL;
}

Err *result_load(const char *path, Result **out)
{
    Str text = {0};

    TRY(file_read(path, FILE_MAX, &text));
    Err *err = result_parse(text, out);
    return err ? err_text(err->status, "%s: " STR_FMT, path, STR_ARG(err->message)) : NULL;
}
