// Folding: one table entry per code point of the few pages of Unicode that have something to fold,
// made once from ICU's decompositions and a short list of what they do not say. ASCII never looks.
#include "base/fold.h"

#include "base/die.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

enum {
    FOLDING = 1, // raise it when the results of this file change
    PAGES = 0x1F2,
    LONGEST = 7, // bytes one code point can become
};

typedef struct {
    uint8_t len;
    char text[LONGEST];
} Folded;

// Results of one page of 256 code points: without accents, and in lower case too.
typedef struct {
    Folded accents[256];
    Folded both[256];
} Page;

// The pages where unaccent changes something. Everything outside them only changes its case.
static const uint16_t page_numbers[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x1D, 0x1E, 0x1F,
                                        0x20, 0x21, 0x22, 0x24, 0x29, 0x2A, 0x2C, 0x30,
                                        0x33, 0xA7, 0xFB, 0xFE, 0xFF, 0x1F1};

// Letters and signs whose replacement does not follow from Unicode's decomposition. A capital
// follows its small letter unless it is listed itself.
static const char letters[] =
    "ß=ss ẞ=SS Ʀ=Ʀ Ƕ=Ƕ Ƞ=Ƞ æ=ae ð=d ø=o þ=th đ=d ħ=h ı=i ĸ=q ŀ=l ł=l ŉ='n ŋ=n œ=oe ŧ=t ƀ=b ƃ=b ƈ=c "
    "ƌ=d "
    "ƒ=f ƕ=hv Ɩ=I ƙ=k ƚ=l ƞ=n ƣ=oi ƥ=p ƫ=t ƭ=t ƴ=y ƶ=z ǥ=g ȡ=d ȥ=z ȴ=l ȵ=n ȶ=t ȷ=j "
    "ȸ=db ȹ=qp ȼ=c ȿ=s ɀ=z ɇ=e ɉ=j ɍ=r ɏ=y ɓ=b ɕ=c ɖ=d ɗ=d ɛ=e ɟ=j ɠ=g ɡ=g ɢ=G ɦ=h "
    "ɧ=h ɨ=i ɪ=I ɫ=l ɬ=l ɭ=l ɱ=m ɲ=n ɳ=n ɴ=N ɶ=OE ɼ=r ɽ=r ɾ=r ʀ=R ʂ=s ʈ=t ʉ=u ʋ=v ʏ=Y "
    "ʐ=z ʑ=z ʙ=B ʛ=G ʜ=H ʝ=j ʟ=L ʠ=q ʣ=dz ʥ=dz ʦ=ts ʪ=ls ʫ=lz ʹ=' ʺ=\" ʻ=' ʼ=' ʽ=' "
    "ˆ=^ ˈ=' ˋ=` ː=: ё=е ᴀ=A ᴁ=AE ᴃ=B ᴄ=C ᴅ=D ᴆ=D ᴇ=E ᴊ=J ᴋ=K ᴌ=L ᴍ=M ᴏ=O ᴘ=P ᴛ=T ᴜ=U "
    "ᴠ=V ᴡ=W ᴢ=Z ᵫ=ue ᵬ=b ᵭ=d ᵮ=f ᵯ=m ᵰ=n ᵱ=p ᵲ=r ᵳ=r ᵴ=s ᵵ=t ᵶ=z ᵺ=th ᵻ=I ᵽ=p ᵾ=U "
    "ᶀ=b ᶁ=d ᶂ=f ᶃ=g ᶄ=k ᶅ=l ᶆ=m ᶇ=n ᶈ=p ᶉ=r ᶊ=s ᶌ=v ᶍ=x ᶎ=z ᶏ=a ᶑ=d ᶒ=e ᶓ=e ᶖ=i ᶙ=u "
    "ẚ=a ẜ=s ẝ=s ỻ=ll ỽ=v ỿ=y ℌ=x ⱡ=l ⱥ=a ⱦ=t ⱨ=h ⱪ=k ⱬ=z ⱱ=v ⱳ=w ⱴ=v ⱸ=e ⱺ=o ㏗=pH "
    "ꜰ=F ꜱ=S ꜳ=aa ꜵ=ao ꜷ=au ꜹ=av ꜻ=av ꜽ=ay ꝁ=k ꝃ=k ꝅ=k ꝇ=l ꝉ=l ꝋ=o ꝍ=o ꝏ=oo ꝑ=p ꝓ=p "
    "ꝕ=p ꝗ=q ꝙ=q ꝟ=v ꝡ=vy ꝥ=th ꝧ=th ꝱ=d ꝲ=l ꝳ=m ꝴ=n ꝵ=r ꝶ=R ꝷ=t ꝺ=d ꝼ=f ꞇ=t ꞑ=n ꞓ=c "
    "ꞡ=g ꞣ=k ꞥ=n ꞧ=r ꞩ=s";

