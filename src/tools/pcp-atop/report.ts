/** Writes samples to files and pipes, as text or parseable lines. pcp-atop(1) */

import type { Timestamp } from '../../base/timestamp.ts'
import { sampleLoop } from '../../pmapi/samples.ts'
import type { Zone } from '../../time/zone.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { AtopOptions } from './options.ts'
import { parseableText } from './parseable.ts'
import { intervalOf, sampleText } from './sample-text.ts'
import { Replay, Sampler } from './sampler.ts'
import type { Step } from './step.ts'

/** Setup of a report. */
export interface ReportSetup {
  readonly sampler: Sampler
  readonly options: AtopOptions
  readonly host: string
  readonly zone: Zone
  readonly intervalSec: number
  readonly origin: Timestamp
  /** Milliseconds since the epoch; undefined for no end. */
  readonly untilMs: number | undefined
}

const DEFAULT_WIDTH = 80

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

/** Yields the intervals of an archive. The first of the requested samples only starts the counters. */
async function* replayed({ sampler, options, intervalSec, origin }: ReportSetup): AsyncGenerator<Step> {
  const replay = new Replay(sampler, origin, intervalSec)
  const count = options.samples ?? Number.POSITIVE_INFINITY
  for (let number = 1; number < count; number++) {
    const step = await replay.step(number)
    if (step === undefined) return
    yield step
  }
}

/** Yields live intervals. SIGUSR1 takes an additional sample immediately, SIGUSR2 a last one. */
async function* live(
  { sampler, options, intervalSec, untilMs }: ReportSetup,
  io: ToolIo,
): AsyncGenerator<Step> {
  let before: Step | undefined
  let isLast = false
  const sampled = sampleLoop(
    { archive: undefined },
    {
      take: async () =>
        before === undefined ? Sampler.sinceBoot(await sampler.now()) : sampler.stepFrom(before.now),
      intervalSec: intervalSec === 0 ? Number.POSITIVE_INFINITY : intervalSec,
      ...(options.samples === undefined ? {} : { count: Math.max(1, options.samples) }),
      call: io,
    },
  )
  const onNext = (): void => sampled.sampleNow()
  const onLast = (): void => {
    isLast = true
    sampled.sampleNow()
  }
  process.on('SIGUSR1', onNext)
  process.on('SIGUSR2', onLast)
  try {
    for await (const step of sampled) {
      before = step
      yield step
      if (isLast || (untilMs !== undefined && io.now() + intervalSec * 1000 > untilMs)) return
    }
  } finally {
    process.off('SIGUSR1', onNext)
    process.off('SIGUSR2', onLast)
  }
}
