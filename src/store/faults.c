// The fault layer.
#include "store/faults.h"

#ifdef OCTAVO_HOOKS
void faults_point(const char *name)
{
    (void)name;
}
#endif
