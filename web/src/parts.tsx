// What pages are made of: bars, tables, sections, empty states.
import { Fragment, type ComponentChildren } from 'preact'
import { apportion, looks, type Column } from './columns'
import { clock, duration, gpuHours, logPosition, share, thousands } from './format'
import type { From } from './hint'
import { live, type Problem, type Resource } from './store'
import type { ReportRow } from './views'

// The hatchings that tell the columns apart without colour.
export const Hatchings = () => (
  <svg class="defs" width="0" height="0" aria-hidden="true">
    <defs>
      <pattern id="h-useful" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" fill="#0072B2" /></pattern>
      <pattern id="h-held_idle" width="6" height="6" patternUnits="userSpaceOnUse">
        <rect width="6" height="6" fill="#E69F00" /><path d="M-1 1l2-2M0 6l6-6M5 7l2-2" stroke="#5a3d00" stroke-width="1.2" />
      </pattern>
      <pattern id="h-held_unmeasured" width="5" height="5" patternUnits="userSpaceOnUse">
        <rect width="5" height="5" fill="#9AA3AB" /><circle cx="2.5" cy="2.5" r="1" fill="#3B4148" />
      </pattern>
      <pattern id="h-lost" width="7" height="7" patternUnits="userSpaceOnUse">
        <rect width="7" height="7" fill="#D55E00" /><path d="M0 0l7 7M7 0l-7 7" stroke="#3d1a00" stroke-width="1" />
      </pattern>
      <pattern id="h-reserved" width="5" height="5" patternUnits="userSpaceOnUse">
        <rect width="5" height="5" fill="#CC79A7" /><path d="M2.5 0v5" stroke="#552b43" stroke-width="1" />
      </pattern>
      <pattern id="h-stranded" width="7" height="7" patternUnits="userSpaceOnUse">
        <path d="M-1 6l2 2M0 0l7 7M6 -1l2 2" class="hatch" stroke-width="1" />
      </pattern>
      <pattern id="h-down" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" fill="#3B4148" /></pattern>
    </defs>
  </svg>
)

export const fillOf = (key: Column) => (key === 'free' ? 'none' : `url(#h-${key})`)
export const cellClass = (key: Column) => (key === 'free' || key === 'stranded' ? 'edge' : key === 'down' ? 'down' : 'cell')

export const Swatch = ({ of }: { of: Column }) => (
  <svg class="swatch" aria-hidden="true"><rect class={cellClass(of)} width="100%" height="100%" fill={fillOf(of)} /></svg>
)

const percent = (parts: number) => `${(parts / 100).toFixed(2)}%`

export function Bar({ amounts, unit, big }: { amounts: Partial<Record<Column, number>>; unit: 'GPUs' | 'GPU-seconds'; big?: boolean }) {
  const parts = apportion(amounts, 10_000)
  const total = looks.reduce((sum, l) => sum + (amounts[l.key] ?? 0), 0)
  let at = 0
  const rects = looks.filter((l) => parts[l.key] > 0).map((l) => {
    const n = amounts[l.key] ?? 0
    const text = `${l.title}: ${unit === 'GPUs' ? `${thousands(n)} GPUs` : `${gpuHours(n)} GPU-hours`}, ${share(n, total)}`
    const x = at
    at += parts[l.key]
    return { key: l.key, text, x, width: parts[l.key] }
  })
  const label = rects.map((r) => r.text).join('; ') || 'nothing is booked'
  return (
    <svg class={big ? 'bar big' : 'bar'} role="img" aria-label={label} tabIndex={big ? 0 : -1} data-hint={label}>
      {rects.length === 0 && <rect class="edge" fill="none" width="100%" height="100%" stroke-dasharray="3 3" />}
      {rects.map((r) => (
        <rect key={r.key} class={cellClass(r.key)} x={percent(r.x)} width={percent(r.width)} height="100%" fill={fillOf(r.key)} data-hint={r.text} />
      ))}
    </svg>
  )
}

