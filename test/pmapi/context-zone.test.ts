import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { PM_INDOM_NULL, type Pmid, pmid } from '../../src/model/ids.ts'
import { PM_SEM_DISCRETE, PM_TYPE_STRING } from '../../src/model/types.ts'
import { makeSingular } from '../../src/model/value-writer.ts'
import type { ArchiveControl } from '../../src/pmapi/archive-control.ts'
import { Context } from '../../src/pmapi/context.ts'
import { contextZoneName } from '../../src/pmapi/context-zone.ts'
import { datasetSource } from './dataset-source.ts'

const ZONES: Readonly<Record<string, Pmid>> = {
  'pmcd.zoneinfo': pmid(2, 0, 1),
  'pmcd.timezone': pmid(2, 0, 2),
}

/** Returns a context on a collector with these metrics. */
function collector(told: Readonly<Record<string, string>>): Context {
  return Context.over({
    ...datasetSource(),
    lookupNames: async (names) =>
      names.map((name) => (told[name] === undefined ? new PcpError('PM_ERR_NAME') : ZONES[name]!)),
    descs: async (ids) =>
      ids.map((id) => ({
        pmid: id,
        type: PM_TYPE_STRING,
        indom: PM_INDOM_NULL,
        sem: PM_SEM_DISCRETE,
        units: 0,
      })),
    fetch: async (ids) => {
      const nameOf = (id: Pmid): string => Object.keys(ZONES).find((name) => ZONES[name] === id)!
      const sets = ids.map((id) => makeSingular(id, PM_TYPE_STRING, told[nameOf(id)]!))
      return { timestamp: { sec: 0, nsec: 0 }, changes: 0, sets }
    },
  })
}

test('a collector reports its time zone by name, else as a rule', async () => {
  const both = { 'pmcd.zoneinfo': ':Australia/Melbourne', 'pmcd.timezone': 'AEST-10' }
  expect(await contextZoneName(collector(both))).toBe(':Australia/Melbourne')
  expect(await contextZoneName(collector({ ...both, 'pmcd.zoneinfo': '' }))).toBe('AEST-10')
  expect(await contextZoneName(collector({ 'pmcd.timezone': 'AEST-10' }))).toBe('AEST-10')
  await expect(contextZoneName(collector({}))).rejects.toMatchObject({ code: 'PM_ERR_VALUE' })
})

test("an archive's zone is in its label", async () => {
  const archive = { label: { zoneinfo: '', timezone: 'EST5EDT' } } as ArchiveControl
  expect(await contextZoneName(Context.over(datasetSource(), { archive }))).toBe('EST5EDT')
})
