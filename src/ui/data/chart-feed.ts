/** Assembles what one chart draws: live and recorded values of its plots in a time window, on one time axis. */
import { firstWord } from '../../model/instance-name.ts'
import { kindOf } from '../chart/kinds/registry.ts'
import type { Frame } from '../time/control.ts'
import { asShare, isSameMeasure, type Measure, measureOf } from '../view/measure.ts'
import { type Chart, columnTitle, hostOf, isChosen, legendOf, type Plot } from '../view/view.ts'
import type { ChartData, ChartLine, SourceEnd } from './chart-data.ts'
import type { Feeds } from './feeds.ts'
import { deriveOf } from './feeds.ts'
import { fillGaps, type Gap } from './gaps.ts'
import { type ChartWatcher, History } from './history.ts'
import { instanceNames } from './instance-names.ts'
import { align, cut, joined, type Line, mapColumns } from './line.ts'
import { RECORDED_SEC, recordedEnd, togetherFrom } from './live-start.ts'
import type { LiveStore } from './live-store.ts'
import { isDiscrete, isFailure, type MetricFailure, type MetricInfo } from './responses.ts'
import type { Source } from './source.ts'

/** Maximum number of lines in a chart; more cannot be distinguished. */
const MOST_LINES = 64
/** In archives, lists show only values that are not older than this. */
const RECENT_SEC = 1800

/** Assembles the data of one chart and keeps its pending requests. */
export class ChartFeed {
  readonly #feeds: Feeds
  readonly #sources: (key: string | undefined) => Source | undefined
  readonly #watcher: ChartWatcher
  readonly #histories = new Map<string, History>()

  /** `sources` finds a source by key; without a key, the current source of the page. */
  constructor(feeds: Feeds, sources: (key: string | undefined) => Source | undefined, watcher: ChartWatcher) {
    this.#feeds = feeds
    this.#sources = sources
    this.#watcher = watcher
  }

