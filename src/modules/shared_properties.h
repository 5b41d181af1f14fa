// Shapes that records of many modules share.
#pragma once

#include "json/properties.h"

extern const Property tags_properties[]; // {"tagList": ["..."]}
