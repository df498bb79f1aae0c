/**
 * dbpmda: debugs an agent interactively. dbpmda(1)
 *
 * Unlike the reference, it finds the names of an agent in its own process without a name space, accepts attribute names without
 * quotes, rejects values outside the range of the type, keeps a profile per connection to an agent, and closes an agent that does not
 * complete the handshake or exits. Requests have no time limit.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { traceTo } from '../../model/debug.ts'
import { becomeUser } from '../../pmda/become-user.ts'
import { Pmns } from '../../pmns/tree.ts'
import { defaultPmnsPath, isReadableFile } from '../../sys/pmns-files.ts'
import { inputLines } from '../lib/input.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, type ParsedOptions, usageText } from '../lib/options.ts'
import { variablesOf } from '../lib/pmns-edit.ts'
import { loadNames } from '../lib/source.ts'
import { parseStandard, STANDARD } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { processTimeZone } from '../lib/zone.ts'
import { parseCommand } from './parse.ts'
import { type NameSpace, Session } from './session.ts'
import { SyntaxMistake } from './tokens.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'General options' },
    STANDARD.namespace,
    { short: 'f', long: 'norc', help: 'do not run the commands in .dbpmdarc' },
    {
      short: 'q',
      long: 'creds-timeout',
      arg: 'N',
      help: 'timeout in seconds of the handshake with an agent (default 3)',
    },
    { short: 'U', long: 'username', arg: 'USER', help: 'run as this user' },
    { short: 'v', long: 'valgrind', help: 'ignored: agents in this process are never unloaded' },
    STANDARD.debug,
    HELP_ROW,
    { heading: 'Input options' },
    { short: 'e', long: 'echo-input', help: 'echo commands in the output' },
    { short: 'i', long: 'interactive', help: 'print a prompt before each command' },
  ],
}

const PROMPT = 'dbpmda> '
const RC_FILE = '.dbpmdarc'
const RC_PROMPT = `${RC_FILE}> `

/** Opens agents like a collector does, and sends them requests the user types. */
export const tool: Tool = {
  name: 'dbpmda',
  summary: 'Debug an agent interactively',
  description: `
Opens an agent in this process, over a pipe or over a socket, and sends it requests read from standard input, one command per line:
descriptors, values, instances, texts, labels and names, as a collector would request them. The command help lists all commands.

Commands in the file .dbpmdarc of the current directory are run first.`,
  examples: [
    [
      'echo "open dso pmda_simple.so simple_init\\nfetch simple.color" | dbpmda -ei',
      'An agent of this package:',
    ],
  ],
  seeAlso: ['pmcd', 'newhelp', 'pmdbg'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const { given, operands, problems, standard } = parsed
    const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
    const seconds = last('q') ?? '3'
    if (!/^\d+$/.test(seconds)) problems.push('-q requires a positive numeric argument')
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (operands.length > 0) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const user = last('U')
    if (user !== undefined) becomeUser(user)
    traceTo((line) => io.stderr.write(`${line}\n`))
    const session = new Session({
      io,
      names: namesAtFirst(standard.namespace?.file, io),
      handshakeMs: Number(seconds) * 1000,
      zone: processTimeZone(io),
      loadNames: (file) => namesOrReport(file, io),
    })
    try {
      await talk(session, io, parsed)
    } finally {
      await session.close()
    }
    return 0
  },
}

/** Loads the name space of -n, which must exist, or the installation's; an agent in this process needs none. */
function namesAtFirst(file: string | undefined, io: ToolIo): NameSpace {
  if (file !== undefined) return { file, pmns: loadNames({ file, unique: false }, io) }
  const path = defaultPmnsPath(variablesOf(io))
  if (isReadableFile(path)) return { file: undefined, pmns: loadNames({ file: path, unique: false }, io) }
  io.stderr.write(`${io.progname}: Warning: no name space "${path}": metrics have numbers only\n`)
  return { file: undefined, pmns: new Pmns() }
}

function namesOrReport(file: string, io: ToolIo): Pmns | undefined {
  try {
    return loadNames({ file, unique: false }, io)
  } catch (error) {
    io.stderr.write(`${io.progname}: ${error instanceof Error ? error.message : error}\n`)
    return undefined
  }
}

async function talk(session: Session, io: ToolIo, { given }: ParsedOptions): Promise<void> {
  const has = (name: string): boolean => given.some((option) => option.name === name)
  const rc = join(io.cwd, RC_FILE)
  if (!has('f') && existsSync(rc)) {
    const lines = readFileSync(rc, 'utf8').replace(/\n$/, '').split('\n')
    if (!(await converse(session, lines, { prompt: RC_PROMPT, echoes: true }, io))) return
  }
  const prompt = has('i') ? PROMPT : ''
  if (await converse(session, inputLines(io.stdin), { prompt, echoes: has('e') }, io))
    if (prompt !== '') io.stdout.write('\n')
}

/** Executes lines; resolves to whether the input ended without `quit`. */
async function converse(
  session: Session,
  lines: Iterable<string> | AsyncIterable<string>,
  { prompt, echoes }: { readonly prompt: string; readonly echoes: boolean },
  io: ToolIo,
): Promise<boolean> {
  const ask = async (): Promise<void> => {
    io.stdout.write(prompt)
    await io.stdout.flush()
  }
  await ask()
  for await (const line of lines) {
    if (echoes) io.stdout.write(`${line}\n`)
    if (!(await carryOut(session, line, io))) return false
    if (io.signal.aborted) return false
    await ask()
  }
  return true
}

async function carryOut(session: Session, line: string, io: ToolIo): Promise<boolean> {
  try {
    const command = await parseCommand(line, session.context)
    return command === undefined || (await session.run(command))
  } catch (error) {
    if (!(error instanceof SyntaxMistake)) throw error
    // The position refers to the line as displayed after the prompt.
    io.stdout.write(`${' '.repeat(PROMPT.length + error.column)}^ at or near here\n`)
    await io.stdout.flush()
    io.stderr.write(`Error: ${error.message}\nType 'help' for a list of commands.\n`)
    await io.stderr.flush()
    return true
  }
}
