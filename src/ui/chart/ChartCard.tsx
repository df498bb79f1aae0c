/** One chart on the page: its title and menu, what it draws, its legend, and what is wrong. */
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import type { ChartData } from '../data/chart-data.ts'
import { ChartFeed } from '../data/chart-feed.ts'
import type { Source } from '../data/source.ts'
import { Later, preloadRest, rest } from '../later.tsx'
import { changeChart, every, feeds, panel, shown, sources } from '../page.ts'
import { type Frame, time } from '../time/control.ts'
import { momentText } from '../time/words.ts'
import type { Spread } from '../view/spread.ts'
import { type Chart, fillIn, isList, titleOf } from '../view/view.ts'
import { useInView } from './in-view.ts'
import { Legend } from './Legend.tsx'
import { isElsewhere } from './line-look.ts'
import type { Pointed } from './pointed.ts'
import { type SharedScale, sharedScale } from './shared-scale.ts'
import { TimeView } from './TimeView.tsx'
import { Tip } from './Tip.tsx'
import { Waiting } from './Waiting.tsx'

/** A chart of the view, or what of it is about one source. */
export function ChartCard({ chart, origin, source }: Spread): ComponentChild {
  const recorded = useSignal(0)
  const hidden = useMemo<ReadonlySet<string>>(() => new Set(origin.hidden), [origin.hidden])
  const cursor = useSignal<Pointed | undefined>(undefined)
  const [card, isSeen] = useInView()
  const feed = useMemo(
    () =>
      new ChartFeed(feeds, (key) => (key === undefined ? shown.peek() : sources.value.get(key)), {
        onChange: () => recorded.value++,
        isSeen,
      }),
    [shown.value],
  )
  useEffect(() => () => feeds.release(chart.id), [chart.id])
  const parts = rest.value
  const frame = frameOf(chart)
  recorded.value
  const data = feed.get(chart, frame, every.value)
  // Also where nothing is chosen: what chooses may be in the rest.
  const isSettled = data.lines.length > 0 || !data.isWaiting
  useEffect(() => {
    if (isSettled) preloadRest()
  }, [isSettled])
  const of = source === undefined ? undefined : sources.value.get(source)
  const title = fillIn(titleOf(chart), { host: (of ?? shown.value)?.host ?? '' })
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
      aria-busy={data.isReading}
      data-chart={chart.id}
      ref={card}
    >
      <header class="card-head">
        <h2>
          {title}
          {isOneOfMany && <span class="of">{of.title}</span>}
        </h2>
        {parts !== undefined && <parts.OldMark data={data} />}
        {parts === undefined ? (
          <span class="menu-room" />
        ) : (
          <parts.ChartMenu chart={chart} originId={origin.id} title={name} data={data} hidden={hidden} />
        )}
      </header>
      {data.problems.length > 0 && (
        <ul class={`problems${data.lines.length === 0 ? ' all' : ''}`}>
          {data.problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      {data.lines.length > 0 && (
        <Drawing
          chart={chart}
          data={data}
          source={of}
          hidden={hidden}
          cursor={cursor}
          scale={isOneOfMany ? sharedScale(origin) : undefined}
        />
      )}
      {data.lines.length === 0 && data.problems.length === 0 && (
        <Nothing chart={chart} data={data} source={of} />
      )}
      {chart.legend && !isList(chart.style) && chart.style !== 'heat' && data.lines.length > 0 && (
        <Legend style={chart.style} data={data} hidden={hidden} onHide={setHidden} cursor={cursor} />
      )}
    </section>
  )
}

interface NothingProps {
  readonly chart: Chart
  readonly data: ChartData
  readonly source: Source | undefined
}

/** Why there is nothing to see. */
function Nothing({ chart, data, source }: NothingProps): ComponentChild {
  if (chart.plots.length === 0)
    return (
      <p class="empty">
        <Invitation />
      </p>
    )
  if (data.isWaiting) return <Waiting chart={chart} />
  return <p class="empty">{elsewhere(source)}</p>
}

/** Where to look for values. */
function elsewhere(source: Source | undefined): string {
  if (source?.span === undefined) return 'No values in this time'
  const { start, end } = source.span
  const zone = time.zone.value
  return `No values in this time: the archive is from ${momentText(start, zone)} to ${momentText(end, zone)}, and may not have these metrics`
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

interface DrawingProps extends NothingProps {
  readonly hidden: ReadonlySet<string>
  readonly cursor: Signal<Pointed | undefined>
  readonly scale: SharedScale | undefined
}

/** What a style draws. */
function Drawing({ chart, data, source, hidden, cursor, scale }: DrawingProps): ComponentChild {
  const waiting = <Waiting chart={chart} />
  switch (chart.style) {
    case 'table':
      return <Later until={waiting} draw={({ TableView }) => <TableView chart={chart} data={data} />} />
    case 'grid':
      return (
        <Later
          until={waiting}
          draw={({ GridView }) => <GridView chart={chart} data={data} scale={scale} />}
        />
      )
    case 'heat':
      return (
        <div class="drawing">
          <Later
            until={waiting}
            draw={({ HeatView }) => (
              <HeatView chart={chart} data={data} frame={time.frame.value} scale={scale} />
            )}
          />
          {isElsewhere(data) && <p class="outside">{elsewhere(source)}</p>}
        </div>
      )
    default:
      return (
        <Tip style={chart.style} data={data} hidden={hidden} cursor={cursor}>
          <TimeView
            chart={chart}
            data={data}
            frame={time.frame.value}
            hidden={hidden}
            scale={scale}
            cursor={cursor}
          />
          {isElsewhere(data) && <p class="outside">{elsewhere(source)}</p>}
        </Tip>
      )
  }
}
