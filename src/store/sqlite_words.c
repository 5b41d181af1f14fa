// Word search: one FTS5 table per collection, <table>_words, whose rowid is the record's pk.
//
// The table keeps no text (contentless), so a row is removed by telling it the old words again. Its
// input is folded text already cut into tokens joined by blanks; the "ascii" tokenizer keeps such
// tokens as they are: it separates at ASCII characters other than letters and digits only, and
// knows nothing of Unicode, whose tables in SQLite are older than ICU's (decision 23, 47).
#include "store/sqlite.h"

#include "base/die.h"

enum {
    SQL_MAX = 16 * 1024,
    WORDS_COLUMNS_MAX = 32,
    WORDS_QUERY_MAX = 256 * 1024,
};

static void add_columns(Buf *sql, const Collection *of, size_t n)
{
    size_t count = 0;

    for (const Field *field = of->fields; field && field->column; field++) {
        if (field->flags & WORDS) {
            buf_fmt(sql, ", %s", field->column);
            count++;
        }
    }
    if (count != n || n > WORDS_COLUMNS_MAX) {
        die("%s has %zu fields for word search, not %zu", of->table, count, n);
    }
}

// Tells the table the words of one row: to remove them, or to add them.
static Err *row_write(Tx *tx, const Collection *of, int64_t pk, const Str *words, size_t n,
                      bool removes)
{
    Buf sql = buf_new(arena_current(), SQL_MAX);
    Arg args[WORDS_COLUMNS_MAX + 1];

    buf_fmt(&sql, "insert into %s_words (%srowid", of->table,
            removes ? str_z(str_fmt("%s_words, ", of->table)) : "");
    add_columns(&sql, of, n);
    buf_fmt(&sql, ") values (%s$1", removes ? "'delete', " : "");
    args[0] = A_INT(pk);
    for (size_t i = 0; i < n; i++) {
        buf_fmt(&sql, ", $%zu", i + 2);
        args[i + 1] = words[i].len ? A_TEXT(words[i]) : A_NULL;
    }
    buf_add_z(&sql, ")");
    return sql_exec(tx, str_z(buf_str(&sql)), (Args){args, n + 1}, NULL, NULL);
}

Err *sqlite_words_write(Tx *tx, const Collection *of, int64_t pk, const Str *old, const Str *now,
                        size_t n)
{
    int64_t row = pk ? pk : tx->last_pk;

    if (old) {
        TRY(row_write(tx, of, row, old, n, true));
    }
    return now ? row_write(tx, of, row, now, n, false) : NULL;
}

Err *sqlite_words_make(Tx *tx, const Collection *of, const char *const *columns, size_t n)
{
    Buf sql = buf_new(arena_current(), SQL_MAX);

    buf_fmt(&sql, "create virtual table if not exists %s_words using fts5(", of->table);
    for (size_t i = 0; i < n; i++) {
        buf_fmt(&sql, "%s, ", columns[i]);
    }
    buf_add_z(&sql, "content='', columnsize=0, tokenize='ascii')");
    return sql_exec(tx, str_z(buf_str(&sql)), NO_ARGS, NULL, NULL);
}

Err *sqlite_words_drop(Tx *tx, const char *table)
{
    return sql_exec(tx, str_z(str_fmt("drop table if exists %s_words", table)), NO_ARGS, NULL,
                    NULL);
}

void sqlite_words_match(Buf *sql, const char *table, const char *column, int n,
                        bool has_alternative)
{
    (void)has_alternative;
    (void)column; // part of the query's text
    buf_fmt(sql, "pk in (select rowid from %s_words where %s_words match $%d)", table, table, n);
}

// A token in quotes is taken as it is; it holds no quote, but nothing may depend on that.
static void add_word(Buf *query, Str word, bool is_prefix)
{
    buf_char(query, '"');
    for (size_t i = 0; i < word.len; i++) {
        buf_char(query, word.at[i] == '"' ? ' ' : word.at[i]);
    }
    buf_add_z(query, is_prefix ? "\" *" : "\"");
}

// FTS5 knows a prefix only at the end of a phrase; a phrase with one further ahead becomes "all its
// words", a superset.
Str sqlite_words_query(const char *column, int operator_, const Str *words, const bool *is_prefix,
                       size_t n)
{
    Buf query = buf_new(arena_current(), WORDS_QUERY_MAX);
    const char *between = operator_ == WORDS_ANY   ? " OR "
                          : operator_ == WORDS_ALL ? " AND "
                                                   : " + ";

    for (size_t i = 0; operator_ == WORDS_PHRASE && i + 1 < n; i++) {
        between = is_prefix && is_prefix[i] ? " AND " : between;
    }
    buf_fmt(&query, "%s : (", column);
    for (size_t i = 0; i < n; i++) {
        buf_add_z(&query, i ? between : "");
        add_word(&query, words[i], is_prefix && is_prefix[i]);
    }
    buf_char(&query, ')');
    return buf_str(&query);
}
