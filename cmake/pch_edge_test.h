// What nearly every test of an edge module includes.
#include <gtest/gtest.h>

#include "pch_edge.h"
