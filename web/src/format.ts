// Numbers, durations and times as people read them; the same forms as the command line's.
export function thousands(n: number): string {
  return Math.round(n).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

export function gpuHours(gpuSeconds: number): string {
  const h = gpuSeconds / 3600
  return h >= 1000 ? thousands(h) : h >= 10 ? h.toFixed(1) : h.toFixed(2)
}

export function share(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`
}

export const ppm = (n: number) => share(n, 1_000_000)

// "2h14m", "3d4h", "12s", "0s"; two units at most.
export function duration(us: number): string {
  if (us < 0) return '-' + duration(-us)
  let s = Math.floor(us / 1_000_000)
  if (s === 0) return '0s'
  let text = ''
  let shown = 0
  for (const [letter, size] of [['d', 86400], ['h', 3600], ['m', 60], ['s', 1]] as const) {
    const n = Math.floor(s / size)
    s %= size
    if (n === 0 && shown === 0) continue
    if (n > 0) text += n + letter
    if (++shown === 2) break
  }
  return text
}

export const msOf = (instant: string | null | undefined) => (instant ? Date.parse(instant) : NaN)

// How long ago, "-" where not known; never below zero, clocks differ.
export function age(instant: string | null | undefined, nowMs: number): string {
  const then = msOf(instant)
  return Number.isNaN(then) ? '-' : duration(Math.max(0, nowMs - then) * 1000)
}

// When something will start, from then: "now", "in 2h14m"; "-" where not known.
export function startOf(instant: string | null | undefined, nowMs: number): string {
  const at = msOf(instant)
  if (Number.isNaN(at)) return '-'
  return at <= nowMs + 60_000 ? 'now' : `in ${duration((at - nowMs) * 1000)}`
}

const withDate = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', timeZoneName: 'short',
})
const timeOnly = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' })

// Local, with the zone: "2026-11-30 10:59 UTC".
export function localTime(instant: string | null | undefined): string {
  const ms = msOf(instant)
  if (Number.isNaN(ms)) return '-'
  const part = Object.fromEntries(withDate.formatToParts(ms).map((p) => [p.type, p.value]))
  return `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute} ${part.timeZoneName}`
}

export const clock = (ms: number) => timeOnly.format(ms)

export const words = (key: string) => key.replaceAll('_', ' ')

export const plural = (n: number, noun: string) => `${thousands(n)} ${noun}${n === 1 ? '' : 's'}`

export const orNone = (name: string) => name || '(none)'

// Thousandths of a device: "256", "0.143", "-2".
export function milli(n: number): string {
  const part = Math.abs(n) % 1000
  return (n < 0 ? '-' : '') + thousands(Math.trunc(Math.abs(n) / 1000)) + (part === 0 ? '' : `.${String(part).padStart(3, '0').replace(/0+$/, '')}`)
}

// "1 % of the way" on a logarithmic scale from one second to `mostUs`, as a percentage of the width.
export function logPosition(us: number, mostUs: number): number {
  const span = Math.log10(Math.max(10, mostUs / 1e6))
  return Math.min(100, Math.max(0, (100 * Math.log10(Math.max(1, us / 1e6))) / span))
}
