/**
 * dbpmda: talk to an agent by hand. dbpmda(1)
 *
 * Unlike the reference it finds the names of an agent in its own process without a name space, takes names of attributes
 * without quotes, refuses values that the type cannot hold, keeps an agent's profile to that agent's connection, and drops an agent
 * that does not greet it or goes away. A request may take any time.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { traceTo } from '../../model/debug.ts'
import { becomeUser } from '../../pmda/become-user.ts'
import { Pmns } from '../../pmns/tree.ts'
import { defaultPmnsPath, isReadableFile } from '../../sys/pmns-files.ts'
import { inputLines } from '../lib/input.ts'
import { endEarly, HELP_ROW, type OptionTable, type ParsedOptions, usageText } from '../lib/options.ts'
import { variablesOf } from '../lib/pmns-edit.ts'
import { loadNames } from '../lib/source.ts'
import { parseStandard, STANDARD } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { ownZone } from '../lib/zone.ts'
import { parseCommand } from './parse.ts'
import { type NameSpace, Session } from './session.ts'
import { Mistake } from './tokens.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'General options' },
    STANDARD.namespace,
    { short: 'f', long: 'norc', help: 'leave the commands in .dbpmdarc alone' },
    {
      short: 'q',
      long: 'creds-timeout',
      arg: 'N',
      help: 'seconds that an agent may take to greet (default 3)',
    },
    { short: 'U', long: 'username', arg: 'USER', help: 'become this user first' },
    { short: 'v', long: 'valgrind', help: 'does nothing: agents in this process are never unloaded' },
    STANDARD.debug,
    HELP_ROW,
    { heading: 'Input options' },
    { short: 'e', long: 'echo-input', help: 'repeat the commands in the output' },
    { short: 'i', long: 'interactive', help: 'ask for each command with a prompt' },
  ],
}

const PROMPT = 'dbpmda> '
const RC_FILE = '.dbpmdarc'
const RC_PROMPT = `${RC_FILE}> `

/** Opens agents as a collector does, and asks them what a user types. */
export const tool: Tool = {
  name: 'dbpmda',
  summary: 'Talk to an agent by hand',
  description: `
Opens an agent, in this process, over a pipe or over a socket, and asks it what standard input says, one command a line: descriptors,
values, instances, texts, labels and names as a collector would ask for them. help lists the commands.

Commands in the file .dbpmdarc of the current directory are carried out first.`,
  examples: [
    [
      'echo "open dso pmda_simple.so simple_init\\nfetch simple.color" | dbpmda -ei',
      'An agent of this package:',
    ],
  ],
  seeAlso: ['pmcd', 'newhelp', 'pmdbg'],
  options: OPTIONS,
  endsInOrder: true,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const { given, operands, problems, standard } = parsed
    const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
    const seconds = last('q') ?? '3'
    if (!/^\d+$/.test(seconds)) problems.push('-q requires a positive numeric argument')
    const status = endEarly(OPTIONS, parsed, io)
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
      zone: ownZone(io),
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

/** Those of -n, which must be there, or the installation's; an agent in this process can do without. */
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

/** Carries out lines; resolves to whether they came to their end before `quit`. */
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
    if (!(error instanceof Mistake)) throw error
    // The place is below the line as it stands behind the prompt.
    io.stdout.write(`${' '.repeat(PROMPT.length + error.column)}^ at or near here\n`)
    await io.stdout.flush()
    io.stderr.write(`Error: ${error.message}\nType 'help' for a list of commands.\n`)
    await io.stderr.flush()
    return true
  }
}
