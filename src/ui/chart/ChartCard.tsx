/** One chart on the page: its title and menu, what it draws, its legend, and what is wrong. */
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { type ChartData, ChartFeed } from '../data/chart-data.ts'
import type { Source } from '../data/source.ts'
import {
  changeChart,
  complain,
  editing,
  every,
  feeds,
  moveChart,
  panel,
  removeChart,
  shown,
  sources,
} from '../page.ts'
import { Icon } from '../panel/Icon.tsx'
import { type Frame, time } from '../time/control.ts'
import { momentText } from '../time/words.ts'
import type { Spread } from '../view/spread.ts'
import { type Chart, fillIn } from '../view/view.ts'
import { toCsv } from './csv.ts'
import { download, toPng } from './export.ts'
import { fileName } from './file-name.ts'
import { GridView } from './GridView.tsx'
import { HeatView } from './HeatView.tsx'
import { Legend } from './Legend.tsx'
import { toSvg } from './svg.ts'
import { TableView } from './TableView.tsx'
import { TimeView } from './TimeView.tsx'
import { isList } from './table-rows.ts'

/** A chart of the view, or what of it is about one source. */
export function ChartCard({ chart, origin, source }: Spread): ComponentChild {
  const recorded = useSignal(0)
  const hidden = useMemo<ReadonlySet<string>>(() => new Set(origin.hidden), [origin.hidden])
  const cursor = useSignal<number | undefined>(undefined)
  const feed = useMemo(
    () =>
      new ChartFeed(
        feeds,
        (key) => (key === undefined ? shown.peek() : sources.value.get(key)),
        () => recorded.value++,
      ),
    [shown.value],
  )
  useEffect(() => () => feeds.release(chart.id), [chart.id])
  const frame = frameOf(chart)
  recorded.value
  const data = feed.get(chart, frame, every.value)
  const of = source === undefined ? undefined : sources.value.get(source)
  const title = fillIn(chart.title, { host: (of ?? shown.value)?.host ?? '' })
  const isOneOfMany = chart !== origin && of !== undefined
  const name = isOneOfMany ? `${title}, ${of.title}` : title
  const setHidden = (keys: ReadonlySet<string>): void => {
    // Another source's chart of the same has lines of its own.
    const own = new Set(data.lines.map(({ key }) => key))
    changeChart(origin.id, { hidden: [...[...hidden].filter((key) => !own.has(key)), ...keys] })
  }
  return (
    <section
      class={`card${chart.wide ? ' wide' : ''} style-${chart.style}`}
      aria-label={name}
      data-chart={chart.id}
    >
      <header class="card-head">
        <h2>
          {title}
          {isOneOfMany && <span class="of">{of.title}</span>}
        </h2>
        <ChartMenu chart={chart} originId={origin.id} title={name} data={data} hidden={hidden} />
      </header>
      {data.problems.length > 0 && (
        <ul class="problems">
          {data.problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      {data.lines.length > 0 && <Drawing chart={chart} data={data} hidden={hidden} cursor={cursor} />}
      {data.lines.length === 0 && data.problems.length === 0 && (
        <p class="empty">{chart.plots.length === 0 ? <Invitation /> : emptyText(data, of)}</p>
      )}
      {chart.legend && !isList(chart.style) && chart.style !== 'heat' && (
        <Legend style={chart.style} data={data} hidden={hidden} onHide={setHidden} cursor={cursor} />
      )}
    </section>
  )
}

/** Why there is nothing to see. */
function emptyText({ isWaiting }: ChartData, source: Source | undefined): string {
  if (isWaiting) return 'Waiting for values …'
  if (source?.span === undefined) return 'No values in this time'
  const zone = time.zone.value
  return `No values in this time: the archive is from ${momentText(source.span.start, zone)} to ${momentText(source.span.end, zone)}, and may not have these metrics`
}

/** What to do with a chart that has nothing in it. */
function Invitation(): ComponentChild {
  return (
    <>
      Nothing in it yet.{' '}
      <button type="button" class="link" onClick={() => (panel.value = 'metrics')}>
        Choose metrics
      </button>{' '}
      and draw them here.
    </>
  )
}

/** Lists of the newest values have no time that passes. */
function frameOf({ style }: Chart): Frame {
  return isList(style) && time.mode.value === 'live' ? PRESENT : time.frame.value
}

const PRESENT: Frame = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }

interface DrawingProps {
  readonly chart: Chart
  readonly data: ChartData
  readonly hidden: ReadonlySet<string>
  readonly cursor: Signal<number | undefined>
}

/** What a style draws. */
function Drawing({ chart, data, hidden, cursor }: DrawingProps): ComponentChild {
  switch (chart.style) {
    case 'table':
      return <TableView chart={chart} data={data} />
    case 'grid':
      return <GridView data={data} />
    case 'heat':
      return <HeatView chart={chart} data={data} frame={time.frame.value} />
    default:
      return <TimeView chart={chart} data={data} frame={time.frame.value} hidden={hidden} cursor={cursor} />
  }
}

interface MenuProps {
  readonly chart: Chart
  /** Id of the chart in the view. */
  readonly originId: string
  readonly title: string
  readonly data: ChartData
  readonly hidden: ReadonlySet<string>
}

function ChartMenu({ chart, originId, title, data, hidden }: MenuProps): ComponentChild {
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
    <details class="menu">
      <summary aria-label={`Menu of ${title}`}>
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

/** Closes the menu a button is in. */
function closing(action: () => void): (event: MouseEvent) => void {
  return ({ currentTarget }) => {
    ;(currentTarget as HTMLElement).closest('details')?.removeAttribute('open')
    action()
  }
}
