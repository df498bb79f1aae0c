/** -i and -I: instance domains over the archive's life, and as they are stored. */
import { labelSize } from '../../archive/label.ts'
import type { Member } from '../../archive/member.ts'
import {
  checkIndom,
  DELETED,
  forEachMetaRecord,
  META_INDOM,
  META_INDOM_DELTA,
  META_INDOM_V2,
} from '../../archive/meta-records.ts'
import { readStamp } from '../../archive/stamp.ts'
import { decodeText } from '../../base/text.ts'
import { type Indom, indomStr } from '../../model/ids.ts'
import { readMeta } from '../lib/archive-input.ts'
import { type Dump, eachMember } from './dump.ts'

/** Shows all instance domains by number, each over time. */
export function dumpIndoms(dump: Dump): void {
  const { archive, out } = dump
  out.text('\nInstance Domains in the Log ...\n')
  for (const indom of [...archive.metadata.indoms].sort((a, b) => a - b)) dumpHistory(dump, indom)
}

function dumpHistory({ archive, form, out, stamps }: Dump, indom: Indom): void {
  const digits = archive.label.version === 2 ? 6 : 9
  out.text(`InDom: ${indomStr(indom)}\n`)
  for (const snapshot of archive.metadata.snapshots(indom)) {
    const { sec, nsec, ids } = snapshot
    stamps.write(out, sec, nsec, digits)
    out.text(` ${ids.length} instances\n`)
    for (let i = 0; i < ids.length; i++) out.text(`   ${ids[i]} or "${form(snapshot.name(i))}"\n`)
  }
}

/** Shows the records with instances in the order of the metadata file. */
export function dumpStoredIndoms(dump: Dump): void {
  dump.out.text('\nInstance Domains on-disk ...\n')
  eachMember(dump, (member) => dumpStored(dump, member))
}

function dumpStored(dump: Dump, { base, label }: Member): void {
  const { bytes, view, path } = readMeta(base, dump.files)
  const text = (start: number): string => {
    const end = bytes.indexOf(0, start)
    return dump.form(decodeText(bytes, start, end < 0 ? bytes.length : end))
  }
  forEachMetaRecord(view, labelSize(label.version), path, (at, length, type) => {
    if (type !== META_INDOM_V2 && type !== META_INDOM && type !== META_INDOM_DELTA) return
    const { indom, count, ids, offsets, names } = checkIndom(view, at, length, type, path)
    const { sec, nsec } = readStamp(view, at + 8, type === META_INDOM_V2 ? 2 : 3)
    const isDelta = type === META_INDOM_DELTA
    dump.stamps.write(dump.out, sec, nsec, label.version === 2 ? 6 : 9)
    dump.out.text(` InDom: ${indomStr(indom)}${isDelta ? ' delta' : ''} ${count} instances\n`)
    for (let i = 0; i < count; i++) {
      const id = view.getInt32(ids + 4 * i)
      const offset = view.getInt32(offsets + 4 * i)
      if (offset === DELETED) dump.out.text(`   del ${id}\n`)
      else dump.out.text(`   ${isDelta ? 'add ' : ''}${id} or "${text(names + offset)}"\n`)
    }
  })
}
