/** Formats a sample: heading, lines of the host, processes. Pure. pcp-atop(1) */
import { strftime } from '../../time/strftime.ts'
import type { Zone } from '../../time/zone.ts'
import { headingLine, type LineSetup, type StyledText } from './layout.ts'
import { rankingOf } from './ranking.ts'
import { flagsText, type Settings } from './settings.ts'
import type { Step } from './step.ts'
import { systemLines } from './system-lines.ts'
import type { Task, TaskGroup } from './task.ts'
import { type TaskTable, taskTable } from './task-lines.ts'
import { readTasks, totalsOf } from './tasks.ts'
import { elapsedText } from './values.ts'

/** An interval with its processes. */
export interface Interval {
  readonly step: Step
  readonly tasks: readonly Task[]
}

/** How to show it. */
export interface SampleView {
  readonly settings: Settings
  readonly host: string
  readonly zone: Zone
  readonly width: number
  /** Columns by which long texts are scrolled to the left. */
  readonly scrolled: number
  readonly isDrawnOut: boolean
}

/** The parts of a sample. */
export interface SampleParts {
  readonly heading: string
  readonly lines: readonly (readonly StyledText[])[]
  readonly table: TaskTable
}

/** Shown between the host and the processes while counters are totals since boot. */
export const SINCE_BOOT = '*** System and Process Activity since Boot ***'

/** Reads the processes of an interval. */
export function intervalOf(step: Step, group: TaskGroup): Interval {
  return { step, tasks: readTasks(step, group) }
}

/** Formats the parts. */
export function samplePartsOf({ step, tasks }: Interval, view: SampleView): SampleParts {
  const { settings, host, zone, width, scrolled, isDrawnOut } = view
  const setup: LineSetup = {
    step,
    settings,
    totals: totalsOf(tasks, step),
    perSec: settings.perSecond ? step.elapsedSec : undefined,
  }
  const heading = headingLine(
    {
      host,
      time: strftime('%Y/%m/%d  %H:%M:%S', step.now.time.sec, zone),
      flags: flagsText(settings),
      elapsed: elapsedText(step.elapsedSec),
    },
    width,
  )
  const ranking = rankingOf(settings, step)
  const table = taskTable(tasks, setup, { width, zone, ranking, scrolled, isDrawnOut })
  return { heading, lines: systemLines(setup, width), table }
}

/** Formats a sample for a file or pipe. */
export function sampleText(interval: Interval, view: SampleView): string {
  const { heading, lines, table } = samplePartsOf(interval, view)
  const tasks = interval.tasks.length
  const note = interval.step.isSinceBoot ? `${SINCE_BOOT}    ${privilegeText()}` : ''
  return [
    heading,
    ...lines.map((pieces) => pieces.map(({ text }) => text).join('')),
    // Without processes the title is left out too.
    ...(tasks === 0 ? [] : [note, table.title, ...table.rows.map(({ text }) => text)]),
    '',
  ].join('\n')
}

/** Describes whether this user may see all processes or only their own. */
export function privilegeText(): string {
  return process.getuid?.() === 0 ? 'Unrestricted view (privileged)' : 'Restricted view (unprivileged)'
}
