/** Scans the configuration directory and its subdirectories for URL files and scripts. docs/reference/agents/openmetrics.md */
import { readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { trustedPath } from '../../sys/trusted-path.ts'

/** The file of a source. */
export interface SourceFile {
  /** Prefix of the source's metric names: the path below the directory, with dots. */
  readonly nickname: string
  readonly path: string
  readonly isScript: boolean
  /** Time of the last change of content or mode. */
  readonly changedMs: number
}

const NICKNAME = /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)*$/
const MAX_DEPTH = 16
/** Bytes of a .url file. */
const MAX_CONFIG = 1024 * 1024
/** Most files examined; more than the number of possible sources. */
const MAX_FILES = 20_000

/** Returns the files of sources, optionally sorted by path. `log` is called each time for each unusable file. */
export function scanDirectory(
  directory: string,
  isSorted: boolean,
  log: (text: string) => void,
): readonly SourceFile[] {
  const paths: string[] = []
  collect(directory, 0, paths, log)
  const found = new Map<string, SourceFile>()
  for (const path of isSorted ? paths.sort() : paths) {
    const file = sourceFile(directory, path, log)
    if (file === undefined) continue
    const other = found.get(file.nickname)
    if (other !== undefined) log(`${path} is left out: "${file.nickname}" is ${other.path}`)
    else found.set(file.nickname, file)
  }
  return [...found.values()]
}

function collect(directory: string, depth: number, paths: string[], log: (text: string) => void): void {
  if (depth > MAX_DEPTH) {
    log(`${directory} is left out: it is nested more than ${MAX_DEPTH} deep`)
    return
  }
  try {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue
      const path = join(directory, entry.name)
      if (entry.isDirectory()) collect(path, depth + 1, paths, log)
      else if (paths.length < MAX_FILES) paths.push(path)
      else log(`${path} is left out: there are more than ${MAX_FILES} files`)
    }
  } catch (error) {
    const { code, message } = PcpError.from(error)
    if (code !== 'ENOENT') log(`${directory}: ${message}`) // a missing directory means no sources
  }
}

function sourceFile(directory: string, path: string, log: (text: string) => void): SourceFile | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined || !stat.isFile()) return undefined
  const isScript = (stat.mode & 0o100) !== 0
  if (!isScript && !path.endsWith('.url')) return undefined
  const nickname = path
    .slice(directory.length + 1)
    .replace(/(?<=[^/])\.[^./]*$/, '')
    .replaceAll('/', '.')
  const why = refusal(nickname, isScript, stat) ?? distrust(path)
  if (why !== undefined) {
    log(`${path} is left out: ${why}`)
    return undefined
  }
  return { nickname, path, isScript, changedMs: stat.ctimeMs }
}

function refusal(nickname: string, isScript: boolean, { size }: Stats): string | undefined {
  if (nickname === 'control') return 'the name belongs to the metrics of the agent itself'
  if (!NICKNAME.test(nickname)) return `"${nickname}" cannot be part of a metric name`
  if (!isScript) return size > MAX_CONFIG ? `it is longer than ${MAX_CONFIG} bytes` : undefined
  return undefined
}

/** Scripts run, and files are read, with the agent's privileges: others must not be able to change them. */
function distrust(path: string): string | undefined {
  try {
    trustedPath(path)
    return undefined
  } catch (error) {
    return PcpError.from(error).message
  }
}
