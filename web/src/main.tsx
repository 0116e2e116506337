import { render } from 'preact'
import { clock } from './format'
import { Fleet } from './fleet'
import { hintText, startHints } from './hint'
import { helpOpen, keyTexts, startKeys } from './keys'
import { Overview } from './overview'
import { Empty, Hatchings } from './parts'
import { Queue } from './queue'
import { go, queueHref, route, workloadHref } from './route'
import { search } from './search'
import { choose, fabric, live, queue, report, site, sites, start } from './store'
import { Suggestions } from './suggestions'
import { nextTheme, theme } from './theme'
import { Teams } from './teams'
import { Workload } from './workload'
import './style.css'

function State() {
  const { state, sinceMs, why } = live.value
  const mark = { live: '●', stale: '◐', offline: '○', starting: '…' }[state]
  const text = state === 'live' || state === 'starting' ? state : sinceMs > 0 ? `${state} since ${clock(sinceMs)}` : 'scheduler not seen'
  return <span class={`state ${state}`} role="status" tabIndex={0} data-hint={`${text}: ${why}`}>{mark} {text}</span>
}

function Search() {
  const onQueue = route.value.page === 'queue'
  const onSubmit = (e: Event) => {
    e.preventDefault()
    const text = search.value.trim()
    if (onQueue) {
      document.querySelector<HTMLInputElement>('#search')?.blur()
      go(queueHref(text))
    } else if (text) {
      search.value = ''
      go(/^[\w+.-]+$/.test(text) ? workloadHref(text) : queueHref(text))
    }
  }
  return (
    <form role="search" onSubmit={onSubmit}>
      <input id="search" type="search" autocomplete="off" spellcheck={false} value={search.value} onInput={(e) => (search.value = e.currentTarget.value)}
        aria-label="search" placeholder={onQueue ? '/ filter: team=ads, blocker=CAPACITY' : '/ workload'} />
    </form>
  )
}

function Head() {
  const page = route.value.page
  const own = report.data.value?.site ?? queue.data.value?.site ?? fabric.data.value?.site ?? sites.value[0] ?? ''
  const item = (name: string, href: string, key: string) => (
    <a href={href} aria-current={page === name ? 'page' : undefined} data-hint={`key: g ${key}`}>{name[0]!.toUpperCase() + name.slice(1)}</a>
  )
  return (
    <header>
      {sites.value.length < 2 ? <strong class="site">{own || 'Fairlead'}</strong> : (
        <select aria-label="site" value={site.value || own} onChange={(e) => choose({ site: e.currentTarget.value })}>{sites.value.map((s) => <option key={s}>{s}</option>)}</select>
      )}
      <nav aria-label="pages">{item('overview', '#/', 'o')}{item('queue', '#/queue', 'q')}{item('teams', '#/teams', 't')}{item('suggestions', '#/suggestions', 's')}{item('fleet', '#/fleet', 'f')}</nav>
      <Search />
      <State />
      <button onClick={nextTheme} data-hint="key: t" aria-label={`colours: ${theme.value}`}>{{ system: 'auto', light: 'light', dark: 'dark' }[theme.value]}</button>
      <button onClick={() => (helpOpen.value = true)} data-hint="key: ?" aria-label="keys">?</button>
    </header>
  )
}

const Help = () => helpOpen.value && (
  <div class="help" role="dialog" aria-label="keys" onClick={() => (helpOpen.value = false)}>
    <table><tbody>{keyTexts.map(([k, text]) => <tr key={k}><td><kbd>{k}</kbd></td><td>{text}</td></tr>)}</tbody></table>
    <p class="muted">Point at a number or focus it: the line at the foot says where it comes from, how old it is and what it covers.</p>
  </div>
)

function Page() {
  const r = route.value
  switch (r.page) {
    case 'overview': return <Overview />
    case 'queue': return <Queue query={r.query} />
    case 'workload': return <Workload key={r.id} id={r.id} />
    case 'teams': return <Teams />
    case 'suggestions': return <Suggestions />
    case 'fleet': return <Fleet />
    case 'unknown': return <Empty>There is no page “{r.path}”. <a href="#/">Overview</a></Empty>
  }
}

const Foot = () => <footer>{hintText() || 'Point at a number or focus it to see its source, age and coverage.  ?  keys'}</footer>

const App = () => <><Hatchings /><Head /><main><Page /></main><Foot /><Help /></>

start()
startHints()
startKeys()
render(<App />, document.getElementById('app')!)
