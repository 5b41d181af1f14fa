// A request that is over goes to everybody who keeps something of it.
#include "observe/internal.h"

void observe_request(const Observed *request, const MeterWork *work)
{
    routes_add(request);
    slow_requests_add(request, work);
}
