import { describe, expect, it } from 'vitest'
import { apportion } from './columns'
import { age, duration, gpuHours, localTime, logPosition, milli, share, thousands } from './format'
import { liveness, paced, type Link } from './live'
import { filterWaiting, firstBlockers, idleSums, knowable, naturalCompare, racks, shapeVerdict, shortBy, waitingCures } from './order'
import type { Blocker, FabricNode, IdleHold, Report, Waiting } from './views'

describe('format', () => {
  it.each([[0, '0s'], [12e6, '12s'], [8_040e6, '2h14m'], [7200e6, '2h'], [3600e6 * 76, '3d4h'], [-60e6, '-1m'], [86_401e6, '1d']])('duration %d', (us, want) => {
    expect(duration(us)).toBe(want)
  })
  it('numbers', () => {
    expect(thousands(1234567)).toBe('1,234,567')
    expect([gpuHours(3600), gpuHours(36000), gpuHours(3_600_000)]).toEqual(['1.00', '10.0', '1,000'])
    expect([share(1, 3), share(1, 0)]).toEqual(['33.3 %', '-'])
  })
  it('thousandths of a device', () => {
    expect([256_000, 143, -2_500, 1_234_500_000, 0].map(milli)).toEqual(['256', '0.143', '-2.5', '1,234,500', '0'])
  })
  it('times', () => {
    expect(age(null, 0)).toBe('-')
    expect(age('2026-11-30T10:00:00Z', Date.parse('2026-11-30T09:59:00Z'))).toBe('0s')
    expect(localTime(null)).toBe('-')
    expect(localTime('2026-11-30T10:00:00Z')).toMatch(/^2026-11-30 \d\d:\d\d /)
  })
  it('a wait of a second is the left end, the longest the right', () => {
    expect([logPosition(1e6, 100e6), logPosition(10e6, 100e6), logPosition(100e6, 100e6), logPosition(0, 0)]).toEqual([0, 50, 100, 0])
  })
})

describe('apportion', () => {
  it.each([
    ['nothing', {}, 0],
    ['one of a million is seen', { useful: 1_000_000, lost: 1 }, 1],
    ['thirds', { useful: 1, free: 1, down: 1 }, 3333],
  ] as const)('%s', (_name, amounts, least) => {
    const parts = Object.values(apportion(amounts, 10_000))
    expect(parts.reduce((a, b) => a + b)).toBe(least === 0 ? 0 : 10_000)
    expect(Math.min(...parts.filter((n) => n > 0), Infinity)).toBe(least === 0 ? Infinity : least)
  })
})

const waits = (workload: string, team: string, blockers: string[]) =>
  ({ workload, team, class: 'batch', user: 'ana', partition: 'all', gang: '1x8', message: '', blockers, gpus: 8 }) as Waiting

describe('order', () => {
  const rows = [waits('10', 'ads', ['PRIORITY']), waits('2', 'research', ['CAPACITY', 'PRIORITY']), waits('3', 'ads2', ['CAPACITY'])]
  it.each([['', '10 2 3'], ['team=ads', '10'], ['ads', '10 3'], ['blocker:priority', '10 2'], ['capacity team:research', '2'], ['nothing=here', '']])('filter %s', (query, want) => {
    expect(filterWaiting(rows, query).map((w) => w.workload).join(' ')).toBe(want)
  })
  it('counts first blockers', () => expect(firstBlockers(rows).map((b) => [b.code, b.count])).toEqual([['CAPACITY', 2], ['PRIORITY', 1]]))
  it('sums idle holds by kind', () => {
    const hold = (kind: string, gpu_seconds: number) => ({ kind, gpus: 4, gpu_seconds }) as IdleHold
    expect(idleSums([hold('stuck', 1), hold('never_used', 5), hold('stuck', 2)])).toEqual([
      { kind: 'never_used', holds: 1, gpus: 4, gpu_seconds: 5 }, { kind: 'stuck', holds: 2, gpus: 8, gpu_seconds: 3 }])
  })
  it('n2 before n10', () => expect(['n10', 'n2', 'n2a', 'a'].sort(naturalCompare)).toEqual(['a', 'n2', 'n2a', 'n10']))
  it('racks by leaf, the homeless last', () => {
    const node = (name: string, leaf: string) => ({ node: name, leaf }) as FabricNode
    expect(racks([node('x', ''), node('n10', 'b'), node('n2', 'b'), node('m', 'a')]).map((r) => r.leaf + ':' + r.nodes.map((n) => n.node))).toEqual(['a:m', 'b:n2,n10', ':x'])
  })
  it('what nobody can know is not zero', () => {
    const r = { fleet_known: false, sources: [{ source: 'telemetry', known: false }], gpu_seconds: { useful: 0, held_idle: 0 } } as unknown as Report
    expect((['useful', 'held_idle', 'held_unmeasured', 'free', 'down'] as const).map((k) => knowable(r, k))).toEqual([false, false, true, false, false])
    expect(knowable({ ...r, fleet_known: true, sources: [{ source: 'telemetry', known: true }] as Report['sources'] }, 'useful')).toBe(true)
  })
  it('blockers in words', () => {
    const b = { short_by: 32, limit: 160, unit: 'devices', waiting_cures: 'yes', cured_at: '2026-11-30T10:00:00Z' } as Blocker
    expect(shortBy(b)).toBe('32 of 160 devices')
    expect(shortBy({ ...b, unit: 's', short_by: 90 })).toBe('1m30s')
    expect(waitingCures(b, Date.parse('2026-11-30T09:00:00Z'))).toBe('in 1h at the latest')
    expect(waitingCures(b, Date.parse('2026-11-30T11:00:00Z'))).toBe('yes')
    expect(waitingCures({ ...b, waiting_cures: 'never' }, 0)).toBe('no')
    expect(shapeVerdict({ gang: '', partition: '', count: 1, fits: 0, enough: true }, false)).toBe('not known')
  })
})

describe('live', () => {
  const good: Link = { stream: 'open', answeredMs: 1000, failedMs: 0, problem: '', sourceMs: 900 }
  it.each([
    ['live', good, 2000, 'live', 1000],
    ['nothing answered yet', { ...good, answeredMs: 0 }, 2000, 'starting', 0],
    ['the daemon does not see the scheduler', good, 100_000, 'stale', 900],
    ['the daemon has never seen the scheduler', { ...good, sourceMs: 0 }, 2000, 'stale', 0],
    ['no stream, but asked lately', { ...good, stream: 'closed' }, 2000, 'live', 1000],
    ['no stream, and nothing asked', { ...good, stream: 'closed', sourceMs: NaN }, 100_000, 'stale', 1000],
    ['no answer', { ...good, failedMs: 1500, problem: 'x' }, 2000, 'offline', 1000],
  ] as [string, Link, number, string, number][])('%s', (_name, link, now, state, since) => {
    expect(liveness(link, now)).toMatchObject({ state, sinceMs: since })
  })
  it('asks at most every two seconds, and once more after the last event', () => {
    let now = 0
    const due: [number, () => void][] = []
    const ran: number[] = []
    const poke = paced(() => ran.push(now), 2000, () => now, (f, ms) => due.push([now + ms, f]))
    const until = (t: number) => {
      for (; now <= t; now += 100) for (const [at, f] of due.splice(0)) at <= now ? f() : due.push([at, f])
    }
    poke(); poke(); until(500); poke(); poke(); until(6000)
    expect(ran).toEqual([0, 2000])
  })
})
