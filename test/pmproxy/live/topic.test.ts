import { expect, test } from 'vitest'
import { PcpError } from '../../../src/model/errors.ts'
import { PM_INDOM_NULL, pmid } from '../../../src/model/ids.ts'
import { PM_SEM_INSTANT, PM_TYPE_U32 } from '../../../src/model/types.ts'
import { makeSet } from '../../../src/model/value-writer.ts'
import { metricJson, Topic } from '../../../src/pmproxy/live/topic.ts'

test('a row has values, reasons for missing ones, and null for missing metrics', () => {
  const descOf = (item: number) => ({
    pmid: pmid(1, 0, item),
    type: PM_TYPE_U32,
    indom: PM_INDOM_NULL,
    sem: PM_SEM_INSTANT,
    units: 0,
  })
  const topic = new Topic(7, ['a', 'b', 'c'])
  topic.describe([{ name: 'a', desc: descOf(1) }, { name: 'b', desc: descOf(2) }, { name: 'c' }])
  const value = makeSet(pmid(1, 0, 1), PM_TYPE_U32, [-1], [5])
  const refused = { ...value, pmid: pmid(1, 0, 2), status: -12387, inst: new Int32Array() }
  const sets = new Map([value, refused].map((set) => [set.pmid, set]))
  const row: unknown = JSON.parse(String(topic.row({ sec: 10, nsec: 0 }, sets, () => new Map())))
  expect(row).toEqual({
    type: 'row',
    topic: 7,
    time: 10,
    values: [[5], 'No permission to perform requested operation', null],
  })
})

test('errors of absent metrics include the reason that charts use', () => {
  const error = new PcpError('PM_ERR_BADDERIVE', 'Semantic Error', { reason: 'unknown-operand' })
  expect(JSON.parse(metricJson({ name: 'page.x', error }))).toEqual({
    name: 'page.x',
    code: 'PM_ERR_BADDERIVE',
    message: 'Semantic Error',
    reason: 'unknown-operand',
  })
})
