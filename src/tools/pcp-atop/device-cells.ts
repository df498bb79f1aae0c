/** Lines about logical volumes, multiple devices and disks: LVM, MDD, DSK. pcp-atop(1) */
import { formatF } from '../../base/printf.ts'
import { countCell, levelOf, MEBIBYTE, percentCell, textCell } from './cpu-cells.ts'
import { cpuScale, type DiskKind, type DiskWork, diskWork, isActiveDisk } from './host-activity.ts'
import { CELL_WIDTH, type Cell, type LineSetup, type SystemLine } from './layout.ts'
import { latencyText } from './values.ts'

const KINDS: readonly DiskKind[] = ['LVM', 'MDD', 'DSK']
const SECTOR = 512

/** Returns a line for each disk. */
export function deviceLines(setup: LineSetup): readonly SystemLine[] {
  return KINDS.flatMap((kind) => linesOf(kind, setup))
}

function linesOf(kind: DiskKind, setup: LineSetup): readonly SystemLine[] {
  const { step, settings } = setup
  const pattern = kind === 'LVM' ? settings.focus.volume : kind === 'DSK' ? settings.focus.disk : undefined
  const all = diskWork(step, kind).filter(
    (disk) => (settings.fixed || isActiveDisk(disk)) && pattern?.test(disk.name) !== false,
  )
  const sorted = settings.unsorted ? all : [...all].sort((a, b) => b.ioMs - a.ioMs)
  return sorted
    .slice(0, settings.maxLines[kind])
    .map((disk) => ({ label: kind, cells: cellsOf(disk, setup) }))
}

function cellsOf(disk: DiskWork, { step, perSec, settings: { limits } }: LineSetup): readonly Cell[] {
  const { name, ioMs, reads, readSectors, writes, writeSectors, discards = 0, discardSectors } = disk
  const busy = (ioMs * 100) / cpuScale(step)
  const level = levelOf(busy, limits.dsk, limits.almost)
  const requests = reads + writes + discards
  const kib = (weight: number, title: string, sectors: number, count: number): Cell =>
    countCell(weight, title, count > 0 ? Math.trunc((sectors * SECTOR) / 1024 / count) : 0)
  const rate = (weight: number, title: string, sectors: number): Cell =>
    textCell(weight, title, formatF((sectors * SECTOR) / MEBIBYTE / step.elapsedSec, 1))
  return [
    { weight: 13, text: name.slice(-CELL_WIDTH).padStart(CELL_WIDTH), level },
    percentCell(12, 'busy', busy, level),
    countCell(10, 'read', reads, perSec),
    countCell(11, 'write', writes, perSec),
    countCell(6, 'discrd', discards, perSec),
    kib(4, 'KiB/r', readSectors, reads),
    kib(5, 'KiB/w', writeSectors, writes),
    kib(3, 'KiB/d', discardSectors, discards),
    rate(7, 'MBr/s', readSectors),
    rate(8, 'MBw/s', writeSectors),
    countCell(2, 'inflt', disk.inFlight),
    textCell(1, 'avq', formatF(disk.queue, 2)),
    textCell(9, 'avio', latencyText(requests > 0 ? ioMs / requests : 0)),
  ]
}
