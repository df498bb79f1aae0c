/** Delivery of samples to a server by an exporter: progress notes, failures, and numbers as servers read them. */
import { PcpError } from '../../../model/errors.ts'
import { valueText } from '../report/export.ts'
import type { ReportMetric } from '../report/metrics.ts'
import type { ReportPlan } from '../report/report.ts'
import { type Cell, isReal } from '../report/values.ts'
import type { ToolIo } from '../tool.ts'

/** Time limit in milliseconds for sending one sample. */
export const SEND_MS = 10_000

/** Returns the two lines before the first sample: what is sent where, and how often or until when. */
export function sendingNotes(
  { metrics, schedule, archiveName }: ReportPlan,
  where: string,
  everySec?: number,
): string {
  const { samples, intervalSec } = schedule
  const what = `Sending ${metrics.length} ${archiveName === undefined ? '' : 'archived '}metrics to ${where}`
  if (archiveName !== undefined) return `${what}...\n(Ctrl-C to stop)\n`
  const every = everySec === undefined ? decimal(intervalSec) : String(everySec)
  if (samples === undefined) return `${what} every ${every} sec...\n(Ctrl-C to stop)\n`
  const runtime = Math.trunc((samples - 1) * intervalSec)
  return `${what} every ${every} sec:\n${samples} samples(s) with ${decimal(intervalSec)} sec interval ~ ${runtime} sec runtime.\n`
}

/** Formats a number with at least one decimal: `60.0`. */
function decimal(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value)
}

/**
 * Returns a number as text: an integer, or a real rounded to the metric's precision with at least one decimal, by which some servers
 * choose the type of a series. Undefined for text, NaN and infinities.
 */
export function numberText(metric: ReportMetric, cell: NonNullable<Cell>): string | undefined {
  if (typeof cell === 'string') return undefined
  if (!isReal(metric)) return String(cell)
  const value = Number(valueText(metric, cell))
  if (!Number.isFinite(value)) return undefined
  return Math.abs(value) < 1e16 ? decimal(value) : String(value)
}

/** Returns the name of an instance as part of a server's name: `_`, then its letters, digits and hyphens, and `_` for others. */
export function instancePart(name: string): string {
  return `_${name.replaceAll(/[^A-Za-z0-9-]/g, '_')}`
}

/** Sends samples one by one. A failure is counted, reported if its reason is new, and the export continues. */
export class Delivery {
  readonly #io: ToolIo
  #sent = 0
  #failed = 0
  /** Message of the last failure; '' after a success. */
  #problem = ''

  constructor(io: ToolIo) {
    this.#io = io
  }

  /** Calls `send`, whose PcpError is reported. An interrupt is not a failure. */
  async attempt(send: () => Promise<void>): Promise<void> {
    try {
      await send()
      this.#sent++
      this.#problem = ''
    } catch (error) {
      if (this.#io.signal.aborted) return
      if (!(error instanceof PcpError)) throw error
      this.#failed++
      if (error.message === this.#problem) return
      this.#problem = error.message
      this.#io.stderr.write(`${this.#io.progname}: ${error.message}, continuing\n`)
    }
  }

  /** Closes a connection; a failure concerns samples that were thought to be sent. Then as `end`. */
  async finish(close: () => Promise<void>): Promise<void> {
    try {
      await close()
    } catch (error) {
      if (!(error instanceof PcpError)) throw error
      this.#failed++
      this.#io.stderr.write(`${this.#io.progname}: ${error.message}\n`)
    }
    this.end()
  }

  /** Throws PM_ERR_GENERIC with the number of messages that were not delivered, if any. */
  end(): void {
    if (this.#failed === 0) return
    const all = this.#failed + this.#sent
    throw new PcpError(
      'PM_ERR_GENERIC',
      `${this.#io.progname}: ${this.#failed} of ${all} messages were not sent`,
    )
  }
}
