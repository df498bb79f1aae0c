/** pmcd_wait: waits until a collector accepts connections, for start scripts. pmcd_wait(1) */
import { MAX_DELAY_MS } from '../base/after.ts'
import { onAbort } from '../base/on-abort.ts'
import { withSignal } from '../base/with-signal.ts'
import { PcpError } from '../model/errors.ts'
import { parseHostSpec, showHostSpec } from '../net/host-spec.ts'
import { connect } from '../pmapi/connect.ts'
import { loadConfig } from '../sys/config.ts'
import { parseInterval } from '../time/interval.ts'
import { connectProblem } from './lib/open-error.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions, VERSION_ROW } from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  rows: [
    { heading: 'General options' },
    { short: 'h', long: 'host', arg: 'HOST', help: 'wait for the collector on this host' },
    { short: 't', long: 'interval', arg: 'TIME', help: 'longest time to wait (default 60 seconds)' },
    { short: 'v', long: 'verbose', help: 'print why the connection failed' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

const DEFAULT_SEC = 60
/** Interval between attempts in milliseconds. */
const RETRY_MS = 100
const STATUS_USAGE = 1
const STATUS_TIMEOUT = 2
const STATUS_FAILED = 4
/** Errors of a collector that is not started yet or still starting: refused, no socket, or no reply in time. */
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

/** Exits with 0 when connected, 1 for a usage error, 2 after the timeout, 4 for errors that waiting cannot fix. */
export const tool: Tool = {
  name: 'pmcd_wait',
  summary: 'Wait until a collector takes connections',
  description: `
Waits until a collector accepts connections, and reports the result by its exit status. For scripts that start a collector.`,
  examples: [['pmcd_wait -h db1 -t 20sec', 'Wait up to twenty seconds:']],
  exitStatus: [
    [2, 'the timeout expired'],
    [4, 'it failed for another reason, shown with -v'],
  ],
  seeAlso: ['pmcd'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const last = (name: string): string | undefined =>
      parsed.given.findLast((option) => option.name === name)?.value
    const seconds = readSeconds(last('t'), parsed.problems)
    if (parsed.operands.length > 0) parsed.problems.push('Too many arguments')
    const early = handleEarlyExit(OPTIONS, parsed, io)
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
    // The message has two lines, the last one with a newline.
    problems.push(`-t argument not in pmParseInterval(3) format:\n${(error as Error).message.trimEnd()}\n`)
    return 0
  }
}

function complain(message: string, io: ToolIo): number {
  io.stderr.write(`pmcd_wait: ${message}\n`)
  return STATUS_USAGE
}

/** Resolves to whether the collector was reached in time. Rejects with errors that waiting cannot fix. */
async function waitFor(host: string, seconds: number, io: ToolIo): Promise<boolean> {
  const { variables: env } = loadConfig(io.env)
  const spec = parseHostSpec(host, env)
  const deadline = performance.now() + seconds * 1000
  for (;;) {
    // Even with a timeout of zero there is one attempt.
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
