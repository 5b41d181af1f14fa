// Random draws of virtual users.
#include "actor.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

void rng_seed(Rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t state = seed;

    state = splitmix(&state) ^ (stream + 1) * 0xD1B54A32D192ED03u;
    for (int i = 0; i < 4; i++) {
        rng->state[i] = splitmix(&state);
    }
}

uint64_t rng_next(Rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

int64_t rng_between(Rng *rng, int64_t low, int64_t high)
{
    if (high <= low) {
        return low;
    }
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    uint64_t draw = rng_next(rng);
    uint64_t below = span ? (uint64_t)(((unsigned __int128)draw * span) >> 64) : draw;
    return (int64_t)((uint64_t)low + below);
}

double rng_unit(Rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

double rng_gauss(Rng *rng)
{
    double u = 1.0 - rng_unit(rng), v = rng_unit(rng);
    return sqrt(-2.0 * log(u)) * cos(2.0 * 3.14159265358979323846 * v);
}
