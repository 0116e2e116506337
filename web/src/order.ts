// What is counted, filtered and put in order before it is shown.
import type { Blocker, FabricNode, IdleHold, Report, Shape, Waiting } from './views'
import type { Column } from './columns'
import { duration, thousands } from './format'

export interface IdleSum { kind: string; holds: number; gpus: number; gpu_seconds: number }

export function idleSums(holds: IdleHold[]): IdleSum[] {
  const sums = new Map<string, IdleSum>()
  for (const h of holds) {
    const sum = sums.get(h.kind) ?? { kind: h.kind, holds: 0, gpus: 0, gpu_seconds: 0 }
    sums.set(h.kind, { kind: h.kind, holds: sum.holds + 1, gpus: sum.gpus + h.gpus, gpu_seconds: sum.gpu_seconds + h.gpu_seconds })
  }
  return [...sums.values()].sort((a, b) => b.gpu_seconds - a.gpu_seconds || a.kind.localeCompare(b.kind))
}

// How many wait for each first blocker, the commonest first.
export function firstBlockers(rows: Waiting[]): { code: string; count: number; gpus: number }[] {
  const sums = new Map<string, { code: string; count: number; gpus: number }>()
  for (const w of rows) {
    const code = w.blockers[0] ?? 'NOT_YET_EXAMINED'
    const sum = sums.get(code) ?? { code, count: 0, gpus: 0 }
    sum.count += 1
    sum.gpus += w.gpus
    sums.set(code, sum)
  }
  return [...sums.values()].sort((a, b) => b.count - a.count || a.code.localeCompare(b.code))
}

const fields = ['team', 'class', 'user', 'partition', 'workload', 'blocker'] as const

// Every word must be found; `team=ads` looks in one field, and `blocker=` in every blocker.
export function filterWaiting(rows: Waiting[], query: string): Waiting[] {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean)
  const matches = (w: Waiting, term: string) => {
    const [key, value] = term.split(/[=:](.*)/s)
    if (value !== undefined && (fields as readonly string[]).includes(key!)) {
      const own = key === 'blocker' ? w.blockers.join(' ') : String(w[key as 'team'])
      return key === 'blocker' || key === 'workload' ? own.toLowerCase().includes(value) : own.toLowerCase() === value
    }
    return [w.workload, w.team, w.class, w.user, w.partition, w.gang, w.message, ...w.blockers].some((t) => t.toLowerCase().includes(term))
  }
  return rows.filter((w) => terms.every((term) => matches(w, term)))
}

// n2 before n10.
export function naturalCompare(a: string, b: string): number {
  const split = (t: string) => t.match(/\d+|\D+/g) ?? []
  const as = split(a), bs = split(b)
  for (let i = 0; i < Math.min(as.length, bs.length); i++) {
    const x = as[i]!, y = bs[i]!
    if (x === y) continue
    const numbers = /^\d/.test(x) && /^\d/.test(y)
    const order = numbers ? Number(x) - Number(y) : x < y ? -1 : 1
    if (order !== 0) return order
  }
  return as.length - bs.length || (a < b ? -1 : a > b ? 1 : 0)
}

export interface Rack { leaf: string; nodes: FabricNode[] }

// Nodes by leaf switch; those under none come last.
export function racks(nodes: FabricNode[]): Rack[] {
  const by = new Map<string, FabricNode[]>()
  for (const n of nodes) by.set(n.leaf, [...(by.get(n.leaf) ?? []), n])
  return [...by]
    .map(([leaf, own]) => ({ leaf, nodes: own.sort((a, b) => naturalCompare(a.node, b.node)) }))
    .sort((a, b) => Number(a.leaf === '') - Number(b.leaf === '') || naturalCompare(a.leaf, b.leaf))
}

export function verdictOf(w: { can_never_start: boolean; blockers: string[] }): string {
  return w.can_never_start ? 'never' : 'waits'
}

export function shapeVerdict(s: Shape, fleetKnown: boolean): string {
  if (!fleetKnown) return 'not known'
  if (s.fits >= s.count) return 'there is room for all'
  if (s.fits > 0) return 'there is room for some'
  return s.enough ? 'enough is free, but not together' : 'not enough is free'
}

export const withUnit = (n: number, unit: string) => (unit === 's' ? duration(n * 1e6) : unit ? `${thousands(n)} ${unit}` : thousands(n))

export function shortBy(b: Blocker): string {
  if (b.short_by <= 0) return '-'
  return b.unit === 's' || b.limit <= 0 ? withUnit(b.short_by, b.unit) : `${thousands(b.short_by)} of ${withUnit(b.limit, b.unit)}`
}

export function waitingCures(b: Blocker, nowMs: number): string {
  if (b.waiting_cures === 'never') return 'no'
  const at = b.cured_at ? Date.parse(b.cured_at) : 0
  if (at > nowMs) return `in ${duration((at - nowMs) * 1000)} at the latest`
  return b.waiting_cures === 'yes' ? 'yes' : 'not known'
}

export const hasTelemetry = (r: Report) => r.sources.some((s) => s.source === 'telemetry' && s.known)

// Without a fleet nothing is known to be free or down, and without telemetry nothing to be useful or idle.
export function knowable(r: Report, key: Column): boolean {
  if (key === 'free' || key === 'stranded' || key === 'down') return r.fleet_known
  if (key === 'reserved') return r.fleet_known || r.gpu_seconds[key] > 0
  if (key === 'useful' || key === 'held_idle') return hasTelemetry(r) || r.gpu_seconds[key] > 0
  return true
}
