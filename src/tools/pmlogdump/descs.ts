/** -d: descriptors of metrics, by PMID. */
import { pmidStr } from '../../model/ids.ts'
import { printDesc } from '../../model/print.ts'
import { type Dump, namesOf } from './dump.ts'

/** Shows all descriptors. */
export function dumpDescs(dump: Dump): void {
  const { archive, out } = dump
  out.text('\nDescriptions for Metrics in the Log ...\n')
  const descs = [...archive.metadata.descs].sort(([a], [b]) => a - b)
  for (const [id, desc] of descs)
    out.text(`PMID: ${pmidStr(id)} (${namesOf(dump, id, '<noname>')})\n${printDesc(desc)}`)
}
