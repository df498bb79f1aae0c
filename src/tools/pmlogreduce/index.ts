/**
 * pmlogreduce: reduces the number of records in an archive. pmlogreduce(1)
 *
 * Unlike the reference, it keeps labels and texts, and writes marks in time order.
 */

import { dirname, resolve } from 'node:path'
import { ArchiveWriter } from '../../archive/write/writer.ts'
import { stagedOutput } from '../../archive-store/staged-output.ts'
import { recover } from '../../archive-store/transaction.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { typeStr } from '../../model/types.ts'
import { interpolationRules } from '../../pmapi/archive.ts'
import { archiveAccess } from '../../sys/archive-access.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { loadConfig } from '../../sys/config.ts'
import { EventLoopTurn } from '../../sys/event-loop.ts'
import { clockStampNanos } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import { type ArchiveInput, openArchive } from '../lib/archive-input.ts'
import { archiveExists } from '../lib/archive-output.ts'
import { openProblem } from '../lib/open-error.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, usageText, VERSION_ROW } from '../lib/options.ts'
import { Progress } from '../lib/progress.ts'
import { parseStandard, STANDARD } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { windowProblem } from '../lib/window.ts'
import { Reduction } from './reduce.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] input-archive output-archive',
  rows: [
    { heading: 'Options' },
    STANDARD.align,
    STANDARD.debug,
    STANDARD.start,
    { short: 's', long: 'samples', arg: 'NUM', help: 'end after NUM records' },
    STANDARD.finish,
    STANDARD.interval,
    { short: 'v', arg: 'NUM', help: 'begin a new volume after NUM records' },
    STANDARD.timezone,
    STANDARD.hostzone,
    VERSION_ROW,
    HELP_ROW,
  ],
}

const DEFAULT_INTERVAL = { sec: 600, nsec: 0 }
const COLLECT = 1 << 18

/** Samples an archive into a smaller one. */
export const tool: Tool = {
  name: 'pmlogreduce',
  summary: 'Reduce an archive to fewer records',
  description:
    'The input is sampled at an interval: counters are interpolated between the values around each sample, ' +
    'other metrics keep their latest value. The interval is 10 minutes unless set by -t. Instances not recorded since the previous sample are left out.',
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io, { areOperandsArchives: true, zonesJoin: 'and/or' })
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const [input, output, ...more] = parsed.operands
    const volume = parsed.given.findLast(({ name }) => name === 'v')?.value
    const samples = parsed.given.findLast(({ name }) => name === 's')?.value
    const isNumber = (value: string | undefined): boolean => value === undefined || /^\s*\+?\d+$/.test(value)
    const problem = !isNumber(samples)
      ? '-s requires numeric argument'
      : !isNumber(volume)
        ? '-v requires numeric argument'
        : input === undefined || output === undefined || more.length > 0
          ? 'Error: insufficient arguments'
          : undefined
    if (problem !== undefined || input === undefined || output === undefined) {
      io.stderr.write(`${io.progname}: ${problem}\n${usageText(OPTIONS, io.progname)}`)
      return 1
    }
    let opened: ArchiveInput
    try {
      const names = input.split(',').map((part) => resolve(io.cwd, part))
      opened = openArchive(names.join(','), parsed.standard, archiveFiles(), io)
    } catch (error) {
      const { cause, message } = PcpError.from(error)
      const badWindow = windowProblem(error)
      const text =
        badWindow !== undefined
          ? `Invalid time window specified: ${badWindow}`
          : cause === undefined
            ? message
            : `Error: cannot open archive "${input}": ${openProblem(cause)}`
      io.stderr.write(`${io.progname}: ${text}\n`)
      return 1
    }
    try {
      const limits = { perVolume: Number(volume ?? 0), samples: Number(samples ?? Number.POSITIVE_INFINITY) }
      return await reduce(opened, output, limits, io)
    } finally {
      opened.archive.close()
    }
  },
}

async function reduce(
  { archive, window, zone, end }: ArchiveInput,
  name: string,
  { perVolume, samples }: { readonly perVolume: number; readonly samples: number },
  io: ToolIo,
): Promise<number> {
  const path = resolve(io.cwd, name)
  await recover(dirname(path))
  if (archiveExists(path, name, io)) {
    io.stderr.write(`${io.progname}: Error: __pmLogCreate: File exists\n`)
    return 1
  }
  const { origin, finish, interval = DEFAULT_INTERVAL } = window
  const last = isError(end) ? origin : end
  const progress = new Progress(io, last.sec - origin.sec)
  const { version, hostname, timezone, zoneinfo } = archive.label
  const output = stagedOutput(path, {
    ...archiveAccess(dirname(path), loadConfig(io.env).variables),
    bufferBytes: COLLECT,
    signal: io.signal,
  })
  try {
    const writer = ArchiveWriter.create(output, {
      version,
      hostname,
      timezone,
      zoneinfo,
      pid: process.pid,
      hasEvenIndex: true,
    })
    const reduction = new Reduction(archive, writer, {
      origin,
      interval,
      rules: interpolationRules({ env: io.env }),
      skip(metric, { type }) {
        progress.clear()
        io.stderr.write(`${io.progname}: ${metric}: Warning: skipping ${typeStr(type)} metric\n`)
      },
    })
    const turn = new EventLoopTurn()
    let records = 0
    const begin = (at: Timestamp): void => {
      if (perVolume > 0 && records > 0 && records % perVolume === 0) beginVolume(writer, at, zone, io)
      records++
    }
    while (records < samples) {
      const at = reduction.step(finish, begin)
      if (at === undefined) break
      if (!turn.shouldYield()) continue
      progress.update(at.sec - origin.sec)
      await turn.yield()
      io.signal.throwIfAborted()
    }
    writer.close()
    if (writer.lastTime === undefined) {
      io.stderr.write(
        `${io.progname}: Warning: no qualifying records found.\nArchive "${name}" not created.\n`,
      )
      return 1
    }
    await output.commit()
    return 0
  } finally {
    progress.clear()
    output.abandon()
  }
}

function beginVolume(writer: ArchiveWriter, at: Timestamp, zone: Zone, io: ToolIo): void {
  const volume = writer.switchVolume(at)
  io.stderr.write(`${io.progname}: New log volume ${volume}, at ${clockStampNanos(at, zone)}\n`)
}
