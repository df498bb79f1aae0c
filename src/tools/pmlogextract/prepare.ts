/** Prepares an extraction: inputs, label, window, metrics. pmlogextract(1) */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Archive } from '../../archive/archive.ts'
import type { InstanceSelection } from '../../archive/transfer/record-copy.ts'
import type { WriterOptions } from '../../archive/write/writer.ts'
import { decodeText } from '../../base/text.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { type Pmid, pmidStr } from '../../model/ids.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { earlierOf, FOREVER, laterOf } from '../../time/arithmetic.ts'
import { parseTimeWindow } from '../../time/window.ts'
import type { Zone } from '../../time/zone.ts'
import { openProblem } from '../lib/open-error.ts'
import type { ToolIo } from '../lib/tool.ts'
import { parseConfig, Selection } from './config.ts'
import { findConflicts } from './conflicts.ts'
import { Input } from './input.ts'
import type { MergeRules } from './merge.ts'
import type { ExtractOptions } from './options.ts'

/** Reads the configuration. Throws PM_ERR_GENERIC if it is unreadable. */
export function readConfig(path: string, io: ToolIo): string {
  try {
    return decodeText(readFileSync(resolve(io.cwd, path)))
  } catch (error) {
    const { code, text } = PcpError.from(error)
    throw new PcpError(code, `Cannot open config file "${path}": ${text}`, { cause: error })
  }
}

/** Opens the inputs, skipping empty ones, and adds their archives to `opened`. Throws PcpError with the message to print. */
export function openInputs({ inputs }: ExtractOptions, io: ToolIo, opened: Archive[]): Input[] {
  const files = archiveFiles()
  const found: Input[] = []
  for (const name of inputs) {
    try {
      const onWarning = ({ message }: PcpError): void =>
        io.stderr.write(`${io.progname}: Warning: ${message}\n`)
      const absolute = name.split(',').map((part) => resolve(io.cwd, part))
      const archive = Archive.open(absolute, files, { onWarning })
      opened.push(archive)
      found.push(
        new Input(name, archive, ({ offset, size, error }) => {
          io.stderr.write(`${io.progname}: Error: __pmLogRead[log ${name}]: ${error.text}\n`)
          io.stderr.write(
            `${io.progname}: Error occurred at byte offset ${offset} into a file of ${size} bytes.\n`,
          )
          io.stderr.write('The last record, and the remainder of this file will not be extracted.\n')
        }),
      )
    } catch (error) {
      const { code } = PcpError.from(error)
      if (code !== 'PM_ERR_NODATA')
        throw new PcpError(code, `Error: cannot open archive "${name}": ${openProblem(error)}`, {
          cause: error,
        })
      io.stderr.write(`${io.progname}: Warning: empty archive "${name}" will be skipped\n`)
    }
  }
  return found
}

/** Parses the configuration and prints warnings; prints errors and returns 'mistake'. */
export function select(
  config: string,
  path: string,
  inputs: readonly Input[],
  io: ToolIo,
): Selection | undefined | 'mistake' {
  const warn = (line: number, text: string): void =>
    io.stderr.write(`Warning [${path}, line ${line}]\n${text}\n`)
  const selection = new Selection(
    inputs.map(({ archive }) => archive.metadata),
    warn,
  )
  let specs = 0
  try {
    parseConfig(config, (spec) => {
      specs++
      selection.add(spec)
    })
  } catch (error) {
    io.stderr.write(`Specification error in configuration file (${path})\n${PcpError.from(error).message}\n`)
    return 'mistake'
  }
  if (specs === 0) return undefined // same as no configuration
  if (selection.size > 0) return selection
  throw new PcpError('PM_ERR_NAME', `Error: "${path}" selects no metric of the input archives`)
}

