/** Icons as SVG, because not every font has these symbols. */
import type { ComponentChild } from 'preact'

const PATHS = {
  back: 'M5 4v12h2V4zM16 4v12l-8-6z',
  backwards: 'M15 4v12L5 10z',
  play: 'M5 4v12l10-6z',
  pause: 'M5 4h3.5v12H5zM11.5 4H15v12h-3.5z',
  on: 'M15 4v12h-2V4zM4 4v12l8-6z',
  plus: 'M9 4h2v5h5v2h-5v5H9v-5H4V9h5z',
  minus: 'M4 9h12v2H4z',
  span: 'M2 3h2v14H2zM16 3h2v14h-2zM6 9h8v2H6z',
  close: 'M5 3.6 10 8.6l5-5L16.4 5l-5 5 5 5-1.4 1.4-5-5-5 5L3.6 15l5-5-5-5z',
  more: 'M3 8.5h3v3H3zM8.5 8.5h3v3h-3zM14 8.5h3v3h-3z',
  auto: 'M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14v-1.5a5.5 5.5 0 0 0 0-11z',
  dark: 'M12 3a7 7 0 1 0 5 10.5A6 6 0 0 1 12 3z',
  light:
    'M10 6a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM9.2 1.5h1.6v3H9.2zM9.2 15.5h1.6v3H9.2zM1.5 9.2h3v1.6h-3zM15.5 9.2h3v1.6h-3z',
} as const

/** Renders an icon at the size of the text. */
export function Icon({ name }: { readonly name: keyof typeof PATHS }): ComponentChild {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="14" height="14" aria-hidden="true">
      <path d={PATHS[name]} fill="currentColor" />
    </svg>
  )
}

/** Name of an icon. */
export type IconName = keyof typeof PATHS
