/** The lines of the host: processors, memory, disks, networks. pcp-atop(1) OUTPUT DESCRIPTION - SYSTEM LEVEL */
import { cpuLines, processLine } from './cpu-cells.ts'
import { deviceLines } from './device-cells.ts'
import { type Cell, type Piece, systemLine } from './layout.ts'
import { memoryLines } from './memory-cells.ts'
import { networkLines } from './network-cells.ts'
import type { Settings } from './settings.ts'
import type { Step } from './step.ts'
import type { TaskTotals } from './task.ts'

/** A line before it has a width. */
export interface SystemLine {
  readonly label: string
  readonly cells: readonly Cell[]
}

/** What lines are made with. */
export interface LineSetup {
  readonly step: Step
  readonly settings: Settings
  readonly totals: TaskTotals
  /** The time that rates are for; undefined where counts are shown as they are. */
  readonly perSec: number | undefined
}

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
