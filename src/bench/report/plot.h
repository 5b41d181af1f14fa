// Drawing the plots of a report with gnuplot.
//
// Scripts name colours of the page, not of the paper: PLOT_FG and so on become CSS variables, so
// that one drawing serves light and dark.
#pragma once

#include "doc.h"

#define PLOT_FG    "rgb '#010100'"
#define PLOT_MUTED "rgb '#010200'"
#define PLOT_LINE  "rgb '#010300'"
#define PLOT_GOOD  "rgb '#010400'"
#define PLOT_WARN  "rgb '#010500'"
#define PLOT_BAD   "rgb '#010600'"

enum {
    PLOT_COLOURS = 10,
    PLOT_WIDTH = 1000,
    PLOT_HEIGHT = 340,
};
// "rgb '#010001'": the i-th colour of the page's series, from 0; they repeat.
const char *plot_colour(size_t i);

// Draws all plots of the report into `folder` (one SVG file each) and into the document. Without
// gnuplot, or when it fails, the document says so.
void plots_draw(Doc *doc, const char *folder);

// A text within gnuplot's quotes and without its markup.
Str plot_quoted(Str text);
// The same within a row of data, where only these quotes hold blanks together.
Str plot_data_text(Str text);
