/** All pages that are made from the sources: path on the site to Markdown. */
import { commandPages } from './commands.mjs'
import { libraryPages } from './library.mjs'
import { metricPages } from './metrics.mjs'

export async function generatedPages() {
  return new Map([...(await commandPages()), ...(await metricPages()), ...libraryPages()])
}
