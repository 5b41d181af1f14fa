// Shapes that records of many modules share.
#include "modules/shared_properties.h"

const Property tags_properties[] = {
    {"tagList", STRING, ARRAY},
    {0},
};
