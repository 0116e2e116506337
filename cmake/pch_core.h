// What nearly every pure file above the engine includes: its state.
#include "pch_pure.h"
// --- ours
#include "core/engine.h"
#include "pch_core_uses.h"
