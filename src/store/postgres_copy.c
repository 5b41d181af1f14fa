// Loading records with COPY: many rows in one stream, words beside them.
//
// The pipeline is left for it and entered again. Keys are taken from the table's sequence first,
// because the rows of words need them.
#include "store/engine.h"
#include "store/postgres.h"

#include <stdio.h>

enum {
    CHUNK = 256 * 1024,
    CHUNK_MAX = 256 * 1024 * 1024, // with one record of any size
};

typedef struct {
    PGconn *pg;
    Buf chunk;
    bool is_lost;
} Stream;

static void stream_send(Stream *stream)
{
    stream->is_lost =
        stream->is_lost || PQputCopyData(stream->pg, stream->chunk.at, (int)stream->chunk.len) != 1;
    buf_clear(&stream->chunk);
}

static void add_text(Buf *out, Str text)
{
    static const char special[] = {['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r', ['\\'] = '\\'};
    size_t from = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < sizeof special && special[c]) {
            buf_add(out, str_sub(text, from, i));
            buf_char(out, '\\');
            buf_char(out, special[c]);
            from = i + 1;
        }
    }
    buf_add(out, str_sub(text, from, text.len));
}

static void add_value(Buf *out, const Arg *value)
{
    switch (value->kind) {
    case ARG_TEXT:
    case ARG_BLOB:
        add_text(out, value->text);
        break;
    case ARG_INT:
        buf_fmt(out, "%lld", (long long)value->integer);
        break;
    case ARG_REAL:
        buf_fmt(out, "%.17g", value->real);
        break;
    case ARG_NULL:
        buf_add_z(out, "\\N");
        break;
    }
}

// The error of a COPY belongs to no row: what is wrong is found when the rows come one by one.
static Err *stream_end(Tx *tx, Stream *stream, const char *sql)
{
    PgConn *conn = tx->conn;
    Err *err = NULL;

    stream_send(stream);
    stream->is_lost = stream->is_lost || PQputCopyEnd(stream->pg, NULL) != 1;
    for (PGresult *result; (result = PQgetResult(stream->pg)); PQclear(result)) {
        if (!err && PQresultStatus(result) != PGRES_COMMAND_OK) {
            err = pg_err(result, sql);
        }
    }
    if (stream->is_lost || PQstatus(stream->pg) != CONNECTION_OK) {
        conn->is_bad = true;
        err = err ? err : pg_err_lost(stream->pg, sql);
    }
    return err;
}

static Err *stream_begin(Tx *tx, const char *sql, Stream *out)
{
    PgConn *conn = tx->conn;
    PGresult *result = PQexec(conn->pg, sql);
    bool is_open = PQresultStatus(result) == PGRES_COPY_IN;
    Err *err = is_open ? NULL : pg_err(result, sql);

    PQclear(result);
    *out = (Stream){conn->pg, buf_new(arena_current(), CHUNK_MAX), false};
    return err;
}

static Err *records_copy(Tx *tx, const LoadedRow *rows, size_t n, const int64_t *keys)
{
    const Shape *shape = rows->shape;
    Buf sql = buf_new(arena_current(), SQL_MAX);
    Stream stream;

    buf_fmt(&sql, "copy \"%s\" (pk, doc, id, filled, version", shape->of->table);
    for (size_t i = 0; i < shape->column_count; i++) {
        buf_fmt(&sql, ", \"%s\"", shape->columns[i]->column);
    }
    buf_add_z(&sql, ") from stdin");
    TRY(stream_begin(tx, str_z(buf_str(&sql)), &stream));
    for (size_t i = 0; i < n && !stream.is_lost; i++) {
        buf_fmt(&stream.chunk, "%lld", (long long)keys[i]);
        for (size_t j = 0; j < shape->column_count + 4; j++) {
            buf_char(&stream.chunk, '\t');
            add_value(&stream.chunk, &rows[i].values[j]);
        }
        buf_char(&stream.chunk, '\n');
        if (stream.chunk.len > CHUNK) {
            stream_send(&stream);
        }
    }
    return stream_end(tx, &stream, "copy of records");
}

static Err *words_copy(Tx *tx, const LoadedRow *rows, size_t n, const int64_t *keys)
{
    const Shape *shape = rows->shape;
    Buf sql = buf_new(arena_current(), SQL_MAX);
    Stream stream;

    buf_fmt(&sql, "copy \"%s_words\" (pk", shape->of->table);
    for (size_t i = 0; i < shape->word_count; i++) {
        buf_fmt(&sql, ", \"%s\"", shape->words[i]->column);
    }
    buf_add_z(&sql, ") from stdin");
    TRY(stream_begin(tx, str_z(buf_str(&sql)), &stream));
    for (size_t i = 0; i < n && !stream.is_lost; i++) {
        buf_fmt(&stream.chunk, "%lld", (long long)keys[i]);
        for (size_t j = 0; j < shape->word_count; j++) {
            ArenaMark mark = arena_mark(scratch_arena());
            Arg vector = pg_words_vector(rows[i].words[j]);
            buf_char(&stream.chunk, '\t');
            add_value(&stream.chunk, &vector);
            arena_release(scratch_arena(), mark);
        }
        buf_char(&stream.chunk, '\n');
        if (stream.chunk.len > CHUNK) {
            stream_send(&stream);
        }
    }
    return stream_end(tx, &stream, "copy of words");
}

typedef struct {
    int64_t *at;
    size_t len;
} Keys;

static Err *take_key(const Row *row, void *context)
{
    Keys *keys = context;

    keys->at[keys->len++] = row_int(row, 0);
    return NULL;
}

Err *pg_load(Tx *tx, const LoadedRow *rows, size_t n)
{
    Keys keys = {NEW_ARRAY(int64_t, n), 0};
    Str sql = str_fmt("select nextval('\"%s_pk_seq\"') from generate_series(1, $1)",
                      rows->shape->of->table);

    TRY(pg_rows(tx, sql.at, ARGS(A_INT((int64_t)n)), take_key, &keys));
    PgConn *conn = tx->conn;
    tx->has_changed = tx->has_pending = true;
    if (!PQexitPipelineMode(conn->pg)) {
        conn->is_bad = true;
        return pg_err_lost(conn->pg, "copy");
    }
    Err *err = records_copy(tx, rows, n, keys.at);
    if (!err && rows->shape->word_count) {
        err = words_copy(tx, rows, n, keys.at);
    }
    conn->is_bad = conn->is_bad || !PQenterPipelineMode(conn->pg);
    if (err) {
        pg_tx_undo(tx);
    }
    return err;
}
