/** Dark, light or system theme, and the colours of the style sheet for canvases. */
import { type Signal, signal } from '@preact/signals'
import { inStore } from './storage.ts'

/** The user's choice. */
export type Theme = 'auto' | 'dark' | 'light'

const STORE = 'pcp-ts.theme'
const THEMES: readonly Theme[] = ['auto', 'dark', 'light']

const LIGHT = '(prefers-color-scheme: light)'
const FORCED = '(forced-colors: active)'

const ofBrowser = (): Storage => localStorage

function readKept(): Theme {
  const kept = inStore(ofBrowser, (storage) => storage.getItem(STORE))
  return THEMES.find((theme) => theme === kept) ?? 'auto'
}

/** The selected theme. */
export const theme: Signal<Theme> = signal(readKept())
/** Counts colour changes, after which canvases must be redrawn. */
export const colorsVersion: Signal<number> = signal(0)

/** Selects the next theme. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!
  inStore(ofBrowser, (storage) => storage.setItem(STORE, theme.value))
  applyTheme()
}

/** Applies the selected theme. */
export function applyTheme(): void {
  const ofSystem = matchMedia(LIGHT).matches ? 'light' : 'dark'
  // Lines are drawn on the ground that the system forces.
  const isOfSystem = theme.value === 'auto' || matchMedia(FORCED).matches
  document.documentElement.dataset['theme'] = isOfSystem ? ofSystem : theme.value
  resolved.clear()
  colorsVersion.value++
}

/** Follows changes of the system theme. */
export function watchSystemTheme(): void {
  for (const query of [LIGHT, FORCED]) matchMedia(query).addEventListener('change', applyTheme)
}

const resolved = new Map<string, string>()

/** Resolves a CSS colour for canvases, which do not know the variables of the style sheet. */
export function resolveColor(color: string): string {
  let found = resolved.get(color)
  if (found === undefined) {
    const name = /^var\((--[\w-]+)\)$/.exec(color)?.[1]
    found =
      name === undefined ? color : getComputedStyle(document.documentElement).getPropertyValue(name).trim()
    resolved.set(color, found)
  }
  return found
}

/** Size of the palette. Its colours are distinguishable for most people, also in greyscale. */
export const PALETTE = 8

/** Returns the colour of the `i`th line of a chart. */
export function paletteColor(i: number): string {
  return `var(--c${(i % PALETTE) + 1})`
}

/** Returns a colour with an opacity from 0 to 1. */
export function withOpacity(color: string, share: number): string {
  if (color === 'transparent') return color
  return `color-mix(in srgb, ${resolveColor(color)} ${Math.round(100 * share)}%, transparent)`
}
