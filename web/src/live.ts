// Whether what is shown is what is. Three answers, and each says since when.
export interface Link {
  stream: 'open' | 'closed'   // of /v1/events
  answeredMs: number          // last good answer; 0: none yet
  failedMs: number            // first failure since then; 0: none
  problem: string
  sourceMs: number            // when the daemon last saw the scheduler; 0: never; NaN: not stated
}

export interface Liveness { state: 'live' | 'stale' | 'offline' | 'starting'; sinceMs: number; why: string }

export const sourceStaleMs = 60_000  // chosen: two default polls of a scheduler
export const answerStaleMs = 45_000  // chosen: three polls of ours without a stream

export function liveness(link: Link, nowMs: number): Liveness {
  if (link.failedMs > 0) return { state: 'offline', sinceMs: link.answeredMs || link.failedMs, why: link.problem }
  if (link.answeredMs === 0) return { state: 'starting', sinceMs: 0, why: 'asking for the first time' }
  if (link.sourceMs === 0) return { state: 'stale', sinceMs: 0, why: 'the daemon has not seen the scheduler yet; fairlead doctor says why' }
  if (nowMs - link.sourceMs > sourceStaleMs) return { state: 'stale', sinceMs: link.sourceMs, why: 'the scheduler was not seen since' }
  if (link.stream === 'closed' && nowMs - link.answeredMs > answerStaleMs) {
    return { state: 'stale', sinceMs: link.answeredMs, why: 'no events arrive, and nothing was asked since' }
  }
  return { state: 'live', sinceMs: link.answeredMs, why: link.stream === 'open' ? 'events arrive' : 'asked every 15 s: no events arrive' }
}

// Runs `work` soon after `poke`, never twice within `everyMs`, and once more if poked meanwhile.
export function paced(work: () => void, everyMs: number, now: () => number, later: (f: () => void, ms: number) => void): () => void {
  let lastMs = -Infinity
  let planned = false
  return () => {
    if (planned) return
    planned = true
    later(() => {
      planned = false
      lastMs = now()
      work()
    }, Math.max(0, lastMs + everyMs - now()))
  }
}
