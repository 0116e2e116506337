// Overview: what the fleet held, what of it was useful, what was wasted by whom, who waits.
import { looks } from './columns'
import { age, duration, gpuHours, localTime, orNone, plural, ppm, share, thousands, words } from './format'
import { firstBlockers, hasTelemetry, idleSums, knowable, shapeVerdict } from './order'
import { Await, Bar, Code, Empty, Section, Swatch, Table, WaitPlot } from './parts'
import { go, queueHref, workloadHref } from './route'
import { choose, report, since, useShown } from './store'
import type { Report, ReportRow } from './views'

// A row of a team is named by its team, every other by its name.
const nameOf = (r: ReportRow) => r.team ?? r.name ?? ''

const rowsShown = 8
const windows = [['', 'all'], ['30d', '30 days'], ['7d', '7 days'], ['24h', '24 hours'], ['1h', '1 hour']] as const

export function Overview() {
  useShown(report)
  return <Await of={report}>{(r) => <Page r={r} />}</Await>
}

const Page = ({ r }: { r: Report }) => (
  <>
    <Fold r={r} />
    <div class="grid">
      <div>
        <Idle r={r} />
        <Teams r={r} />
        <Waits title="Waits by class" rows={r.classes} word="class" />
        <Waits title="Waits by team" rows={r.teams} word="team" />
      </div>
      <div>
        <Waiting r={r} />
        <Fragmentation r={r} />
        <Requested r={r} />
        <Sources r={r} />
      </div>
    </div>
  </>
)

