/** Formats a result for dbpmda. */

import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { errStr } from '../../model/errors.ts'
import { PM_IN_NULL, PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import type { PrintOptions } from '../../model/print.ts'
import { printValue } from '../../model/print.ts'
import { PM_TYPE_UNKNOWN, PM_VAL_INSITU } from '../../model/types.ts'
import { blockType } from '../../model/value-set.ts'
import type { FetchResult, ValueSet } from '../../model/values.ts'
import { clockStamp, clockStampNanos } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'

/** Names and descriptors for formatting a result. */
export interface DumpNames {
  /** Returns the names of a metric; empty if not in the name space. */
  readonly namesOf: (id: Pmid) => readonly string[]
  /** Descriptors, if fetched. */
  readonly descs?: ReadonlyMap<Pmid, MetricDesc>
  /** Instance names by domain, if fetched. */
  readonly instances?: ReadonlyMap<number, ReadonlyMap<number, string>>
  readonly zone: Zone
  readonly print: PrintOptions
  /** The agent runs in this process, where PCP prints the result of an older library call. */
  readonly isLocal: boolean
}

/** Formats a result: its time, and each metric with its values. */
export function dumpResult({ timestamp, sets }: FetchResult, names: DumpNames): string {
  const dump = sets.map((set) => dumpSet(set, names)).join('')
  // PCP prints the memory address of the result here; scripts filter it out.
  const title = `${names.isLocal ? 'pmResult' : '__pmResult'} dump from 0x0`
  return `${title} timestamp: ${timeOf(timestamp, names)} numpmid: ${sets.length}\n${dump}`
}

function timeOf({ sec, nsec }: Timestamp, { zone, isLocal }: DumpNames): string {
  const digits = String(nsec).padStart(9, '0')
  return isLocal
    ? `${sec}.${digits.slice(0, 6)} ${clockStamp({ sec, nsec }, zone)}`
    : `${sec}.${digits} ${clockStampNanos({ sec, nsec }, zone)}`
}

function dumpSet(set: ValueSet, names: DumpNames): string {
  const { pmid, status } = set
  const known = names.namesOf(pmid).join(names.descs === undefined ? ', ' : ' or ')
  const title = `  ${pmidStr(pmid)} (${known === '' ? '<noname>' : known}):`
  if (status < 0) return `${title} ${errStr(status)}\n`
  if (status === 0) return `${title} No values returned!\n`
  let text = `${title} numval: ${status} valfmt: ${set.format} vlist[]:\n`
  const desc = names.descs?.get(pmid)
  const isSingular =
    desc === undefined ? status === 1 && set.inst[0] === PM_IN_NULL : desc.indom === PM_INDOM_NULL
  const instances = desc === undefined ? undefined : names.instances?.get(desc.indom)
  for (let i = 0; i < status; i++) {
    const name = instances?.get(set.inst[i]!)
    const inst = `inst [${set.inst[i]} or ${name === undefined ? '???' : `"${name}"`}]`
    text += `   ${isSingular ? '' : ` ${inst} `}value ${shownValue(set, i, desc, names)}\n`
  }
  return text
}

/** Formats by the descriptor's type; without one by the block's, and a value without a block in every possible form. */
function shownValue(set: ValueSet, i: number, desc: MetricDesc | undefined, { print }: DumpNames): string {
  const type = desc?.type ?? (set.format === PM_VAL_INSITU ? PM_TYPE_UNKNOWN : blockType(set, i))
  return printValue(set, i, type, 1, print)
}
