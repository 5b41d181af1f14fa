// Names, titles and call numbers out of a small list of words: no real people, no real books.
#include "data.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *const last_names[] = {
    "Alder",   "Birch",    "Brook",  "Calder",  "Clay",   "Dale",   "Ember",    "Fenn",
    "Field",   "Forester", "Garnet", "Glen",    "Hazel",  "Heath",  "Holm",     "Ivory",
    "Juniper", "Kestrel",  "Lark",   "Linden",  "Marsh",  "Meadow", "Nightly",  "Oakes",
    "Pebble",  "Quarry",   "Quill",  "Reed",    "Ridge",  "Rowan",  "Sable",    "Slate",
    "Sorrel",  "Stone",    "Tarn",   "Thistle", "Umber",  "Vale",   "Walnut",   "Weaver",
    "Wick",    "Willow",   "Winter", "Yarrow",  "Yewman", "Zephyr", "Åkerblad", "Østlund",
    "Müller",  "Señal",
};

static const char *const first_names[] = {
    "Ada", "Bo",   "Cleo", "Dara", "Eli", "Fay",   "Gus",  "Hana", "Ira",
    "Jun", "Kit",  "Lou",  "Mina", "Noa", "Odo",   "Pia",  "Quin", "Rae",
    "Sol", "Tova", "Uli",  "Vera", "Wim", "Xenia", "Yani", "Zoë",
};

static const char *const adjectives[] = {
    "Ancient", "Blue",    "Brief",   "Common",  "Daily",  "Distant",  "Early",    "Eastern",
    "Elegant", "Exact",   "Foreign", "General", "Golden", "Hidden",   "Inner",    "Late",
    "Local",   "Lost",    "Modern",  "Narrow",  "New",    "Northern", "Open",     "Ordinary",
    "Painted", "Quiet",   "Rapid",   "Rural",   "Silent", "Slow",     "Southern", "Urban",
    "Useful",  "Western", "Written", "Young",
};

static const char *const nouns[] = {
    "algebra",  "archives",   "atlases",   "ballads",   "bees",      "birds",     "bridges",
    "canals",   "ceramics",   "climates",  "clocks",    "coasts",    "comets",    "crystals",
    "dialects", "dreams",     "engines",   "essays",    "ferns",     "festivals", "forests",
    "gardens",  "glaciers",   "grammars",  "harbours",  "insects",   "islands",   "journeys",
    "kingdoms", "lakes",      "languages", "legends",   "letters",   "machines",  "maps",
    "markets",  "meadows",    "melodies",  "minerals",  "mountains", "museums",   "networks",
    "orchards", "painters",   "poems",     "printers",  "proverbs",  "railways",  "rivers",
    "rituals",  "sailors",    "scripts",   "seasons",   "shadows",   "signals",   "societies",
    "stars",    "statistics", "stories",   "tides",     "towers",    "trade",     "tunnels",
    "valleys",  "villages",   "voices",    "volcanoes", "weather",   "windmills", "winters",
};

static const char *const places[] = {
    "Aldmoor", "Brightwater", "Carrow",  "Dunmere",   "Eastholm", "Farrow",   "Greyford",
    "Hollin",  "Islet Bay",   "Kelling", "Lowmarsh",  "Merrow",   "Norring",  "Oxley",
    "Penhale", "Quayside",    "Redholt", "Silverton", "Thorne",   "Westwick",
};

static const char *const classes[] = {"BR", "DA", "GB", "HD", "ML", "NA", "PN", "PR",
                                      "QA", "QC", "QH", "QK", "TA", "TJ", "VK", "Z"};

static Str pick(const char *const *list, size_t n, uint64_t at)
{
    return str_of(list[at % n]);
}

Str words_last_name(const Maker *maker, int64_t n)
{
    return pick(last_names, COUNT(last_names), maker_draw(maker, n, "last name", 1 << 20));
}

Str words_first_name(const Maker *maker, int64_t n)
{
    return pick(first_names, COUNT(first_names), maker_draw(maker, n, "first name", 1 << 20));
}

Str words_place(const Maker *maker, int64_t n)
{
    return pick(places, COUNT(places), maker_draw(maker, n, "place", 1 << 20));
}

Str words_subject(const Maker *maker, int64_t n)
{
    Str noun = pick(nouns, COUNT(nouns), maker_draw(maker, n, "subject", 1 << 20));
    return str_fmt(STR_FMT "--" STR_FMT, STR_ARG(noun), STR_ARG(words_place(maker, n)));
}

Str words_title(const Maker *maker, int64_t n)
{
    uint64_t draw = maker_draw(maker, n, "title", 1 << 30);
    Str adjective = pick(adjectives, COUNT(adjectives), draw);
    Str first = pick(nouns, COUNT(nouns), draw >> 8);
    Str second = pick(nouns, COUNT(nouns), draw >> 16);

    return str_fmt(STR_FMT " " STR_FMT " and " STR_FMT " of " STR_FMT ", volume %lld",
                   STR_ARG(adjective), STR_ARG(first), STR_ARG(second),
                   STR_ARG(words_place(maker, n)), (long long)n + 1);
}

Str words_call_number(const Maker *maker, int64_t n)
{
    uint64_t draw = maker_draw(maker, n, "call number", 1 << 30);

    return str_fmt("%s%llu .%c%llu %llu", classes[draw % COUNT(classes)],
                   (unsigned long long)(1 + (draw >> 4) % 9000),
                   (char)('A' + (int)((draw >> 12) % 26)),
                   (unsigned long long)(10 + (draw >> 16) % 900),
                   (unsigned long long)(1950 + (draw >> 8) % 75));
}

Str words_keyword(int64_t n)
{
    return pick(nouns, COUNT(nouns), (uint64_t)n);
}
