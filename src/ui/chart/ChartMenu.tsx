/** What to do with a chart. */
import type { ComponentChild } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { ChartData } from '../data/chart-data.ts'
import { complain, editing, moveChart, removeChart } from '../page.ts'
import { Icon } from '../panel/Icon.tsx'
import { time } from '../time/control.ts'
import type { Chart } from '../view/view.ts'
import { toCsv } from './csv.ts'
import { download, toPng } from './export.ts'
import { fileName } from './file-name.ts'
import { toSvg } from './svg.ts'

interface MenuProps {
  readonly chart: Chart
  /** Id of the chart in the view. */
  readonly originId: string
  readonly title: string
  readonly data: ChartData
  readonly hidden: ReadonlySet<string>
}

/** Opens by its dots; closes by Escape, by what is chosen, and by going elsewhere. */
export function ChartMenu({ chart, originId, title, data, hidden }: MenuProps): ComponentChild {
  const place = useRef<HTMLDetailsElement>(null)
  useEffect(() => listenTo(place.current!), [])
  const save = (kind: 'csv' | 'svg' | 'png') => (): void => {
    const name = fileName(title, kind)
    const zone = time.zone.peek()
    if (kind === 'csv') {
      download(name, new Blob([toCsv(chart, data, hidden, zone)], { type: 'text/csv' }))
      return
    }
    const svg = toSvg({ chart, title, data, hidden, frame: time.frame.peek(), zone })
    if (kind === 'svg') download(name, new Blob([svg], { type: 'image/svg+xml' }))
    else toPng(svg).then((blob) => download(name, blob), complain)
  }
  return (
    <details class="menu" ref={place}>
      <summary aria-label={`Menu of ${title}`} aria-haspopup="menu">
        <Icon name="more" />
      </summary>
      <div class="menu-items" role="menu">
        <button type="button" role="menuitem" onClick={closing(() => (editing.value = originId))}>
          Change …
        </button>
        <button type="button" role="menuitem" onClick={closing(() => moveChart(originId, -1))}>
          Move back
        </button>
        <button type="button" role="menuitem" onClick={closing(() => moveChart(originId, 1))}>
          Move on
        </button>
        <button type="button" role="menuitem" onClick={closing(save('csv'))}>
          Save as CSV
        </button>
        <button type="button" role="menuitem" onClick={closing(save('svg'))}>
          Save as SVG
        </button>
        <button type="button" role="menuitem" onClick={closing(save('png'))}>
          Save as PNG
        </button>
        <button type="button" role="menuitem" class="danger" onClick={closing(() => removeChart(originId))}>
          Remove
        </button>
      </div>
    </details>
  )
}

/** Closes the menu a button is in; what the action opens gives the focus back to the dots. */
function closing(action: () => void): (event: MouseEvent) => void {
  return ({ currentTarget }) => {
    const menu = (currentTarget as HTMLElement).closest('details')!
    close(menu)
    action()
  }
}

function close(menu: HTMLDetailsElement): void {
  menu.open = false
  menu.querySelector('summary')!.focus({ preventScroll: true })
}

/** Keys of a menu, and what closes it from outside. Returns what ends this. */
function listenTo(menu: HTMLDetailsElement): () => void {
  const key = (event: KeyboardEvent): void => {
    if (!menu.open) return
    if (event.key === 'Escape') close(menu)
    else if (!go(menu, event.key)) return
    event.preventDefault()
    event.stopPropagation()
  }
  const outside = ({ target }: Event): void => {
    if (menu.open && !menu.contains(target as Node)) menu.open = false
  }
  menu.addEventListener('keydown', key)
  addEventListener('pointerdown', outside)
  addEventListener('focusin', outside)
  return () => {
    menu.removeEventListener('keydown', key)
    removeEventListener('pointerdown', outside)
    removeEventListener('focusin', outside)
  }
}

/** Arrows, Home and End go round the items. Says whether the key is one of these. */
function go(menu: HTMLDetailsElement, key: string): boolean {
  const items = [...menu.querySelectorAll<HTMLElement>('[role=menuitem]')]
  const at = items.indexOf(document.activeElement as HTMLElement)
  const next = { ArrowDown: at + 1, ArrowUp: at < 0 ? -1 : at - 1, Home: 0, End: -1 }[key]
  if (next === undefined) return false
  items.at(next === items.length ? 0 : next)!.focus()
  return true
}
