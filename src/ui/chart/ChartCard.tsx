/** One chart on the page: its title and menu, what it draws, its legend, and what is wrong. */
import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals'
import type { ComponentChild, RefObject } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { ChartData } from '../data/chart-data.ts'
import { ChartFeed } from '../data/chart-feed.ts'
import type { Source } from '../data/source.ts'
import { Later, preloadRest, rest } from '../later.tsx'
import { changeChart, every, feeds, panel, shown, sources } from '../page.ts'
import { type Frame, time } from '../time/control.ts'
import { momentText } from '../time/words.ts'
import type { Spread } from '../view/spread.ts'
import { type Chart, columnTitle, fillIn, titleOf } from '../view/view.ts'
import type { ChartKind } from './kind.ts'
import { kindOf } from './kinds/registry.ts'
import { Legend, longest } from './Legend.tsx'
import { isElsewhere } from './line-look.ts'
import type { Pointed } from './pointed.ts'
import { type SharedScale, sharedScale } from './shared-scale.ts'
import { Tip } from './Tip.tsx'

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
  const kind = kindOf(chart.style)
  const frame = frameOf(kind)
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
          kind={kind}
          chart={chart}
          data={data}
          source={of}
          hidden={hidden}
          cursor={cursor}
          scale={isOneOfMany ? sharedScale(origin) : undefined}
        />
      )}
      {data.lines.length === 0 && data.problems.length === 0 && (
        <Nothing kind={kind} chart={chart} data={data} source={of} />
      )}
      {chart.legend && kind.legend && data.lines.length > 0 && (
        <Legend stacking={kind.stacking} data={data} hidden={hidden} onHide={setHidden} cursor={cursor} />
      )}
    </section>
  )
}

interface NothingProps {
  readonly kind: ChartKind
  readonly chart: Chart
  readonly data: ChartData
  readonly source: Source | undefined
}

/** Why there is nothing to see. */
function Nothing({ kind, chart, data, source }: NothingProps): ComponentChild {
  if (chart.plots.length === 0)
    return (
      <p class="empty">
        <Invitation />
      </p>
    )
  if (data.isWaiting) return <Waiting kind={kind} chart={chart} />
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
function frameOf({ list }: ChartKind): Frame {
  return list !== undefined && time.mode.value === 'live' ? PRESENT : time.frame.value
}

const PRESENT: Frame = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }

interface DrawingProps extends NothingProps {
  readonly hidden: ReadonlySet<string>
  readonly cursor: Signal<Pointed | undefined>
  readonly scale: SharedScale | undefined
}

/** What its kind draws; a list stands for itself, all others have the pointer's readings over them. */
function Drawing({ kind, source, ...own }: DrawingProps): ComponentChild {
  const { data, hidden, cursor, chart } = own
  const parts = rest.value
  const view = kind.view({ ...own, frame: time.frame.value, oldText: parts?.oldText }, parts) ?? (
    <Later until={<Waiting kind={kind} chart={chart} />} />
  )
  if (kind.list !== undefined) return view
  return (
    <Tip stacking={kind.stacking} data={data} hidden={hidden} cursor={cursor}>
      {view}
      {isElsewhere(data) && <p class="outside">{elsewhere(source)}</p>}
    </Tip>
  )
}

interface WaitingProps {
  readonly kind: ChartKind
  readonly chart: Chart
}

/** A chart before its first values: as large as it is going to be, so that nothing moves when they come. */
function Waiting({ kind, chart }: WaitingProps): ComponentChild {
  const names = chart.plots.map(columnTitle)
  return (
    <>
      <p class={`empty ${kind.list === undefined ? 'plot' : 'list'}`}>Waiting for values …</p>
      {chart.legend && kind.legend && (
        <ul class="legend" style={{ '--longest': longest(names) }} aria-hidden="true">
          {Array.from(names, (_, i) => (
            <li key={i} />
          ))}
        </ul>
      )}
    </>
  )
}

/** Whether an element is in view, and the reference it has to get. Until the browser has said so, it counts as seen. */
function useInView(): readonly [RefObject<HTMLElement | null>, ReadonlySignal<boolean>] {
  const element = useRef<HTMLElement>(null)
  const isSeen = useSignal(true)
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      isSeen.value = entries.at(-1)!.isIntersecting
    })
    observer.observe(element.current!)
    return () => observer.disconnect()
  }, [])
  return [element, isSeen]
}
