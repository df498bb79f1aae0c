/** Runs a command line on both sides, and compares output, files and status. */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseFileName } from '../../../../src/archive/file-names.ts'
import { sortBlocks } from '../dump-order.ts'
import { plainEnv, top } from '../programs.ts'
import { ARCHIVES, filesOf } from './archive-facts.ts'
import { type Line, wordsOf } from './line.ts'
import { HOST } from './live-source.ts'

/** Results of one side. */
export interface Done {
  /** Exit status, the name of a signal, or why the run was aborted. */
  readonly status: string
  readonly stdout: string
  readonly stderr: string
  /** Text of written files by name; archives as dumped by the reference. */
  readonly files: string
}

/** Both sides of a line. */
export interface Both {
  readonly ours: Done
  readonly theirs: Done
}

/** Reasons to abort a side: it ran too long, or printed too much. */
export const GIVEN_UP = ['late', 'long'] as const

const LIMIT_MS = 20_000
const MAX_BYTES = 4_000_000
const REFERENCE_FOLDERS = ['/usr/bin', '/usr/lib/pcp/bin']
const children = new Set<ChildProcess>()

/** Path of the reference's command; undefined if it is not installed. */
export function referencePath(command: string): string | undefined {
  return REFERENCE_FOLDERS.map((folder) => join(folder, command)).find(existsSync)
}

/** Kills all running programs. */
export function killAll(): void {
  for (const child of children) killGroup(child)
}

/** Runs a line on both sides at the same time; the word HOST is `host`. */
export async function runBoth(line: Line, host?: string): Promise<Both> {
  const theirPath = referencePath(line.command)
  if (theirPath === undefined) throw new Error(`the reference has no command ${line.command}`)
  // Values are interpolated like in 6.0.3: docs/explanation/differences.md.
  const [ours, theirs] = await Promise.all([
    runSide(line, join(top, 'bin', line.command), { PCP_INTERP_EARLIER: '1' }, host),
    runSide(line, theirPath, {}, host),
  ])
  return { ours, theirs }
}

async function runSide(
  line: Line,
  path: string,
  extra: Readonly<Record<string, string>>,
  host: string | undefined,
): Promise<Done> {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-lines-'))
  const out = join(dir, 'out')
  mkdirSync(out)
  try {
    let files = 0
    const args = wordsOf(line).map((word) => {
      if (host !== undefined && word === HOST) return host
      const text = /^((?:-[^-]|--[\w-]+=)?)<<([\s\S]*)$/.exec(word)
      if (text !== null) {
        const file = join(dir, `file${files++}`)
        writeFileSync(file, text[2]!)
        return text[1]! + file
      }
      const copied = word.startsWith('OUT/') ? filesOf(word.slice(4)) : []
      for (const file of copied) copyFileSync(join(ARCHIVES, file), join(out, basename(file)))
      return word.replaceAll(/\bOUT\b/g, out)
    })
    const env = plainEnv({ PCP_DERIVED_CONFIG: '', TZ: 'UTC', LC_ALL: 'C.UTF-8', ...extra })
    const done = await runProgram(path, args, env)
    const mask = (text: string): string => {
      const plain = normalised(text.replaceAll(dir, 'DIR'), line.command)
      return host === undefined ? plain : withoutTimes(plain)
    }
    return {
      status: done.status,
      stdout: mask(done.stdout),
      stderr: mask(done.stderr),
      files: mask(await filesText(out, env)),
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Masks the times of live samples. */
function withoutTimes(text: string): string {
  return text
    .replaceAll(/\b\d{4}-\d\d-\d\d\b/g, 'DATE')
    .replaceAll(/\b\d\d:\d\d:\d\d(\.\d+)?/g, 'TIME')
    .replaceAll(/\b\w{3} \w{3} +\d+ TIME \d{4}/g, 'DATE TIME')
    .replaceAll(/(interval="|"@interval": ")[\d.]+/g, '$1N')
    .replaceAll(/\b1[78]\d{8}\b/g, 'NOW')
}

/** Removes usage texts, which are our own, and paths before command names. */
function normalised(text: string, command: string): string {
  return (
    text
      .replace(/^Usage: [\s\S]*/m, '')
      .replaceAll(/^\S*\/(pcp-\w+|\w+): /gm, '$1: ')
      .replaceAll(`/usr/lib/pcp/bin/${command}`, command)
      // Identity of the process in a log or label.
      .replaceAll(/^\[\w+ \w+ +\d+ [\d:]+\] (\w+)\(\d+\)/gm, '[NOW] $1(PID)')
      .replaceAll(/^PID for pmlogger: \d+$/gm, 'PID for pmlogger: PID')
  )
}

function runProgram(
  path: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ status: string; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { cwd: ARCHIVES, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    children.add(child)
    let givenUp: (typeof GIVEN_UP)[number] | undefined
    const giveUp = (why: (typeof GIVEN_UP)[number]): void => {
      givenUp ??= why
      killGroup(child)
    }
    const limit = setTimeout(() => giveUp('late'), LIMIT_MS)
    const printed = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('latin1').on('data', (text: string) => {
        printed[name] += text
        if (printed[name].length > MAX_BYTES) giveUp('long')
      })
    child.once('error', reject)
    child.once('close', (status, signal) => {
      clearTimeout(limit)
      children.delete(child)
      resolve({ ...printed, status: givenUp ?? signal ?? String(status) })
    })
  })
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

async function filesText(dir: string, env: NodeJS.ProcessEnv): Promise<string> {
  let text = ''
  const archives = new Set<string>()
  for (const file of readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()) {
    if (statSync(join(dir, file)).isDirectory()) continue
    const archive = parseFileName(file)
    if (archive === undefined) text += `== ${file}\n${readFileSync(join(dir, file), 'latin1')}\n`
    else archives.add(archive.base)
  }
  for (const base of archives) {
    const dump = await runProgram('/usr/bin/pmdumplog', ['-Ldehimz', join(dir, base)], env)
    text += `== archive ${base}\n${sortBlocks(dump.stdout.slice(0, MAX_BYTES))}\n${dump.stderr}`
  }
  return text
}
