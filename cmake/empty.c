// Nothing: the link test of a layer needs one source file.
typedef int octavo_empty;
