/** pmlc: queries and changes what running pmloggers log. pmlc(1) */

import { VERSION } from '../../base/version.ts'
import { loadConfig } from '../../sys/config.ts'
import { inputLines } from '../lib/input.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable } from '../lib/options.ts'
import { openContext } from '../lib/source.ts'
import { type ParsedStandard, parseStandard, STANDARD } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { HELP } from './help.ts'
import { isOpen, type LoggerSpec, parseCommand } from './parse.ts'
import { LOCAL, Session } from './session.ts'

const TABLE: OptionTable = {
  synopsis: '[options] [pid]',
  rows: [
    { short: 'e', long: 'echo', help: 'echo commands' },
    { short: 'h', long: 'host', arg: 'HOST', help: 'connect to a pmlogger on HOST' },
    { short: 'i', long: 'interactive', help: 'prompt even if stdin is not a terminal' },
    STANDARD.namespace,
    { short: 'p', long: 'port', arg: 'N', help: 'connect to the pmlogger on this TCP port' },
    { short: 'P', long: 'primary', help: 'connect to the primary pmlogger' },
    { short: 'Z', long: 'timezone', arg: 'TZ', help: 'show times in this zone' },
    { short: 'z', long: 'logzone', help: 'show times in the zone of the pmlogger' },
    STANDARD.debug,
    STANDARD.version,
    HELP_ROW,
  ],
}

export const tool: Tool = {
  name: 'pmlc',
  summary: 'control running pmloggers',
  options: TABLE,
  run,
}

async function run(io: ToolIo): Promise<number> {
  const parsed = parseStandard(TABLE, io)
  const { given, operands, problems, standard } = parsed
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  const logger = loggerOf(parsed)
  const host = last('h')
  if (host !== undefined && logger === undefined)
    problems.push('-h may not be used without -P or -p or a socket path or a PID')
  if (operands.length > 1) problems.push('too many arguments')
  const early = handleEarlyExit(TABLE, parsed, io)
  if (early !== undefined) return early
  const { variables } = loadConfig(io.env)
  const prompts = last('i') !== undefined || process.getBuiltinModule('node:tty').isatty(0)
  const session = new Session({
    io,
    variables,
    host: host ?? LOCAL,
    zone: last('z') !== undefined ? 'logger' : (last('Z') ?? 'local'),
    open: (name) => openContext({ ...standard, source: 'host', hosts: [name] }, io),
  })
  if (prompts) io.stdout.write(`Performance Co-Pilot Logger Control (pmlc), Version ${VERSION}\n\n${HELP}`)
  if (logger !== undefined) await session.connect(logger, host ?? LOCAL, true)
  await converse(session, io, { prompts, echoes: last('e') !== undefined })
  await session.close()
  return 0
}

/** Returns the logger of -P, -p or a process id; adds errors to `problems`. */
function loggerOf({ given, operands, problems }: ParsedStandard): LoggerSpec | undefined {
  const specs: LoggerSpec[] = []
  for (const { name, value } of given) {
    if (name === 'P') specs.push({ kind: 'primary' })
    if (name !== 'p') continue
    if (/^\d+$/.test(value) && Number(value) > 0) specs.push({ kind: 'port', port: Number(value) })
    else problems.push('port must be numeric and greater than 0')
  }
  const [pid] = operands
  if (pid !== undefined) {
    if (/^\d+$/.test(pid) && Number(pid) > 1) specs.push({ kind: 'pid', pid: Number(pid) })
    else problems.push('PID must be a numeric process ID and greater than 1')
  }
  if (specs.length > 1) problems.push('at most one of -P, -p, unix socket, or PID may be specified')
  return specs[0]
}

async function converse(
  session: Session,
  io: ToolIo,
  { prompts, echoes }: { readonly prompts: boolean; readonly echoes: boolean },
): Promise<void> {
  const prompt = async (text = 'pmlc> '): Promise<void> => {
    if (prompts) io.stdout.write(text)
    await io.stdout.flush()
  }
  let pending = ''
  let number = 0
  await prompt()
  for await (const line of inputLines(io.stdin)) {
    number++
    if (echoes) io.stdout.write(`${line}\n`)
    await io.stdout.flush()
    pending += pending === '' ? line : `\n${line}`
    if (isOpen(pending)) {
      await prompt('? ')
      continue
    }
    const text = pending
    pending = ''
    const where = `[<stdin>, line ${number}]`
    try {
      if (!(await session.run(parseCommand(text), where))) {
        io.stdout.write('Goodbye\n')
        return
      }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      io.stderr.write(`Error ${where}\n${error.message}\n`)
    }
    await io.stderr.flush()
    await prompt()
  }
  if (pending !== '') io.stderr.write(`Error [<stdin>, line ${number}]\nsyntax error\n`)
  if (prompts) io.stdout.write('\n')
}
