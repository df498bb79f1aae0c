/** Time until each page of the charts is drawn after a click on its tab. */
import type { Page } from 'playwright-core'

/** Observation of a page after the click. */
const WATCH_MS = 3000

/**
 * Measures for each card in view the time from the next click until it shows values, a list, or the reason for their absence. The result is that of the
 * last card, or the whole observation if a card still waits at its end. Charts without values, such as the wait times of an idle disk, do
 * not count.
 */
const watchTab = (name: string): string => `void (window.pageDrawn = new Promise((resolve) => {
  let start
  addEventListener('click', () => { start = performance.now() }, { capture: true, once: true })
  const isDrawn = (card) => {
    if (card.querySelector('.grid-bars, tbody, .problems') !== null) return true
    const empty = card.querySelector('.empty')
    if (empty !== null) return !empty.textContent.startsWith('Waiting')
    const values = [...card.querySelectorAll('.legend .value')]
    return card.querySelector('canvas') !== null && (values.length === 0 || values.some(({ textContent }) => /\\d/.test(textContent)))
  }
  const cards = () => [...document.querySelectorAll('[data-chart]:not([hidden])')].filter((card) => card.getBoundingClientRect().top < innerHeight)
  const isWaiting = () => cards().some((card) => card.querySelector('.empty')?.textContent.startsWith('Waiting'))
  const drawnAt = new Map()
  const look = () => {
    const now = performance.now()
    const tab = document.querySelector('.pages [aria-current=page]')?.textContent
    if (start !== undefined && tab === ${JSON.stringify(name)})
      for (const card of cards()) if (!drawnAt.has(card) && isDrawn(card)) drawnAt.set(card, now - start)
    if (now - start > ${WATCH_MS}) resolve(isWaiting() ? now - start : Math.max(0, ...drawnAt.values()))
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
