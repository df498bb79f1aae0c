/** The MMV files of a directory, kept open and read at each fetch. docs/formats/mmv.md */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { isAlive } from '../sys/process-identity.ts'
import {
  HEADER_SIZE,
  MMV_FLAG_PROCESS,
  type MmvHeader,
  type MmvLayout,
  parseHeader,
  parseMmv,
  viewOf,
} from './layout.ts'
import { isOwnerAlive } from './owner.ts'

/** Files are read whole at each fetch; those of applications have a few thousand bytes. */
const MAX_SIZE = 2 ** 24
const CHECK_MS = 1000

/** Why a file is not used: `again` if that may change, `why` if it is worth logging. */
type Refusal = { readonly again: boolean; readonly why?: string }

/** One file and its layout. */
export class MmvFile {
  readonly name: string
  readonly layout: MmvLayout
  /** The bytes as last read. */
  readonly view: DataView
  readonly #fd: number
  readonly #bytes: Uint8Array
  #checkedMs = performance.now()

  /** Opens a file. Returns the reason if it is not to be used; throws Node's error or a PcpError. */
  static open(directory: string, name: string): MmvFile | Refusal {
    // Any user may create files there: opening a FIFO for reading would block until it has a writer.
    const fd = openSync(join(directory, name), constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(fd)
      if (!stat.isFile()) return refused(fd, { again: false })
      if (stat.size > MAX_SIZE)
        return refused(fd, { again: false, why: `${stat.size} bytes are more than ${MAX_SIZE}` })
      const bytes = new Uint8Array(stat.size)
      readSync(fd, bytes, 0, bytes.length, 0)
      const header = parseHeader(bytes)
      if (!header.isStable) return refused(fd, { again: true })
      if (hasEnded(header)) return refused(fd, { again: false, why: `process ${header.pid} has ended` })
      return new MmvFile(name, fd, bytes)
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }

  private constructor(name: string, fd: number, bytes: Uint8Array) {
    this.name = name
    this.layout = parseMmv(bytes)
    this.#fd = fd
    this.#bytes = bytes
    this.view = viewOf(bytes)
  }

  /** Reads the values again. */
  refresh(): void {
    readSync(this.#fd, this.#bytes, 0, this.#bytes.length, 0)
  }

  /** Whether the layout is unchanged and the process is running. */
  isCurrent(): boolean {
    const { header } = this.layout
    const bytes = new Uint8Array(HEADER_SIZE)
    if (readSync(this.#fd, bytes, 0, HEADER_SIZE, 0) < HEADER_SIZE) return false
    const now = parseHeader(bytes)
    const { generation, flags, pid, cluster } = header
    if (!now.isStable || now.generation !== generation) return false
    if (now.flags !== flags || now.pid !== pid || now.cluster !== cluster) return false
    if ((flags & MMV_FLAG_PROCESS) === 0) return true
    // Checking the process reads /proc, which is too expensive for each request.
    const time = performance.now()
    if (time < this.#checkedMs + CHECK_MS) return isAlive(pid)
    this.#checkedMs = time
    return !hasEnded(now)
  }

  close(): void {
    closeSync(this.#fd)
  }
}

/** The files of one directory. */
export class MmvFiles {
  readonly #directory: string
  readonly #log: (text: string) => void
  readonly #wanted: (name: string) => boolean
  #files: readonly MmvFile[] = []
  #changedMs: number | undefined
  /** A file was incomplete at the last look. */
  #isUnfinished = false

  /** `wanted` selects files by name; default all. */
  constructor(
    directory: string,
    log: (text: string) => void,
    wanted: (name: string) => boolean = () => true,
  ) {
    this.#directory = directory
    this.#log = log
    this.#wanted = wanted
  }

  /** Files in order of their names. */
  get list(): readonly MmvFile[] {
    return this.#files
  }

  /** Lists the directory if something changed, or always. Returns true if the files were opened again. */
  reload(always = false): boolean {
    const changedMs = this.#changeTime()
    const isSame = !always && changedMs === this.#changedMs && !this.#isUnfinished
    if (isSame && this.#files.every((file) => isCurrent(file))) return false
    this.close()
    this.#changedMs = changedMs
    this.#isUnfinished = false
    this.#files = this.#names().flatMap((name) => this.#open(name))
    return true
  }

  /** Reads all values again. */
  refresh(): void {
    for (const file of this.#files) file.refresh()
  }

  close(): void {
    for (const file of this.#files) file.close()
    this.#files = []
  }

  #open(name: string): MmvFile[] {
    try {
      const file = MmvFile.open(this.#directory, name)
      if (file instanceof MmvFile) return [file]
      this.#isUnfinished ||= file.again
      if (file.why !== undefined) this.#log(`${name}: ${file.why}`)
    } catch (error) {
      this.#log(`${name}: ${PcpError.from(error).message}`)
    }
    return []
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#directory)
        .filter((name) => !name.startsWith('.') && this.#wanted(name))
        .sort()
    } catch {
      return [] // no application has published anything yet
    }
  }

  #changeTime(): number | undefined {
    return statSync(this.#directory, { throwIfNoEntry: false })?.mtimeMs
  }
}

function isCurrent(file: MmvFile): boolean {
  try {
    return file.isCurrent()
  } catch {
    return false // reading it again reports the error
  }
}

function refused(fd: number, refusal: Refusal): Refusal {
  closeSync(fd)
  return refusal
}

/** Whether the file depends on a process that has ended. */
function hasEnded(header: MmvHeader): boolean {
  return (header.flags & MMV_FLAG_PROCESS) !== 0 && !isOwnerAlive(header)
}
