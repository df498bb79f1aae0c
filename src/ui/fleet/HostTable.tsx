/** All hosts in a table, of which only the visible rows are in the document. */
import { useComputed, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { FleetFigure } from '../../archive/fleet/answer.ts'
import { hasModifier } from '../keyboard.ts'
import { showError } from '../page.ts'
import { time } from '../time/control.ts'
import { formatDuration, formatTime } from '../time/format.ts'
import { type Measure, showLimit, showValue } from '../view/measure.ts'
import { countStates, type FleetItem, type FleetRow, grouped, STATE_NAMES } from './rows.ts'
import { Sparkline } from './Sparkline.tsx'
import { StateMark } from './StateMark.tsx'
import { fleet, group, inOrder, means, measure, openHost, order, range } from './state.ts'
import { rowWindow } from './window-of-rows.ts'

/** Heights of rows, in pixels, for a pointer and for a finger; the style sheet has the same. */
const [FINE, COARSE] = [32, 44]
/** A fleet whose newest samples are older than this is one of archives. */
const PRESENT_SEC = 3600

interface Column {
  readonly id: string
  readonly title: string
  readonly hint: string
  /** Are high values of interest, so that they are first? */
  readonly isDescending: boolean
  readonly isNumber: boolean
}

/** Opens a host, or shows an error if it has no archive. */
export function open(row: FleetRow, at?: number): void {
  if (!openHost(row, at)) showError(new Error(`${row.key} has no archive for this time; choose a later time`))
}

/** Renders the table. Arrow keys move between hosts, a click opens one. */
export function HostTable(): ComponentChild {
  const box = useRef<HTMLDivElement>(null)
  const rowHeight = matchMedia('(pointer: coarse)').matches ? COARSE : FINE
  const at = useSignal({ scrolled: 0, height: 600 })
  /** Item that gets the focus once it is drawn. */
  const wanted = useRef<number | undefined>(undefined)
  const items = useComputed(() => grouped(inOrder.value, group.value)).value
  const { figures = [], seen } = fleet.value ?? {}
  const columns = columnsOf(figures, seen?.rule ?? '', range.value?.title ?? 'Metric')
  useEffect(() => {
    const of = box.current!
    const look = (): void => {
      const { scrollTop: scrolled, clientHeight: height } = of
      // It may have left the page meanwhile.
      if (height > 0) at.value = { scrolled, height }
    }
    const observer = new ResizeObserver(look)
    observer.observe(of)
    of.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      of.removeEventListener('scroll', look)
    }
  }, [])
  useLayoutEffect(() => {
    if (wanted.current === undefined) return
    const button = box.current!.querySelector<HTMLElement>(`[data-item="${wanted.current}"]`)
    if (button === null) return
    wanted.current = undefined
    button.focus({ preventScroll: true })
  })
  const { first, end, above, below } = rowWindow(items.length, rowHeight, at.value.scrolled, at.value.height)
  const move = (event: KeyboardEvent): void => {
    const from = Number((event.target as HTMLElement).dataset['item'] ?? Number.NaN)
    const next = nextItem(items, from, event.key)
    if (next === undefined || hasModifier(event)) return
    event.preventDefault()
    event.stopPropagation()
    wanted.current = next
    const { scrollTop, clientHeight } = box.current!
    const top = next * rowHeight
    if (top < scrollTop) box.current!.scrollTop = top
    else if (top + 2 * rowHeight > scrollTop + clientHeight)
      box.current!.scrollTop = top + 2 * rowHeight - clientHeight
    at.value = { scrolled: box.current!.scrollTop, height: clientHeight }
  }
  return (
    <section class="card fleet-hosts" aria-label="Hosts">
      <div class="fleet-scroll" ref={box}>
        <table aria-rowcount={items.length + 1} aria-label="Hosts">
          <thead>
            <tr>
              {columns.map((column) => (
                <Head key={column.id} {...column} />
              ))}
            </tr>
          </thead>
          <tbody>
            {above > 0 && <tr class="gap" style={{ height: `${above}px` }} />}
            {items
              .slice(first, end)
              .map((item, i) =>
                item.kind === 'group' ? (
                  <GroupRow key={`group ${item.title}`} item={item} index={first + i} span={columns.length} />
                ) : (
                  <HostRow
                    key={item.row.key}
                    row={item.row}
                    index={first + i}
                    figures={figures}
                    onKey={move}
                  />
                ),
              )}
            {below > 0 && <tr class="gap" style={{ height: `${below}px` }} />}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function columnsOf(figures: readonly FleetFigure[], seen: string, metric: string): Column[] {
  return [
    { id: 'state', title: 'State', hint: 'The worst of all checks', isDescending: true, isNumber: false },
    { id: 'name', title: 'Host', hint: '', isDescending: false, isNumber: false },
    { id: 'last', title: 'Last sample', hint: seen, isDescending: false, isNumber: true },
    ...figures.map((figure) => ({
      ...{ id: figure.id, title: figure.title, isDescending: true, isNumber: true },
      hint: `${figure.rule}: warning from ${levelOf(figure, figure.warn)}, critical from ${levelOf(figure, figure.bad)}`,
    })),
    {
      id: 'metric',
      title: `${metric} over time`,
      hint: 'Mean and course of the chosen metric over the window',
      ...{ isDescending: true, isNumber: true },
    },
  ]
}

function Head({ id, title, hint, isDescending, isNumber }: Column): ComponentChild {
  const { column, isDescending: isDown } = order.value
  const isOn = column === id
  return (
    <th
      scope="col"
      class={`column-${id}${isNumber ? ' number' : ''}`}
      aria-sort={isOn ? (isDown ? 'descending' : 'ascending') : undefined}
    >
      <button
        type="button"
        title={hint}
        onClick={() => (order.value = { column: id, isDescending: isOn ? !isDown : isDescending })}
      >
        {title}
      </button>
    </th>
  )
}

interface GroupProps {
  readonly item: Extract<FleetItem, { kind: 'group' }>
  readonly index: number
  readonly span: number
}

function GroupRow({ item, index, span }: GroupProps): ComponentChild {
  return (
    <tr class="fleet-group" aria-rowindex={index + 2}>
      <th scope="rowgroup" colSpan={span}>
        <span class="fleet-group-name">{item.title}</span>{' '}
        {item.rows.length === 1 ? '1 host' : `${item.rows.length} hosts`}
        {countStates(item.rows).map(([state, count]) => (
          <span key={state} class="fleet-count">
            <StateMark state={state} /> {count} <span class="unseen">{STATE_NAMES[state]}</span>
          </span>
        ))}
      </th>
    </tr>
  )
}

interface RowProps {
  readonly row: FleetRow
  readonly index: number
  readonly figures: readonly FleetFigure[]
  readonly onKey: (event: KeyboardEvent) => void
}

function HostRow({ row, index, figures, onKey }: RowProps): ComponentChild {
  const zone = time.zone.value
  const mean = means.value.get(row.key)
  const at = fleet.value?.at ?? 0
  return (
    <tr class={`fleet-row ${row.state}`} aria-rowindex={index + 2}>
      <td class="column-state">
        <StateMark state={row.state} /> <span class="state-text">{STATE_NAMES[row.state]}</span>
      </td>
      <th scope="row" class="column-name">
        <button
          type="button"
          class="link"
          data-item={index}
          title={labelsText(row)}
          onClick={() => open(row)}
          onKeyDown={onKey}
        >
          {row.key}
        </button>
      </th>
      <td class="number column-last" title={row.last === null ? '' : formatTime(row.last, zone)}>
        {row.last === null ? '–' : agoText(row.last, at)}
      </td>
      {figures.map((figure) => (
        <td key={figure.id} class={`number figure ${row.states[figure.id] ?? 'unknown'}`}>
          <FigureValue figure={figure} row={row} />
        </td>
      ))}
      <td class="number column-metric">
        <Sparkline host={row.key} />
        <span class="fleet-mean">{showValue(measure.value, mean)}</span>
      </td>
    </tr>
  )
}

function FigureValue({
  figure,
  row,
}: {
  readonly figure: FleetFigure
  readonly row: FleetRow
}): ComponentChild {
  const value = row.values[figure.id] ?? null
  const state = row.states[figure.id] ?? 'unknown'
  if (value === null)
    return (
      <span title={unknownText(row)}>
        –<span class="unseen">unknown</span>
      </span>
    )
  return (
    <>
      {state !== 'ok' && <StateMark state={state} isAlone />} {showValue(measureOfFigure(figure), value)}
    </>
  )
}

/** Explains a missing figure. */
function unknownText({ state, source }: FleetRow): string {
  if (source !== undefined)
    return 'not recorded, and no live value: no answer, too few samples, or a time in the past'
  return state === 'stale' ? 'stale: no current value' : 'not recorded, or too few samples'
}

function measureOfFigure({ unit }: Pick<FleetFigure, 'unit'>): Measure {
  return { kind: unit, factor: 1, suffix: '' }
}

function levelOf(figure: FleetFigure, value: number): string {
  return showLimit(measureOfFigure(figure), value)
}

/** Formats the age of a sample at a time, which is in the past for archives. */
function agoText(last: number, at: number): string {
  if (at - last >= 1) return `${formatDuration(at - last)} ago`
  return Date.now() / 1000 - at < PRESENT_SEC ? 'now' : 'at the end'
}

function labelsText({ labels }: FleetRow): string {
  return [...labels].map(([name, value]) => `${name}=${value}`).join('\n')
}

/** Returns the host to which a key moves the focus; undefined for other keys, and at the ends. */
function nextItem(items: readonly FleetItem[], from: number, key: string): number | undefined {
  if (Number.isNaN(from)) return undefined
  const step = { ArrowDown: 1, ArrowUp: -1, Home: 1, End: -1 }[key]
  if (step === undefined) return undefined
  const isEdge = key === 'Home' || key === 'End'
  let next = isEdge ? (step > 0 ? 0 : items.length - 1) : from + step
  while (items[next]?.kind === 'group') next += step
  return items[next] === undefined ? undefined : next
}
