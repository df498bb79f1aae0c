/**
 * pmloglabel: check, show or change the labels of an archive's files. pmloglabel(1)
 *
 * Output is as in PCP 6.0.3, except that labels keep their zoneinfo when written, -V refuses to change the size of a label, and the
 * unreadable label of a version 1 archive is not invented. docs/explanation/differences.md
 */

import { accessSync, closeSync, constants, openSync, realpathSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { Archive } from '../archive/archive.ts'
import {
  type ArchiveLabel,
  decodeLabel,
  encodeLabel,
  labelSize,
  VOLUME_INDEX,
  VOLUME_META,
} from '../archive/label.ts'
import type { ArchiveVersion } from '../archive/stamp.ts'
import { copyWithAttributes } from '../archive-store/copy.ts'
import { recover, Transaction } from '../archive-store/transaction.ts'
import { type ArchiveFiles, readBytes } from '../base/byte-source.ts'
import { isError, PcpError } from '../model/errors.ts'
import { archiveFiles } from '../sys/archive-files.ts'
import { baseOf, dateStamp, memberFiles } from './lib/archive-input.ts'
import { openError } from './lib/open-error.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, type ParsedOptions } from './lib/options.ts'
import { singleLine } from './lib/print.ts'
import { parseStandard, STANDARD } from './lib/standard.ts'
import type { Tool, ToolIo } from './lib/tool.ts'
import { archiveZone } from './lib/zone.ts'

const STATUS_BAD = 2
const STATUS_NOT_WRITTEN = 3

const OPTIONS: OptionTable = {
  synopsis: '[options] archive',
  rows: [
    { heading: 'Options' },
    STANDARD.debug,
    { short: 'h', long: 'host', arg: 'HOSTNAME', help: 'set the host name' },
    { short: 'l', long: 'label', help: 'show the label' },
    { short: 'L', help: 'show the complete label' },
    { short: 'p', long: 'pid', arg: 'PID', help: 'set the process id of the logger' },
    { short: 's', help: 'set the length words around each label' },
    { short: 'v', long: 'verbose', help: 'print progress' },
    { short: 'V', long: 'version', arg: 'NUM', help: 'set the archive version, without converting anything' },
    { short: 'Z', long: 'timezone', arg: 'TZ', help: 'set the timezone' },
    HELP_ROW,
  ],
}

/** Settings from the command line. */
interface LabelOptions {
  readonly show: 'brief' | 'all' | undefined
  readonly verbose: boolean
  readonly isWriting: boolean
  readonly hostname: string | undefined
  readonly pid: number | undefined
  readonly version: ArchiveVersion | undefined
  readonly timezone: string | undefined
}

/** A file and its label. */
interface LabelledFile {
  readonly path: string
  /** Name in messages. */
  readonly what: string
  readonly volume: number
  readonly label: ArchiveLabel | undefined
}

/** Checks, shows and writes labels. Exits with status 1 for a missing archive, 2 for a bad label, 3 for a failed write. */
export const tool: Tool = {
  name: 'pmloglabel',
  summary: 'Check, show or change the labels of an archive',
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    // -V and -h are not the standard options here.
    const parsed = parseStandard(OPTIONS, io, { areOperandsArchives: true })
    const wanted = labelOptions(parsed)
    const [name] = parsed.operands
    const given = parsed.given.filter(({ name: letter }) => letter === '?')
    if (parsed.problems.length + given.length === 0 && name === undefined)
      parsed.problems.push('insufficient arguments')
    const status = handleEarlyExit(OPTIONS, { given, problems: parsed.problems }, io)
    if (status !== undefined) return status
    return await new LabelWork(name!, wanted, io).run()
  },
}