// Bars, sentences and the legend with its numbers: the answer above the fold.
function Fold({ r }: { r: Report }) {
  return (
    <section class="fold" data-from="telemetry">
      <p class="muted window">
        <select aria-label="time of the report" value={since.value} onChange={(e) => choose({ since: e.currentTarget.value })}>
          {windows.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
        </select>{' '}
        {localTime(r.from)} to {localTime(r.to)} · {r.fleet_known ? plural(r.gpus, 'GPU') : 'the fleet is not known'} · {hasTelemetry(r) ? `telemetry covers ${ppm(r.telemetry_coverage_ppm)} of what was held` : 'no telemetry'}
      </p>
      {r.models.length === 0 && (
        <Empty>No accelerators are known: neither the scheduler states any nor has a job held any. <code>fairlead doctor</code> says what can be read.</Empty>
      )}
      {r.models.map((m) => {
        const booked = m.gpu_seconds.total > 0
        return (
          <figure key={m.model}>
            <figcaption><strong>{m.model || 'gpu'}</strong><span class="muted">{[m.gpus.total > 0 && plural(m.gpus.total, 'GPU'), booked ? `${gpuHours(m.gpu_seconds.total)} GPU-hours` : 'nothing is booked yet: as it is now'].filter(Boolean).join(', ')}</span></figcaption>
            <Bar amounts={booked ? m.gpu_seconds : m.gpus} unit={booked ? 'GPU-seconds' : 'GPUs'} big />
          </figure>
        )
      })}
      <div class="grid">
        <Legend r={r} />
        <div class="said">{r.sentences.map((s) => <p key={s}>{s}</p>)}{r.notes.map((n) => <p key={n} class="note">{n}</p>)}</div>
      </div>
    </section>
  )
}

function Legend({ r }: { r: Report }) {
  const cols = [{ title: 'column' }, { title: 'GPU-hours', right: true }, { title: 'share', right: true }, { title: 'GPUs now', right: true }]
  const rows = looks.map((l) => {
    const n = r.gpu_seconds[l.key]
    const now = r.models.reduce((sum, m) => sum + m.gpus[l.key], 0)
    const numbers = [gpuHours(n), share(n, r.gpu_seconds.total), thousands(now)]
    return { key: l.key, hint: `${l.title}: ${l.meaning}; ${thousands(n)} GPU-seconds`, cells: [<><Swatch of={l.key} /> {l.title}</>, ...(knowable(r, l.key) ? numbers : ['-', '-', '-'])] }
  })
  return <Table label="GPU-hours by column" cols={cols} rows={rows} />
}

const more = (all: number, beyond = 0) => all + beyond > rowsShown && <p class="muted">… {thousands(all + beyond - rowsShown)} more</p>

function Idle({ r }: { r: Report }) {
  const by = idleSums(r.idle_holds)
  return (
    <Section title="Idle holds now" from="telemetry">
      {r.idle_holds.length === 0 ? (
        hasTelemetry(r) ? <Empty>None: every held GPU that telemetry covers works.</Empty>
          : <Empty>Not measurable: no telemetry is configured. With <code>telemetry: {'{'}prometheus: …{'}'}</code> of the site in fairlead.yaml idle holds appear here.</Empty>
      ) : (
        <>
          <Table label="Idle holds by kind" cols={[{ title: 'kind' }, { title: 'holds', right: true }, { title: 'GPUs', right: true }, { title: 'idle GPU-hours', right: true }]}
            rows={by.map((s) => ({ key: s.kind, cells: [words(s.kind), thousands(s.holds), thousands(s.gpus), gpuHours(s.gpu_seconds)] }))} />
          <Table label="Idle holds by whom"
            cols={[{ title: 'workload' }, { title: 'team' }, { title: 'user', wide: true }, { title: 'kind', fold: true }, { title: 'GPUs', right: true }, { title: 'for', right: true }, { title: 'GPU-hours', right: true }]}
            rows={r.idle_holds.slice(0, rowsShown).map((h) => ({
              key: h.workload, go: () => go(workloadHref(h.workload)), hint: `${h.workload} of ${h.user} is idle since ${localTime(h.since)}`,
              cells: [<a href={workloadHref(h.workload)} tabIndex={-1}>{h.workload}</a>, orNone(h.team), h.user, words(h.kind), thousands(h.gpus), age(h.since, report.nowMs), gpuHours(h.gpu_seconds)],
            }))} />
          {more(r.idle_holds.length)}
        </>
      )}
    </Section>
  )
}

function Waiting({ r }: { r: Report }) {
  const count = r.waiting.length + r.waiting_more
  const firsts = firstBlockers(r.waiting)
  return (
    <Section title={<>Waiting{count > 0 && <>: {plural(count, 'workload')} <a href="#/queue">queue</a></>}</>} from="scheduler">
      {count === 0 ? <Empty>Nothing waits.</Empty> : (
        <>
          <Table label="Waiting work by first blocker" cols={[{ title: 'first blocker' }, { title: 'workloads', right: true }, { title: 'GPUs', right: true }]}
            rows={firsts.map((f) => ({ key: f.code, go: () => go(queueHref(`blocker=${f.code}`)), cells: [<Code of={f.code} />, thousands(f.count), thousands(f.gpus)] }))} />
          <Table label="Waiting work" cols={[{ title: 'workload' }, { title: 'team' }, { title: 'wants', fold: true }, { title: 'waits', right: true }, { title: 'first blocker', fold: true }]}
            rows={r.waiting.slice(0, rowsShown).map((w) => ({
              key: w.workload, go: () => go(workloadHref(w.workload)), hint: w.message,
              cells: [<a href={workloadHref(w.workload)} tabIndex={-1}>{w.workload}</a>, orNone(w.team), w.gang, duration(w.wait_us), <><Code of={w.blockers[0] ?? '-'} />{w.blockers.length > 1 && ` +${w.blockers.length - 1}`}</>],
            }))} />
          {more(r.waiting.length, r.waiting_more)}
        </>
      )}
    </Section>
  )
}

function Waits({ title, rows, word }: { title: string; rows: ReportRow[]; word: string }) {
  const most = rows.reduce((m, row) => Math.max(m, row.wait_us.p99), 0)
  const quantile = (row: ReportRow, us: number) => (row.started === 0 ? '-' : duration(us))
  return (
    <Section title={`${title}, from submission to GPUs`} from="scheduler">
      {rows.length === 0 ? <Empty>No workload was seen in this time.</Empty> : (
        <Table label={title}
          cols={[{ title: word }, { title: 'started', right: true }, { title: 'never', right: true }, { title: 'P50', right: true }, { title: 'P90', right: true }, { title: 'P99', right: true },
            { title: <span data-hint={`filled: P50; stroke: P90; ring: P99; logarithmic, 1s to ${duration(most)}`}>● P50 | P90 ○ P99</span>, wide: true }]}
          rows={rows.slice(0, rowsShown).map((row) => ({
            key: nameOf(row), hint: `${orNone(nameOf(row))}: ${plural(row.workloads, 'workload')}, ${thousands(row.started)} started, ${thousands(row.never_started)} never so far`,
            cells: [orNone(nameOf(row)), thousands(row.started), thousands(row.never_started), quantile(row, row.wait_us.p50), quantile(row, row.wait_us.p90), quantile(row, row.wait_us.p99), <WaitPlot row={row} mostUs={most} />],
          }))} />
      )}
      {more(rows.length)}
    </Section>
  )
}

const Teams = ({ r }: { r: Report }) => (
  <Section title="What each team held" from="telemetry">
    {r.teams.length === 0 ? <Empty>No team held a GPU in this time.</Empty> : (
      <Table label="What each team held" cols={[{ title: 'team' }, { title: 'GPU-hours', right: true }, { title: 'useful', right: true }, { title: 'idle', right: true }, { title: 'by column', wide: true }]}
        rows={r.teams.slice(0, rowsShown).map((t) => ({
          key: nameOf(t),
          cells: [orNone(nameOf(t)), gpuHours(t.gpu_seconds.total), ...(['useful', 'held_idle'] as const).map((k) => (knowable(r, k) ? share(t.gpu_seconds[k], t.gpu_seconds.total) : '-')), t.gpu_seconds.total > 0 && <Bar amounts={t.gpu_seconds} unit="GPU-seconds" />],
        }))} />
    )}
    {more(r.teams.length)}
  </Section>
)

function Fragmentation({ r }: { r: Report }) {
  const f = r.fragmentation
  const said = !r.fleet_known ? 'The fleet is not known, so nothing can be said of what is free.'
    : f.free_gpus + f.stranded_gpus === 0 ? 'No GPU is free.'
    : `${plural(f.free_gpus, 'GPU')} free, ${thousands(f.stranded_gpus)} more free and stranded: no waiting shape fits on them.` + (f.fgd_ppm >= 0 ? ` The mix of work could not use ${ppm(f.fgd_ppm)} of what is free (FGD).` : '')
  return (
    <Section title="Fragmentation: shapes that wait against what is free" from="scheduler">
      <p>{said}</p>
      {f.waiting_shapes.length > 0 && (
        <Table label="Shapes that wait" cols={[{ title: 'shape' }, { title: 'partition', wide: true }, { title: 'wait', right: true }, { title: 'fit now', right: true }, { title: 'so', text: true }]}
          rows={f.waiting_shapes.slice(0, rowsShown).map((s) => ({ key: `${s.gang} ${s.partition}`, cells: [s.gang, s.partition, thousands(s.count), r.fleet_known ? thousands(s.fits) : '-', shapeVerdict(s, r.fleet_known)] }))} />
      )}
    </Section>
  )
}

function Requested({ r }: { r: Report }) {
  const rows = r.teams.filter((t) => t.requested_gpu_seconds > 0).slice(0, rowsShown)
  return (
    <Section title="Asked (GPUs × time limit) against run, of what ended" from="scheduler">
      {rows.length === 0 ? <Empty>Nothing that ran under a time limit has ended in this time.</Empty> : (
        <Table label="Asked against run" cols={[{ title: 'team' }, { title: 'asked GPU-hours', right: true }, { title: 'ran', right: true }, { title: 'of asked', right: true }, { title: 'run within asked', wide: true }]}
          rows={rows.map((t) => ({
            key: nameOf(t),
            cells: [orNone(nameOf(t)), gpuHours(t.requested_gpu_seconds), gpuHours(t.used_gpu_seconds), share(t.used_gpu_seconds, t.requested_gpu_seconds),
              <svg class="plot" aria-hidden="true"><rect fill="#0072B2" width={`${Math.min(100, (100 * t.used_gpu_seconds) / t.requested_gpu_seconds).toFixed(1)}%`} y="2" height="10" /><rect class="edge" fill="none" width="100%" y="2" height="10" /></svg>],
          }))} />
      )}
      {r.ended.length > 0 && (
        <Table label="Ended" cols={[{ title: 'ended as' }, { title: 'workloads', right: true }, { title: 'GPU-hours', right: true }]}
          rows={r.ended.map((e) => ({ key: e.state, cells: [words(e.state), thousands(e.workloads), gpuHours(e.gpu_seconds)] }))} />
      )}
    </Section>
  )
}

const Sources = ({ r }: { r: Report }) => (
  <Section title="Sources">
    <Table label="Sources" cols={[{ title: 'source' }, { title: 'seen' }, { title: 'last', right: true }, { title: 'unreadable', right: true }, { title: 'detail', text: true }]}
      rows={r.sources.map((s) => ({
        key: s.source, hint: s.known ? `last seen ${localTime(s.last_ok)}` : 'not configured: fairlead.yaml names the sources of a site',
        cells: [s.source, s.known ? (s.ok ? 'yes' : <strong>no</strong>) : 'not configured', s.known ? age(s.last_ok, report.nowMs) : '-', s.known ? thousands(s.unreadable) : '-', s.detail],
      }))} />
  </Section>
)
