import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { MetricDesc } from '../../src/model/desc.ts'
import { makeLabelSet } from '../../src/model/label-set.ts'
import { LABEL_CLUSTER, LABEL_CONTEXT, LABEL_INSTANCES, LABEL_ITEM } from '../../src/model/labels.ts'
import { instanceText, metricText, sourceText } from '../../src/model/series.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_FLOAT, PM_TYPE_U64 } from '../../src/model/types.ts'
import { packUnits } from '../../src/model/units.ts'

interface Vector {
  readonly what: string
  readonly input: string
  readonly sha1: string
}
const { hashes } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'vectors', 'web', 'sha1.json'), 'utf8'),
) as { readonly hashes: readonly Vector[] }
const recorded = new Map(hashes.map(({ input, sha1 }) => [input, sha1]))
const laptop = [makeLabelSet({ hostname: 'bozo-laptop' }, LABEL_CONTEXT)]
const load = { type: PM_TYPE_FLOAT, sem: PM_SEM_INSTANT, units: 0 } as MetricDesc
const switches = {
  type: PM_TYPE_U64,
  sem: PM_SEM_COUNTER,
  units: packUnits({ dimCount: 1 }),
} as MetricDesc

test('texts are those whose hashes PCP keeps', () => {
  const texts = [
    sourceText(laptop, 'elsewhere'),
    metricText('kernel.all.load', load, laptop),
    metricText('kernel.all.pswitch', switches, laptop),
    instanceText('5 minute', laptop),
  ]
  for (const text of texts) expect(createHash('sha1').update(text).digest('hex')).toBe(recorded.get(text))
})

test('annotations do not identify, and instances are shared by all metrics of their domain', () => {
  const note = makeLabelSet({ note: 'x' }, LABEL_CONTEXT, { isOptional: true })
  const cluster = makeLabelSet({ cluster: 'zero' }, LABEL_CLUSTER)
  const item = makeLabelSet({ item: 1 }, LABEL_ITEM)
  const own = makeLabelSet({ disk: 'sda' }, LABEL_INSTANCES, { inst: 1 })
  expect(sourceText([...laptop, note, cluster], '')).toBe(sourceText(laptop, ''))
  expect(metricText('a', load, [note, cluster, item])).toContain('"labels":{"cluster":"zero","item":1}')
  expect(instanceText('sda', [...laptop, cluster, item, own])).toBe(
    '{"series":"instance","name":"sda","labels":{"disk":"sda","hostname":"bozo-laptop"}}',
  )
})

test('without labels a source is its host, a metric nothing', () => {
  expect(sourceText([], 'db1')).toBe('{"series":"source","labels":{"hostname":"db1"}}')
  expect(instanceText('a', [])).toContain('"labels":null')
})
