/** Requests of control clients, and their cost for the collector. */
import { expect, test } from 'vitest'
import type { MetricDesc } from '../../src/model/desc.ts'
import { PcpError, statusOf } from '../../src/model/errors.ts'
import { indom, type Pmid, pmid } from '../../src/model/ids.ts'
import { handleControlRequest } from '../../src/pmlogger/control-requests.ts'
import type { Logger } from '../../src/pmlogger/logger.ts'
import { type LogControlSet, PM_LOG_ENQUIRE, PM_LOG_OFF } from '../../src/wire/log-control.ts'

const MANY = indom(60, 1)
const FEW = indom(60, 2)
const UNKNOWN = pmid(60, 9, 9)

/** Creates a logger whose collector records its requests. */
function makeLogger(ids: readonly number[]): { logger: Logger; asked: string[] } {
  const asked: string[] = []
  const descOf = (id: Pmid): MetricDesc | PcpError =>
    id === UNKNOWN
      ? new PcpError('PM_ERR_PMID')
      : { pmid: id, type: 1, indom: id % 2 === 0 ? MANY : FEW, sem: 3, units: 0 as never }
  const context = {
    descs: async (pmids: readonly Pmid[]) => {
      asked.push(`descs ${pmids.length}`)
      return pmids.map(descOf)
    },
    namesOf: async () => {
      asked.push('names')
      return ['name']
    },
    instances: async (which: number) => {
      asked.push(`instances ${which}`)
      return { indom: which, ids: which === MANY ? ids : [1], names: [] }
    },
  }
  return { logger: { metrics: new Map(), context } as unknown as Logger, asked }
}

function enquiry(pmids: readonly Pmid[]): Parameters<typeof handleControlRequest>[1] {
  const set = (id: Pmid): LogControlSet => ({
    pmid: id,
    status: 0,
    inst: new Int32Array(),
    word: new Int32Array(),
  })
  return { control: PM_LOG_ENQUIRE, state: PM_LOG_OFF, deltaMs: 0, sets: pmids.map(set) }
}

const tell = (text: string): void => expect.fail(text)

test('thousands of metrics cost one request for descriptors and one for each instance domain', async () => {
  const { logger, asked } = makeLogger([1, 2, 3])
  const pmids = Array.from({ length: 30_000 }, (_, i) => pmid(60, 0, i % 1000))
  const sets = await handleControlRequest(logger, enquiry([...pmids, UNKNOWN]), tell, 'test')
  expect(sets).toHaveLength(30_001)
  expect([sets[0]!.status, sets[1]!.status, sets[30_000]!.status]).toEqual([3, 1, statusOf('PM_ERR_PMID')])
  expect(asked.sort()).toEqual(['descs 1001', `instances ${FEW}`, `instances ${MANY}`].sort())
  expect(logger.metrics.size).toBe(0)
})

test('a reply with more than a million instances is refused', async () => {
  const { logger } = makeLogger(Array.from({ length: 1000 }, (_, i) => i))
  const pmids = Array.from({ length: 1048 }, () => pmid(60, 0, 0))
  expect(await handleControlRequest(logger, enquiry(pmids), tell, 'test')).toHaveLength(1048)
  const more = handleControlRequest(logger, enquiry([...pmids, ...pmids]), tell, 'test')
  await expect(more).rejects.toMatchObject({ code: 'PM_ERR_TOOBIG' })
})
