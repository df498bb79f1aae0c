/**
 * Rebuild: updates the name space in the current directory from the agents' files. docs/formats/pmns.md §7
 *
 * PCP's start scripts call it as `./Rebuild -u` in $PCP_VAR_DIR/pmns. Like the reference, it writes everything to standard output,
 * and nothing if all went well, unless -v or -n is given. Unlike the reference, -v shows differences as a list of names, and a dry run
 * does not need a file `root`.
 */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { decodeText } from '../base/text.ts'
import { pmidStr } from '../model/ids.ts'
import { byDatestamp, mergePmns } from '../pmns/merge.ts'
import { Pmns } from '../pmns/tree.ts'
import { takeLock } from '../sys/file-lock.ts'
import { isReadableFile } from '../sys/pmns-files.ts'
import { replaceFile } from '../sys/replace-file.ts'
import { isStdpmidStale } from '../sys/stdpmid.ts'
import {
  HELP_ROW,
  handleEarlyExit,
  type OptionTable,
  parseOptions,
  usageText,
  VERSION_ROW,
} from './lib/options.ts'
import { loadOrReport, variablesOf, warnMergeConflict, whileEditing } from './lib/pmns-edit.ts'
import { updateStdpmid } from './lib/stdpmid.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[-nosuv]',
  rows: [
    { heading: 'Options' },
    { short: 'o', help: 'merge every root_* file, even if its agent is not in pmcd.conf' },
    { short: 'n', help: 'dry run: print what would be done' },
    { short: 's', help: 'print nothing but errors of the name space' },
    { short: 'u', help: "first remove the agents' old names from root, as for an upgrade" },
    { short: 'v', help: 'print progress, and the added and removed names' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Time limit for the lock, as in PCP's scripts. */
const LOCK_LIMIT_MS = 120_000
/** Top-level names that PCP no longer has. */
const OBSOLETE = ['pagebuf', 'origin']
/** Names that the agent `proc` had in the file it shared with others. */
const PROC_NAMES = ['proc', 'cgroup']

/** Merges the agents' files into the name space of the current directory. */
export const tool: Tool = {
  name: 'Rebuild',
  summary: 'Bring the local name space up to date',
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (parsed.operands.length > 0) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const lockPath = join(io.cwd, 'root.lock')
    const lock = await takeLock(lockPath, { limitMs: LOCK_LIMIT_MS, signal: io.signal })
    if (lock === undefined) {
      if (io.signal.aborted) return 1
      // A lock left by a dead script must not keep a collector from starting.
      io.stdout.write(
        `${io.progname}: Warning: ${lockPath} is held for more than 120 seconds, continuing anyway\n`,
      )
    }
    try {
      const letters = new Set(parsed.given.map(({ name }) => name))
      return await whileEditing('root', io, () => rebuild(letters, io))
    } finally {
      lock?.release()
    }
  },
}

/** One run of the command. */
interface Run {
  readonly io: ToolIo
  readonly has: (letter: string) => boolean
  /** Prints progress: immediately with -v or -n, otherwise only on failure. */
  readonly say: (text: string) => void
}

function rebuild(letters: ReadonlySet<string>, io: ToolIo): number {
  let complaints = ''
  let progress = ''
  const isTalking = letters.has('v') || letters.has('n')
  const say = (text: string): void => {
    if (letters.has('s')) return
    if (isTalking) io.stdout.write(text)
    else progress += text
  }
  // Warnings are shown on failure or if verbose.
  const complain = (text: string): void => {
    if (letters.has('v') && !letters.has('s')) io.stdout.write(text)
    else complaints += text
  }
  // Scripts expect pmnsmerge's name in messages about merging.
  const mergeIo: ToolIo = {
    ...io,
    progname: 'pmnsmerge',
    stderr: {
      write: complain,
      writeControls: complain,
      writeBytes: (bytes) => complain(decodeText(bytes)),
      flush: () => io.stdout.flush(),
      isTerminal: false,
    },
  }
  const has = (letter: string): boolean => letters.has(letter)
  if (update({ io: mergeIo, has, say })) return 0
  io.stdout.write(complaints)
  say('Rebuild: pmnsmerge failed\n         "root" has not been changed.\n')
  io.stdout.write(progress)
  return 1
}

/** Runs all steps; returns false after printing an error in a name space. */
function update(run: Run): boolean {
  const { io, has, say } = run
  if (has('n')) io.stdout.write('Rebuild: Warning: dry run, no changes will be made\n')
  else rmSync(join(io.cwd, 'root.bin'), { force: true }) // left by PCP 3.5 or older
  say(`Rebuilding the Performance Metrics Name Space (PMNS) in ${io.cwd} ...\n`)
  refreshStdpmid(run)
  const agents = configuredAgents(io)
  const files = agentFiles(run, agents)
  if (has('n') && !exists(io, 'root')) say('+ create empty root PMNS ...\n')
  if (has('u')) say('Rebuild: PCP upgrade processing for "root" PMNS changes ...\n')
  if (has('u') && has('n')) say('+ cull root_* names from PMNS ...\n')
  say(`Rebuild: merging the following PMNS files: \n${listed(['root', ...files], has('n'))}\n`)
  if (has('n')) say('+ pmnsmerge ...\n')
  const old = exists(io, 'root') ? loadNamed('root', run) : new Pmns()
  const parts = old === undefined ? undefined : loadAll(files, run)
  if (old === undefined || parts === undefined) return false
  const merged = has('u') ? cull(old, parts, agents, run) : cull(old, [], undefined, run)
  for (const part of parts) mergePmns(merged, part, (conflict) => warnMergeConflict(conflict, io))
  replaceRoot(old, merged, run)
  return true
}

function exists({ cwd }: ToolIo, name: string): boolean {
  return statSync(join(cwd, name), { throwIfNoEntry: false }) !== undefined
}

function refreshStdpmid({ io, has, say }: Run): void {
  if (!isStdpmidStale(io.cwd)) return
  if (has('n')) {
    say('+ Make.stdpmid ...\n')
    return
  }
  const made = updateStdpmid(io.cwd)
  for (const error of made?.errors ?? []) io.stdout.write(`Make.stdpmid: Error: ${error}\n`)
  for (const warning of made?.warnings ?? []) say(`Make.stdpmid: Warning: ${warning}\n`)
}

/** Returns the agents in pmcd.conf: the first word of each line before the access section. Empty without the file. */
function configuredAgents(io: ToolIo): ReadonlySet<string> {
  const path = variablesOf(io)['PCP_PMCDCONF_PATH'] ?? '/etc/pcp/pmcd/pmcd.conf'
  const names = new Set<string>()
  if (!isReadableFile(path)) return names
  for (const line of decodeText(readFileSync(path)).split('\n')) {
    if (/^\s*\[access\]/.test(line)) break
    const name = /^([^\s#]\S*)\s/.exec(line)?.[1]
    if (name !== undefined) names.add(name)
  }
  return names
}

/** Returns the root_* files to merge. */
function agentFiles({ io, has }: Run, agents: ReadonlySet<string>): string[] {
  const all = readdirSync(io.cwd).filter(
    (name) => name.startsWith('root_') && isReadableFile(join(io.cwd, name)),
  )
  return all.sort().filter((file) => {
    const agent = file.slice('root_'.length)
    if (has('o') || agents.has(agent)) return true
    if (has('v') && !has('s'))
      io.stdout.write(`Warning: skipping ${file} as ${agent} PMDA is not in pmcd.conf\n`)
    return false
  })
}

/** Loads a name space; prints errors and returns undefined. */
function loadNamed(file: string, { io, has, say }: Run): Pmns | undefined {
  if (has('v')) say(`${file}:\n`)
  return loadOrReport(file, io)
}

/** Loads the agents' name spaces in merge order. */
function loadAll(files: readonly string[], run: Run): Pmns[] | undefined {
  const read = files.map((file) => ({ file, text: decodeText(readFileSync(join(run.io.cwd, file))) }))
  const parts: Pmns[] = []
  for (const { file } of byDatestamp(read)) {
    const part = loadNamed(file, run)
    if (part === undefined) return undefined
    parts.push(part)
  }
  return parts
}

/** Copies the old name space; an upgrade drops top-level names that the agents' files define again. */
function cull(
  old: Pmns,
  parts: readonly Pmns[],
  agents: ReadonlySet<string> | undefined,
  { has, say }: Run,
): Pmns {
  const names = new Set<string>()
  if (agents !== undefined) {
    for (const name of [...OBSOLETE, ...(agents.has('proc') ? [] : PROC_NAMES)]) names.add(name)
    for (const part of parts) for (const { name } of part.children('')) names.add(name)
    if (has('v')) say(`Exclude these top-level names ...\n    ${[...names].join(' ')}\n`)
  }
  const culled = new Pmns()
  old.walk('', (name, id) => {
    if (!names.has(name.split('.', 1)[0]!)) culled.add(name, id)
  })
  return culled
}

/** Replaces root, keeping the old one as root.prev, unless all names and PMIDs are the same. */
function replaceRoot(old: Pmns, merged: Pmns, { io, has, say }: Run): void {
  const path = join(io.cwd, 'root')
  const changes = differences(old, merged)
  if (!exists(io, 'root') && !has('n')) replaceFile(path, old.toString())
  if (changes.length === 0) {
    say('Rebuild: PMNS is unchanged.\n')
    return
  }
  if (!has('n')) {
    replaceFile(`${path}.prev`, decodeText(readFileSync(path)))
    replaceFile(path, merged.toString(), { keepMode: true })
  }
  say(`Rebuild: PMNS "${path}" updated.\n... previous version saved as "${path}.prev"\n`)
  if (has('n')) say('+ mv root root.prev\n+ mv root.new root\n')
  if (has('v')) say(`+ PMNS differences ...\n${changes.join('')}`)
}

/** Joins names on one line, or in a dry run on indented lines of 75 characters. */
function listed(names: readonly string[], isFolded: boolean): string {
  if (!isFolded) return names.join(' ')
  const lines: string[] = []
  for (const name of names) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + name.length > 75) lines.push(name)
    else lines[lines.length - 1] = `${last} ${name}`
  }
  return lines.map((line) => `    ${line}`).join('\n')
}

/** Returns removed names with `-` and added ones with `+`, sorted. */
function differences(old: Pmns, merged: Pmns): string[] {
  const lines: string[] = []
  const compare = (from: Pmns, to: Pmns, sign: string): void =>
    from.walk('', (name, id) => {
      if (to.idOf(name) !== id) lines.push(`${sign} ${name} PMID: ${pmidStr(id)}\n`)
    })
  compare(old, merged, '-')
  compare(merged, old, '+')
  return lines.sort((a, b) => (a.slice(2) < b.slice(2) ? -1 : a.slice(2) > b.slice(2) ? 1 : a < b ? 1 : -1))
}
