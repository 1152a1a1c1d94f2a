// The reader alone: connecting, TLS and waiting are done by the loop.
#include <hiredis/read.h>
