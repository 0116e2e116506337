// What the API answers: the views of src/views and src/explain as JSON. Instants are RFC 3339 or null.
import type { Amounts, Column } from './columns'

export type Instant = string | null

export interface ReportRow {
  name?: string
  team?: string
  gpu_seconds: Amounts
  workloads: number
  started: number
  never_started: number
  wait_us: { p50: number; p90: number; p99: number }
  requested_gpu_seconds: number
  used_gpu_seconds: number
}

export interface IdleHold {
  workload: string; team: string; user: string; kind: string; gpus: number; since: Instant; gpu_seconds: number
}

export interface Waiting {
  workload: string; team: string; user: string; class: string; partition: string; gang: string
  wait_us: number; gpus: number; tasks: number; priority: number
  blockers: string[]; message: string; can_never_start: boolean; scheduler_reason: string; scheduler_agrees: boolean
  verdict: string; start_p50: Instant; start_p90: Instant
}

export interface Shape { gang: string; partition: string; count: number; fits: number; enough: boolean }

export interface SourceRow { source: string; ok: boolean; known: boolean; last_ok: Instant; unreadable: number; detail: string }

export interface Report {
  site: string; from: Instant; to: Instant; fleet_known: boolean; gpus: number
  gpu_seconds: Amounts; telemetry_coverage_ppm: number; useful_ppm: number; sentences: string[]
  models: { model: string; gpus: Amounts; gpu_seconds: Amounts }[]
  teams: ReportRow[]; classes: ReportRow[]; users: ReportRow[]; partitions: ReportRow[]
  idle_holds: IdleHold[]; waiting: Waiting[]; waiting_more: number
  fragmentation: { free_gpus: number; stranded_gpus: number; fgd_ppm: number; waiting_shapes: Shape[] }
  ended: { state: string; workloads: number; gpu_seconds: number }[]
  sources: SourceRow[]; notes: string[]
}

export interface Queue { site: string; as_of: Instant; waiting: Waiting[]; waiting_more: number }

export interface Holder { workload: string; team: string; user: string; amount: number; ends: Instant; idle: string }

export interface Blocker {
  code: string; object: string; limit_name: string; unit: string
  limit: number; used: number; wanted: number; short_by: number; message: string
  holders: Holder[]; holders_more: number; waiting_cures: 'unknown' | 'yes' | 'never'; cured_at: Instant; cure: string
}

export interface Explanation {
  workload: string; name: string; user: string; team: string; class: string; partition: string; state: string; wants: string
  as_of: Instant; submitted: Instant; waiting_since: Instant; started: Instant; ended: Instant
  wait_us: number; priority: number; ahead: number; can_never_start: boolean; blockers: Blocker[]
  scheduler_reason: string; scheduler_agrees: boolean; scheduler_start_estimate: Instant
  nodes: string; devices: number; epoch: number; gpu_seconds: Record<Column, number>
  idle_kind: string; idle_since: Instant; note: string
  enough: string; start: StartTold
}

export interface StartTold { p50: Instant; p90: Instant; unknown: string; by_history: boolean; scored: number; held_ppm: number }

export interface Suggestion {
  workload: string; team: string; class: string; kind: 'start' | 'take_back' | 'make_room'; since: Instant; tasks: number; gpus: number
  nodes: string; takes_back: string[]; claimant: string; rule: string; lost_gpu_seconds: number
  moves: { workload: string; from: string; to: string; gpus: number }[]
}

export interface Estimates {
  made: Instant; told: number; asked: number; behind: number; started: number; by_p50_ppm: number; by_p90_ppm: number
  at_once: number; at_once_ppm: number; not_told: number; error_us: number; error_latest_us: number
}

export interface Comparison {
  site: string; as_of: Instant; organisation: string; looks: number; not_foreseen: number; now: Suggestion[]; next_cursor: number; estimates: Estimates
  teams: { team: string; started: number; sooner_us: number; sooner_most_us: number; sooner_gpu_seconds: number; with_victims: number; went_away: number }[]
}

export interface TeamRow {
  team: string; parent: string; depth: number; device: string
  own_milli: number; lend_milli: number | null; borrow_milli: number | null; limit_milli: number | null
  used_milli: number; borrowed_milli: number; headroom_milli: number; running: number; waiting: number; waiting_milli: number
  weight: number; usage_gpu_seconds: number; share_ppm: number; window: string; budget: string; budget_used: string; budget_used_ppm: number | null
}

export interface Teams {
  site: string; as_of: Instant; organisation: string; version: string; teams: TeamRow[]
  unassigned: { account: string; running: number; waiting: number; gpus: number }[]
  misconfigured: { what: string; name: string; nearest: string; workloads: number; gpus: number; first: string; hint: string }[]
  notes: string[]
}

export interface Device { index: number; model: string; column: Column; workload: string; look: string; looked_at: Instant }

export interface FabricNode {
  node: string; state: string; models: string; leaf: string; reason: string
  gpus: Record<Column, number>; gpus_total: number; cpus: number; cpus_used: number; memory_mb: number; memory_used_mb: number
  features: string[]; seen: Instant; devices: Device[]
}

export interface Switch { name: string; level: number; nodes: string; gpus_total: number; gpus_free: number; nodes_whole_free: number }

export interface Fabric { site: string; as_of: Instant; nodes: FabricNode[]; switches: Switch[] }