// P50 to P99 on a logarithmic scale.
export function WaitPlot({ row, mostUs }: { row: ReportRow; mostUs: number }) {
  if (row.started === 0) return null
  const at = (us: number) => `${logPosition(us, mostUs).toFixed(1)}%`
  const { p50, p90, p99 } = row.wait_us
  const text = `P50 ${duration(p50)}, P90 ${duration(p90)}, P99 ${duration(p99)}`
  return (
    <svg class="plot" role="img" aria-label={text} data-hint={`${text}; logarithmic, 1s to ${duration(mostUs)}`}>
      <line class="edge" x1={at(p50)} x2={at(p99)} y1="7" y2="7" />
      <circle class="ink" cx={at(p50)} cy="7" r="4" />
      <line class="edge" x1={at(p90)} x2={at(p90)} y1="2" y2="12" />
      <circle class="edge hollow" cx={at(p99)} cy="7" r="3" />
    </svg>
  )
}

// `wide`: left out on a phone; `text`: wraps; `fold`: wraps on a phone.
export interface Col { title: ComponentChildren; right?: boolean; wide?: boolean; text?: boolean; fold?: boolean }
export interface Row { key: string; cells: ComponentChildren[]; go?: () => void; hint?: string; open?: boolean; below?: ComponentChildren }

const cls = (...names: (string | false | undefined)[]) => names.filter(Boolean).join(' ')

// `stack`: on a phone each cell is a line of its own.
export function Table({ cols, rows, label, stack }: { cols: Col[]; rows: Row[]; label: string; stack?: boolean }) {
  return (
    <div class="scroll">
      <table aria-label={label} class={stack ? 'stack' : ''}>
        <thead>
          <tr>{cols.map((c, i) => <th key={i} scope="col" class={cls(c.right && 'n', c.wide && 'wide')}>{c.title}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((r) => [
            <tr key={r.key} class={cls(r.go && 'go', r.open && 'open')} onClick={r.go} data-hint={r.hint} {...(r.go ? { 'data-row': '', tabIndex: -1 } : {})}
              aria-expanded={r.below === undefined ? undefined : !!r.open}>
              {r.cells.map((cell, i) => <td key={i} class={cls(cols[i]!.right && 'n', cols[i]!.wide && 'wide', cols[i]!.text && 'text', cols[i]!.fold && 'fold')} data-title={stack ? String(cols[i]!.title) : undefined}>{cell}</td>)}
            </tr>,
            r.open && <tr key={r.key + ' below'} class="below"><td colSpan={cols.length}>{r.below}</td></tr>,
          ])}
        </tbody>
      </table>
    </div>
  )
}

export function Section({ title, from, children, id }: { title: ComponentChildren; from?: From; children: ComponentChildren; id?: string }) {
  return <section data-from={from} id={id}><h2>{title}</h2>{children}</section>
}

// A code may break after its underscores.
export const Code = ({ of }: { of: string }) => <code>{of.split('_').map((part, i) => <Fragment key={i}>{i > 0 && <>_<wbr /></>}{part}</Fragment>)}</code>

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="muted">{children}</p>

export function Trouble({ problem }: { problem: Problem }) {
  const next = problem.status === 401 || problem.status === 403 ? 'Ask who runs Fairlead for a role that may read this.'
    : problem.status === 404 ? 'Names are the scheduler’s own; the queue and the overview link to every workload they show.'
    : 'fairlead doctor on the daemon’s host says what is wrong.'
  return <p role="alert"><strong>{problem.title}</strong>{problem.detail && `: ${problem.detail}`}. {next}</p>
}

// The first answer is waited for in words; a later failure leaves what was seen before.
export function Await<T>({ of, children }: { of: Resource<T>; children: (data: T) => ComponentChildren }) {
  const data = of.data.value
  const problem = of.problem.value
  if (!data && live.value.state === 'offline') {
    return <p role="alert">The daemon does not answer since {clock(live.value.sinceMs)}; it is asked again every 15 s. Is <code>fairlead serve</code> running?</p>
  }
  if (!data) return problem ? <Trouble problem={problem} /> : <Empty>Asking the daemon for {of.path} …</Empty>
  return <>{problem && <Trouble problem={problem} />}{children(data)}</>
}
