/** An archive whose reports take longer than any test: all metrics of the Linux agents, with records weeks apart. */
import { createArchive, PM_INDOM_NULL } from '../../src/archive.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import * as types from '../../src/model/types.ts'
import { type CatalogueRow, readCatalogue } from './agent-catalogue.ts'

const TYPES: Readonly<Record<string, number>> = {
  '32': types.PM_TYPE_32,
  u32: types.PM_TYPE_U32,
  '64': types.PM_TYPE_64,
  u64: types.PM_TYPE_U64,
  float: types.PM_TYPE_FLOAT,
  double: types.PM_TYPE_DOUBLE,
  string: types.PM_TYPE_STRING,
}
const SEMANTICS: Readonly<Record<string, number>> = {
  counter: types.PM_SEM_COUNTER,
  instant: types.PM_SEM_INSTANT,
  discrete: types.PM_SEM_DISCRETE,
}

/** Seconds since the epoch of the first record. */
const START_SEC = 1_700_000_000
/** Makes records long, because commands that copy an archive check for signals every few megabytes. */
const PADDING = 'x'.repeat(1000)
/** Seconds from the first record to the last; sampled every millisecond, that gives billions of lines. */
const LENGTH_SEC = 2_000_000

/** Writes the archive; between its first and last record are `records` of two metrics, for commands that read all of them. */
export function writeLongArchive(base: string, records = 0): void {
  const made = createArchive(base, { hostname: 'elsewhere', timezone: 'UTC' })
  const known = new Set<string>()
  const rows = ['linux', 'proc'].flatMap((agent) => readCatalogue(agent)).filter(({ type }) => type in TYPES)
  for (const row of rows) describe(row)
  for (const at of [0, 1]) {
    for (const { name, indom: of, type } of rows) {
      const value = type === 'string' ? '1' : 1 + 1000 * at
      if (of === null) made.put(name, value)
      else for (const id of [1, 2]) made.put(name, value, id)
    }
    made.write({ sec: START_SEC + at * LENGTH_SEC, nsec: 0 })
    for (let i = 1; at === 0 && i <= records; i++) {
      made.put('kernel.all.nprocs', i)
      made.put('kernel.uname.version', PADDING)
      made.write({ sec: START_SEC + i, nsec: 0 })
    }
  }
  made.close()

  function describe({ name, pmid: id, type, sem, units, indom: of }: CatalogueRow): void {
    const domain = of === null ? PM_INDOM_NULL : indom(...pair(of))
    const unitsText = units === 'none' ? '' : units
    made.addMetric(name, {
      pmid: pmid(...triple(id)),
      type: TYPES[type]!,
      sem: SEMANTICS[sem]!,
      units: unitsText,
      ...(of === null ? {} : { indom: domain }),
    })
    if (of === null) return
    for (const id of [1, 2]) instance(domain, of, id)
  }

  function instance(domain: number, of: string, id: number): void {
    if (known.has(`${of} ${id}`)) return
    known.add(`${of} ${id}`)
    const load = ['1 minute', '5 minute']
    made.addInstance(
      domain,
      of === '60.2' ? load[id - 1]! : of.startsWith('3.') ? `00000${id} made` : `made${id}`,
      id,
    )
  }
}

const numbers = (text: string): number[] => text.split('.').map(Number)
const pair = (text: string): [number, number] => numbers(text) as [number, number]
const triple = (text: string): [number, number, number] => numbers(text) as [number, number, number]
