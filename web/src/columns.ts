// How the eight columns look: the same words and colours as src/present/columns.cc.
export type Column =
  | 'useful' | 'held_idle' | 'held_unmeasured' | 'lost' | 'reserved' | 'free' | 'stranded' | 'down'

export type Amounts = Record<Column, number> & { total: number }

export interface Look { key: Column; title: string; meaning: string }

export const looks: Look[] = [
  { key: 'useful', title: 'useful', meaning: 'held, and evidence says that it works' },
  { key: 'held_idle', title: 'held idle', meaning: 'held, and evidence says that it does not work' },
  { key: 'held_unmeasured', title: 'held unmeasured', meaning: 'held, and nobody can say whether it works' },
  { key: 'lost', title: 'lost', meaning: 'was useful, then thrown away by an eviction or a failure' },
  { key: 'reserved', title: 'reserved', meaning: 'not held, kept for a reservation' },
  { key: 'free', title: 'free', meaning: 'not held, could be' },
  { key: 'stranded', title: 'stranded', meaning: 'not held, and no waiting shape fits on it' },
  { key: 'down', title: 'down', meaning: 'not usable: down, drained, failed or in maintenance' },
]

// Splits `cells` in proportion; parts add up to `cells`, and what is above zero gets at least one.
export function apportion(amounts: Partial<Record<Column, number>>, cells: number): Record<Column, number> {
  const of = (k: Column) => Math.max(0, amounts[k] ?? 0)
  const keys = looks.map((l) => l.key)
  const total = keys.reduce((sum, k) => sum + of(k), 0)
  const parts = Object.fromEntries(keys.map((k) => [k, 0])) as Record<Column, number>
  if (total === 0 || cells <= 0) return parts
  const rests = { ...parts }
  let given = 0
  for (const k of keys) {
    const exact = (of(k) / total) * cells
    parts[k] = Math.floor(exact)
    rests[k] = exact - parts[k]
    if (exact > 0 && parts[k] === 0) {
      parts[k] = 1
      rests[k] = 0
    }
    given += parts[k]
  }
  const most = (of: Record<Column, number>) => keys.reduce((a, b) => (of[b] > of[a] ? b : a))
  for (; given < cells; given++) {
    const k = most(rests)
    parts[k]++
    rests[k] = -1
  }
  for (; given > cells; given--) parts[most(parts)]--
  return parts
}
