/** The legend: names of the lines with the newest value or the one under the pointer. */
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import type { ChartData } from '../data/chart-data.ts'
import { lazyPart } from '../lazy.tsx'
import { showValue } from '../view/measure.ts'
import { type Crosshair, sampleAt } from './crosshair.ts'
import { legendOrder } from './legend-order.ts'
import { lineColor, lineDash, readingOf } from './line-style.ts'
import { Name } from './Name.tsx'
import type { Stacking } from './stack.ts'

interface Props {
  readonly stacking: Stacking | undefined
  readonly data: ChartData
  readonly hidden: ReadonlySet<string>
  /** Receives the keys of the lines to hide. */
  readonly onHide: (hidden: ReadonlySet<string>) => void
  /** Position of the crosshair. */
  readonly cursor: Signal<Crosshair | undefined>
}

/** Renders the legend. A click hides or shows a line; a double-click, or a click with a modifier key, shows it alone. */
export function Legend({ stacking, data, hidden, onHide, cursor }: Props): ComponentChild {
  const pointed = cursor.value
  const isUnfolded = useSignal(false)
  const { shown, idle } = legendOrder(data, stacking)
  const toggle = (key: string): void => {
    const next = new Set(data.lines.map((line) => line.key).filter((one) => hidden.has(one)))
    if (!next.delete(key)) next.add(key)
    onHide(next)
  }
  const isolate = (key: string): void => {
    const others = data.lines.map((line) => line.key).filter((other) => other !== key)
    onHide(others.every((other) => hidden.has(other)) ? new Set() : new Set(others))
  }
  return (
    <ul
      class={`legend${data.measure.kind !== 'bytes' ? '' : data.measure.suffix === '' ? ' bytes' : ' bytes rate'}`}
      style={{ '--longest': longest(data.lines.map(({ label }) => label)) }}
    >
      {[...shown, ...(isUnfolded.value ? idle : [])].map((i) => {
        const line = data.lines[i]!
        const color = lineColor(data, i)
        const isDashed = lineDash(data, i) !== undefined
        const index = pointed === undefined ? undefined : sampleAt(data.times, line.values, pointed)
        const isNothing = pointed !== undefined && index === undefined
        const reading = isNothing
          ? showValue(data.measure, null)
          : readingOf(data, stacking, i, index, hidden)
        const old = pointed === undefined ? lazyPart.value?.oldText(data, [line]) : undefined
        return (
          <li key={line.key} class={old === undefined ? undefined : 'old'}>
            <button
              type="button"
              aria-pressed={!hidden.has(line.key)}
              aria-label={`${line.label} ${reading}${old === undefined ? '' : `, ${old}`}`}
              title={`${old === undefined ? '' : `${old}\n`}${line.plot.expr ?? line.info.name}${line.instance === null ? '' : `[${line.instance}]`}\n${line.info.help}`}
              onClick={(event) =>
                event.ctrlKey || event.shiftKey || event.metaKey ? isolate(line.key) : toggle(line.key)
              }
              onDblClick={() => isolate(line.key)}
            >
              <span class={`chip${isDashed ? ' dashed' : ''}`} style={{ background: color }} />
              <Name text={line.label} />
              <span class="value">{reading}</span>
            </button>
          </li>
        )
      })}
      {idle.length > 0 && (
        <li>
          <button
            type="button"
            aria-expanded={isUnfolded.value}
            title="Zero over the whole window"
            onClick={() => (isUnfolded.value = !isUnfolded.value)}
          >
            <span class="idle">{idle.length} idle</span>
          </button>
        </li>
      )}
    </ul>
  )
}

/** Returns the length of the longest name, which sets the column width of a legend. */
export function longest(names: readonly string[]): number {
  return Math.max(1, ...names.map(({ length }) => length))
}
