/** Charts over time drawn by uPlot: lines, areas, stacks and bars. */
import uPlot from 'uplot'
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import type { PlotBox } from '../marks/MarkLayer.tsx'
import type { Frame } from '../time/control.ts'
import type { Chart } from '../view/view.ts'
import { axisX, axisY, MARKS_HEIGHT, naturalRange } from './axis.ts'
import { type Crosshair, crosshairAt, sampleAt } from './crosshair.ts'
import { extentOf } from './envelope.ts'
import { lineColor, lineDash } from './line-style.ts'
import { type GestureEvents, listenToGestures } from './plot-gestures.ts'
import { bandColor, fillBands, seriesOf } from './plot-lines.ts'
import type { SharedScale } from './shared-scale.ts'
import { placeShade } from './span-shade.ts'
import { drawnColumns } from './stack.ts'
import type { Stroke, TimeLook } from './time-look.ts'

/** Callbacks for what the user does with a chart. */
export interface ChartEvents extends GestureEvents {
  /** The crosshair moved; undefined when the pointer left. `isHere`: the pointer is over this chart, others follow it. */
  readonly point: (pointed: Crosshair | undefined, isHere: boolean) => void
  /** An instant was clicked. */
  readonly pin: (at: number) => void
  /** The plot and the marks above it, without axes, are now at this position within the chart's element. */
  readonly placed: (box: PlotBox) => void
}

/** How a chart is drawn. */
export interface ChartLook {
  readonly chart: Chart
  readonly style: TimeLook
  readonly frame: Frame
  /** Keys of lines that are not drawn. */
  readonly hidden: ReadonlySet<string>
  /** Time zone name, '' for the user's own. */
  readonly zone: string
  /** Scale shared with other charts. */
  readonly scale: SharedScale | undefined
}

type Column = readonly (number | null | undefined)[]

type Limits = readonly [low: number | null, high: number | null]

const SYNC_KEY = 'page'
/** Where a crosshair is not shown. */
const HIDDEN = { left: -10, top: -10 }
/** Pixels within which an isolated sample is picked. */
const SLACK = 6

/** Draws one chart into an element of the page. */
export class TimeChart {
  readonly #host: HTMLElement
  readonly #events: ChartEvents
  #plot: uPlot | undefined
  /** Fingerprint of the options of the current plot; a different one needs a new plot. */
  #made = ''
  #look: ChartLook | undefined
  /** The lines drawn individually, which may have bands. */
  #lines: readonly ChartLine[] = []
  #pointed: Crosshair | undefined
  #marked: number | undefined
  #read: number | undefined
  #placed = ''
  #span: Frame | undefined
  /** The line at the pinned instant: an element, because painting all canvases of a page anew takes half a second of processor time. */
  readonly #mark: HTMLElement = document.createElement('div')

  constructor(host: HTMLElement, events: ChartEvents) {
    this.#host = host
    this.#events = events
    this.#mark.className = 'pinned-mark'
    listenToGestures(
      host,
      events,
      () => this.#plot?.over.getBoundingClientRect(),
      () => this.#look!.frame,
    )
  }

