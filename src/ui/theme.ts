/** Dark, light, or as the reader's system is; and the colours of the style sheet for what is drawn on canvases. */
import { type Signal, signal } from '@preact/signals'
import { inStore } from './storage.ts'

/** What the reader chose. */
export type Theme = 'auto' | 'dark' | 'light'

const STORE = 'pcp-ts.theme'
const THEMES: readonly Theme[] = ['auto', 'dark', 'light']

const ofBrowser = (): Storage => localStorage

function readKept(): Theme {
  const kept = inStore(ofBrowser, (storage) => storage.getItem(STORE))
  return THEMES.find((theme) => theme === kept) ?? 'auto'
}

/** What is chosen. */
export const theme: Signal<Theme> = signal(readKept())
/** Counts changes of colours: what is drawn on canvases has to be drawn again. */
export const colorsVersion: Signal<number> = signal(0)

/** Chooses the next of the three. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!
  inStore(ofBrowser, (storage) => storage.setItem(STORE, theme.value))
  applyTheme()
}

/** Puts the choice into force. */
export function applyTheme(): void {
  const ofSystem = matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark'
  document.documentElement.dataset['theme'] = theme.value === 'auto' ? ofSystem : theme.value
  resolved.clear()
  colorsVersion.value++
}

/** Follows the reader's system. */
export function watchSystemTheme(): void {
  matchMedia('(prefers-color-scheme: light)').addEventListener('change', applyTheme)
}

const resolved = new Map<string, string>()

/** A colour of CSS as canvases take it: variables of the style sheet are looked up. */
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

/** Colours of lines that name none: the first eight are far apart for most eyes, also in grey. */
const PALETTE = 8

/** The colour of the `i`th line of a chart. */
export function paletteColor(i: number): string {
  return `var(--c${(i % PALETTE) + 1})`
}

/** A colour that lets what is behind it shine through; `share` from 0 to 1. */
export function thinned(color: string, share: number): string {
  if (color === 'transparent') return color
  return `color-mix(in srgb, ${resolveColor(color)} ${Math.round(100 * share)}%, transparent)`
}