function labelOptions({ given, problems }: ParsedOptions): LabelOptions {
  const last = (letter: string): string | undefined => given.findLast(({ name }) => name === letter)?.value
  const has = (letter: string): boolean => last(letter) !== undefined
  const version = last('V')
  if (version !== undefined && version !== '2' && version !== '3')
    problems.push(`unknown version number (${version})`)
  const pid = last('p')
  if (pid !== undefined && !/^\s*\d+$/.test(pid)) problems.push(`bad process ID (${pid})`)
  return {
    show: has('L') ? 'all' : has('l') ? 'brief' : undefined,
    verbose: has('v'),
    isWriting: ['h', 'p', 's', 'V', 'Z'].some(has),
    hostname: last('h'),
    pid: pid === undefined ? undefined : Number(pid),
    version: version === undefined ? undefined : version === '2' ? 2 : 3,
    timezone: last('Z'),
  }
}

/** Handles the labels of one archive. */
class LabelWork {
  readonly #name: string
  readonly #wanted: LabelOptions
  readonly #io: ToolIo
  readonly #files: ArchiveFiles = archiveFiles()
  #status = 0

  constructor(name: string, wanted: LabelOptions, io: ToolIo) {
    this.#name = name
    this.#wanted = wanted
    this.#io = io
  }

