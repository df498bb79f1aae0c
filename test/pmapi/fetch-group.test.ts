/** Fetch groups against 412 recorded pmFetchGroup calls. */
import { expect, test } from 'vitest'
import { formatG } from '../../src/base/printf.ts'
import { PcpError } from '../../src/model/errors.ts'
import { encodeEvents } from '../../src/model/events.ts'
import { PM_INDOM_NULL, pmid } from '../../src/model/ids.ts'
import type { MetricSource } from '../../src/model/source.ts'
import {
  PM_TYPE_32,
  PM_TYPE_DOUBLE,
  PM_TYPE_EVENT,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
} from '../../src/model/types.ts'
import { packUnits } from '../../src/model/units.ts'
import { makeSingular } from '../../src/model/value-writer.ts'
import type { Value } from '../../src/model/values.ts'
import { Context } from '../../src/pmapi/context.ts'
import { FetchGroup } from '../../src/pmapi/fetch-group.ts'
import type { FetchIndom, FetchItem } from '../../src/pmapi/fetch-item.ts'
import { readVectors } from '../vectors.ts'
import { datasetSource } from './dataset-source.ts'

type InstanceSample = readonly [number, string | null, string, string | null]

interface Case {
  readonly kind: 'item' | 'indom'
  readonly metric: string
  readonly inst?: string
  readonly scale?: string
  readonly type: number
  readonly max?: number
  readonly env?: Readonly<Record<string, string>>
  readonly extendError?: string
  readonly samples?: readonly (
    | readonly [string, string | null]
    | readonly [string, number, readonly InstanceSample[]]
  )[]
}

const { cases } = readVectors<Case>('format/fetchgroup.json')

/** Text that the recorder shows for a missing value, by type. */
const NOT_AVAILABLE = ['-1', '4294967295', '-1', '18446744073709551615', 'nan', 'nan', null]

function shown(value: Value | undefined, type: number): string | null {
  if (value === undefined) return NOT_AVAILABLE[type]!
  if (type === PM_TYPE_STRING) return String(value)
  if (type === PM_TYPE_FLOAT) return formatG(Number(value), 9)
  return type === PM_TYPE_DOUBLE ? formatG(Number(value), 17) : String(value)
}

const item = ({ value, error }: FetchItem, type: number) => [error?.code ?? 'ok', shown(value, type)] as const

async function run({ kind, metric, inst, scale, type, max, env = {} }: Case): Promise<unknown> {
  const group = FetchGroup.over(Context.over(datasetSource()), {
    counterWrap: env['PCP_COUNTER_WRAP'] !== undefined,
    discreteOnce: env['PCP_DISCRETE_ONCE'] !== undefined,
  })
  const options = { scale, type, ...(inst === undefined ? {} : { instance: inst }) }
  let read: () => unknown
  try {
    if (kind === 'item') {
      const added = await group.item(metric, options)
      read = () => item(added, type)
    } else {
      const added: FetchIndom = await group.indom(metric, { ...options, max: max! })
      read = () => [
        added.error?.code ?? 'ok',
        added.instances.length,
        added.instances.map((each) => [each.id, each.name ?? null, ...item(each, type)]),
      ]
    }
  } catch (error) {
    return PcpError.from(error).code
  }
  await group.item('g.s32.i')
  const samples: unknown[] = []
  for (let i = 0; i < 6; i++) {
    await group.fetch()
    samples.push(read())
  }
  return samples
}

/** Returns the reference's defect that we do not copy, if any. */
function defect({ metric, type, scale, env, inst, extendError }: Case): string | undefined {
  if (extendError !== undefined) return undefined
  const isRate = scale !== 'instant' && scale !== 'byte'
  if (/^g\.[su]64\.c$/.test(metric) && isRate) return '64-bit counters are subtracted as doubles'
  if (metric === 'g.flt.c' && env !== undefined) return 'a real counter that decreased has a negative rate'
  if (metric === 'g.s64.i' && type === PM_TYPE_32) return 'a value below -2^31 keeps its low bits'
  if (inst === 'four' && env === undefined) return 'a discrete value never seen has no status'
  return undefined
}

/** Compares reals except for the last bit: times are divided and scaled in another order. */
function agrees(got: unknown, want: unknown): boolean {
  if (Array.isArray(got) && Array.isArray(want))
    return got.length === want.length && got.every((each, i) => agrees(each, want[i]))
  if (got === want) return true
  const [a, b] = [Number(got), Number(want)]
  return String(want).includes('.') && Math.abs(a - b) <= 3e-16 * Math.abs(b)
}