static const char signs[] =
    "¡=! ©=(C) «=<< \u00ad=- ®=(R) ±=+/- »=>> ¿=? ×=* ÷=/ ˂=< ˃=> ˄=^ ˖=+ ˗=- ˜=~ ‐=- "
    "‑=- ‒=- –=- —=- ―=- ‖=|| ‘=' ’=' ‚=, ‛=' “=\" ”=\" „=,, ‟=\" ′=' ″=\" ‹=< ›=> "
    "⁄=/ ⁅=[ ⁆=] ⁎=* ₠=CE ₢=Cr ₣=Fr. ₤=L. ₧=Pts ₹=Rs ₺=TL ℗=(P) ℘=P ℞=Rx −=- ∕=/ ∖=\\ "
    "∣=| ∥=|| ≪=<< ≫=>> ⦅=(( ⦆=)) 、=, 。=. 〇=0 〈=< 〉=> 《=<< 》=>> 〔=[ 〕=] 〘=[ 〙=] 〚=[ "
    "〛=] 〝=\" 〞=\" ￩=<- ￫=->";

static const Page *pages[PAGES];
static pthread_once_t pages_once = PTHREAD_ONCE_INIT;

static void add_code_point(Folded *folded, UChar32 c)
{
    UBool failed = false;
    int32_t len = folded->len;

    U8_APPEND((uint8_t *)folded->text, len, LONGEST, c, failed);
    if (failed) {
        die("a folded code point is longer than %d bytes", LONGEST);
    }
    folded->len = (uint8_t)len;
}

static Folded lower_of(const Folded *folded)
{
    Folded lower = {0};

    for (int32_t i = 0; i < folded->len;) {
        UChar32 c = 0;
        U8_NEXT((const uint8_t *)folded->text, i, folded->len, c);
        add_code_point(&lower, u_tolower(c));
    }
    return lower;
}

static Folded upper_of(const Folded *folded)
{
    Folded upper = {0};

    for (int32_t i = 0; i < folded->len;) {
        UChar32 c = 0;
        U8_NEXT((const uint8_t *)folded->text, i, folded->len, c);
        add_code_point(&upper, u_toupper(c));
    }
    return upper;
}

static Page *page_of(UChar32 c)
{
    return c < PAGES << 8 ? (Page *)pages[c >> 8] : NULL;
}

// Entries "x=yz" with one blank between them.
static void read_list(const char *list)
{
    const uint8_t *at = (const uint8_t *)list;
    int32_t i = 0, len = (int32_t)strlen(list);

    while (i < len) {
        UChar32 c = 0;
        Folded folded = {0};
        U8_NEXT(at, i, len, c);
        for (i++; i < len && at[i] != ' '; i++) {
            folded.text[folded.len++] = (char)at[i];
        }
        i++;
        page_of(c)->accents[c & 0xFF] = folded;
        // Above the last capital of unaccent's rules a small letter stands alone.
        UChar32 capital = u_toupper(c);
        if (capital != c && capital > 0x7F && capital <= 0xA7AA &&
            !page_of(capital)->accents[capital & 0xFF].len) {
            page_of(capital)->accents[capital & 0xFF] = upper_of(&folded);
        }
    }
}

static bool is_removed_mark(UChar32 c)
{
    return (c >= 0x300 && c <= 0x362) || (c >= 0x20DD && c <= 0x20E4 && c != 0x20E1);
}

