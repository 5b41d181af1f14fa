// The only header a module needs beside its own: everything a use case is written with.
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/date.h"
#include "base/err.h"
#include "base/fold.h"
#include "base/log.h"
#include "base/meter.h"
#include "base/str.h"
#include "base/tz.h"
#include "base/uuid.h"
#include "gateway/gateway.h"
#include "http/http.h"
#include "jobs/jobs.h"
#include "json/json.h"
#include "json/properties.h"
#include "store/store.h"
