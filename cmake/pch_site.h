// What nearly every edge file above the engine includes.
#include "pch_edge.h"
// --- ours
#include "core/engine.h"
#include "pch_core_uses.h"