test('items and indoms equal the recorded ones', async () => {
  const differences: string[] = []
  const mended = new Map<string, number>()
  for (const recorded of cases) {
    const want = recorded.extendError ?? recorded.samples
    const got = await run(recorded)
    const why = defect(recorded)
    if (why !== undefined) mended.set(why, (mended.get(why) ?? 0) + 1)
    else if (!agrees(got, want)) differences.push(JSON.stringify({ recorded, got }))
  }
  expect(differences).toEqual([])
  console.log(`fetchgroup: ${cases.length} cases; mended:`, Object.fromEntries(mended))
  expect(cases).toHaveLength(412)
})

const dataset = (options = {}): FetchGroup => FetchGroup.over(Context.over(datasetSource()), options)

test('rates of 64-bit counters are exact', async () => {
  const group = dataset()
  const rate = await group.item('g.s64.c')
  await group.fetch()
  expect(rate.error?.code).toBe('PM_ERR_AGAIN')
  await group.fetch()
  expect(rate.value).toBe(0.6)
})

test('a counter of a real type never has a negative rate', async () => {
  const group = dataset({ counterWrap: true })
  const rate = await group.item('g.flt.c')
  const codes: unknown[] = []
  for (let i = 0; i < 6; i++) {
    await group.fetch()
    codes.push(rate.error?.code ?? Number(rate.value) >= 0)
  }
  expect(codes).toEqual(['PM_ERR_AGAIN', true, true, true, 'PM_ERR_VALUE', true])
})

test('only requested instances are fetched', async () => {
  const source = datasetSource()
  const widths: number[] = []
  const fetch: typeof source.fetch = async (ids, ask) => {
    const result = await source.fetch(ids, ask)
    widths.push(result.sets[0]!.status)
    return result
  }
  const group = FetchGroup.over(Context.over({ ...source, fetch }))
  await group.item('m.a.kb', { instance: 'one' })
  await group.fetch()
  await group.indom('m.a.kb')
  await group.fetch()
  expect(widths).toEqual([1, 3])
})

test('a fetch that fails leaves no values, clear leaves no items', async () => {
  const group = dataset()
  const value = await group.item('g.s32.i')
  for (let i = 0; i < 6; i++) await group.fetch()
  expect([value.value, group.timestamp]).toEqual([3, { sec: 1_600_000_060, nsec: 250_000_000 }])
  await expect(group.fetch()).rejects.toMatchObject({ code: 'PM_ERR_EOL' })
  expect([value.value, value.error?.code, group.timestamp]).toEqual([undefined, 'PM_ERR_EOL', undefined])
  group.clear()
  expect(await group.fetch()).toBe(0)
  expect(await group.context.children('m')).toHaveLength(4)
  await group.close()
})

const KBYTE = packUnits({ dimSpace: 1, scaleSpace: 1 })
const field = { pmid: pmid(246, 0, 2), type: PM_TYPE_U32, indom: PM_INDOM_NULL, sem: 3, units: KBYTE }
const array = { pmid: pmid(246, 0, 1), type: PM_TYPE_EVENT, indom: PM_INDOM_NULL, sem: 3, units: 0 }
const at = (sec: number) => ({ sec, nsec: 0 })

/** Returns a source with one event array whose second record lacks the field. */
function eventSource(): MetricSource {
  const records = encodeEvents(PM_TYPE_EVENT, [
    { timestamp: at(5), flags: 1, params: [{ pmid: field.pmid, type: PM_TYPE_U32, value: 3 }] },
    { timestamp: at(6), flags: 1, params: [] },
    { timestamp: at(7), flags: 1, params: [{ pmid: field.pmid, type: PM_TYPE_U32, value: 4 }] },
  ])
  return {
    ...datasetSource(),
    lookupNames: async (names) => names.map((name) => (name === 'e.size' ? field.pmid : array.pmid)),
    descs: async (ids) => ids.map((id) => (id === field.pmid ? field : array)),
    fetch: async () => ({
      timestamp: at(9),
      changes: 0,
      sets: [makeSingular(array.pmid, PM_TYPE_EVENT, records)],
    }),
  }
}

test('a field of event records, scaled, with the times of its records', async () => {
  const group = FetchGroup.over(Context.over(eventSource()))
  const sizes = await group.events('e', { field: 'e.size', scale: 'byte' })
  const few = await group.events('e', { field: 'e.size', max: 1 })
  await expect(group.events('e', { field: 'e.size', scale: 'rate' })).rejects.toMatchObject({
    code: 'PM_ERR_CONV',
  })
  await group.fetch()
  expect(sizes.records).toEqual([
    { time: at(5), value: 3072, error: undefined },
    { time: at(7), value: 4096, error: undefined },
  ])
  expect([few.records, few.error?.code]).toEqual([[], 'PM_ERR_TOOBIG'])
})
