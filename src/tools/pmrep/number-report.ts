/**
 * Numbers out of archives, which most reports are made of, without a value set or a cell of their own on the way:
 *
 *     records or values between them ──> columns ──> rates and scales ──> text in bytes
 */
import { secondsBetween, type Timestamp } from '../../base/timestamp.ts'
import { PM_SEM_DISCRETE } from '../../model/types.ts'
import { breathe } from '../lib/breathe.ts'
import type { ReportMetric } from '../lib/report/metrics.ts'
import { isNarrowing } from '../lib/report/narrow.ts'
import { isRecordedNumber, isTracingValues, NumberCells, nextOf } from '../lib/report/number-cells.ts'
import type { Reporter, ReportPlan } from '../lib/report/report.ts'
import { isBehind, placeIn } from '../lib/report/schedule.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { LinePrinter } from './layout.ts'

/** Lines between two looks at whether the user interrupts. */
const STRETCH = 1024

/** The printer, with all samples taken by itself where columns of numbers make the same lines. */
export function withNumbers(plan: ReportPlan, printer: LinePrinter, io: ToolIo): Reporter {
  return isOfNumbers(plan)
    ? {
        begin: () => printer.begin(),
        sample: () => {},
        end: () => printer.end(),
        takeAll: () => takeAll(plan, printer, io),
      }
    : printer
}

/** Are there columns that do not change, of recorded numbers, at the archive's own pace? */
function isOfNumbers({ context, metrics, settings }: ReportPlan): boolean {
  if (context.archive === undefined || settings.delay || settings.dynamic_header) return false
  return !isTracingValues() && !isNarrowing(metrics, settings) && metrics.every(isPlain)
}

/** A recorded metric of numbers, each instance once. Values of discrete ones that hold on are a matter of all instances, not of those shown. */
function isPlain({ desc, filter, insts }: ReportMetric): boolean {
  if (!isRecordedNumber(desc)) return false
  return filter.isEmpty || (desc.sem !== PM_SEM_DISCRETE && new Set(insts).size === insts.length)
}

async function takeAll(
  { context, metrics, schedule, settings }: ReportPlan,
  printer: LinePrinter,
  io: ToolIo,
): Promise<void> {
  const archive = context.archive!
  const { samples = Number.POSITIVE_INFINITY, finish } = schedule
  placeIn(archive, schedule, settings)
  const rows = archive.rows(metrics, context.profile)
  const cells = new NumberCells(metrics, rows.columns, io.env['PCP_COUNTER_WRAP'] !== undefined)
  let before: Timestamp | undefined
  for (let n = 0; n < samples && !io.signal.aborted; n++) {
    const time = nextOf(rows)
    if (time === undefined || isBehind(time, finish, settings)) return
    printer.line(time, cells.read(before === undefined ? 0 : secondsBetween(before, time)))
    before = time
    if (n % STRETCH === STRETCH - 1) await breathe(io)
  }
}
