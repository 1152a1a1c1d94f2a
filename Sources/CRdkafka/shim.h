#include <librdkafka/rdkafka.h>
// A cluster inside the process, for tests.
#include <librdkafka/rdkafka_mock.h>
