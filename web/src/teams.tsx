// Teams: who owns, holds and waits for how much; what is nobody's, and names that fit nothing.
import { gpuHours, localTime, milli, orNone, plural, ppm, thousands, words } from './format'
import { Await, Empty, Section, Table } from './parts'
import { teams, useShown } from './store'
import { suggestionsHref, workloadHref } from './route'
import type { TeamRow, Teams as View } from './views'

const nobodys = '(unassigned)'

export function Teams() {
  useShown(teams)
  return <Await of={teams}>{(t) => <Page t={t} />}</Await>
}

function Page({ t }: { t: View }) {
  if (!t.organisation) {
    return (
      <Section title="Teams" from="scheduler">
        <Empty>No organisation is known: nobody has said who owns what. Name its folder as <code>organisation:</code> in fairlead.yaml; <code>fairlead policy import slurm</code> writes a first one.</Empty>
      </Section>
    )
  }
  return <><Tree t={t} /><p class="muted">What these rules would start or take back now: <a href={suggestionsHref}>suggestions</a>.</p><Nobodys t={t} /><Misconfigured t={t} />{t.notes.map((n) => <p key={n} class="note">{n}</p>)}</>
}

const name = (r: TeamRow) => (r.parent ? r.team.split('/').at(-1)! : r.team)
const deep = (r: TeamRow) => '\u2003'.repeat(r.depth)

function Tree({ t }: { t: View }) {
  return (
    <Section title={`Teams of ${t.organisation} ${t.version}`} from="scheduler">
      {t.teams.length === 0 ? <Empty>No device class of this organisation is in the fleet, as of {localTime(t.as_of)}.</Empty> : (
        <Table label="Teams" cols={[{ title: 'team' }, { title: 'device', wide: true }, { title: 'own', right: true }, { title: 'used', right: true }, { title: '', wide: true }, { title: 'borrowed', right: true, wide: true },
          { title: 'headroom', right: true }, { title: 'running', right: true, wide: true }, { title: 'waiting', right: true }, { title: 'GPU-hours', right: true, wide: true }, { title: 'share', right: true, wide: true }]}
          rows={t.teams.map((r) => ({ key: `${r.team} ${r.device}`, hint: hintOf(r), cells: cellsOf(r) }))} />
      )}
    </Section>
  )
}

function cellsOf(r: TeamRow) {
  const own = (text: string) => (r.team === nobodys ? '-' : text)
  return [<>{deep(r)}{name(r)}</>, r.device, own(milli(r.own_milli)), milli(r.used_milli), <UsedBar r={r} />, own(milli(r.borrowed_milli)),
    r.headroom_milli < 0 ? <strong>{milli(r.headroom_milli)}</strong> : own(milli(r.headroom_milli)), thousands(r.running), thousands(r.waiting), own(gpuHours(r.usage_gpu_seconds)), own(ppm(r.share_ppm))]
}

function hintOf(r: TeamRow): string {
  if (r.team === nobodys) return `no rule of members matches these: ${plural(r.running, 'workload')} running, ${thousands(r.waiting)} waiting`
  const limit = (n: number | null) => (n === null ? 'no limit' : milli(n))
  const more = [r.window && `now ${r.window}`, r.budget && `budget ${r.budget_used_ppm === null ? r.budget : `${r.budget_used}, ${ppm(r.budget_used_ppm)}`}`].filter(Boolean)
  return [`${r.team}: lends ${r.lend_milli === null ? 'all' : milli(r.lend_milli)}, borrows ${limit(r.borrow_milli)}, limit ${limit(r.limit_milli)}, weight ${r.weight}, ${milli(r.waiting_milli)} ${r.device} asked for`, ...more].join('; ')
}

// Used of what is owned; what is borrowed stands beyond the frame, and paler.
function UsedBar({ r }: { r: TeamRow }) {
  const most = Math.max(r.own_milli, r.used_milli, 1)
  const at = (n: number) => `${((100 * n) / most).toFixed(2)}%`
  return (
    <svg class="bar" role="img" aria-label={`${milli(r.used_milli)} used of ${milli(r.own_milli)} owned`}>
      <rect class="cell" width={at(Math.min(r.used_milli, r.own_milli))} height="100%" fill="#0072B2" />
      {r.used_milli > r.own_milli && <rect class="cell" x={at(r.own_milli)} width={at(r.used_milli - r.own_milli)} height="100%" fill="#0072B2" fill-opacity="0.4" />}
      <rect class="edge" fill="none" width={at(r.own_milli)} height="100%" />
    </svg>
  )
}

const Nobodys = ({ t }: { t: View }) => t.unassigned.length > 0 && (
  <Section title="Nobody’s: no rule of members matches these accounts" from="scheduler">
    <Table label="Nobody’s" cols={[{ title: 'account' }, { title: 'running', right: true }, { title: 'waiting', right: true }, { title: 'GPUs', right: true }]}
      rows={t.unassigned.map((u) => ({ key: u.account, cells: [orNone(u.account), thousands(u.running), thousands(u.waiting), thousands(u.gpus)] }))} />
  </Section>
)

const Misconfigured = ({ t }: { t: View }) => t.misconfigured.length > 0 && (
  <Section title="Misconfigured: names that fit nothing" from="scheduler">
    <Table label="Misconfigured" cols={[{ title: 'what' }, { title: 'name' }, { title: 'nearest' }, { title: 'workloads', right: true }, { title: 'GPUs', right: true }, { title: 'as', wide: true }, { title: 'in words', wide: true, text: true }]}
      rows={t.misconfigured.map((m) => ({
        key: `${m.what} ${m.name}`, hint: m.hint,
        cells: [words(m.what), m.name, m.nearest || '-', thousands(m.workloads), thousands(m.gpus), <a href={workloadHref(m.first)}>{m.first}</a>, m.hint],
      }))} />
  </Section>
)