  /** Returns the data available now, and requests the missing values. */
  get(chart: Chart, frame: Frame, every: number): ChartData {
    const bySource = new Map<string | undefined, Plot[]>()
    for (const plot of chart.plots) {
      const known = bySource.get(plot.source)
      if (known === undefined) bySource.set(plot.source, [plot])
      else known.push(plot)
    }
    const isMixed = bySource.size > 1
    const state: Assembly = {
      isMixed,
      lines: [],
      problems: new Set(),
      ends: new Map(),
      stores: new Set(),
      histories: new Set(),
      unknown: 0,
      isWaiting: false,
      isReading: false,
      measure: undefined,
    }
    for (const [key, plots] of bySource) {
      const source = this.#sources(key)
      if (source !== undefined) this.#addSource(state, source, plots, { chart, frame, every })
      else if (key !== undefined) state.problems.add(`${key} is not open here`)
      else state.isWaiting = true // until the server has sent its configuration
    }
    this.#feeds.release(chart.id, state.stores)
    // Drops requests from before the chart was edited.
    for (const [key, history] of this.#histories)
      if (!state.histories.has(history)) this.#histories.delete(key)
    const hasNone = state.unknown > 0 && state.unknown === chart.plots.length
    if (hasNone) {
      state.problems.clear()
      state.problems.add(absence(chart))
    }
    const { most = MOST_LINES, stacking } = kindOf(chart.style)
    if (state.lines.length > most) {
      state.problems.add(`${state.lines.length - most} smaller series hidden; filter instances`)
      const chosen = largest(state.lines, most)
      const rest = stacking === 'share' ? state.lines.filter((line) => !chosen.includes(line)) : []
      state.lines.splice(0, Infinity, ...chosen, ...rest)
    }
    const { times, lines: columns } = align(state.lines.map(({ line }) => line))
    const measure = state.measure ?? { kind: 'number', factor: 1, suffix: '' }
    const all = state.lines.map(({ line, factor, of, label, ...rest }, i) => ({
      ...rest,
      label: isMixed ? `${of} ${label}` : label,
      instance: line.instance,
      ...mapColumns(columns[i]!, (column) =>
        factor === 1 ? column : column.map((value) => (value == null ? value : value * factor)),
      ),
    }))
    const heads = new Map(
      chart.plots.map((plot) => {
        const of = isMixed ? `${this.#sources(plot.source)?.title ?? plot.source} ` : ''
        return [plot, `${of}${columnTitle(plot)}`]
      }),
    )
    const [low, high] = chart.scale ?? [0, 0]
    // Limits from a link or a view file may be empty.
    const limits = low < high ? ([low * measure.factor, high * measure.factor] as const) : undefined
    return {
      frame,
      times,
      lines: all.slice(0, most),
      rest: all.slice(most),
      heads,
      measure,
      isMixed,
      limits,
      ends: state.ends,
      problems: [...state.problems],
      hasNone,
      isWaiting: state.isWaiting,
      isReading: state.isReading,
    }
  }

  #addSource(
    state: Assembly,
    source: Source,
    plots: readonly Plot[],
    { chart, frame, every }: ShownChart,
  ): void {
    let live: LiveStore | undefined
    if (source.span === undefined) {
      const { store, version } = this.#feeds.setNeeds(chart, hostOf(source.key)!, chart.every ?? every, plots)
      version.value // subscribes the caller to new values
      live = store
      state.stores.add(store)
      // A rate needs two samples.
      if (live.problem === undefined && live.isExpecting && !live.isRunning) state.isWaiting = true
    }
    state.ends.set(plots[0]!.source, endOf(source, live, chart.every ?? every))
    const { stacking, list } = kindOf(chart.style)
    const isAligned = stacking !== undefined
    const history = this.#historyOf(state, source, plots, { isAligned })
    const isShort = list !== undefined
    const isLive = (live?.span?.start ?? Infinity) <= frame.to
    const { to, ...end } = recordedEnd(live, plots, frame)
    const from = !isShort ? frame.from : isLive ? to : Math.max(frame.from, to - RECENT_SEC)
    const width = isShort ? to - from : frame.to - frame.from
    const holes = isShort ? [] : holesIn(live, frame)
    const missed = this.#missed(state, source, plots, { holes, frame, isAligned })
    const wanted = { from, to, width, ...end }
    const together =
      isAligned && live !== undefined
        ? togetherFrom(live, plots, (metric) => history?.get(metric, wanted)?.lines ?? [])
        : Number.NEGATIVE_INFINITY
    for (const plot of plots) {
      const recorded = history?.get(plot.metric, wanted)
      const outcome = live?.outcome(plot.metric) ?? recorded?.outcome
      if (outcome === undefined)
        state.isWaiting ||= (live !== undefined && live.problem === undefined) || history?.isAsking === true
      else if (isFailure(outcome)) {
        if (isUnknown(outcome)) state.unknown++
        if (plot.optional !== true) tell(state, source, `${nameOf(plot)}: ${sentence(outcome)}`)
      } else {
        const own = (live?.lines(plot.metric) ?? []).map((line) => cut(line, together, Infinity, 0))
        const sampling = { every: live?.every ?? 0, isDiscrete: isDiscrete(outcome) }
        const lines = merged(own, recorded?.lines ?? [], (line, earlier) => joined(earlier, line, sampling))
        const whole = merged(lines, missed(plot.metric), (line, other) => fillGaps(line, other, holes))
        addPlot(state, source, plot, outcome, shownLines(whole, plot, frame, isShort), chart)
        const refusal = live?.refusal(plot.metric)
        if (refusal !== undefined && plot.optional !== true)
          tell(state, source, `${nameOf(plot)}: ${refusal}`)
      }
    }
    if (history?.problem !== undefined && live === undefined) tell(state, source, history.problem)
    if (history?.isAsking !== true) return
    state.isReading = true
    if (state.lines.length === 0) state.isWaiting = true
  }

