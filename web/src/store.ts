// What was asked of the daemon, and when: each view is asked for while it is shown, again after every
// event, and every 15 s where no events arrive.
import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { liveness, paced, type Link } from './live'
import { msOf } from './format'
import type { Comparison, Explanation, Fabric, Instant, Queue, Report, Teams } from './views'

const everyMs = 2_000      // given: at most so often after events
const pollMs = 15_000
const reconnectMs = [1_000, 2_000, 5_000, 15_000]

export const link = signal<Link>({ stream: 'closed', answeredMs: 0, failedMs: 0, problem: '', sourceMs: NaN })
export const tickMs = signal(Date.now())
export const live = computed(() => liveness(link.value, tickMs.value))

export const site = signal('')    // empty: the only one, or the first
export const sites = signal<string[]>([])
export const since = signal('')   // of the report: "24h"; empty: since the books opened

export interface Problem { status: number; title: string; detail: string }

// RFC 9457, or the little that is known of an answer that is none.
async function problemOf(response: Response): Promise<Problem> {
  const own = { status: response.status, title: response.statusText || `status ${response.status}`, detail: '' }
  try {
    const body = await response.json()
    return { ...own, title: body.title ?? own.title, detail: body.detail ?? '' }
  } catch {
    return own
  }
}

export class Resource<T> {
  readonly data = signal<T | null>(null)
  readonly problem = signal<Problem | null>(null)
  nowMs = Date.now() // the daemon's clock at its last answer
  private busy = false
  private again = false

  constructor(readonly path: string, private readonly times: (data: T) => { now?: Instant; seen: Instant }, private readonly query = () => '') {}

  private get url(): string {
    const query = [this.query(), site.value && `site=${encodeURIComponent(site.value)}`].filter(Boolean).join('&')
    return query ? `${this.path}?${query}` : this.path
  }

  async load(): Promise<void> {
    if (this.busy) {
      this.again = true
      return
    }
    this.busy = true
    try {
      await this.ask()
    } finally {
      this.busy = false
    }
    if (this.again) {
      this.again = false
      await this.load()
    }
  }

  private async ask() {
    try {
      const url = this.url
      const response = await fetch(url, { headers: { accept: 'application/json' }, cache: 'no-cache' })
      const at = Date.now()
      if (url !== this.url) return void (this.again = true) // another site or window was chosen meanwhile
      if (!response.ok) {
        this.problem.value = await problemOf(response)
        if (response.status >= 500) failed(this.problem.value.title)
        else link.value = { ...link.value, answeredMs: at, failedMs: 0 }
        return
      }
      const data = (await response.json()) as T
      const { now, seen } = this.times(data)
      const stated = [msOf(now), msOf(response.headers.get('date'))].find((ms) => !Number.isNaN(ms))
      this.nowMs = stated ?? at
      this.data.value = data
      this.problem.value = null
      link.value = { ...link.value, answeredMs: at, failedMs: 0, problem: '', sourceMs: seen ? at - (this.nowMs - msOf(seen)) : 0 }
    } catch {
      failed('the daemon does not answer')
    }
  }
}

function failed(problem: string) {
  link.value = { ...link.value, failedMs: link.value.failedMs || Date.now(), problem }
}

const schedulerSeen = (r: Report) => r.sources.find((s) => s.source === 'scheduler')?.last_ok ?? null

export const report = new Resource<Report>('v1/report', (r) => ({ now: r.to, seen: schedulerSeen(r) }), () => since.value && `since=${since.value}`)
export const queue = new Resource<Queue>('v1/queue', (q) => ({ seen: q.as_of }))
export const teams = new Resource<Teams>('v1/teams', (t) => ({ seen: t.as_of }))
export const suggestions = new Resource<Comparison>('v1/suggestions', (c) => ({ seen: c.as_of }), () => 'limit=200')
export const fabric = new Resource<Fabric>('v1/fabric', (f) => ({ seen: f.as_of }))

const explanations = new Map<string, Resource<Explanation>>()
export function explanation(id: string): Resource<Explanation> {
  let own = explanations.get(id)
  if (!own) {
    if (explanations.size > 100) explanations.clear()
    own = new Resource<Explanation>(`v1/workloads/${encodeURIComponent(id)}/explain`, (x) => ({ seen: x.as_of }))
    explanations.set(id, own)
  }
  return own
}

interface Loads { load(): Promise<void> }
const shown = new Set<Loads>()

export function useShown(resource: Loads) {
  useEffect(() => {
    shown.add(resource)
    void resource.load()
    return () => void shown.delete(resource)
  }, [resource])
}

const refresh = () => {
  if (document.visibilityState === 'hidden') return
  for (const resource of shown) void resource.load()
}
export const poke = paced(refresh, everyMs, Date.now, (f, ms) => void setTimeout(f, ms))

// Reads /v1/events until it ends. Any event counts, whatever its name; a comment is no event.
async function readEvents(lastId: string, signal: AbortSignal): Promise<string> {
  const headers = { accept: 'text/event-stream', ...(lastId ? { 'last-event-id': lastId } : {}) }
  const response = await fetch('v1/events', { headers, cache: 'no-store', signal })
  if (!response.ok || !response.body) return lastId
  link.value = { ...link.value, stream: 'open' }
  poke()
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return lastId
    const lines = (rest + value).split(/\r?\n/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('id:')) lastId = line.slice(3).trim()
      if (line.startsWith('data')) poke()
    }
  }
}

// A page in the background lets its stream go: a browser holds six connections to a host, and many tabs.
const visible = () =>
  document.visibilityState === 'visible' ? Promise.resolve() : new Promise<void>((done) => document.addEventListener('visibilitychange', () => done(), { once: true }))

async function follow(): Promise<never> {
  for (let lastId = '', tries = 0; ; ) {
    await visible()
    const began = Date.now()
    const stop = new AbortController()
    const onHidden = () => document.visibilityState === 'hidden' && stop.abort()
    document.addEventListener('visibilitychange', onHidden)
    try {
      lastId = await readEvents(lastId, stop.signal)
    } catch {
      // the same as an end: what is shown says so, and it is tried again
    }
    document.removeEventListener('visibilitychange', onHidden)
    link.value = { ...link.value, stream: 'closed' }
    tries = Date.now() - began > 10_000 ? 0 : tries + 1
    await new Promise((done) => setTimeout(done, reconnectMs[Math.min(tries, reconnectMs.length - 1)]))
  }
}

// Chooses another site or window: what was shown of the one before goes.
export function choose(what: { site?: string; since?: string }) {
  if (what.since !== undefined) since.value = what.since
  if (what.site !== undefined && what.site !== site.value) {
    site.value = what.site
    explanations.clear()
    for (const resource of [report, queue, teams, suggestions, fabric]) resource.data.value = null
  }
  refresh()
}

async function askSites() {
  try {
    const answer = await fetch('v1/sites')
    if (answer.ok) sites.value = ((await answer.json()) as { sites: { site: string }[] }).sites.map((s) => s.site)
  } catch {
    // with one site nobody misses the list; what is shown says that the daemon is away
  }
}

export function start() {
  void askSites()
  void follow()
  setInterval(() => (tickMs.value = Date.now()), 1_000)
  setInterval(() => link.value.stream === 'closed' && poke(), pollMs)
  document.addEventListener('visibilitychange', poke)
}
