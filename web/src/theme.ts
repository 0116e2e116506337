// Light, dark, or as the system says; kept in this browser.
import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'
const order: Theme[] = ['system', 'light', 'dark']
const key = 'fairlead-theme'

function stored(): Theme {
  try {
    const text = localStorage.getItem(key)
    return order.find((t) => t === text) ?? 'system'
  } catch {
    return 'system'
  }
}

export const theme = signal<Theme>(stored())
export const nextTheme = () => (theme.value = order[(order.indexOf(theme.value) + 1) % order.length]!)

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.value
  try {
    localStorage.setItem(key, theme.value)
  } catch {
    // a browser that keeps nothing forgets it
  }
})
