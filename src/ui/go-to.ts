/** Leads to pages and their charts. */
import { view } from './page.ts'
import { PAGES } from './view/built-in.ts'

/** Shows a page, as its tab does. The address follows. */
export function goToPage(page: string): void {
  const found = PAGES.find((each) => each.page === page)
  if (found !== undefined) view.value = found.view
}

/** Shows a page and scrolls to a chart of it. */
export function goToChart(page: string, chart: string): void {
  goToPage(page)
  // After the page is drawn.
  requestAnimationFrame(() =>
    document.querySelector(`[data-chart="${chart}"]`)?.scrollIntoView({ block: 'center' }),
  )
}
