// Where one is: #/ · #/queue?q=ads · #/workloads/4242 · #/fleet · #/teams · #/suggestions
import { signal } from '@preact/signals'

export type Route =
  | { page: 'overview' } | { page: 'queue'; query: string } | { page: 'workload'; id: string } | { page: 'fleet' } | { page: 'teams' } | { page: 'suggestions' }
  | { page: 'unknown'; path: string }

export function routeOf(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split('?')
  const [head = '', ...rest] = path.split('/')
  if (head === '') return { page: 'overview' }
  if (head === 'queue') return { page: 'queue', query: new URLSearchParams(search).get('q') ?? '' }
  if (head === 'fleet') return { page: 'fleet' }
  if (head === 'teams') return { page: 'teams' }
  if (head === 'suggestions') return { page: 'suggestions' }
  if (head === 'workloads' && rest.length > 0 && rest[0] !== '') return { page: 'workload', id: decoded(rest.join('/')) }
  return { page: 'unknown', path }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const workloadHref = (id: string) => `#/workloads/${encodeURIComponent(id)}`
export const suggestionsHref = '#/suggestions'
export const queueHref = (query: string) => (query ? `#/queue?q=${encodeURIComponent(query)}` : '#/queue')

export const route = signal<Route>(routeOf(location.hash))
addEventListener('hashchange', () => (route.value = routeOf(location.hash)))
export const go = (href: string) => (location.hash = href.slice(1))
