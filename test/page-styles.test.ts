/** The style sheets of the page: styles of lazily loaded parts, values that scripts repeat. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const UI = fileURLToPath(new URL('../src/ui/', import.meta.url))
const read = (path: string): string => readFileSync(`${UI}${path}`, 'utf8')

/** Returns a style sheet with its imports. */
const whole = (path: string): string =>
  read(`style/${path}`).replace(/@import "\.\/([\w-]+\.css)"[^;]*;/g, (_, name: string) => whole(name))

/** Returns the classes that begin a selector: other rules only adapt them to where they are. */
const classesOf = (css: string): Set<string> =>
  new Set(
    [...css.replace(/\/\*[\s\S]*?\*\//g, '').matchAll(/(?:^|[{},])\s*\.([a-z][\w-]*)/g)].map(
      ([, name]) => name!,
    ),
  )

/** Returns the words of all texts of the components that match, some of which are names of classes. */
const wordsOf = (isUsed: (path: string) => boolean): Set<string> =>
  new Set(
    readdirSync(UI, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.tsx') && isUsed(path))
      .flatMap((path) => [...read(path).matchAll(/class=(?:"([^"]*)"|\{((?:`[^`]*`|[^{}`])*)\})/g)])
      .flatMap(([, plain, expression]) => (plain ?? expression ?? '').split(/[^\w-]+/)),
  )

const page = classesOf(whole('page.css'))
const lazy = classesOf(whole('lazy-part.css'))
const fleet = classesOf(whole('fleet.css'))

test('only components of the fleet use the styles that come with it', () => {
  const used = wordsOf((path) => !path.startsWith('fleet/'))
  expect([...fleet].filter((name) => used.has(name) && !page.has(name) && !lazy.has(name))).toEqual([])
})

test('the fleet uses no styles that come with the other lazily loaded part', () => {
  const used = wordsOf((path) => path.startsWith('fleet/'))
  expect([...lazy].filter((name) => used.has(name) && !page.has(name) && !fleet.has(name))).toEqual([])
})

test('the key of a heat map shows the colours of its scale', () => {
  const [, shades, middle] = /\[SHADES, MIDDLE\] = \[(\d+), (\d+)\]/.exec(read('chart/heat-map.ts'))!
  const position = (100 * Number(middle)) / (Number(shades) - 1)
  expect(read('style/heat.css')).toContain(
    `linear-gradient(90deg, var(--heat-low), var(--heat-middle) ${position}%, var(--heat-high))`,
  )
})
