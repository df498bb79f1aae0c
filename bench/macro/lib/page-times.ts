/** Time until each page of the charts is drawn after a click on its tab. */
import type { Page } from 'playwright-core'

/** Measures from the next click until all cards in view of a page show values, a list, or a reason why there are none. */
const watchTab = (name: string): string => `void (window.pageDrawn = new Promise((resolve) => {
  let start
  addEventListener('click', () => { start = performance.now() }, { capture: true, once: true })
  const isDrawn = (card) => {
    if (card.querySelector('canvas, .grid-bars, tbody, .problems') !== null) return true
    const empty = card.querySelector('.empty')
    return empty !== null && !empty.textContent.startsWith('Waiting')
  }
  const look = () => {
    const tab = document.querySelector('.pages [aria-current=page]')?.textContent
    const cards = [...document.querySelectorAll('[data-chart]:not([hidden])')]
      .filter((card) => card.getBoundingClientRect().top < innerHeight)
    if (start !== undefined && tab === ${JSON.stringify(name)} && cards.length > 0 && cards.every(isDrawn))
      resolve(performance.now() - start)
    else requestAnimationFrame(look)
  }
  look()
}))`

/** Opens all pages by their tabs, from the last to the first, and returns the milliseconds of each by its name. */
export async function pageTimes(page: Page): Promise<ReadonlyMap<string, number>> {
  const names = await page.locator('.pages a').allTextContents()
  const times = new Map<string, number>()
  for (const name of names.toReversed()) {
    await page.evaluate(watchTab(name))
    await page.locator('.pages').getByText(name, { exact: true }).click()
    times.set(name, (await page.evaluate('window.pageDrawn')) as number)
  }
  return times
}