/** Returns the output's label. Throws PcpError if the inputs' hosts or versions do not match; warns of different time zones. */
export function outputLabel(
  inputs: readonly Input[],
  { version: asked, isFirstZone, labelHost }: ExtractOptions,
  io: ToolIo,
): Pick<WriterOptions, 'version' | 'hostname' | 'timezone' | 'zoneinfo'> {
  const first = inputs[0]!
  for (const { name, archive } of inputs) {
    if (labelHost !== undefined || archive.label.hostname === first.archive.label.hostname) continue
    const lines = [first, { name, archive }].map(
      (input) => `archive: ${input.name} host: ${input.archive.label.hostname}`,
    )
    throw new PcpError('PM_ERR_LOGHOST', `Error: host name mismatch for input archives\n${lines.join('\n')}`)
  }
  const versions = inputs.map(({ archive }) => Math.max(...archive.members.map(({ label }) => label.version)))
  const tooNew = asked === undefined ? -1 : versions.findIndex((version) => version > asked)
  if (tooNew >= 0) {
    const line = `archive: ${inputs[tooNew]!.name} version: ${versions[tooNew]}`
    throw new PcpError('PM_ERR_LABEL', `Error: input archive version must be no more than ${asked}\n${line}`)
  }
  const used = isFirstZone ? first : inputs[inputs.length - 1]!
  warnOfZones(inputs, used, io)
  const hostname = labelHost ?? first.archive.label.hostname
  const { timezone, zoneinfo } = used.archive.label
  return { version: asked ?? (Math.max(...versions) === 2 ? 2 : 3), hostname, timezone, zoneinfo }
}

function warnOfZones(inputs: readonly Input[], used: Input, io: ToolIo): void {
  const zone = used.archive.label.timezone
  for (const { name, archive } of inputs) {
    const { timezone } = archive.label
    if (timezone === zone) continue
    io.stderr.write(
      `${io.progname}: Warning: timezone mismatch for input archives\n` +
        `archive: ${used.name} timezone: ${zone} [will be used]\n` +
        `archive: ${name} timezone: ${timezone} [will be ignored]\n`,
    )
  }
}

/** Returns the time window over all inputs. Throws PcpError with the message to print. */
export function windowOf(
  inputs: readonly Input[],
  { standard, isDaily }: ExtractOptions,
  zone: Zone,
  io: ToolIo,
): Pick<MergeRules, 'start' | 'finish' | 'isDaily'> {
  const start = inputs.map(({ archive }) => archive.start).reduce(earlierOf)
  const end = inputs
    .map(({ archive }) => archive.end())
    .map((one) => (isError(one) ? FOREVER : one))
    .reduce(laterOf)
  const { window } = standard
  const isBoth = window.start !== undefined && window.finish !== undefined
  if (isDaily && !isBoth)
    io.stderr.write(
      `${io.progname}: Warning: -w flag requires that both -S and -T are specified.\nIgnoring -w flag.\n`,
    )
  try {
    const found = parseTimeWindow(window, { start, end, zone, now: Math.floor(io.now() / 1000) })
    // Without an explicit end, records added by a growing archive are included.
    const finish = window.finish === undefined ? FOREVER : found.finish
    return { start: found.start, finish, isDaily: isDaily && isBoth }
  } catch (error) {
    const { message } = PcpError.from(error)
    throw new PcpError('PM_ERR_GENERIC', `Invalid time window specified: ${message}\n`, { cause: error })
  }
}

/** Selects what to copy of each metric. Throws PcpError for metrics with conflicting descriptors, unless they may be left out. */
export function wantedMetrics(
  inputs: readonly Input[],
  selection: Selection | undefined,
  { skipsConflicts }: ExtractOptions,
  io: ToolIo,
): (pmid: Pmid) => InstanceSelection {
  const wanted = (pmid: Pmid): InstanceSelection => (selection === undefined ? 'all' : selection.of(pmid))
  const conflicts = inputs.length < 2 ? [] : findConflicts(inputs, (pmid) => wanted(pmid) !== 'nothing')
  if (conflicts.length > 0 && !skipsConflicts)
    throw new PcpError('PM_ERR_LOGCHANGETYPE', `Error: ${conflicts[0]!.text}`)
  for (const { text } of conflicts) io.stderr.write(`${io.progname}: Warning: ${text}\n`)
  const skipped = new Set(conflicts.map(({ pmid }) => pmid))
  if (skipped.size > 0)
    io.stderr.write('Warning: the metrics below will be missing from the output archive\n')
  for (const pmid of skipped) io.stderr.write(`\tPMID: ${pmidStr(pmid)}\n`)
  return (pmid) => {
    if (skipped.has(pmid) || wanted(pmid) === 'nothing') return 'nothing'
    if (inputs.some(({ archive }) => archive.metadata.descs.has(pmid))) return wanted(pmid)
    io.stderr.write(
      `${io.progname}: Warning: metric ${pmidStr(pmid)} has no descriptor: its values are left out\n`,
    )
    return 'nothing'
  }
}
