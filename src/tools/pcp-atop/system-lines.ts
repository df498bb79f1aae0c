/** The lines of the host: processors, memory, disks, networks. pcp-atop(1) OUTPUT DESCRIPTION - SYSTEM LEVEL */
import { cpuLines, processLine } from './cpu-cells.ts'
import { deviceLines } from './device-cells.ts'
import { type LineSetup, type Piece, type SystemLine, systemLine } from './layout.ts'
import { memoryLines } from './memory-cells.ts'
import { networkLines } from './network-cells.ts'

const WEB_WIDTH = 80

/** All lines of a sample, each as pieces of text. */
export function systemLines(setup: LineSetup, width: number): readonly (readonly Piece[])[] {
  const lines: SystemLine[] = [
    processLine(setup),
    ...cpuLines(setup),
    ...memoryLines(setup),
    ...deviceLines(setup),
    ...networkLines(setup),
  ]
  return lines.map(({ label, cells }) =>
    // A server's line has no more cells than a narrow screen shows, and is not drawn out.
    systemLine(label, cells, label === 'WWW' ? Math.min(width, WEB_WIDTH) : width),
  )
}
