/** Series of a selector in a store that is read over a network: conditions are looked up together. */
import { expect, it } from 'vitest'
import { findSeries } from '../../../src/series/query/find.ts'
import { parseQuery } from '../../../src/series/query/parse.ts'
import type { Selector } from '../../../src/series/query/syntax.ts'
import type { SeriesStore } from '../../../src/series/store.ts'

const SERIES: Readonly<Record<string, readonly string[]>> = { 'disk.dev.read': ['1', '2', '3'] }
const LABELS: Readonly<Record<string, readonly string[]>> = { '"prod"': ['2', '3', '4'], '"test"': ['1'] }

/** Returns a store whose metrics are found only after the labels if `labelsFirst`; `lookups` are the names and labels. */
function storeOf(readsAtOnce: number, labelsFirst = false): { store: SeriesStore; lookups: string[] } {
  const lookups: string[] = []
  let resolve = (): void => {}
  const found = new Promise<void>((done) => {
    resolve = done
  })
  const store: Partial<SeriesStore> = {
    readsAtOnce,
    withName: async (_kind, name) => {
      lookups.push(name)
      if (labelsFirst) await found
      return SERIES[name] ?? []
    },
    labelValues: async (label) => {
      lookups.push(label)
      resolve()
      return Object.keys(LABELS)
    },
    withLabel: async (_label, value) => LABELS[value] ?? [],
  }
  return { store: store as SeriesStore, lookups }
}

const selectorOf = (text: string): Selector => parseQuery(text).body as Selector

it('looks up labels while it waits for the metric', async () => {
  const { store } = storeOf(16, true)
  expect(await findSeries(store, selectorOf('disk.dev.read{env=="prod"}'))).toEqual(['2', '3'])
})

it('a store that reads one series at a time looks up no labels of an unknown metric', async () => {
  const { store, lookups } = storeOf(1)
  expect(await findSeries(store, selectorOf('no.such.metric{env=="prod"}'))).toEqual([])
  expect(lookups).toEqual(['no.such.metric'])
})

it.each([1, 16])('an invalid pattern counts only if a metric is found, reading %i at once', async (count) => {
  const { store } = storeOf(count)
  expect(await findSeries(store, selectorOf('no.such.metric{env=~"("}'))).toEqual([])
  await expect(findSeries(store, selectorOf('disk.dev.read{env=~"("}'))).rejects.toMatchObject({
    code: 'EINVAL',
  })
})
