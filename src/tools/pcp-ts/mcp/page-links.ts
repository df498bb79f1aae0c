/** Addresses of charts that show what an answer says. docs/how-to/charts.md */
import { toFragment } from '../../../ui/view/share.ts'
import { newId, type Plot } from '../../../ui/view/view.ts'
import type { Window } from './moments.ts'
import type { NamedSource } from './sources.ts'

/** The page of a running instance, and what it shows first. */
export interface PageOf {
  /** `http://localhost:44323/` */
  readonly url: string
  /** Directory of the archives that the page shows before its live values. */
  readonly recordedDir: string
}

/** Most plots of a chart: longer addresses cost more than they are worth. */
const MOST_PLOTS = 5

/** Makes addresses of charts. */
export class PageLinks {
  readonly #page: PageOf | undefined

  /** Without a page there are no addresses. */
  constructor(page: PageOf | undefined) {
    this.#page = page
  }

  /** Returns a line with the address of a chart; undefined if no page shows this source. */
  async chart(
    source: NamedSource,
    plots: readonly Plot[],
    window: Window | undefined,
  ): Promise<string | undefined> {
    const page = this.#page
    const isShown = source.kind === 'archive' ? source.name === page?.recordedDir : source.name === 'local:'
    if (page === undefined || !isShown || plots.length === 0) return undefined
    const chart = { id: newId(), title: '', style: 'plot', legend: true, plots: plots.slice(0, MOST_PLOTS) }
    const fragment = await toFragment({
      view: { name: 'Answer', charts: [chart] },
      ...(window === undefined ? {} : { width: window.to - window.from, end: window.to }),
    })
    return `Chart: ${page.url}#${fragment}`
  }
}
