/** Samples for files and pipes: text, or lines for programs. pcp-atop(1) */

import type { Timestamp } from '../../base/timestamp.ts'
import { withSignal } from '../../base/with-signal.ts'
import { PcpError } from '../../model/errors.ts'
import { SYSTEM_CLOCK } from '../../pmapi/clock.ts'
import type { Zone } from '../../time/zone.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { AtopOptions } from './options.ts'
import { parseableText } from './parseable.ts'
import { intervalOf, sampleText } from './sample-text.ts'
import { Replay, Sampler } from './sampler.ts'
import type { Step } from './step.ts'

/** What a report is made with. */
export interface ReportSetup {
  readonly sampler: Sampler
  readonly options: AtopOptions
  readonly host: string
  readonly zone: Zone
  readonly intervalSec: number
  readonly origin: Timestamp
  /** Milliseconds since the epoch; undefined: no end. */
  readonly untilMs: number | undefined
}

const DEFAULT_WIDTH = 80
const DAY_MS = 86_400_000

/** Writes all samples. */
export async function report(setup: ReportSetup, io: ToolIo): Promise<void> {
  for await (const step of setup.sampler.isArchive ? replayed(setup) : live(setup, io)) {
    io.stdout.write(textOf(step, setup))
    await io.stdout.flush()
  }
}

function textOf(step: Step, { options, host, zone }: ReportSetup): string {
  const { labels, settings, group, isDense, lineLength } = options
  const interval = intervalOf(step, group)
  if (labels !== undefined) return parseableText(labels, { ...interval, host, zone, settings, isDense })
  const width = lineLength ?? DEFAULT_WIDTH
  return `\n\n${sampleText(interval, { settings, host, zone, width, scrolled: 0, isDrawnOut: false })}`
}

/** The first of the samples that were asked for is the one that the counting begins with. */
async function* replayed({ sampler, options, intervalSec, origin }: ReportSetup): AsyncGenerator<Step> {
  const replay = new Replay(sampler, origin, intervalSec)
  const count = options.samples ?? Number.POSITIVE_INFINITY
  for (let number = 1; number < count; number++) {
    const step = await replay.step(number)
    if (step === undefined) return
    yield step
  }
}

async function* live(setup: ReportSetup, io: ToolIo): AsyncGenerator<Step> {
  const bell = new Bell()
  try {
    yield* sampled(setup, bell, io)
  } finally {
    bell.close()
  }
}

async function* sampled(
  { sampler, options, intervalSec, untilMs }: ReportSetup,
  bell: Bell,
  io: ToolIo,
): AsyncGenerator<Step> {
  const count = options.samples ?? Number.POSITIVE_INFINITY
  let before = await sampler.now()
  yield Sampler.sinceBoot(before)
  const start = SYSTEM_CLOCK.now()
  for (let n = 1; n < count && !bell.isLast; n++) {
    if (untilMs !== undefined && io.now() + intervalSec * 1000 > untilMs) return
    const wait = intervalSec === 0 ? DAY_MS : Math.max(0, start + n * intervalSec * 1000 - SYSTEM_CLOCK.now())
    await bell.wait(wait, io.signal)
    const step = await sampler.stepFrom(before)
    before = step.now
    yield step
  }
}

/** Ends waiting when a signal asks for a sample: SIGUSR1 for one more, SIGUSR2 for the last one. */
class Bell {
  isLast = false
  #ring: (() => void) | undefined
  readonly #onNext = (): void => this.#ring?.()
  readonly #onLast = (): void => {
    this.isLast = true
    this.#ring?.()
  }

  constructor() {
    process.on('SIGUSR1', this.#onNext)
    process.on('SIGUSR2', this.#onLast)
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await withSignal({ signals: [signal] }, (either, abort) => {
        this.#ring = abort
        return SYSTEM_CLOCK.sleep(ms, either)
      })
    } catch (error) {
      if (signal.aborted || !(error instanceof PcpError && error.code === 'ECANCELED')) throw error
    } finally {
      this.#ring = undefined
    }
  }

  close(): void {
    process.off('SIGUSR1', this.#onNext)
    process.off('SIGUSR2', this.#onLast)
  }
}
