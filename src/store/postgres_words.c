// Word search: one table per collection, <table>_words, with a tsvector per field, keyed by the
// record's pk. Changes of other columns of the record then leave its words' index alone.
//
// The vectors are literals of our own tokens, never the server's (decision 23).
#include "store/postgres.h"

#include "base/die.h"

#include <string.h>

enum {
    SQL_MAX = 1024 * 1024,
    WORDS_COLUMNS_MAX = 32,
    LEXEME_MAX = 2046, // what a tsvector takes
    POSITION_MAX = 16383,
    VECTOR_MAX = 900 * 1024, // of 1 MB
    QUERY_MAX = 1024 * 1024,
};

static void add_lexeme(Buf *out, Str word)
{
    word.len = word.len < LEXEME_MAX ? word.len : LEXEME_MAX;
    // No half letter at the cut.
    for (bool is_cut = word.len == LEXEME_MAX; is_cut && word.len; word.len--) {
        is_cut = ((unsigned char)word.at[word.len - 1] & 0xc0) == 0x80;
    }
    buf_char(out, '\'');
    for (size_t i = 0; i < word.len; i++) {
        if (word.at[i] == '\'' || word.at[i] == '\\') {
            buf_char(out, word.at[i]);
        }
        buf_char(out, word.at[i]);
    }
    buf_char(out, '\'');
}

// "'harry':1 'potter':2"; what is too much is not found.
Arg pg_words_vector(Str words)
{
    Buf out = buf_new(scratch_arena(), VECTOR_MAX + 8 * 1024);
    int position = 0;
    Str word;

    if (!words.len) {
        return A_NULL;
    }
    while (str_next(&words, ' ', &word) && out.len < VECTOR_MAX) {
        if (!word.len) {
            continue;
        }
        position += position < POSITION_MAX;
        add_lexeme(&out, word);
        buf_fmt(&out, ":%d ", position);
    }
    return A_TEXT(buf_str(&out));
}

static void add_columns(Buf *sql, const Collection *of, size_t n)
{
    size_t count = 0;

    for (const Field *field = of->fields; field && field->column; field++) {
        if (field->flags & WORDS) {
            buf_fmt(sql, ", \"%s\"", field->column);
            count++;
        }
    }
    if (count != n || n > WORDS_COLUMNS_MAX) {
        die("%s has %zu fields for word search, not %zu", of->table, count, n);
    }
}

static Err *row_insert(Tx *tx, const Collection *of, int64_t pk, const Str *words, size_t n)
{
    ArenaMark mark = arena_mark(scratch_arena());
    Buf sql = buf_new(arena_current(), SQL_MAX);
    Arg args[WORDS_COLUMNS_MAX + 1];
    size_t count = 0;

    buf_fmt(&sql, "insert into \"%s_words\" (pk", of->table);
    add_columns(&sql, of, n);
    if (pk) {
        args[count++] = A_INT(pk);
        buf_add_z(&sql, ") values ($1");
    } else {
        buf_fmt(&sql, ") values (currval('\"%s_pk_seq\"')", of->table);
    }
    for (size_t i = 0; i < n; i++) {
        args[count++] = pg_words_vector(words[i]);
        buf_fmt(&sql, ", cast($%zu as tsvector)", count);
    }
    buf_char(&sql, ')');
    Err *err = sql_exec(tx, str_z(buf_str(&sql)), (Args){args, count}, NULL, NULL);
    arena_release(scratch_arena(), mark);
    return err;
}

Err *pg_words_write(Tx *tx, const Collection *of, int64_t pk, const Str *old, const Str *now,
                    size_t n)
{
    if (old) {
        Str sql = str_fmt("delete from \"%s_words\" where pk = $1", of->table);
        TRY(sql_exec(tx, sql.at, ARGS(A_INT(pk)), NULL, NULL));
    }
    return now ? row_insert(tx, of, pk, now, n) : NULL;
}

Err *pg_words_make(Tx *tx, const Collection *of, const char *const *columns, size_t n)
{
    Buf sql = buf_new(arena_current(), SQL_MAX);

    buf_fmt(&sql, "create table if not exists \"%s_words\" (pk bigint primary key", of->table);
    for (size_t i = 0; i < n; i++) {
        buf_fmt(&sql, ", \"%s\" tsvector", columns[i]);
    }
    buf_char(&sql, ')');
    TRY(sql_exec(tx, str_z(buf_str(&sql)), NO_ARGS, NULL, NULL));
    buf_clear(&sql);
    buf_fmt(&sql, "create index if not exists \"%s_words_gin\" on \"%s_words\" using gin (",
            of->table, of->table);
    for (size_t i = 0; i < n; i++) {
        buf_fmt(&sql, "%s\"%s\"", i ? ", " : "", columns[i]);
    }
    buf_char(&sql, ')');
    return sql_exec(tx, str_z(buf_str(&sql)), NO_ARGS, NULL, NULL);
}

Err *pg_words_drop(Tx *tx, const char *table)
{
    return sql_exec(tx, str_z(str_fmt("drop table if exists \"%s_words\"", table)), NO_ARGS, NULL,
                    NULL);
}

// "in (select ...) or ..." would read the whole table; alone it can be joined in any order.
void pg_words_match(Buf *sql, const char *table, const char *column, int n, bool has_alternative)
{
    buf_fmt(sql, "pk %s(select pk from \"%s_words\" where \"%s\" @@ cast($%d as tsquery))%s",
            has_alternative ? "= any(array" : "in ", table, column, n, has_alternative ? ")" : "");
}

// As on the other database a phrase with a prefix before its end is "all its words", a superset.
Str pg_words_query(const char *column, int operator_, const Str *words, const bool *is_prefix,
                   size_t n)
{
    Buf query = buf_new(arena_current(), QUERY_MAX);
    const char *between = operator_ == WORDS_ANY ? " | " : operator_ == WORDS_ALL ? " & " : " <-> ";

    (void)column; // part of the condition
    for (size_t i = 0; operator_ == WORDS_PHRASE && i + 1 < n; i++) {
        between = is_prefix && is_prefix[i] ? " & " : between;
    }
    for (size_t i = 0; i < n; i++) {
        buf_add_z(&query, i ? between : "");
        add_lexeme(&query, words[i]);
        buf_add_z(&query, is_prefix && is_prefix[i] ? ":*" : "");
    }
    return buf_str(&query);
}
