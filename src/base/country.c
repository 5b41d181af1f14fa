// Names of countries, from ICU's locale data.
#include "base/country.h"

#include <unicode/uloc.h>
#include <unicode/ustring.h>

Str country_name(Str code)
{
    UChar wide[128];
    char locale[8] = "und_", name[512];
    UErrorCode status = U_ZERO_ERROR;
    int32_t len = 0;

    if (code.len != 2) {
        return (Str){"", 0};
    }
    for (size_t i = 0; i < 2; i++) {
        char c = code.at[i];
        c = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
        if (c < 'A' || c > 'Z') {
            return (Str){"", 0};
        }
        locale[4 + i] = c;
    }
    int32_t wide_len = uloc_getDisplayCountry(locale, "en", wide, 128, &status);
    u_strToUTF8(name, sizeof name, &len, wide, wide_len, &status);
    // ICU answers an unknown code with the code itself.
    if (U_FAILURE(status) || status == U_USING_DEFAULT_WARNING || len <= 2) {
        return (Str){"", 0};
    }
    return str_copy(arena_current(), (Str){name, (size_t)len});
}