  /** Returns the recorded values of a metric in the gaps of its live values. */
  #missed(
    state: Assembly,
    source: Source,
    plots: readonly Plot[],
    {
      holes,
      frame: { from, to },
      isAligned,
    }: { readonly holes: readonly Gap[]; readonly frame: Frame; readonly isAligned: boolean },
  ): (metric: string) => readonly Line[] {
    const [first, last] = [holes[0], holes.at(-1)]
    if (first === undefined || last === undefined) return () => []
    const history = this.#historyOf(state, source, plots, { isAligned, use: 'holes' })
    const end = last.end + (RECORDED_SEC.find((wait) => last.end + wait <= to) ?? 0)
    // After a long absence, only the shown part is needed.
    const wanted = {
      from: Math.max(first.start, from),
      to: Math.min(end, to),
      width: Math.min(end - first.start, to - from),
      isFixed: end <= to,
    }
    return (metric) => history?.get(metric, wanted)?.lines ?? []
  }

  #historyOf(
    state: Assembly,
    source: Source,
    plots: readonly Plot[],
    { isAligned, use = '' }: { readonly isAligned: boolean; readonly use?: string },
  ): History | undefined {
    if (source.range === undefined) return undefined
    const names = [...new Set(plots.map(({ metric }) => metric))]
    const key = `${source.key} ${names.join()} ${use} ${isAligned}`
    let history = this.#histories.get(key)
    // Another source may have got the key, e.g. files of the same name.
    if (history?.source !== source) {
      history = new History(source, names, deriveOf(plots), this.#watcher, isAligned)
      this.#histories.set(key, history)
    }
    state.histories.add(history)
    return history
  }
}

/** Records a problem, with its source if the chart has several. */
function tell({ isMixed, problems }: Assembly, { title }: Source, problem: string): void {
  problems.add(isMixed ? `${title}: ${problem}` : problem)
}

/** Returns the last line of a message; errors in expressions take several lines, which point at the mistake. */
function sentence({ message, code }: MetricFailure): string {
  return code === 'PM_ERR_NAME' ? 'not available here' : message.trimEnd().split('\n').at(-1)!
}

function isUnknown({ code, reason }: MetricFailure): boolean {
  return code === 'PM_ERR_NAME' || code === 'PM_ERR_PMID_LOG' || reason === 'unknown-operand'
}

/** Explains that a source has none of the metrics of a chart. */
function absence({ plots, hint }: Chart): string {
  if (hint !== undefined) return hint
  if (plots.every((plot) => plot.optional === true)) return 'Not available here'
  return `None of these metrics is available here: ${[...new Set(plots.map(nameOf))].join(', ')}`
}

const nameOf = ({ metric, expr }: Plot): string => expr ?? metric

/** Returns the lines with the largest absolute values, in their original order. */
function largest<T extends { readonly line: Line }>(lines: readonly T[], most: number): T[] {
  const peaks = lines.map(({ line: { values } }) => {
    let peak = 0
    for (const value of values) if (value != null && Math.abs(value) > peak) peak = Math.abs(value)
    return peak
  })
  const chosen = [...lines.keys()].sort((a, b) => peaks[b]! - peaks[a]!).slice(0, most)
  return chosen.sort((a, b) => a - b).map((i) => lines[i]!)
}

const NATURAL = new Intl.Collator('en', { numeric: true })

interface ShownChart {
  readonly chart: Chart
  readonly frame: Frame
  readonly every: number
}

interface Assembly {
  readonly isMixed: boolean
  readonly lines: (Omit<ChartLine, 'values' | 'low' | 'high' | 'instance'> & {
    /** Title of the line's source. */
    readonly of: string
    readonly line: Line
    readonly factor: number
  })[]
  readonly problems: Set<string>
  readonly ends: Map<string | undefined, SourceEnd>
  readonly stores: Set<LiveStore>
  readonly histories: Set<History>
  /** Number of plots whose metric the source does not have. */
  unknown: number
  isWaiting: boolean
  isReading: boolean
  measure: Measure | undefined
}

