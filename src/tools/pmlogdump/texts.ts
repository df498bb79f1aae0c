/** -h: help texts, those of metrics first. */
import { labelSize } from '../../archive/label.ts'
import type { Member } from '../../archive/member.ts'
import {
  forEachMetaRecord,
  META_TEXT,
  TEXT_HELP,
  TEXT_INDOM,
  TEXT_ONELINE,
  TEXT_PMID,
} from '../../archive/meta-records.ts'
import { decodeText } from '../../base/text.ts'
import { indomStr, pmidStr } from '../../model/ids.ts'
import { readMeta } from '../lib/archive-input.ts'
import type { Dump } from './dump.ts'

/** The two texts of something. */
interface Texts {
  oneline?: string
  help?: string
}

/** Shows all help texts by number. */
export function dumpTexts(dump: Dump): void {
  const metrics = new Map<number, Texts>()
  const indoms = new Map<number, Texts>()
  for (const member of dump.archive.members) collect(dump, member, metrics, indoms)
  dump.out.text('\nMetric Help Text in the Log ...\n')
  show(dump, metrics, (id) => `PMID: ${pmidStr(id)}`)
  show(dump, indoms, (id) => `InDom: ${indomStr(id)}`)
}

/** Of several texts for the same thing the last one counts. */
function collect(
  { files }: Dump,
  { base, label }: Member,
  metrics: Map<number, Texts>,
  indoms: Map<number, Texts>,
): void {
  const { bytes, view, path } = readMeta(base, files)
  forEachMetaRecord(view, labelSize(label.version), path, (at, length, type) => {
    if (type !== META_TEXT || length < 21) return
    const kind = view.getUint32(at + 8)
    const id = view.getUint32(at + 12)
    const owner = (kind & TEXT_PMID) !== 0 ? metrics : (kind & TEXT_INDOM) !== 0 ? indoms : undefined
    if (owner === undefined) return
    const texts = owner.get(id) ?? {}
    const nul = bytes.indexOf(0, at + 16)
    const text = decodeText(bytes, at + 16, Math.min(nul < 0 ? bytes.length : nul, at + length - 4))
    if ((kind & TEXT_ONELINE) !== 0) texts.oneline = text
    else if ((kind & TEXT_HELP) !== 0) texts.help = text
    owner.set(id, texts)
  })
}

function show({ out }: Dump, all: ReadonlyMap<number, Texts>, what: (id: number) => string): void {
  for (const [id, { oneline, help }] of [...all].sort(([a], [b]) => a - b)) {
    if (oneline !== undefined) out.text(`${what(id)} [${oneline}]\n`)
    if (help !== undefined) out.text(`${what(id)}\n${help}\n`)
  }
}
