/** The lines of the host: processors, memory, disks, networks. pcp-atop(1) OUTPUT DESCRIPTION - SYSTEM LEVEL */
import { cpuLines, processLine } from './cpu-cells.ts'
import { deviceLines } from './device-cells.ts'
import { type LineSetup, type StyledText, type SystemLine, systemLine } from './layout.ts'
import { memoryLines } from './memory-cells.ts'
import { networkLines } from './network-cells.ts'

const WEB_WIDTH = 80

/** Formats all host lines of a sample, in pieces of text. */
export function systemLines(setup: LineSetup, width: number): readonly (readonly StyledText[])[] {
  const lines: SystemLine[] = [
    processLine(setup),
    ...cpuLines(setup),
    ...memoryLines(setup),
    ...deviceLines(setup),
    ...networkLines(setup),
  ]
  return lines.map(({ label, cells }) =>
    // PCP does not extend the web server's line on wide screens.
    systemLine(label, cells, label === 'WWW' ? Math.min(width, WEB_WIDTH) : width),
  )
}
