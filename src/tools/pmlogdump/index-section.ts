/** -t: the temporal index of each archive, with its errors. */
import { labelSize } from '../../archive/label.ts'
import type { Member } from '../../archive/member.ts'
import { decodeIndex, type TemporalIndex } from '../../archive/temporal-index.ts'
import { readBytes } from '../../base/byte-source.ts'
import { memberFiles } from '../lib/archive-input.ts'
import { type Dump, eachMember } from './dump.ts'

const NANOS = 1e9

/** Prints the indexes of all archives that have one. */
export function dumpIndex(dump: Dump): void {
  const { archive, out, wanted } = dump
  out.text('\nTemporal Index\n')
  eachMember(dump, (member) => {
    const isFirst = member === archive.members[0]
    const tabs = (member.label.version === 2 ? 2 : 3) + 2 * Math.min(2, wanted.stampDetail)
    if (isFirst) out.text(`${'\t'.repeat(tabs)}Log Vol    end(meta)     end(log)\n`)
    dumpEntries(dump, member)
  })
}

function dumpEntries(dump: Dump, { base, label }: Member): void {
  const { files, out } = dump
  const paths = memberFiles(base, files)
  if (paths.index === undefined) return
  const digits = label.version === 2 ? 6 : 9
  const from = labelSize(label.version)
  const source = files.open(paths.index)
  const index = decodeIndex(readBytes(source, from, source.size - from), label.version)
  source.close()
  const sizes = fileSizes(dump, paths)
  for (let i = 0; i < index.length; i++) {
    dump.stamps.write(out, index.sec[i]!, index.nsec[i]!, digits)
    const numbers = [
      String(index.volume[i]).padStart(5),
      String(index.metaOffset[i]).padStart(11),
      String(index.offset[i]).padStart(11),
    ]
    out.text(`\t  ${numbers.join('  ')}\n`)
    judge(dump, index, i, digits, sizes)
  }
}

/** Limits of the offsets in an entry. */
interface FileSizes {
  readonly meta: number
  readonly volumes: ReadonlyMap<number, number>
}

function fileSizes({ files }: Dump, { meta, volumes }: ReturnType<typeof memberFiles>): FileSizes {
  const sizeOf = (path: string): number => {
    const source = files.open(path)
    const { size } = source
    source.close()
    return size
  }
  return { meta: sizeOf(meta), volumes: new Map(volumes.map(({ number, path }) => [number, sizeOf(path)])) }
}

/** Prints errors in entry `i` and in its order after the previous one. */
function judge(dump: Dump, index: TemporalIndex, i: number, digits: number, sizes: FileSizes): void {
  const { out } = dump
  const remark = (text: string): void => out.text(`\t\t${text}\n`)
  const [sec, nsec, volume] = [index.sec[i]!, index.nsec[i]!, index.volume[i]!]
  const size = sizes.volumes.get(volume)
  if (size === undefined) remark(`Warning: file missing for log volume ${volume}`)
  if (sec < 0 || nsec < 0 || nsec >= NANOS)
    remark(`Error: illegal timestamp value (${sec} sec, ${nsec} nsec)`)
  if (index.metaOffset[i]! > sizes.meta) remark(`Error: offset to meta file past end of file (${sizes.meta})`)
  if (size !== undefined && index.offset[i]! > size)
    remark(`Error: offset to log file past end of file (${size})`)
  if (i === 0) return
  const [lastSec, lastNsec] = [index.sec[i - 1]!, index.nsec[i - 1]!]
  if (lastSec > sec || (lastSec === sec && lastNsec > nsec)) {
    out.text('\t\tError: timestamp went backwards in time ')
    dump.stamps.write(out, lastSec, lastNsec, digits)
    out.text(' -> ')
    dump.stamps.write(out, sec, nsec, digits)
    out.text('\n')
  }
  if (index.volume[i - 1]! > volume) remark('Error: volume number decreased')
  if (index.volume[i - 1]! === volume && index.metaOffset[i - 1]! > index.metaOffset[i]!)
    remark('Error: offset to meta file decreased')
  if (index.volume[i - 1]! === volume && index.offset[i - 1]! > index.offset[i]!)
    remark('Error: offset to log file decreased')
}
