// Suggestions: what the planner would do now, what came of what it said, and how starts were foretold.
import { age, duration, gpuHours, localTime, orNone, plural, ppm, thousands, words } from './format'
import { Await, Empty, Section, Table } from './parts'
import { suggestions, useShown } from './store'
import { workloadHref } from './route'
import type { Comparison, Estimates, Suggestion } from './views'

export function Suggestions() {
  useShown(suggestions)
  return <Await of={suggestions}>{(c) => <Page c={c} />}</Await>
}

function Page({ c }: { c: Comparison }) {
  if (!c.organisation) {
    return (
      <Section title="Suggestions" from="scheduler">
        <Empty>No organisation is known, so nothing is suggested. Name its folder as <code>organisation:</code> in fairlead.yaml; <code>fairlead policy import slurm</code> writes a first one.</Empty>
      </Section>
    )
  }
  return <><Now c={c} /><Kept c={c} /><Foretold e={c.estimates} /></>
}

const link = (id: string) => <a href={workloadHref(id)} tabIndex={-1}>{id}</a>

function Now({ c }: { c: Comparison }) {
  const starts = c.now.filter((s) => s.kind === 'start').length
  const taken = c.now.filter((s) => s.kind === 'take_back').length
  const moved = c.now.length - starts - taken
  const title = c.now.length === 0 ? 'Suggested now' : `Suggested now, and not done: ${plural(starts, 'start')}, ${taken} taken back${moved ? `, ${moved} by moving others` : ''}${c.next_cursor ? ', and more' : ''}`
  return (
    <Section title={title} from="scheduler">
      {c.now.length === 0 ? <Empty>{c.organisation} would change nothing, as of {localTime(c.as_of)}. What it would start or take back appears here.</Empty> : (
        <Table label="Suggested now" cols={[{ title: 'would' }, { title: 'workload' }, { title: 'team' }, { title: 'class', wide: true }, { title: 'GPUs', right: true }, { title: 'for', right: true }, { title: 'how', text: true, wide: true }]}
          rows={c.now.map((s) => ({ key: s.workload, hint: howOf(s), go: () => (location.hash = workloadHref(s.workload).slice(1)), cells: cellsOf(s, Date.parse(c.as_of ?? '')) }))} />
      )}
    </Section>
  )
}

const cellsOf = (s: Suggestion, now: number) => [
  s.kind === 'start' ? 'start' : <strong>{words(s.kind)}</strong>, s.tasks > 1 ? <>{link(s.workload)}, {plural(s.tasks, 'task')}</> : link(s.workload),
  orNone(s.team), orNone(s.class), thousands(s.gpus), age(s.since, now), howOf(s),
]

function howOf(s: Suggestion): string {
  if (s.kind === 'take_back') return `for ${s.claimant}, by rule ${s.rule}: ${gpuHours(s.lost_gpu_seconds)} GPU-hours again`
  if (s.kind === 'make_room') return `on ${s.nodes}, by moving ${s.moves.map((m) => `${m.workload} (${plural(m.gpus, 'GPU')}) from ${m.from} to ${m.to}`).join(', ')}: ${gpuHours(s.lost_gpu_seconds)} GPU-hours again`
  return `on ${s.nodes}${s.takes_back.length > 0 ? `, with devices taken back from ${s.takes_back.join(' ')}` : ''}`
}

function Kept({ c }: { c: Comparison }) {
  const all = c.teams[0]
  return (
    <Section title={`What came of it, over ${plural(c.looks, 'look')}`} from="scheduler">
      {!all || all.started + all.went_away === 0 ? <Empty>Nothing has started yet that had been suggested before.</Empty> : (
        <Table label="What came of it" cols={[{ title: 'team' }, { title: 'started', right: true }, { title: 'sooner by', right: true }, { title: 'at most', right: true, wide: true }, { title: 'GPU-hours sooner', right: true, wide: true },
          { title: 'taking back', right: true, wide: true }, { title: 'went away', right: true, wide: true }]}
          rows={c.teams.map((t) => ({
            key: t.team, hint: `${t.team}: the mean over ${plural(t.started, 'start')} from the first of an unbroken row of suggestions to the start`,
            cells: [t.team, thousands(t.started), t.started ? duration(t.sooner_us) : '-', t.started ? duration(t.sooner_most_us) : '-', gpuHours(t.sooner_gpu_seconds), thousands(t.with_victims), thousands(t.went_away)],
          }))} />
      )}
      {c.not_foreseen > 0 && <p class="muted">{plural(c.not_foreseen, 'workload')} started with no start suggested: the scheduler chose otherwise, or both came between two looks.</p>}
    </Section>
  )
}

const parts = (n: number) => (n < 0 ? '-' : ppm(n))
const error = (us: number) => (us < 0 ? '-' : duration(us))

const Foretold = ({ e }: { e: Estimates }) => (
  <Section title="Starts as they were foretold" from="scheduler">
    {!e.made ? <Empty>No start was estimated yet: that takes a look of the planner.</Empty> : <p class="muted">{thousands(e.told)} of the first {thousands(e.asked)} that wait have an estimate; {thousands(e.behind)} behind them were not asked.</p>}
    {e.started + e.at_once > 0 && (
      <Table label="Starts as they were foretold" cols={[{ title: 'told first' }, { title: 'started', right: true }, { title: 'by P50', right: true }, { title: 'by P90', right: true }, { title: 'median error', right: true, wide: true }, { title: 'of the last told', right: true, wide: true }]}
        rows={[
          { key: 'wait', hint: 'half of them would be by their P50, nine of ten by their P90', cells: ['a wait', thousands(e.started), parts(e.by_p50_ppm), parts(e.by_p90_ppm), error(e.error_us), error(e.error_latest_us)] },
          { key: 'now', hint: 'told to start at once, and started within a minute', cells: ['a start now', thousands(e.at_once), parts(e.at_once_ppm), '-', '-', '-'] },
        ]} />
    )}
  </Section>
)
