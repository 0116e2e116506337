// The keyboard. A letter does nothing while one types.
import { signal } from '@preact/signals'
import { closeCell } from './fleet'
import { closeRow } from './queue'
import { go } from './route'
import { search } from './search'
import { nextTheme } from './theme'

export const helpOpen = signal(false)

export const keyTexts: [string, string][] = [
  ['g o', 'overview'], ['g q', 'queue'], ['g f', 'fleet'], ['g t', 'teams'], ['g s', 'suggestions'], ['/', 'search: filters the queue; elsewhere opens a workload'],
  ['j  k', 'next, previous row'], ['Enter', 'open the row'], ['h  l', 'previous, next GPU of a node'], ['Esc', 'close, clear'], ['t', 'light, dark, as the system'], ['?', 'this help'],
]

const pages: Record<string, string> = { o: '#/', q: '#/queue', f: '#/fleet', t: '#/teams', s: '#/suggestions' }
const field = () => document.querySelector<HTMLInputElement>('#search')
const typing = (at: EventTarget | null) => at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement

function move(by: number) {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  const at = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement))
  const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))
  rows[next]?.focus()
}

function escape() {
  if (helpOpen.value) helpOpen.value = false
  else if (closeRow() || closeCell()) return
  else if (search.value) search.value = ''
  else if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
}

let afterG = false

function onKey(e: KeyboardEvent) {
  if (e.ctrlKey || e.metaKey || e.altKey) return
  if (e.key === 'Escape') {
    if (typing(e.target)) (e.target as HTMLElement).blur()
    escape()
    return
  }
  if (typing(e.target)) return
  const page = afterG ? pages[e.key] : undefined
  afterG = e.key === 'g'
  const acts: Record<string, () => unknown> = {
    '/': () => field()?.focus(), '?': () => (helpOpen.value = !helpOpen.value), j: () => move(1), k: () => move(-1), t: nextTheme,
    Enter: () => document.activeElement instanceof HTMLElement && document.activeElement.dataset.row !== undefined && document.activeElement.click(),
  }
  const act = page ? () => go(page) : acts[e.key]
  if (!act) return
  if (e.key !== 'Enter') e.preventDefault()
  act()
}

export const startKeys = () => document.addEventListener('keydown', onKey)
