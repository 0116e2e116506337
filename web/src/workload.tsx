// Workload: why it waits, or what became of what it holds.
import { looks } from './columns'
import { age, clock, duration, gpuHours, localTime, msOf, plural, ppm, share, startOf, thousands, words } from './format'
import { Blockers } from './blockers'
import { Await, Bar, Section, Swatch, Table } from './parts'
import { queueHref } from './route'
import { explanation, useShown } from './store'
import type { Explanation } from './views'

export function Workload({ id }: { id: string }) {
  const resource = explanation(id)
  useShown(resource)
  return <Await of={resource}>{(x) => <Page x={x} nowMs={resource.nowMs} />}</Await>
}

// A workload that waits states how long it has: that is the daemon's clock.
const nowOf = (x: Explanation, ms: number) => (x.waiting_since ? Date.parse(x.waiting_since) + x.wait_us / 1000 : ms)

function Page({ x, nowMs }: { x: Explanation; nowMs: number }) {
  const now = nowOf(x, nowMs)
  const seen = x.as_of ? `scheduler: seen ${clock(msOf(x.as_of))}, ${age(x.as_of, now)} before the answer` : 'no facts yet'
  const doing = x.state === 'pending' ? `waiting ${duration(x.wait_us)}` : x.state === 'running' ? `running for ${age(x.started, now)}` : words(x.state)
  return (
    <div data-hint={seen}>
      <section class="fold">
        <h1>{x.workload} <span class="name">{x.name}</span></h1>
        <p><strong>{doing}</strong>, {x.as_of ? `as of ${clock(msOf(x.as_of))}` : 'no facts yet'} · <a href={queueHref(`team=${x.team}`)}>{x.team || '(no team)'}</a> / {x.class || '(no class)'} / {x.user}</p>
        {x.wants && <p>wants {x.wants}{x.partition && `, partition ${x.partition}`}</p>}
        {x.note && <p class="note">Not known: {x.note}</p>}
      </section>
      {x.state === 'pending' && <Section title="Why it waits: all blockers, those that waiting cannot cure first"><Blockers x={x} nowMs={now} />{x.enough && <p>One change that is enough: {x.enough}.</p>}<p>{startText(x, now)}</p></Section>}
      <Run x={x} now={now} />
      <Facts x={x} />
    </div>
  )
}

function startText(x: Explanation, now: number): string {
  const s = x.start
  if (!s.p50) return `Its start is not known: ${s.unknown}.`
  const kept = s.held_ppm < 0 ? '' : ` ${ppm(s.held_ppm)} of ${plural(s.scored, 'promise')} had started by their P90.`
  return `Estimated start: P50 ${startOf(s.p50, now)}, P90 ${s.p90 ? startOf(s.p90, now) : 'later than is foreseen'}${s.by_history ? '' : ', by time limits alone'}.${kept}`
}

function Run({ x, now }: { x: Explanation; now: number }) {
  const total = looks.reduce((sum, l) => sum + x.gpu_seconds[l.key], 0)
  if (total === 0 && x.devices === 0) return null
  return (
    <Section title={`${x.devices > 0 ? `Holds ${plural(x.devices, 'GPU')}` : 'Held'}${x.nodes ? ` on ${x.nodes}` : ''}${x.epoch > 1 ? `, run ${x.epoch}` : ''}`}>
      <Bar amounts={x.gpu_seconds} unit="GPU-seconds" big />
      <Table label="GPU-hours by column" cols={[{ title: 'column' }, { title: 'GPU-hours', right: true }, { title: 'share', right: true }]}
        rows={looks.filter((l) => x.gpu_seconds[l.key] > 0).map((l) => ({ key: l.key, hint: l.meaning, cells: [<><Swatch of={l.key} /> {l.title}</>, gpuHours(x.gpu_seconds[l.key]), share(x.gpu_seconds[l.key], total)] }))} />
      {x.idle_kind !== 'none' && <p><strong>Idle now: {words(x.idle_kind)}</strong>, for {age(x.idle_since, now)}</p>}
    </Section>
  )
}

function Facts({ x }: { x: Explanation }) {
  const facts: [string, string][] = [
    ['submitted', localTime(x.submitted)], ['started', localTime(x.started)], ['ended', localTime(x.ended)],
    ...(x.state === 'pending' ? [['priority', `${thousands(x.priority)}; ${plural(x.ahead, 'workload')} ahead of it`] as [string, string]] : []),
    ['the scheduler says', x.scheduler_reason ? x.scheduler_reason + (x.scheduler_agrees ? '' : ', which is none of ours') : '-'],
    ['it plans a start at', localTime(x.scheduler_start_estimate)],
  ]
  return <Section title="Facts"><Table label="Facts" cols={[{ title: 'fact' }, { title: 'value', text: true }]} rows={facts.filter(([, v]) => v !== '-').map(([k, v]) => ({ key: k, cells: [k, v] }))} /></Section>
}
