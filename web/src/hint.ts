// The line at the foot: what stands behind the number under the pointer or the focus.
//
// An element says `data-hint` (what it is) and `data-from` (which facts it rests on); the nearest of
// each upwards counts.
import { signal } from '@preact/signals'
import { age, clock, msOf, ppm } from './format'
import { hasTelemetry } from './order'
import { fabric, queue, report } from './store'
import type { Instant, Report } from './views'

export type From = 'scheduler' | 'telemetry' | 'queue' | 'fabric'

const stated = signal<{ hint: string; from: string }>({ hint: '', from: '' })

function sourceText(r: Report, name: string): string {
  const s = r.sources.find((row) => row.source === name)
  if (!s || !s.known) return `${name}: not configured`
  return `${seen(name, s.last_ok, report.nowMs)}${s.ok ? '' : ', not seen now'}`
}

const seen = (name: string, at: Instant, nowMs: number) => (at ? `${name}: seen ${clock(msOf(at))}, ${age(at, nowMs)} before the answer` : `${name}: never seen`)

function fromText(from: string): string {
  if (from === 'queue' && queue.data.value) return seen('scheduler', queue.data.value.as_of, queue.nowMs)
  if (from === 'fabric' && fabric.data.value) return seen('scheduler', fabric.data.value.as_of, fabric.nowMs)
  const r = report.data.value
  if (!r || (from !== 'scheduler' && from !== 'telemetry')) return ''
  const at = `as of ${clock(report.nowMs)}`
  if (from === 'scheduler') return `${at} · ${sourceText(r, 'scheduler')}`
  const coverage = hasTelemetry(r) ? ` · covers ${ppm(r.telemetry_coverage_ppm)} of what was held` : ''
  return `${at} · ${sourceText(r, 'scheduler')} · ${sourceText(r, 'telemetry')}${coverage}`
}

export const hintText = () => [stated.value.hint, fromText(stated.value.from)].filter(Boolean).join('  —  ')

function look(event: Event) {
  const at = event.target instanceof Element ? event.target : null
  const hint = at?.closest('[data-hint]')?.getAttribute('data-hint') ?? ''
  const from = at?.closest('[data-from]')?.getAttribute('data-from') ?? ''
  if (hint !== stated.value.hint || from !== stated.value.from) stated.value = { hint, from }
}

export function startHints() {
  document.addEventListener('pointerover', look)
  document.addEventListener('focusin', look)
}
