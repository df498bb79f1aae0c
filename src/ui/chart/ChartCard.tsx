/** One chart on the page: title, menu, drawing, legend and problems. */
import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals'
import type { ComponentChild, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { ChartData } from '../data/chart-data.ts'
import { ChartFeed } from '../data/chart-feed.ts'
import { waitingText } from '../data/live.ts'
import type { Source } from '../data/source.ts'
import { Later, lazyPart, preloadLazyPart } from '../lazy.tsx'
import { changeChart, currentSource, feeds, intervalSec, panel, sources } from '../page.ts'
import { Processes } from '../processes/lazy-processes.tsx'
import { type Frame, time } from '../time/control.ts'
import { formatTime } from '../time/format.ts'
import type { ShownChart } from '../view/spread.ts'
import { type Chart, columnTitle, expandWildcards, titleOf } from '../view/view.ts'
import { withCommands } from './commands.tsx'
import type { Crosshair } from './crosshair.ts'
import { Headline } from './Headline.tsx'
import type { ChartKind, OwnProps, OwnViews } from './kind.ts'
import { kindOf } from './kinds/registry.ts'
import { Legend, longest } from './Legend.tsx'
import { isElsewhere } from './line-style.ts'
import { type SharedScale, sharedScale } from './shared-scale.ts'
import { Tip } from './Tip.tsx'

/** Renders a chart of the view, or its part for one source. */
export function ChartCard({ chart, origin, source }: ShownChart): ComponentChild {
  const recorded = useSignal(0)
  const hidden = useMemo<ReadonlySet<string>>(() => new Set(origin.hidden), [origin.hidden])
  const cursor = useSignal<Crosshair | undefined>(undefined)
  const [card, isSeen] = useInView()
  const feed = useMemo(
    () =>
      new ChartFeed(feeds, (key) => (key === undefined ? currentSource.peek() : sources.value.get(key)), {
        onChange: () => recorded.value++,
        isSeen,
      }),
    [currentSource.value],
  )
  // Unlike an effect, before the subscriptions are sent: otherwise they would be for the previous page's charts too.
  useLayoutEffect(() => () => feeds.release(chart.id), [chart.id])
  const parts = lazyPart.value
  const kind = kindOf(chart.style)
  const frame = frameOf(kind)
  recorded.value
  const data = feed.get(chart, frame, intervalSec.value)
  // Also with nothing chosen, as instance patterns may need the lazily loaded part.
  const isSettled = data.lines.length > 0 || !data.isWaiting
  useEffect(() => {
    if (isSettled) preloadLazyPart()
  }, [isSettled])
  const of = source === undefined ? undefined : sources.value.get(source)
  const shownOf = of ?? currentSource.value
  const title = expandWildcards(titleOf(chart), { host: shownOf?.host ?? '' })
  const isOneOfMany = chart !== origin && of !== undefined
  const name = isOneOfMany ? `${title}, ${of.title}` : title
  const setHidden = (keys: ReadonlySet<string>): void => {
    // Keeps the hidden lines of other sources, whose charts share this origin.
    const own = new Set(data.lines.map(({ key }) => key))
    changeChart(origin.id, { hidden: [...[...hidden].filter((key) => !own.has(key)), ...keys] })
  }
  // Charts without metrics on this host are only shown if they have a hint for the user.
  const isAbsent =
    isSettled && !data.isReading && data.lines.length === 0 && isOptional(chart) && chart.hint === undefined
  return (
    <section
      hidden={isAbsent}
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
        {chart.legend && kind.legend && data.lines.length > 0 && (
          <Headline stacking={kind.stacking} data={data} hidden={hidden} cursor={cursor} />
        )}
        {parts !== undefined && <parts.OldMark data={data} />}
        {parts === undefined ? (
          <span class="menu-room" />
        ) : (
          <parts.ChartMenu
            {...{ chart, data, hidden }}
            originId={origin.id}
            title={name}
            hasMarks={hasMarks(of)}
          />
        )}
      </header>
      {data.problems.length > 0 && (
        <ul class={`problems${data.lines.length === 0 ? ' all' : ''}`}>
          {data.problems.map((problem) => (
            <li key={problem}>{withCommands(problem)}</li>
          ))}
        </ul>
      )}
      {kind.own !== undefined && shownOf !== undefined && (
        <Own kind={kind} chart={chart} source={shownOf} isSeen={isSeen} />
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
      {kind.own === undefined && data.lines.length === 0 && data.problems.length === 0 && (
        <Nothing kind={kind} chart={chart} data={data} source={of} />
      )}
      {chart.legend && kind.legend && data.lines.length > 0 && (
        <Legend stacking={kind.stacking} data={data} hidden={hidden} onHide={setHidden} cursor={cursor} />
      )}
    </section>
  )
}

const OWN_VIEWS: OwnViews = { Processes }

/** Draws a kind that reads its own data. A component, so that its changes do not redraw the card. */
function Own({ kind, ...props }: OwnProps & { readonly kind: ChartKind }): ComponentChild {
  return kind.own!(props, OWN_VIEWS)
}

interface NothingProps {
  readonly kind: ChartKind
  readonly chart: Chart
  readonly data: ChartData
  readonly source: Source | undefined
}

/** Explains why the chart is empty. */
function Nothing({ kind, chart, data, source }: NothingProps): ComponentChild {
  if (chart.plots.length === 0)
    return (
      <p class="empty">
        <Invitation />
      </p>
    )
  if (data.isWaiting) return <Waiting kind={kind} chart={chart} source={source} />
  const hint = isOptional(chart) ? chart.hint : undefined
  return <p class="empty">{hint === undefined ? elsewhere(source) : withCommands(hint)}</p>
}

/** Checks whether a host may lack all metrics of a chart. */
const isOptional = ({ plots }: Chart): boolean =>
  plots.length > 0 && plots.every((plot) => plot.optional === true)

/** Explains which time range has values. */
function elsewhere(source: Source | undefined): string {
  if (source?.span === undefined) return 'No values in this time range'
  const { start, end } = source.span
  const zone = time.zone.value
  return `No values in this time range. The archive covers ${formatTime(start, zone)} to ${formatTime(end, zone)} and may not contain these metrics`
}

/** Invites the user to fill an empty chart. */
function Invitation(): ComponentChild {
  return (
    <>
      No metrics yet.{' '}
      <button type="button" class="link" onClick={() => (panel.value = 'metrics')}>
        Browse metrics
      </button>{' '}
      and add them to this chart.
    </>
  )
}

/** Charts that list the newest values show the present without a start. */
function frameOf({ list }: ChartKind): Frame {
  return list !== undefined && time.mode.value === 'live' ? PRESENT : time.frame.value
}

const PRESENT: Frame = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }

interface DrawingProps extends NothingProps {
  readonly hidden: ReadonlySet<string>
  readonly cursor: Signal<Crosshair | undefined>
  readonly scale: SharedScale | undefined
}

/** Checks whether a chart's own source, if it has one, is the one of the marks. */
const hasMarks = (source: Source | undefined): boolean =>
  source === undefined || source === currentSource.value

/** Draws the chart by its kind. All kinds but lists get a tooltip with the values under the pointer. */
function Drawing({ kind, source, ...own }: DrawingProps): ComponentChild {
  const { data, hidden, cursor, chart } = own
  const parts = lazyPart.value
  const Marks = hasMarks(source) ? parts?.MarkLayer : undefined
  const view = kind.view({ ...own, frame: time.frame.value, oldText: parts?.oldText, Marks }, parts) ?? (
    <Later until={<Waiting kind={kind} chart={chart} source={source} />} />
  )
  if (kind.list !== undefined) return view
  return (
    <Tip stacking={kind.stacking} data={data} hidden={hidden} cursor={cursor}>
      {view}
      {isElsewhere(data) && <p class="outside">{elsewhere(source)}</p>}
    </Tip>
  )
}

type WaitingProps = Omit<NothingProps, 'data'>

/** Placeholder before the first values. It has the final size of the chart, so that the layout does not shift. */
function Waiting({ kind, chart, source }: WaitingProps): ComponentChild {
  const names = chart.plots.map(columnTitle)
  return (
    <>
      <p class={`empty ${kind.list === undefined ? 'plot' : 'list'}`}>
        {waitingText(source ?? currentSource.value)}
      </p>
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

/** Returns a ref and whether its element is in view. Until the browser reports, the element counts as visible. */
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
