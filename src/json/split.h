// A long text of many records cut into the texts of single ones, without reading it as a whole.
//
// Three forms: an array of records; a list answer, an object with the array under its key; one
// record after the other, usually one to a line. What is cut out is not checked: json_parse does.
#pragma once

#include "base/str.h"

typedef struct {
    Str text;
    size_t at;
    int64_t line; // of `at`, from 1
    bool is_array;
} JsonSplitter;

// list_key: member that holds the array of a list answer ("items").
JsonSplitter json_splitter(Str text, Str list_key);
// The next record and the line where it begins; false behind the last. A record without end reaches
// to the end of the text.
bool json_split_next(JsonSplitter *splitter, Str *record, int64_t *line);
