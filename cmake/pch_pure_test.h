// What nearly every test of a pure module includes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "pch_pure.h"
