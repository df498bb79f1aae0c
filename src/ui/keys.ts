/** Keyboard shortcuts of the page. */
import { pinned } from './chart/instant.ts'
import { middleOf, selectedSpan } from './chart/selected-span.ts'
import { goToPage } from './go-to.ts'
import { hasModifier } from './keyboard.ts'
import { loadLazyPart } from './lazy.tsx'
import { editing, type Panel, panel, showError } from './page.ts'
import { redo, undo } from './page-address.ts'
import { nextTheme } from './theme.ts'
import { time } from './time/control.ts'
import { PAGES } from './view/built-in.ts'

/** Opens a panel, or closes it if it is open. */
export function toggle(which: Panel): void {
  panel.value = panel.value === which ? undefined : which
}

function focusTime(): void {
  document.querySelector<HTMLInputElement>('[data-go]')?.focus()
}

const ACTIONS: Readonly<Record<string, () => void>> = {
  ' ': () => (time.mode.value === 'paused' ? time.play('forward') : time.pause()),
  b: () => time.play('backward'),
  ',': () => time.step(-1),
  '.': () => time.step(1),
  ArrowLeft: () => time.pan(-0.5),
  ArrowRight: () => time.pan(0.5),
  '+': () => time.zoom(0.5, 0.5),
  '=': () => time.zoom(0.5, 0.5),
  '-': () => time.zoom(2, 0.5),
  l: () => time.goLive(),
  g: focusTime,
  u: undo,
  U: redo,
  m: () => toggle('metrics'),
  s: () => (selectedSpan.value = middleOf(time.frame.value)),
  w: () => toggle('changes'),
  r: () => toggle('rules'),
  a: () => toggle('alerts'),
  n: () => void loadLazyPart().then(({ newNote }) => newNote(), showError),
  o: () => toggle('archives'),
  v: () => toggle('views'),
  t: nextTheme,
  '?': () => toggle('help'),
  ...Object.fromEntries(PAGES.slice(0, 9).map(({ page }, i) => [String(i + 1), () => goToPage(page)])),
}

/** Elements that handle keys themselves. */
const OTHERS = 'input, select, textarea, dialog'
/** Elements that the space bar activates. */
const BUTTONS = 'button, summary'

/** Installs the keyboard shortcuts. */
export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && editing.value === undefined) {
      // The panel is closed first.
      if (panel.value === undefined) {
        pinned.value = undefined
        selectedSpan.value = undefined
      }
      panel.value = undefined
      return
    }
    const { target } = event
    const isTaken =
      target instanceof Element &&
      (target.closest(OTHERS) !== null || (event.key === ' ' && target.closest(BUTTONS) !== null))
    if (isTaken || hasModifier(event)) return
    const action = ACTIONS[event.key]
    if (action === undefined) return
    event.preventDefault()
    action()
  })
}
