// All blockers of one workload: code, what is short, who holds it, what cures it.
import { Fragment } from 'preact'
import { duration, localTime, words } from './format'
import { shortBy, waitingCures, withUnit } from './order'
import { Code, Empty, Table } from './parts'
import { workloadHref } from './route'
import type { Blocker, Explanation } from './views'

const holdersShown = 6

function Holders({ b }: { b: Blocker }) {
  if (b.holders.length === 0) return <>{b.object || '-'}</>
  const shown = b.holders.slice(0, holdersShown)
  const more = b.holders_more + b.holders.length - shown.length
  return (
    <>
      {shown.map((h, i) => {
        const ends = h.ends ? `ends ${localTime(h.ends)} at the latest` : 'no time limit'
        return (
          <Fragment key={h.workload}>
            {i > 0 && ', '}{h.idle !== 'none' && 'idle '}
            <a href={workloadHref(h.workload)} data-hint={`${h.workload} of ${h.user} holds ${withUnit(h.amount, b.unit)}; ${ends}${h.idle === 'none' ? '' : `; idle: ${words(h.idle)}`}`}>{h.workload}</a>
            {h.team && ` (${h.team})`}
          </Fragment>
        )
      })}
      {more > 0 && `, ${more} more`}
    </>
  )
}

export function Blockers({ x, nowMs }: { x: Explanation; nowMs: number }) {
  if (x.blockers.length === 0) return <Empty>{x.state === 'pending' ? 'No blocker is known.' : `Nothing blocks it: it is ${words(x.state)}.`}</Empty>
  return (
    <>
      {x.can_never_start && <p><strong>It can never start as it is.</strong></p>}
      <Table stack label="Blockers" cols={[{ title: 'code' }, { title: 'short by' }, { title: 'who holds it', text: true }, { title: 'waiting cures it', text: true }, { title: 'cheapest cure', text: true }]}
        rows={x.blockers.map((b, i) => ({
          key: `${b.code} ${b.object} ${i}`, hint: `${b.message}${b.limit_name ? ` (${b.limit_name})` : ''}`,
          cells: [<Code of={b.code} />, shortBy(b), <Holders b={b} />, <span data-hint={b.cured_at ? `at ${localTime(b.cured_at)} if the holders run to their limits` : undefined}>{waitingCures(b, nowMs)}</span>, b.cure || '-'],
        }))} />
      <ul class="facts">
        {x.blockers.map((b, i) => (
          <li key={i}><code>{b.code}</code> {[b.object, b.limit_name].filter(Boolean).join(', ')}: {b.message}{b.unit === 's' && b.short_by > 0 && ` (${duration(b.short_by * 1e6)})`}</li>
        ))}
      </ul>
    </>
  )
}
