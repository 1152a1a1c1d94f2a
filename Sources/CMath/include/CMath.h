// The few functions of libm that distances need, so that the pure modules import no C library as a whole.
#ifndef WAYPULSE_CMATH_H
#define WAYPULSE_CMATH_H

#include <math.h>

static inline double cmath_sin(double radians) { return sin(radians); }
static inline double cmath_cos(double radians) { return cos(radians); }
static inline double cmath_asin(double value) { return asin(value); }

#endif
