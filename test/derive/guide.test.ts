/** The examples of docs/reference/derived-metrics.md have the values on the page. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loadDerived } from '../../src/derive/config.ts'
import { DerivedDefinitions } from '../../src/derive/definitions.ts'
import { withDerived } from '../../src/derive/derived-source.ts'
import type { MetricDesc } from '../../src/model/desc.ts'
import { PM_INDOM_NULL } from '../../src/model/ids.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { Sample } from '../agents/sample/open.ts'

const page = readFileSync(new URL('../../docs/reference/derived-metrics.md', import.meta.url), 'utf8')
const ask = { requester: ANONYMOUS }

/** Returns the rows of the table below a heading, without its head. */
function table(heading: string): string[][] {
  const lines = page.slice(page.indexOf(`## ${heading}\n`)).split('\n')
  const first = lines.findIndex((line) => line.startsWith('|---'))
  const rows = lines.slice(first + 1)
  return rows.slice(0, rows.indexOf('')).map((row) =>
    row
      .slice(2, -2)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  )
}

async function valuesFor(texts: readonly string[]): Promise<string> {
  const sample = new Sample()
  const source = withDerived(sample.agent, new DerivedDefinitions('global'))
  const id = await source.define('d.x', texts[0]!, ask)
  const [desc] = (await source.descs([id], ask)) as [MetricDesc]
  const names = desc.indom === PM_INDOM_NULL ? undefined : await source.instances(desc.indom, undefined, ask)
  const results: string[] = []
  for (const text of texts) {
    expect(text).toBe(texts[0])
    const { sets } = await source.fetch([id], ask)
    sample.now += 1000
    const values = valuesOf(sets[0]!, desc.type).map(({ inst, value }) => {
      const name = names?.names[names.ids.indexOf(inst)]
      return name === undefined ? String(value) : `${name} ${value}`
    })
    results.push(values.join(', ') || 'none')
  }
  return results.join(' | ')
}

test('every example gives the values beside it', async () => {
  const rows = table('Examples')
  expect(rows.length).toBeGreaterThan(10)
  for (const [expression, values] of rows) {
    const text = expression!.slice(1, -1)
    // A bar with the same expression on both sides separates fetches.
    const texts = text === '1 || 0 && 0' ? [text] : text.split(' | ')
    expect([expression, await valuesFor(texts)]).toEqual([expression, values])
  }
})

test('the configuration file on the page has no errors', () => {
  const file = page.split('```\n# comment')[1]!.split('```')[0]!
  const reported: string[] = []
  const definitions = new DerivedDefinitions('global')
  expect(loadDerived(`# comment${file}`, definitions, { report: (text) => reported.push(text) })).toBe(1)
  expect(reported).toEqual([])
  expect(definitions.get('disk.busiest')).toMatchObject({ oneline: expect.stringContaining('three disks') })
  expect(definitions.controls.globalLimit).toBe(500)
})

test('the error on the page is the actual one', async () => {
  const source = withDerived(new Sample().agent, new DerivedDefinitions('global'))
  const complaint = await source.define('my.metric', 'hinv.ncpu * ', ask).catch((error) => error.message)
  expect(page).toContain(complaint)
})
