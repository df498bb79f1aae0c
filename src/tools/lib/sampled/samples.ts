/** Sampling for reports: live at an interval, or through an archive. docs/guide/tools.md */
import type { Timestamp } from '../../../base/timestamp.ts'
import { PcpError } from '../../../model/errors.ts'
import { SYSTEM_CLOCK } from '../../../pmapi/clock.ts'
import type { Context } from '../../../pmapi/context.ts'
import { compareTimes } from '../../../time/arithmetic.ts'
import type { ToolIo } from '../tool.ts'
import type { Sample, SampledMetrics } from './metrics.ts'

/** When to fetch. */
export interface SamplePlan {
  /** How often; undefined: until the window or the archive ends, or the user interrupts. */
  readonly fetches: number | undefined
  readonly intervalSec: number
  readonly origin: Timestamp
  /** Samples come before this moment, unless their number is given. */
  readonly finish: Timestamp
  /** Of an archive, the records as they are: nothing is interpolated. */
  readonly isRecorded?: boolean
}

/** Fetches as planned. Errors as for `SampledMetrics.fetch`, but the end of an archive ends the samples. */
export async function* samplesOf(
  context: Context,
  metrics: SampledMetrics,
  { fetches, intervalSec, origin, finish, isRecorded }: SamplePlan,
  io: ToolIo,
): AsyncGenerator<Sample> {
  const { archive } = context
  if (isRecorded === true) archive?.setMode('forward', origin)
  else archive?.setMode('interpolate', origin, intervalSec)
  const start = SYSTEM_CLOCK.now()
  let moment = 0
  for (let n = 0; fetches === undefined || n < fetches; n++) {
    if (n > 0 && archive === undefined) {
      await io.stdout.flush()
      // Moments are counted from the start: a slow fetch does not shift those that follow, and what passed meanwhile is not made up for.
      const passed = (SYSTEM_CLOCK.now() - start) / (intervalSec * 1000)
      moment = Math.max(moment + 1, Math.floor(passed))
      await SYSTEM_CLOCK.sleep(Math.max(0, (moment - passed) * intervalSec * 1000), io.signal)
    }
    let sample: Sample
    try {
      sample = await metrics.fetch(io)
    } catch (error) {
      if (error instanceof PcpError && error.code === 'PM_ERR_EOL') return
      throw error
    }
    const toEnd = compareTimes(sample.time, finish)
    // The last record of all is one of the records, but no moment begins at the end.
    if (fetches === undefined && (toEnd > 0 || (toEnd === 0 && isRecorded !== true))) return
    yield sample
  }
}
