/** Formats processes: a title, and a line for each. pcp-atop(1) */

import type { Zone } from '../../time/zone.ts'
import { distribute, heaviest, type LineSetup } from './layout.ts'
import { type Ranking, rankTasks, sharesOf, sumTasks, type TaskSum } from './ranking.ts'
import type { CustomColumn, View } from './settings.ts'

import type { Task } from './task.ts'
import { type ColumnSetup, columnsOfView, TASK_COLUMNS } from './task-columns.ts'

/** A table of processes. */
export interface TaskTable {
  readonly title: string
  readonly rows: readonly TaskRow[]
}

/** A line of the table. */
export interface TaskRow {
  readonly text: string
  readonly isThread: boolean
  readonly pid: number
}

/** Setup of the table besides the sample. */
export interface TableSetup {
  readonly width: number
  readonly zone: Zone
  readonly ranking: Ranking
  readonly scrolled: number
  /** Spread columns over the whole width, as on a terminal. */
  readonly isDrawnOut: boolean
}

/** Formats the selected processes of a sample. */
export function taskTable(tasks: readonly Task[], lines: LineSetup, table: TableSetup): TaskTable {
  const { settings } = lines
  const { ranking, width } = table
  const view = viewFor(settings.view, tasks)
  const setup = columnSetup(tasks, lines, table)
  const sums: readonly TaskSum[] =
    view === 'u' || view === 'p' || view === 'j'
      ? sumTasks(tasks, view, settings, ranking)
      : rankTasks(tasks, settings, ranking).map((task) => ({ task, count: 1 }))
  const columns = fitting(columnsOfView(view, settings), setup, width)
  const titles = columns.map(({ name }) => TASK_COLUMNS[name]!.title(setup))
  const used = titles.reduce((sum, title) => sum + title.length, 0) + titles.length - 1
  const pads = table.isDrawnOut ? distribute(Math.max(0, width - used), titles.length) : titles.map(() => 0)
  // The title of a long text can be longer than the remaining width.
  const isCut = used > width
  const lineOf = (cells: readonly string[]): string =>
    // Each cell ends with a blank, including the last.
    cells.map((cell, i) => `${' '.repeat(pads[i]!)}${cell} `).join('')

  return {
    title: isCut ? lineOf(titles).slice(0, width) : lineOf(titles),
    rows: sums.map((sum) => ({
      text: lineOf(columns.map(({ name }) => TASK_COLUMNS[name]!.cell(sum, setup))),
      isThread: sum.task.pid !== sum.task.tgid,
      pid: sum.task.tgid,
    })),
  }
}

/** Falls back to the default view without values of network traffic, GPUs or control groups. */
function viewFor(view: View, tasks: readonly Task[]): View {
  if (
    view === 'n' &&
    !tasks.some((task) => task.tcpSends + task.tcpReceives + task.udpSends + task.udpReceives > 0)
  )
    return 'g'
  if (view === 'e' && !tasks.some(({ gpu }) => gpu !== undefined)) return 'g'
  if (view === 'X' && !tasks.some(({ cgroup }) => cgroup !== '')) return 'g'
  return view
}

const MIN_PID_WIDTH = 5

function columnSetup(
  tasks: readonly Task[],
  { step, settings, perSec }: LineSetup,
  table: TableSetup,
): ColumnSetup {
  const { ranking, zone, scrolled } = table
  const most = step.value('kernel.all.pid_max') - 1
  return {
    pidWidth: Math.max(MIN_PID_WIDTH, String(most).length),
    perSec,
    elapsedSec: step.elapsedSec,
    shareTitle: ranking.title,
    share: sharesOf(ranking.order, tasks, step),
    zone,
    bootSec: bootTime(step),
    settings,
    scrolled,
  }
}

/** Returns the boot time, computed from the uptime if it is unknown. */
function bootTime(step: LineSetup['step']): number {
  if (step.has('kernel.all.boottime')) return step.value('kernel.all.boottime')
  return step.time - step.value('kernel.all.uptime')
}

/** Keeps the heaviest columns that fit. */
function fitting(
  columns: readonly CustomColumn[],
  setup: ColumnSetup,
  width: number,
): readonly CustomColumn[] {
  const widthOf = ({ name }: CustomColumn): number =>
    // A long text is cut at the end of the line, so only part of its title must fit.
    name === 'COMMAND-LINE' || name === 'CGROUP' ? name.length : TASK_COLUMNS[name]!.title(setup).length
  let shown = columns
  while (shown.length > 1 && shown.reduce((sum, column) => sum + widthOf(column) + 1, -1) > width)
    shown = heaviest(shown, shown.length - 1)
  return shown
}
