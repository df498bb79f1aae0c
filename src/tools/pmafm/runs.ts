/** Runs commands over archives of a folio. pmafm(1) */
import { PcpError } from '../../model/errors.ts'
import { runEntry } from '../lib/run-entry.ts'
import type { ToolIo } from '../lib/tool.ts'
import { balancedLines } from '../lib/wrap.ts'
import type { ToolClasses } from './classes.ts'
import type { FolioEntry } from './folio.ts'

/** Width of the list of commands. */
const TEXT_WIDTH = 75

/** A command and its archives. */
export interface Run {
  readonly name: string
  readonly args: readonly string[]
  readonly entries: readonly FolioEntry[]
  /** Run once per archive even if the command can take several. */
  readonly isSerial: boolean
}

/** Runs a command; resolves to the last nonzero status. */
export async function runOver(
  { name, args, entries, isSerial }: Run,
  classes: ToolClasses,
  io: ToolIo,
): Promise<number> {
  const { multi, single, special } = classes
  if (!multi.has(name) && !single.has(name) && !special.has(name)) return reportUnknown(name, classes, io)
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

/** Runs commands of this package in this process, others as programs. */
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

/** Reports an unknown command and lists the known ones. */
export function reportUnknown(
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