// A letter with accents: the plain Latin or Greek letter; 0 for anything else.
static UChar32 plain_letter(UChar32 c)
{
    UErrorCode error = U_ZERO_ERROR;
    UChar text[16];
    const UNormalizer2 *nfd = unorm2_getNFDInstance(&error);
    int32_t parts = unorm2_getRawDecomposition(nfd, c, text, 16, &error);
    int32_t len = unorm2_getDecomposition(nfd, c, text, 16, &error), i = 0;
    UChar32 first = 0, next = 0;

    if (U_FAILURE(error) || parts < 2) {
        return 0; // a mere second code for the same letter stays as it is
    }
    U16_NEXT(text, i, len, first);
    while (i < len) {
        U16_NEXT(text, i, len, next);
        if (u_charType(next) != U_NON_SPACING_MARK) {
            return 0;
        }
    }
    bool is_latin = first < 0x80 && u_isalpha(first);
    return is_latin || (first >= 0x391 && first <= 0x3C9) ? first : 0;
}

// The ASCII replacement of a sign inside a form; false if it has none.
static bool add_listed(Folded *folded, UChar c)
{
    const Page *page = page_of(c);
    const Folded *part = page ? &page->accents[c & 0xFF] : NULL;

    if (!part || !part->len || part->text[0] & 0x80 || part->len > LONGEST - folded->len) {
        return false;
    }
    memcpy(folded->text + folded->len, part->text, part->len);
    folded->len = (uint8_t)(folded->len + part->len);
    return true;
}

// Forms of other letters and signs (ligatures, full width, fractions ...) become what they stand
// for if that is ASCII. Superscripts, subscripts and circled signs stay themselves, as in unaccent.
static bool add_compatible(UChar32 c, UDecompositionType type, Folded *folded)
{
    UErrorCode error = U_ZERO_ERROR;
    UChar text[32];
    const UNormalizer2 *nfkd = unorm2_getNFKDInstance(&error);
    bool is_form = type == U_DT_VERTICAL || type == U_DT_SMALL || type == U_DT_NARROW ||
                   type == U_DT_WIDE || type == U_DT_SQUARE;
    int32_t len = type == U_DT_SQUARE ? unorm2_getRawDecomposition(nfkd, c, text, 32, &error)
                                      : unorm2_getDecomposition(nfkd, c, text, 32, &error);

    if (U_FAILURE(error) || len <= 0 || len > LONGEST || text[0] == ' ') {
        return false;
    }
    if (type == U_DT_FRACTION) {
        // As PostgreSQL 16 reads the rule; 15 loses the blank and makes eleven halves of one and a
        // half.
        add_code_point(folded, ' ');
    }
    for (int32_t i = 0; i < len; i++) {
        bool is_replaced = is_form || text[i] == 0x2044;
        if (text[i] < 0x80 || text[i] == 0xB0) {
            add_code_point(folded, text[i]);
        } else if (is_replaced ? !add_listed(folded, text[i])
                               : u_charType(text[i]) != U_NON_SPACING_MARK) {
            return false;
        }
    }
    return memchr(folded->text, '_', folded->len) == NULL || type == U_DT_WIDE;
}

static bool is_kept(UChar32 c)
{
    // Rupee sign, millilitre to kilolitre, "gal" and the Hebrew plus, which unaccent does not know.
    return c == 0x20A8 || (c >= 0x3396 && c <= 0x3398) || c == 0x33FF || c == 0xFB29;
}

static Folded without_accents(UChar32 c)
{
    Folded folded = {0};
    UDecompositionType type = u_getIntPropertyValue(c, UCHAR_DECOMPOSITION_TYPE);
    UChar32 letter = type == U_DT_CANONICAL ? plain_letter(c) : 0;

    if (is_removed_mark(c)) {
        return folded;
    }
    if (letter) {
        add_code_point(&folded, letter);
        return folded;
    }
    bool is_form = type == U_DT_COMPAT || type == U_DT_FONT || type == U_DT_FRACTION ||
                   type == U_DT_VERTICAL || type == U_DT_SMALL || type == U_DT_NARROW ||
                   type == U_DT_WIDE || type == U_DT_SQUARE;
    bool is_late = c > 0xFFFF && type != U_DT_COMPAT;
    if (is_form && !is_late && !is_kept(c) && add_compatible(c, type, &folded)) {
        return folded;
    }
    folded = (Folded){0};
    if (!U_IS_SURROGATE(c)) {
        add_code_point(&folded, c);
    }
    return folded;
}

