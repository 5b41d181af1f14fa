// What FOLIO's engineers reported, from one file in the program.
#include "report.h"

#include "base/asset.h"

#include <math.h>

static bool row_matches(Str line, const Str *wanted, Str *value)
{
    for (int i = 0; i < 4; i++) {
        Str part;
        if (!str_next(&line, ',', &part) || !str_eq(part, wanted[i])) {
            return false;
        }
    }
    return str_next(&line, ',', value);
}

double reference_value(Str report, Str run, Str subject, const char *metric)
{
    const Str wanted[] = {report, run, subject, str_of(metric)};
    Str text, line, value;
    double number = NAN;

    if (report.len == 0 || !asset_find("bench/folio-reported.csv", &text)) {
        return NAN;
    }
    while (str_next(&text, '\n', &line)) {
        if (row_matches(line, wanted, &value)) {
            return str_double(value, &number) ? number : NAN;
        }
    }
    return NAN;
}

Str reference_run(const Report *report, const Scope *scope)
{
    if (str_eq(report->reference, S("perf-932"))) {
        return scope->run;
    }
    for (size_t i = 0; i < report->result->configurations.len; i++) {
        if (str_eq(report->result->configurations.at[i].name, scope->configuration)) {
            return str_fmt("%zu", i + 1);
        }
    }
    return (Str){"", 0};
}

StrList reference_subjects(Str report, const char *metric)
{
    Str text, line;
    StrList subjects = {0};

    if (!asset_find("bench/folio-reported.csv", &text)) {
        return subjects;
    }
    while (str_next(&text, '\n', &line)) {
        Str id, run, subject, name;
        if (str_next(&line, ',', &id) && str_next(&line, ',', &run) &&
            str_next(&line, ',', &subject) && str_next(&line, ',', &name) && str_eq(id, report) &&
            str_eq_z(name, metric) && !str_list_has(&subjects, subject)) {
            str_list_add(&subjects, subject);
        }
    }
    return subjects;
}
