/** Archives of a metric whose instances change, also within one time. */
import type { OutputFiles } from '../../src/archive/write/output-files.ts'
import { ArchiveWriter } from '../../src/archive/write/writer.ts'
import { indom as makeIndom, pmid } from '../../src/model/ids.ts'
import { PM_SEM_INSTANT, PM_TYPE_U32 } from '../../src/model/types.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { archive, desc, indom, result, type TestArchive, type Version } from './build.ts'

export const CHANGING: number = makeIndom(60, 1)
export const CHANGING_START = 1_700_000_000

/** Seconds after the start, and the instances then. An instance is named after its number. */
export type State = readonly [number, readonly number[]]

export const changingNames = (ids: readonly number[]): string[] => ids.map((id) => `i${id}`)
const metricOf = (item: number): number => pmid(60, 0, item)
const valuesAt = (second: number, ids: readonly number[]): number[] => ids.map((id) => 100 * second + id)

/** Writes the metric `changing.mITEM`. */
export function writeChanging(
  files: OutputFiles,
  version: Version,
  item: number,
  states: readonly State[],
): void {
  const writer = ArchiveWriter.create(files, { version, hostname: 'h', timezone: 'UTC', pid: 7 })
  const id = metricOf(item)
  writer.desc({ pmid: id, type: PM_TYPE_U32, indom: CHANGING, sem: PM_SEM_INSTANT, units: 0 }, [
    `changing.m${item}`,
  ])
  for (const [second, ids] of states) {
    const at = { sec: CHANGING_START + second, nsec: 0 }
    writer.instances(at, CHANGING, ids, changingNames(ids))
    writer.result(at, [makeSet(id, PM_TYPE_U32, ids, valuesAt(second, ids))])
  }
  writer.close()
}

/** A record to build: in full, or with changes, where a negative number deletes an instance. */
export type BuiltState = readonly [number, 'full' | 'delta', readonly number[]]

/** Builds an archive of `changing.m1` byte by byte, with any order of records. Its values are of instance 1. */
export function builtChanging(version: Version, states: readonly BuiltState[]): Record<string, Uint8Array> {
  const id = metricOf(1)
  const when = (second: number): number => CHANGING_START + second
  const options: TestArchive = {
    version,
    start: when(states[0]![0]),
    meta: [
      desc({ pmid: id, sem: PM_SEM_INSTANT, type: PM_TYPE_U32, indom: CHANGING }, 'changing.m1'),
      ...states.map(([second, kind, ids]) =>
        indom(
          version,
          when(second),
          CHANGING,
          ids.map((inst) => [Math.abs(inst), inst < 0 ? undefined : `i${inst}`]),
          kind === 'delta',
        ),
      ),
    ],
    volumes: [
      states.map(([second]) => result(version, when(second), { pmid: id, values: [[1, second]], type: 1 })),
    ],
  }
  return archive('a', options)
}
