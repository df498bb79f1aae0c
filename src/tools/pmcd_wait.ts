/** pmcd_wait: wait until a collector takes connections, for scripts that start one. pmcd_wait(1) */
import { MAX_DELAY_MS } from '../base/after.ts'
import { onAbort } from '../base/on-abort.ts'
import { withSignal } from '../base/with-signal.ts'
import { PcpError } from '../model/errors.ts'
import { parseHostSpec, showHostSpec } from '../net/host-spec.ts'
import { connect } from '../pmapi/connect.ts'
import { loadConfig } from '../sys/config.ts'
import { parseInterval } from '../time/interval.ts'
import { connectProblem } from './lib/open-error.ts'
import { endEarly, HELP_ROW, type OptionTable, parseOptions, VERSION_ROW } from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  rows: [
    { heading: 'General options' },
    { short: 'h', long: 'host', arg: 'HOST', help: 'wait for the collector on this host' },
    { short: 't', long: 'interval', arg: 'TIME', help: 'longest time to wait (default 60 seconds)' },
    { short: 'v', long: 'verbose', help: 'say why it was not reached' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

const DEFAULT_SEC = 60
/** Between two attempts: a collector that starts is noticed soon, and one attempt costs little. */
const RETRY_MS = 100
const STATUS_USAGE = 1
const STATUS_TIMEOUT = 2
const STATUS_FAILED = 4
/** What a collector that is starting, or about to, answers: nobody there, no socket yet, or no reply in time. */
const WORTH_WAITING: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'PM_ERR_TIMEOUT',
  'PM_ERR_IPC',
  'PM_ERR_EOF',
])

/** Ends with 0 when connected, 1 for a mistake, 2 when the time is over, 4 when waiting is no use. */
export const tool: Tool = {
  name: 'pmcd_wait',
  summary: 'Wait until a collector takes connections',
  description: `
Waits until a collector takes connections, and says by its exit status whether it does. For scripts that start a collector and go
on when it is there.`,
  examples: [['pmcd_wait -h db1 -t 20sec', 'Give it twenty seconds:']],
  exitStatus: [
    [2, 'the time was up'],
    [4, 'it failed for another reason: -v says which'],
  ],
  seeAlso: ['pmcd'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const last = (name: string): string | undefined =>
      parsed.given.findLast((option) => option.name === name)?.value
    const seconds = readSeconds(last('t'), parsed.problems)
    if (parsed.operands.length > 0) parsed.problems.push('Too many arguments')
    const early = endEarly(OPTIONS, parsed, io)
    if (early !== undefined) return early
    const host = last('h') ?? 'local:'
    const say = last('v') === undefined ? () => {} : (text: string) => io.stderr.write(`pmcd_wait: ${text}\n`)
    try {
      if (await waitFor(host, seconds, io)) return 0
    } catch (error) {
      if (error instanceof SyntaxError) return complain(error.message, io)
      say(`Cannot connect to PMCD on host "${showHostSpec(host)}": ${connectProblem(error)}`)
      return STATUS_FAILED
    }
    say(
      `Failed to connect to PMCD on host "${showHostSpec(host)}" in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`,
    )
    return STATUS_TIMEOUT
  },
}

function readSeconds(text: string | undefined, problems: string[]): number {
  if (text === undefined) return DEFAULT_SEC
  try {
    const { sec, nsec } = parseInterval(text)
    return sec + nsec / 1e9
  } catch (error) {
    // The message is two lines already, and ends with one.
    problems.push(`-t argument not in pmParseInterval(3) format:\n${(error as Error).message.trimEnd()}\n`)
    return 0
  }
}

function complain(message: string, io: ToolIo): number {
  io.stderr.write(`pmcd_wait: ${message}\n`)
  return STATUS_USAGE
}

/** Resolves to whether it was reached in time. Rejects with an error that waiting does not mend. */
async function waitFor(host: string, seconds: number, io: ToolIo): Promise<boolean> {
  const { variables: env } = loadConfig(io.env)
  const spec = parseHostSpec(host, env)
  const deadline = performance.now() + seconds * 1000
  for (;;) {
    // Also a wait of no time at all looks once.
    const left = Math.min(Math.max(deadline - performance.now(), RETRY_MS), MAX_DELAY_MS)
    let isLate = false
    try {
      await withSignal({ signals: [io.signal], timeoutMs: Math.ceil(left) }, async (signal) => {
        onAbort(signal, () => {
          isLate = true
        })
        const context = await (io.connect ?? connect)(spec, { env, signal })
        await context.close()
      })
      return true
    } catch (error) {
      if (io.signal.aborted) throw error
      if (!isLate && !WORTH_WAITING.has(PcpError.from(error).code)) throw error
    }
    if (performance.now() + RETRY_MS >= deadline) return false
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}
