// What the files of src/observe share.
#pragma once

#include "observe/observe.h"

void routes_add(const Observed *request);
// Keeps it if it was slow or failed.
void slow_requests_add(const Observed *request, const MeterWork *work);