function endOf({ span }: Source, live: LiveStore | undefined, every: number): SourceEnd {
  const at = span?.end ?? live?.span?.end ?? Number.POSITIVE_INFINITY
  return { at, quietSec: () => live?.quietSec ?? 0, every: live === undefined ? 0 : every }
}

/** Returns the gaps in the live values within a window. */
function holesIn(live: LiveStore | undefined, { from, to }: Frame): readonly Gap[] {
  return live?.holes.filter(({ start, end }) => end > from && start < to) ?? []
}

/** Merges lines with others of the same instances; lines without a counterpart are kept. */
function merged(
  lines: readonly Line[],
  others: readonly Line[],
  put: (line: Line | undefined, other: Line) => Line,
): Line[] {
  const byInstance = new Map(lines.map((line) => [line.instance, line]))
  for (const other of others) byInstance.set(other.instance, put(byInstance.get(other.instance), other))
  return [...byInstance.values()]
}

/** Returns the lines of a plot's instances within a window, ordered by name. */
function shownLines(lines: readonly Line[], plot: Plot, { from, to }: Frame, isShort: boolean): Line[] {
  return lines
    .filter(({ instance }) => instance === null || isChosen(plot.instances, instance))
    .map((line) => (isShort ? upTo(cut(line, from, to), to) : cut(line, from, to)))
    .filter(({ values }) => values.length > 0)
    .sort((a, b) => NATURAL.compare(a.instance ?? '', b.instance ?? ''))
}

/** Cuts samples after `to`, which lists do not need. */
function upTo(line: Line, to: number): Line {
  const { times, instance } = line
  if (times.length === 0 || times.at(-1)! <= to) return line
  return { ...mapColumns(line, (column) => column.slice(0, -1)), instance, times: times.slice(0, -1) }
}

/** Returns the first words that several names have. */
function sharedWords(names: readonly string[]): ReadonlySet<string> {
  const words = new Set<string>()
  const shared = new Set<string>()
  for (const word of names.map(firstWord)) (words.has(word) ? shared : words).add(word)
  return shared
}

function addPlot(
  state: Assembly,
  source: Source,
  plot: Plot,
  info: MetricInfo,
  lines: readonly Line[],
  { style, unit }: Chart,
): void {
  const measure = asShare(measureOf(info.units, info.sem), plot.unit ?? unit)
  state.measure ??= measure
  const { hasOwnUnits = false } = kindOf(style)
  if (!hasOwnUnits && !isSameMeasure(state.measure, measure)) {
    tell(state, source, `${nameOf(plot)}: units differ from the rest of the chart`)
    return
  }
  if (info.type === 'string' || info.type === 'aggregate' || info.type.endsWith('event')) {
    tell(state, source, `${nameOf(plot)}: not numeric`)
    return
  }
  const names = instanceNames(source, info.indom)?.value
  const fullName = ({ instance }: Line): string => names?.get(instance ?? '') ?? instance ?? ''
  const shared = plot.legend?.includes('%i') ? sharedWords(lines.map(fullName)) : undefined
  for (const line of lines) {
    const name = names?.get(line.instance ?? '')
    const full = fullName(line)
    state.lines.push({
      key: `${plot.source ?? ''} ${plot.metric} ${line.instance ?? ''}`,
      label: legendOf(
        plot,
        source.host,
        line.instance === null ? undefined : full,
        shared?.has(firstWord(full)),
      ),
      ...(name === undefined ? {} : { name }),
      of: source.title,
      plot,
      info,
      line,
      factor: hasOwnUnits ? 1 : measure.factor,
    })
  }
}
