/**
 * pmlogextract: extracts, merges and converts archives. pmlogextract(1)
 *
 * Unlike the reference, it also extracts the descriptors of event parameters, treats a comma-separated list or a directory of
 * archives as one input, rejects a configuration that selects nothing, and gives the output its name only once it is complete.
 */
import { dirname, resolve } from 'node:path'
import type { Archive } from '../../archive/archive.ts'
import { Listings } from '../../archive/file-names.ts'
import { ArchiveWriter } from '../../archive/write/writer.ts'
import { identifyArchive } from '../../archive-store/files.ts'
import { type StagedOutput, stagedOutput } from '../../archive-store/staged-output.ts'
import { recover } from '../../archive-store/transaction.ts'
import { PcpError } from '../../model/errors.ts'
import { archiveAccess } from '../../sys/archive-access.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { loadConfig } from '../../sys/config.ts'
import { yieldToEventLoop } from '../../sys/event-loop.ts'
import type { FileIdentity } from '../../sys/staging.ts'
import { clockStampNanos } from '../../time/stamp.ts'
import { archiveExists } from '../lib/archive-output.ts'
import { handleEarlyExit, usageText } from '../lib/options.ts'
import { Progress } from '../lib/progress.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { archiveZone } from '../lib/zone.ts'
import type { Input } from './input.ts'
import { Merge } from './merge.ts'
import { type ExtractOptions, extractOptions, OPTIONS, parseExtract } from './options.ts'
import { openInputs, outputLabel, readConfig, select, wantedMetrics, windowOf } from './prepare.ts'

/** Bytes to collect before a write; no reader uses the output before it has its name. */
const COLLECT = 1 << 18

/** Extracts, merges and converts archives. */
export const tool: Tool = {
  name: 'pmlogextract',
  summary: 'Extract, merge and convert archives',
  description:
    'The records of all inputs are merged by time into one new archive. Between inputs a mark record shows that values are missing, ' +
    'unless the next input continues the recording of the same collector.\n\n' +
    'The configuration has on each line a metric, or a name with metrics below it. Instances may follow in brackets, ' +
    'by number or by name, in quotes if the name has characters other than letters, digits and dots.',
  examples: [
    ['pmlogextract -S @10:00 -T @11:00 20260101 morning', 'Extract one hour of a day:'],
    ['pmlogextract monday tuesday week', 'Merge two archives:'],
  ],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseExtract(io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    let options: ExtractOptions
    try {
      options = extractOptions(parsed)
    } catch (error) {
      io.stderr.write(`${io.progname}: ${PcpError.from(error).message}\n${usageText(OPTIONS, io.progname)}`)
      return 1
    }
    const opened: Archive[] = []
    try {
      return await extract(options, io, opened)
    } catch (error) {
      if (!(error instanceof PcpError) || io.signal.aborted) throw error
      io.stderr.write(`${io.progname}: ${error.message}\n`)
      if (opened.length === options.inputs.length)
        io.stderr.write(`Archive "${options.output}" not created.\n`)
      return 1
    } finally {
      for (const archive of opened) archive.close()
    }
  },
}

async function extract(options: ExtractOptions, io: ToolIo, opened: Archive[]): Promise<number> {
  const config = options.config === undefined ? undefined : readConfig(options.config, io)
  const replaced = options.replaces ? await markInputs(options, io) : []
  const inputs = openInputs(options, io, opened)
  if (inputs.length === 0) {
    io.stderr.write(`${io.progname}: Warning: all input archive(s) are empty, no output archive created\n`)
    return 1
  }
  const selection = config === undefined ? undefined : select(config, options.config!, inputs, io)
  if (selection === 'mistake') return 1
  const label = outputLabel(inputs, options, io)
  const { zone, note } = archiveZone(options.standard, inputs[0]!.archive.label, io)
  io.stdout.write(note)
  const window = windowOf(inputs, options, zone, io)
  const wants = wantedMetrics(inputs, selection, options, io)
  const path = resolve(io.cwd, options.output)
  await recover(dirname(path))
  if (archiveExists(path, options.output, io)) {
    io.stderr.write(`${io.progname}: Error: __pmLogCreate: File exists\n`)
    return 1
  }
  const output = stagedOutput(path, {
    ...archiveAccess(dirname(path), loadConfig(io.env).variables),
    bufferBytes: COLLECT,
    inputs: replaced,
    signal: io.signal,
  })
  try {
    const writer = ArchiveWriter.create(output, { ...label, pid: process.pid })
    const merge = new Merge(inputs, writer, {
      ...window,
      samples: options.samples,
      isMarked: options.isMarked,
      volumeLimit: options.volumeLimit,
      wants,
      few: selection?.metrics,
      onVolume: (volume, at) =>
        io.stderr.write(`${io.progname}: New log volume ${volume}, at ${clockStampNanos(at, zone)}\n`),
    })
    return await write(merge, writer, output, options, inputs, io)
  } finally {
    output.abandon()
  }
}

/** Returns the state of the inputs' files. */
async function markInputs({ inputs }: ExtractOptions, io: ToolIo): Promise<FileIdentity[]> {
  const listings = new Listings(archiveFiles())
  const bases = inputs.flatMap((input) =>
    input.split(',').flatMap((part) => listings.bases(resolve(io.cwd, part))),
  )
  const marks: FileIdentity[] = []
  for (const base of new Set(bases)) marks.push(...(await identifyArchive(base)))
  return marks
}

/** Writes all records, then gives the output its name. */
async function write(
  merge: Merge,
  writer: ArchiveWriter,
  output: StagedOutput,
  options: ExtractOptions,
  inputs: readonly Input[],
  io: ToolIo,
): Promise<number> {
  const progress = new Progress(io, merge.bytes)
  try {
    while (merge.step()) {
      progress.update(merge.bytesRead)
      await yieldToEventLoop()
      io.signal.throwIfAborted()
    }
  } catch (error) {
    if (!options.isDesperate || options.replaces || io.signal.aborted || merge.written === 0) throw error
    writer.close()
    await output.commit()
    io.stderr.write(`${io.progname}: ${PcpError.from(error).message}\n`)
    return 1
  } finally {
    progress.clear()
  }
  writer.close()
  if (merge.written === 0) {
    io.stderr.write(`${io.progname}: Warning: no qualifying records found.\n`)
    io.stderr.write(`Archive "${options.output}" not created.\n`)
    return 1
  }
  const lost = inputs.filter(({ hasLost }) => hasLost)
  if (options.replaces && lost.length > 0) {
    const names = lost.map(({ name }) => name).join(', ')
    throw new PcpError(
      'PM_ERR_LOGREC',
      `Error: cannot replace archives that are not completely readable: ${names}`,
    )
  }
  await output.commit()
  return 0
}
