/** Addresses of charts that show what an answer says. docs/how-to/charts.md */
import { isSameMeasure, type Measure } from '../../../ui/view/measure.ts'
import { toFragment } from '../../../ui/view/share.ts'
import { type Chart, newId, type Plot } from '../../../ui/view/view.ts'
import type { Window } from './moments.ts'
import type { NamedSource } from './sources.ts'

/** The page of a running instance, and what it shows first. */
export interface PageOf {
  /** `http://localhost:44323/` */
  readonly url: string
  /** Directory of the archives that the page shows before its live values; undefined without recording. */
  readonly recordedDir: string | undefined
}

/** A plot, and the measure that decides which others share its chart. */
export interface MeasuredPlot {
  readonly plot: Plot
  readonly measure: Measure
}

/** Most plots of an address: longer addresses cost more than they are worth. */
const MOST_PLOTS = 5
/** Seconds that the charts of processes show before the instant of the table. */
const BEFORE_SEC = 3600

/** Makes addresses of charts. */
export class PageLinks {
  readonly #page: PageOf | undefined

  /** Without a page there are no addresses. */
  constructor(page: PageOf | undefined) {
    this.#page = page
  }

  /** Returns a line with the address of charts, one for each unit; undefined if no page shows this source. */
  async charts(
    source: NamedSource,
    plots: readonly MeasuredPlot[],
    window: Window | undefined,
  ): Promise<string | undefined> {
    if (plots.length === 0 || !this.#shows(source)) return undefined
    const fragment = await toFragment({
      view: { name: 'Answer', charts: chartsOf(plots.slice(0, MOST_PLOTS)) },
      ...(window === undefined ? {} : { width: window.to - window.from, end: window.to }),
    })
    return this.#line(fragment)
  }

  /** Returns a line with the address of the processes at an instant, in seconds since the epoch; of now without one. */
  processes(source: NamedSource, at: number | undefined): string | undefined {
    if (!this.#shows(source)) return undefined
    if (at === undefined) return this.#line('page=processes')
    const [from, to] = [isoText(at - BEFORE_SEC), isoText(at)]
    return this.#line(`page=processes&from=${from}&to=${to}&at=${to}`)
  }

  #shows({ kind, name }: NamedSource): boolean {
    return kind === 'archive' ? name === this.#page?.recordedDir : name === 'local:'
  }

  #line(fragment: string): string | undefined {
    return this.#page === undefined ? undefined : `Chart: ${this.#page.url}#${fragment}`
  }
}

/** Formats a time, to milliseconds, as the page reads it in addresses. */
const isoText = (seconds: number): string => new Date(Math.round(1000 * seconds)).toISOString()

/** Returns a chart for each unit, as one axis cannot show several. */
function chartsOf(plots: readonly MeasuredPlot[]): readonly Chart[] {
  const groups: MeasuredPlot[][] = []
  for (const each of plots) {
    const group = groups.find(([first]) => isSameMeasure(first!.measure, each.measure))
    if (group === undefined) groups.push([each])
    else group.push(each)
  }
  return groups.map((group) => ({
    id: newId(),
    title: '',
    style: 'plot',
    legend: true,
    plots: group.map(({ plot }) => plot),
  }))
}
