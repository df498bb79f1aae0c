/** Finds metrics with different descriptors in several inputs. pmlogextract(1) */

import { checkDesc } from '../../archive/meta-records.ts'
import { RawMetadata } from '../../archive/transfer/raw-metadata.ts'
import { decodeText } from '../../base/text.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { indomStr, type Pmid, pmidStr } from '../../model/ids.ts'
import { semStr, typeStr } from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'
import type { Input } from './input.ts'

/** A difference between inputs. */
export interface Conflict {
  /** The metric to leave out. */
  readonly pmid: Pmid
  /** Description of the difference, in PCP's words. */
  readonly text: string
}

interface Known {
  readonly desc: MetricDesc
  readonly names: readonly string[]
}

/** Finds the first difference of each wanted metric, in the order of the inputs. */
export function findConflicts(inputs: readonly Input[], isWanted: (pmid: Pmid) => boolean): Conflict[] {
  const byPmid = new Map<Pmid, Known>()
  const byName = new Map<string, Pmid>()
  const conflicts: Conflict[] = []
  for (const { archive } of inputs) {
    for (const [pmid, records] of new RawMetadata(archive).descs) {
      if (!isWanted(pmid)) continue
      const names = records.flatMap(namesOf)
      const desc = archive.metadata.descs.get(pmid)!
      const text = renumbered(byName, names, pmid) ?? changed(byPmid.get(pmid), { desc, names })
      if (text !== undefined) conflicts.push({ pmid: byName.get(names[0]!) ?? pmid, text })
      else if (!byPmid.has(pmid)) byPmid.set(pmid, { desc, names })
      for (const name of names) if (!byName.has(name)) byName.set(name, pmid)
    }
  }
  return conflicts
}

function renumbered(
  byName: ReadonlyMap<string, Pmid>,
  names: readonly string[],
  pmid: Pmid,
): string | undefined {
  for (const name of names) {
    const known = byName.get(name)
    if (known !== undefined && known !== pmid)
      return `metric ${name}: PMID changed from ${pmidStr(known)} to ${pmidStr(pmid)}!`
  }
  return undefined
}

function changed(old: Known | undefined, now: Known): string | undefined {
  if (old === undefined) return undefined
  const [was, is] = [old.desc, now.desc]
  if (new Set([...old.names, ...now.names]).size !== new Set(old.names).size || !sameNames(old, now))
    return `metric PMID ${pmidStr(was.pmid)}: name changed from ${old.names.join(', ')} to ${now.names.join(', ')}!`
  const change = (what: string, from: string, to: string): string | undefined =>
    from === to ? undefined : `metric ${now.names[0]}: ${what} changed from ${from} to ${to}!`
  return (
    change('type', typeStr(was.type), typeStr(is.type)) ??
    change('indom', indomStr(was.indom), indomStr(is.indom)) ??
    change('semantics', semText(was.sem), semText(is.sem)) ??
    change('units', unitsStr(was.units), unitsStr(is.units))
  )
}

function semText(sem: number): string {
  const word = semStr(sem)
  return word === '???' ? `unknown (${sem})` : word
}

function sameNames(a: Known, b: Known): boolean {
  return new Set(a.names).size === new Set(b.names).size
}

function namesOf(record: Uint8Array): string[] {
  const names: string[] = []
  const view = new DataView(record.buffer, record.byteOffset, record.length)
  checkDesc(view, 0, record.length, '', (start, end) => names.push(decodeText(record, start, end)))
  return names
}
