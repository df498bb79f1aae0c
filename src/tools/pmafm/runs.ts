/** Runs commands over archives of a folio. pmafm(1) */
import { PcpError } from '../../model/errors.ts'
import { runEntry } from '../lib/run-entry.ts'
import type { ToolIo } from '../lib/tool.ts'
import { balancedLines } from '../lib/wrap.ts'
import type { ToolClasses } from './classes.ts'
import type { FolioEntry } from './folio.ts'

/** Width of the list of commands. */
const TEXT_WIDTH = 75

/** What to run on what. */
export interface Run {
  readonly name: string
  readonly args: readonly string[]
  readonly entries: readonly FolioEntry[]
  /** Once for each archive, even by a command that can take several. */
  readonly isSerial: boolean
}

/** Runs it; resolves to the last status that is not 0. */
export async function runOver(
  { name, args, entries, isSerial }: Run,
  classes: ToolClasses,
  io: ToolIo,
): Promise<number> {
  const { multi, single, special } = classes
  if (!multi.has(name) && !single.has(name) && !special.has(name)) return sayUnknown(name, classes, io)
  if (entries.length === 0) {
    io.stdout.write('Error: no selected archives\n')
    return 1
  }
  if (multi.has(name) && !isSerial) {
    const archives = entries.flatMap(({ path }) => ['-a', path])
    return runTool(name, [...archives, ...args], io)
  }
  if (entries.length > 1) io.stdout.write(`Note: running ${name} serially, once per archive\n`)
  let status = 0
  for (const { host, path } of entries) {
    io.stdout.write(`Host: ${host} Archive: ${path}\n`)
    const one = await runTool(name, special.has(name) ? [...args, path] : ['-a', path, ...args], io)
    if (one !== 0) status = one
  }
  return status
}

/** The commands of this package run in this process; others are programs. */
async function runTool(name: string, args: readonly string[], io: ToolIo): Promise<number> {
  const entry = (await io.commands?.())?.find((each) => each.name === name)
  return entry === undefined ? runProgram(name, args, io) : runEntry(entry, { ...io, progname: name, args })
}

async function runProgram(
  name: string,
  args: readonly string[],
  { env, stdout, cwd }: ToolIo,
): Promise<number> {
  await stdout.flush()
  const { spawn } = process.getBuiltinModule('node:child_process')
  return new Promise((done, fail) => {
    const child = spawn(name, [...args], { env: { ...env }, cwd, stdio: 'inherit' })
    child.on('error', (error) => fail(PcpError.from(error, name)))
    child.on('exit', (status) => done(status ?? 1))
  })
}

/** Says which commands there are. */
export function sayUnknown(
  name: string | undefined,
  { multi, single, special }: ToolClasses,
  { stdout }: ToolIo,
): number {
  stdout.write(name === undefined ? 'Error: missing PCP tool name\n' : `Error: Unknown PCP tool: ${name}\n`)
  const names = [...new Set([...multi, ...single, ...special])].sort()
  stdout.write(
    `Known PCP tools:\n${balancedLines(names, TEXT_WIDTH)
      .map((line) => `\t${line}\n`)
      .join('')}`,
  )
  return 1
}