static void make_pages(void)
{
    size_t count = sizeof page_numbers / sizeof *page_numbers;
    Page *made = calloc(count, sizeof *made);

    if (!made) {
        die("out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        pages[page_numbers[i]] = &made[i];
    }
    read_list(letters);
    read_list(signs);
    for (size_t i = 0; i < count; i++) {
        for (int low = 0; low < 256; low++) {
            Folded *accents = &made[i].accents[low];
            if (!accents->len) {
                *accents = without_accents((page_numbers[i] << 8) + low);
            }
            made[i].both[low] = lower_of(accents);
        }
    }
}

enum { CASE = 1, ACCENTS = 2 };

static size_t ascii_length(Str s)
{
    size_t i = 0;

    for (uint64_t word; s.len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, s.at + i, sizeof word);
        if (word & 0x8080808080808080u) {
            break;
        }
    }
    while (i < s.len && (unsigned char)s.at[i] < 0x80) {
        i++;
    }
    return i;
}

static void copy_ascii(char *to, Str from, bool lower)
{
    for (size_t i = 0; i < from.len; i++) {
        char c = from.at[i];
        to[i] = (char)(lower && c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
}

// One code point to `to`; returns the number of bytes.
static size_t fold_code_point(char *to, UChar32 c, int what)
{
    const Page *page = what & ACCENTS ? page_of(c) : NULL;
    size_t len = 0;

    if (page) {
        const Folded *folded = what & CASE ? &page->both[c & 0xFF] : &page->accents[c & 0xFF];
        memcpy(to, folded->text, folded->len);
        return folded->len;
    }
    if (what & CASE) {
        c = u_tolower(c);
    }
    U8_APPEND_UNSAFE((uint8_t *)to, len, c);
    return len;
}

static Str fold_text(Str s, int what)
{
    size_t plain = ascii_length(s);
    // Two bytes become at most four, three at most six.
    char *to = arena_alloc(arena_current(), plain + (s.len - plain) * 2 + LONGEST);
    size_t len = plain;

    copy_ascii(to, str_sub(s, 0, plain), what & CASE);
    if (plain == s.len) {
        return (Str){to, len};
    }
    pthread_once(&pages_once, make_pages);
    const uint8_t *at = (const uint8_t *)s.at;
    for (size_t i = plain; i < s.len;) {
        if (at[i] < 0x80) {
            copy_ascii(to + len++, (Str){s.at + i++, 1}, what & CASE);
            continue;
        }
        size_t start = i;
        UChar32 c = 0;
        U8_NEXT(at, i, s.len, c);
        if (c < 0) {
            memcpy(to + len, s.at + start, i - start);
            len += i - start;
        } else {
            len += fold_code_point(to + len, c, what);
        }
    }
    return (Str){to, len};
}

int fold_version(void)
{
    UVersionInfo unicode;

    u_getUnicodeVersion(unicode);
    return FOLDING * 10000 + unicode[0] * 100 + unicode[1];
}

Str fold(Str s)
{
    return fold_text(s, CASE | ACCENTS);
}

Str fold_case(Str s)
{
    return fold_text(s, CASE);
}

Str fold_accents(Str s)
{
    return fold_text(s, ACCENTS);
}

static bool is_word_character(UChar32 c)
{
    if (c < 0x80) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    }
    return U_MASK(u_charType(c)) & (U_GC_L_MASK | U_GC_N_MASK | U_GC_M_MASK);
}

void fold_words(Str s, StrList *words)
{
    Str folded = fold(s);
    const uint8_t *at = (const uint8_t *)folded.at;
    size_t start = 0, i = 0;

    while (i < folded.len) {
        size_t before = i;
        UChar32 c = 0;
        U8_NEXT(at, i, folded.len, c);
        if (c >= 0 && is_word_character(c)) {
            continue;
        }
        if (before > start) {
            str_list_add(words, str_sub(folded, start, before));
        }
        start = i;
    }
    if (folded.len > start) {
        str_list_add(words, str_sub(folded, start, folded.len));
    }
}
