/** Samples for files and pipes: text, or lines for programs. pcp-atop(1) */

import type { Timestamp } from '../../base/timestamp.ts'
import { samples } from '../../pmapi/samples.ts'
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

/** SIGUSR1 asks for one sample more at once, SIGUSR2 for the last one. */
async function* live(
  { sampler, options, intervalSec, untilMs }: ReportSetup,
  io: ToolIo,
): AsyncGenerator<Step> {
  let before: Step | undefined
  let isLast = false
  const sampled = samples(
    { archive: undefined },
    {
      take: async () =>
        before === undefined ? Sampler.sinceBoot(await sampler.now()) : sampler.stepFrom(before.now),
      intervalSec: intervalSec === 0 ? Number.POSITIVE_INFINITY : intervalSec,
      ...(options.samples === undefined ? {} : { count: Math.max(1, options.samples) }),
      call: io,
    },
  )
  const onNext = (): void => sampled.hurry()
  const onLast = (): void => {
    isLast = true
    sampled.hurry()
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