  draw(data: ChartData, look: ChartLook): void {
    this.#look = look
    const { stacking, isReversed = false } = look.style
    const shown = data.lines.map((line, i) => ({ line, i })).filter(({ line }) => !look.hidden.has(line.key))
    const made = JSON.stringify([
      look.chart.style,
      look.zone,
      data.limits,
      data.measure,
      shown.map(({ line, i }) => [line.key, lineColor(data, i), lineDash(data, i)]),
    ])
    const columns = drawnColumns(data, look.hidden, stacking)
    if (isReversed) columns.reverse()
    const values = [data.times, ...columns] as unknown as uPlot.AlignedData
    this.#lines = stacking === undefined ? shown.map(({ line }) => line) : []
    const plot = this.#plot
    if (plot === undefined || made !== this.#made) {
      plot?.destroy()
      this.#made = made
      const strokes = shown.map(({ i }) => ({ color: lineColor(data, i), dash: lineDash(data, i) }))
      if (isReversed) strokes.reverse()
      const options = { ...this.#options(data, look, strokes), ...this.#room() }
      this.#plot = new uPlot(options, values, this.#host)
      this.#plot.over.append(this.#mark)
      // uPlot keeps the click that ends a selection from listeners after its own.
      this.#plot.over.addEventListener('click', ({ shiftKey }) => {
        if (this.#pointed !== undefined && !shiftKey) this.#events.pin(this.#pointed.at)
      })
    } else
      plot.batch(() => {
        if (!this.#fits(plot)) plot.setSize(this.#room())
        plot.setData(values, false)
        plot.setScale('x', { min: look.frame.from, max: look.frame.to })
      })
    this.#follow()
  }

  /** Marks the pinned instant; undefined for none. */
  mark(at: number | undefined): void {
    this.#marked = at
    if (this.#plot !== undefined) this.#placeMark(this.#plot)
  }

  /** Moves the crosshair to a time that is read without the mouse; undefined hides it. */
  read(at: number | undefined): void {
    this.#read = at
    if (at === undefined) this.#plot?.setCursor(HIDDEN)
    this.#follow()
  }

  /** Moves the crosshair to the time that is read; the window may have moved. */
  #follow(): void {
    const [at, plot] = [this.#read, this.#plot]
    // A new plot has no scales yet.
    if (at === undefined || plot?.status !== 1) return
    plot.setCursor(at > this.#look!.frame.to ? HIDDEN : { left: plot.valToPos(at, 'x'), top: 0 })
  }

  /** Shades the selected span; undefined for none. */
  shade(span: Frame | undefined): void {
    this.#span = span
    if (this.#plot !== undefined && this.#look !== undefined)
      placeShade(this.#plot.over, span, this.#look.frame)
  }

  /** Redraws the chart if its element has changed size. */
  fit(): void {
    const plot = this.#plot
    if (plot !== undefined && !this.#fits(plot)) plot.setSize(this.#room())
  }

  #room(): { readonly width: number; readonly height: number } {
    return { width: Math.max(80, this.#host.clientWidth), height: Math.max(80, this.#host.clientHeight) }
  }

  #fits({ width, height }: uPlot): boolean {
    const room = this.#room()
    return width === room.width && height === room.height
  }

  /** Removes the chart from the page. */
  destroy(): void {
    this.#plot?.destroy()
    this.#plot = undefined
  }

  /** Redraws with new colours. */
  forget(): void {
    this.#made = ''
  }

  #options(
    data: ChartData,
    look: ChartLook,
    strokes: readonly Stroke[],
  ): Omit<uPlot.Options, 'width' | 'height'> {
    const { stacking, isFromZero = false, bands } = look.style
    const { limits } = data
    const isShare = stacking === 'share'
    const bandColors = strokes.map(bandColor)
    let isZero = false
    const range = (plot: uPlot, low: number | null, high: number | null): uPlot.Range.MinMax => {
      if (limits !== undefined) return [limits[0], limits[1]]
      if (isShare) return [0, 1]
      const [from, to] = plot.series[0]!.idxs ?? [0, plot.data[0].length - 1]
      const own = extentOf(this.#lines, from, to) ?? [low, high]
      const shared = this.#shared(own, data)
      isZero = !shared.some(Boolean)
      return naturalRange(...shared, isFromZero)
    }
    const measure = isShare ? { ...data.measure, kind: 'share' as const } : data.measure
    return {
      legend: { show: false },
      padding: [MARKS_HEIGHT, 18, 0, 0],
      cursor: {
        sync: { key: SYNC_KEY },
        // Charts share the time, not the values.
        y: false,
        drag: { x: true, y: false, setScale: false },
        // uPlot would show all of the data.
        bind: { dblclick: () => () => null },
        points: { show: stacking === undefined },
        dataIdx: (plot, series, closest, moment) => {
          const [times, ...columns] = plot.data
          // uPlot calls this for the times first; the dots of all lines follow the crosshair.
          if (series === 0) {
            const slack = plot.posToVal(SLACK, 'x') - plot.posToVal(0, 'x')
            this.#pointed = crosshairAt(times as readonly number[], columns as readonly Column[], {
              at: moment,
              slack,
            })
            return closest
          }
          const column = columns[series - 1] as Column
          return sampleAt(times as readonly number[], column, this.#pointed!) ?? null
        },
      },
      scales: {
        x: {
          time: true,
          min: look.frame.from,
          max: look.frame.to,
          range: () => [this.#look!.frame.from, this.#look!.frame.to],
        },
        y: { range },
      },
      axes: [axisX(look.zone), axisY(measure, () => isZero)],
      series: [{}, ...strokes.map((stroke, i) => seriesOf(look.style, stroke, i === 0))],
      bands: bands?.(strokes) ?? [],
      hooks: {
        ready: [
          (plot) => {
            plot.root.querySelector('.u-axis')?.classList.add('time-axis')
            this.#follow()
          },
        ],
        drawAxes: [(plot) => fillBands(plot, this.#lines, bandColors)],
        draw: [
          (plot) => {
            this.#placeMark(plot)
            this.#place(plot)
            placeShade(plot.over, this.#span, this.#look!.frame)
          },
        ],
        setCursor: [(plot) => this.#point(plot)],
        setSelect: [(plot) => this.#selected(plot)],
      },
    }
  }

  /** Widens limits to those of the charts beside this one. */
  #shared([low, high]: Limits, { measure }: ChartData): Limits {
    const { scale, chart } = this.#look!
    if (scale === undefined) return [low, high]
    if (low !== null && high !== null) return scale.include(chart.id, measure, [low, high])
    scale.drop(chart.id)
    return [low, high]
  }

  /** Moves the crosshair to the picked sample. uPlot keeps the pointer position, from which it selects spans. */
  #point(plot: uPlot): void {
    const pointed = plot.cursor.idx == null ? undefined : this.#pointed
    const line = plot.over.querySelector<HTMLElement>('.u-cursor-x')
    if (pointed !== undefined && line !== null)
      line.style.transform = `translate(${Math.round(plot.valToPos(pointed.at, 'x'))}px, 0)`
    this.#events.point(pointed, plot.over.matches(':hover'))
  }

  /** Reports the position of the plot when it has changed: the width of the axis depends on its labels. */
  #place({ bbox }: uPlot): void {
    const [left, top, width, height] = [bbox.left, bbox.top, bbox.width, bbox.height].map(
      (length) => length / devicePixelRatio,
    ) as [number, number, number, number]
    const placed = `${left} ${top} ${width} ${height}`
    if (placed === this.#placed) return
    this.#placed = placed
    this.#events.placed({ left, top: top - MARKS_HEIGHT, width, height: height + MARKS_HEIGHT })
  }

  #placeMark(plot: uPlot): void {
    const at = this.#marked
    const { min, max } = plot.scales['x']!
    this.#mark.hidden = at === undefined || at < min! || at > max!
    if (at !== undefined) this.#mark.style.left = `${Math.round(plot.valToPos(at, 'x'))}px`
  }

  #selected(plot: uPlot): void {
    const { left, width } = plot.select
    if (width < 4) return
    this.#events.show(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'))
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  }
}
