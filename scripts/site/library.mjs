/** The pages of the library's entry points, as `npm run docs` makes them. */
import { apiPages } from '../gen-api.mjs'

export function libraryPages() {
  return [...apiPages().pages].map(([name, text]) => [
    `reference/api/${name === 'README.md' ? 'index' : name.replace(/\.md$/, '')}`,
    text,
  ])
}
