/** A reader for each file of processes. */
import { Scanner } from '../../base/scan.ts'
import { decodeText } from '../../base/text.ts'
import type { Ask } from '../../model/source.ts'
import type { ProcContext } from './context.ts'
import type { KeptFiles } from './kept-files.ts'
import { type Content, PerProcess, type ProcessFiles, type ReadProcess } from './process-files.ts'
import type { ProcessList } from './process-list.ts'
import { type ProcessStat, parseStat } from './stat.ts'
import { TextLineReader, type TextLines } from './text-lines.ts'

/** The readers by file. */
export interface ProcessReaders {
  readonly stat: PerProcess<ProcessStat>
  readonly status: PerProcess<TextLines>
  readonly statm: PerProcess<Float64Array>
  readonly schedstat: PerProcess<Float64Array>
  readonly io: PerProcess<TextLines>
  readonly smaps: PerProcess<TextLines>
  readonly wchan: PerProcess<string>
  readonly environ: PerProcess<string>
  readonly maps: PerProcess<string>
  readonly cgroup: PerProcess<string>
  readonly labels: PerProcess<string>
  readonly fd: PerProcess<number>
  readonly oom: PerProcess<number>
  readonly exe: PerProcess<string>
  readonly cwd: PerProcess<string>
  readonly autogroup: PerProcess<string>
  readonly psargs: PerProcess<string>
}

const STATM_COLUMNS = 7
const NEWLINE = 0x0a
const SCHEDSTAT_COLUMNS = 3

/**
 * Files that the kernel generates for each read from the start. environ, maps and smaps_rollup continue to describe the
 * program that ran when they were opened.
 */
const KEPT: ReadonlySet<string> = new Set([
  ...['stat', 'status', 'statm', 'schedstat', 'io'],
  ...['wchan', 'cgroup', 'oom_score', 'autogroup', 'cmdline', 'fd'],
])

/** Returns the readers of an agent. `isThread` returns whether the requester lists threads, which have separate files. */
export function processReaders(
  ctx: ProcContext,
  files: ProcessFiles,
  kept: KeptFiles,
  list: ProcessList,
  isThread: (ask: Ask) => boolean,
): ProcessReaders {
  // files of a fixture tree may be replaced, those of a process never are
  const isKept = (file: string): boolean => ctx.root === '/' && KEPT.has(file)
  const scan = new Scanner()
  const start = ({ bytes, end }: Content): Scanner => {
    scan.reset(bytes, end).pos = 1
    return scan
  }
  const reader = <T>(file: string, read: ReadProcess<T>): PerProcess<T> =>
    new PerProcess(ctx, isKept(file) ? { files, kept } : { files }, file, read, isThread)
  const lines = (file: string, startOf: (content: Content) => number = () => 0): PerProcess<TextLines> => {
    const lineReader = new TextLineReader()
    return reader(file, (from, path) => {
      const content = from.read(path)
      return lineReader.read(content.bytes.toString('latin1', startOf(content), content.end))
    })
  }
  const numbers = (file: string, columns: number): PerProcess<Float64Array> =>
    reader(file, (from, path) => {
      start(from.read(path))
      const row = new Float64Array(columns)
      for (let i = 0; i < columns; i++) row[i] = scan.uint()
      return row
    })
  return {
    stat: reader('stat', (from, path) => parseStat(start(from.read(path))) ?? ended(path)),
    status: lines('status'),
    statm: numbers('statm', STATM_COLUMNS),
    schedstat: numbers('schedstat', SCHEDSTAT_COLUMNS),
    io: lines('io'),
    smaps: lines('smaps_rollup', behindFirstLine),
    wchan: reader('wchan', (from, path) => whole(from.read(path))),
    environ: reader(
      'environ',
      orEmpty((from, path) => spaced(from.readPieces(path))),
    ),
    maps: reader(
      'maps',
      orEmpty((from, path) => whole(from.readPieces(path))),
    ),
    cgroup: reader('cgroup', (from, path) => whole(from.read(path))),
    labels: reader(
      'attr/current',
      onceRefused((from, path) => spaced(from.read(path)).trim()),
    ),
    fd: reader('fd', (from, path) => from.count(path)),
    oom: reader('oom_score', (from, path) => start(from.read(path)).uint()),
    exe: reader(
      'exe',
      orEmpty((from, path) => from.link(path)),
    ),
    cwd: reader(
      'cwd',
      orEmpty((from, path) => from.link(path)),
    ),
    autogroup: reader('autogroup', (from, path) => whole(from.read(path))),
    psargs: reader('cmdline', (from, _path, pid) => list.arguments(pid, from)),
  }
}

/** Skips the first line of smaps_rollup, the address range, which is unique to each process. */
function behindFirstLine({ bytes, end }: Content): number {
  const at = bytes.indexOf(NEWLINE, 1)
  return at < 0 ? end : Math.min(at, end)
}

function whole({ bytes, end }: Content): string {
  return decodeText(bytes, 1, end)
}

/** Joins zero-terminated words with spaces. */
function spaced(content: Content): string {
  return whole(content).replace(/\0+$/, '').replaceAll('\0', ' ')
}

/** As in PCP hidden files, and those that kernel threads lack, are empty texts. */
function orEmpty(read: ReadProcess<string>): ReadProcess<string> {
  return (files, path, pid) => {
    try {
      return read(files, path, pid)
    } catch (thrown) {
      const { code } = thrown as { code?: unknown }
      if (code === 'EACCES' || code === 'EPERM' || code === 'ENOENT' || code === 'ESRCH') return ''
      throw thrown
    }
  }
}

/** EINVAL means a kernel without security labels, which does not change until a reboot: not tried again. */
function onceRefused(read: ReadProcess<string>): ReadProcess<string> {
  let refusal: unknown
  return (files, path, pid) => {
    if (refusal !== undefined) throw refusal
    try {
      return read(files, path, pid)
    } catch (thrown) {
      if ((thrown as { code?: unknown }).code === 'EINVAL') refusal = thrown
      throw thrown
    }
  }
}

/** The process ended between opening the file and reading it. */
function ended(path: string): never {
  throw Object.assign(new Error(`${path}: no such process`), { code: 'ESRCH' })
}