  async run(): Promise<number> {
    const { verbose, isWriting, show } = this.#wanted
    if (verbose) this.#io.stdout.write(`Scanning for components of archive "${this.#name}"\n`)
    if (isWriting) await recover(dirname(baseOf(this.#name, this.#files)))
    const files = this.#readAll()
    const golden = files.find(({ label }) => label !== undefined)
    if (golden !== undefined && (!isWriting || verbose)) this.#compareAll(files, golden)
    if (isWriting) await this.#writeAll(files, golden?.label)
    if (show !== undefined && golden?.label !== undefined) this.#show(this.#changed(golden.label))
    return this.#status
  }

  #bad(text: string): void {
    this.#io.stderr.write(`${text}\n`)
    this.#status = STATUS_BAD
  }

  /** Reads data volumes by number, then the index, then the metadata. */
  #readAll(): LabelledFile[] {
    let found: ReturnType<typeof memberFiles>
    try {
      found = memberFiles(baseOf(this.#name, this.#files), this.#files)
    } catch (error) {
      throw openError(this.#name, error)
    }
    const files = found.volumes.map(({ path, number }) => this.#read(path, `data volume ${number}`, number))
    if (found.index !== undefined) files.push(this.#read(found.index, 'temporal index', VOLUME_INDEX))
    files.push(this.#read(found.meta, 'metadata volume', VOLUME_META))
    return files
  }

  #read(path: string, what: string, volume: number): LabelledFile {
    if (this.#wanted.verbose) this.#io.stdout.write(`Checking label on ${what}\n`)
    try {
      const source = this.#files.open(path)
      try {
        const label = decodeLabel(readBytes(source, 0, labelSize(3)), path)
        if (label.volume !== volume)
          throw new PcpError('PM_ERR_LABEL', `${path}: the label belongs to volume ${label.volume}`)
        if (source.size === labelSize(label.version))
          throw new PcpError('PM_ERR_NODATA', `${path}: contains only a label`)
        return { path, what, volume, label }
      } finally {
        source.close()
      }
    } catch (error) {
      const { text } = PcpError.from(error)
      this.#bad(`Bad ${what} label: ${text}`)
      return { path, what, volume, label: undefined }
    }
  }

  #compareAll(files: readonly LabelledFile[], golden: LabelledFile): void {
    const expected = golden.label!
    for (const { label, what } of files) {
      if (label === undefined || label === expected) continue
      const compare = (part: string, found: number | string, wanted: number | string): void => {
        if (found !== wanted)
          this.#bad(`Mismatched ${part} (${found}/${wanted}) between ${what} and ${golden.what}`)
      }
      compare('version', label.version, expected.version)
      compare('PID', label.pid, expected.pid)
      compare('hostname', label.hostname, expected.hostname)
      compare('timezone', label.timezone, expected.timezone)
      compare('zoneinfo', label.zoneinfo, expected.zoneinfo)
    }
  }

  /** Applies the options to a label. */
  #changed(label: ArchiveLabel): ArchiveLabel {
    const { hostname, pid, version, timezone } = this.#wanted
    return {
      ...label,
      hostname: hostname ?? label.hostname,
      pid: pid ?? label.pid,
      version: version ?? label.version,
      timezone: timezone ?? label.timezone,
    }
  }

  /** Writes all labels in one transaction; unwritable ones are skipped. */
  async #writeAll(files: readonly LabelledFile[], golden: ArchiveLabel | undefined): Promise<void> {
    const transaction = new Transaction(dirname(files[0]!.path), { signal: this.#io.signal })
    for (const { path, what, volume, label = golden } of files) {
      if (label === undefined) continue
      if (this.#wanted.verbose) this.#io.stdout.write(`Writing label on ${what}\n`)
      const changed = { ...this.#changed(label), volume }
      try {
        await this.#writeLabel(path, encodeLabel(changed), transaction)
      } catch (error) {
        this.#notWritten(path, error)
      }
    }
    try {
      await transaction.commit()
    } catch (error) {
      this.#notWritten(this.#name, error)
    }
  }

  #notWritten(what: string, error: unknown): void {
    this.#io.stderr.write(`${this.#io.progname}: ${what}: ${PcpError.from(error).message}\n`)
    this.#status = STATUS_NOT_WRITTEN
  }

  /** Stages a copy of a file with a new label of the same size. */
  async #writeLabel(path: string, bytes: Uint8Array, transaction: Transaction): Promise<void> {
    const source = this.#files.open(path)
    const head = readBytes(source, 0, 4)
    const size = head.length < 4 ? 0 : new DataView(head.buffer, head.byteOffset, 4).getInt32(0)
    const isCompressed = source.bytes !== undefined
    source.close()
    if (isCompressed) throw new PcpError('EROFS', 'cannot write the label of a compressed file')
    // Label sizes of the two versions. Any other size is damage, which the new label repairs.
    if ((size === labelSize(2) || size === labelSize(3)) && size !== bytes.length) {
      const why = `its label has ${size} bytes and would have ${bytes.length}: the records after it would be lost`
      throw new PcpError('EINVAL', why)
    }
    const target = realpathSync(path)
    accessSync(target, constants.W_OK)
    transaction.remove(target)
    const staged = transaction.stage(target)
    try {
      await copyWithAttributes(target, staged)
      const fd = openSync(staged, 'r+')
      try {
        writeSync(fd, bytes, 0, bytes.length, 0)
      } finally {
        closeSync(fd)
      }
    } catch (error) {
      transaction.withdraw(target)
      throw error
    }
  }

  #show(label: ArchiveLabel): void {
    const { stdout } = this.#io
    const form = singleLine(stdout)
    const { zone } = archiveZone({ zone: undefined, hostzone: false }, label, this.#io)
    stdout.write(`Log Label (Log Format Version ${label.version})\n`)
    stdout.write(`Performance metrics from host ${form(label.hostname)}\n`)
    stdout.write(`  commencing ${dateStamp(label.start, zone)}\n`)
    stdout.write(`  ending     ${this.#endText(zone)}\n`)
    if (this.#wanted.show === 'brief') return
    stdout.write(`Archive timezone: ${form(label.timezone)}\n`)
    stdout.write(`PID for pmlogger: ${label.pid}\n`)
  }

  #endText(zone: Parameters<typeof dateStamp>[1]): string {
    let archive: Archive
    try {
      archive = Archive.open(this.#name, this.#files)
    } catch (error) {
      return `UNKNOWN (pmNewContext: ${PcpError.from(error).text})`
    }
    try {
      const end = archive.end()
      return isError(end) ? `UNKNOWN (pmGetArchiveEnd: ${end.text})` : dateStamp(end, zone)
    } finally {
      archive.close()
    }
  }
}
