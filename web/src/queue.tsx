// Queue: waiting work in the order of the scheduler's priorities; Enter opens all blockers of a row.
import { signal, useComputed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Blockers } from './blockers'
import { duration, localTime, orNone, plural, startOf, thousands } from './format'
import { filterWaiting, verdictOf } from './order'
import { Await, Code, Empty, Section, Table } from './parts'
import { suggestionsHref, workloadHref } from './route'
import { search } from './search'
import { explanation, queue, useShown } from './store'
import type { Queue as View, Waiting } from './views'

const step = 200
const opened = signal<string | null>(null)
const shownRows = signal(step)

export const closeRow = () => {
  const was = opened.value !== null
  opened.value = null
  return was
}

export function Queue({ query }: { query: string }) {
  useShown(queue)
  useEffect(() => {
    search.value = query
    shownRows.value = step
    opened.value = null
  }, [query])
  return <Await of={queue}>{(q) => <Rows q={q} />}</Await>
}

function Rows({ q }: { q: View }) {
  const found = useComputed(() => filterWaiting(queue.data.value?.waiting ?? [], search.value)).value
  const all = q.waiting.length + q.waiting_more
  const title = search.value ? `Queue: ${thousands(found.length)} of ${plural(all, 'workload')}` : `Queue: ${plural(all, 'workload')}`
  if (all === 0) {
    return (
      <Section title="Queue" from="queue">
        {q.as_of ? <Empty>Nothing waits, as of {localTime(q.as_of)}. What is submitted and does not start appears here with everything that blocks it.</Empty>
          : <Empty>The queue was never read: <code>fairlead doctor</code> says what can be read.</Empty>}
      </Section>
    )
  }
  return (
    <Section title={title} from="queue">
      {found.length === 0 ? <Empty>Nothing that waits matches “{search.value}”. Esc shows all.</Empty> : (
        <Table label="Waiting work" cols={[{ title: 'workload' }, { title: 'team' }, { title: 'user', wide: true }, { title: 'class', wide: true }, { title: 'wants', fold: true }, { title: 'waits', right: true },
          { title: 'priority', right: true, wide: true }, { title: 'verdict', wide: true }, { title: 'start P50', right: true, wide: true }, { title: 'P90', right: true, wide: true }, { title: 'first blocker', fold: true }, { title: 'in words', wide: true, text: true }]}
          rows={found.slice(0, shownRows.value).map((w) => rowOf(w, Date.parse(q.as_of ?? '')))} />
      )}
      {found.length > shownRows.value && <button onClick={() => (shownRows.value += step)}>{thousands(Math.min(step, found.length - shownRows.value))} more</button>}
      <p class="muted">What the planner would start or take back now: <a href={suggestionsHref}>suggestions</a>.</p>
      {q.waiting_more > 0 && <p class="muted">{thousands(q.waiting_more)} beyond these are not listed.</p>}
    </Section>
  )
}

function rowOf(w: Waiting, nowMs: number) {
  const open = opened.value === w.workload
  const own = w.scheduler_reason ? `the scheduler says ${w.scheduler_reason}${w.scheduler_agrees ? '' : ', which is none of ours'}` : 'the scheduler gives no reason'
  return {
    key: w.workload, open, hint: `${w.message}; ${own}`, go: () => (opened.value = open ? null : w.workload), below: <Opened id={w.workload} />,
    cells: [
      <a href={workloadHref(w.workload)} tabIndex={-1} onClick={(e) => e.stopPropagation()}>{w.workload}</a>, orNone(w.team), w.user, w.class,
      w.tasks > 1 ? `${w.gang}, ${plural(w.tasks, 'task')}` : w.gang, duration(w.wait_us), thousands(w.priority),
      w.can_never_start ? <strong>{verdictOf(w)}</strong> : verdictOf(w), startOf(w.start_p50, nowMs), startOf(w.start_p90, nowMs),
      <><Code of={w.blockers[0] ?? '-'} />{w.blockers.length > 1 && ` +${w.blockers.length - 1}`}</>, w.message,
    ],
  }
}

function Opened({ id }: { id: string }) {
  const resource = explanation(id)
  useShown(resource)
  return (
    <Await of={resource}>
      {(x) => <><Blockers x={x} nowMs={resource.nowMs} /><p><a href={workloadHref(id)}>Everything about {id}</a></p></>}
    </Await>
  )
}
