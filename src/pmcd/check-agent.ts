/** Loads and examines a module's agent in a process of its own: its crash or endless loop harms no one. docs/how-to/add-an-agent.md */

import { onAbort } from '../base/on-abort.ts'
import { withTimeout } from '../base/within.ts'
import { PcpError } from '../model/errors.ts'
import type { Variables } from '../sys/config.ts'
import type { AgentLocation } from './agent-module.ts'
import type { Examined } from './examine-agent.ts'
import { programBeside } from './program-beside.ts'

/** Sent to the process. */
export interface CheckSetup {
  readonly place: AgentLocation
  /** Domain to open it with, instead of its own. */
  readonly domain?: number
  readonly variables: Variables
  /** Loads and opens the agent without fetching from it. */
  readonly isBrief: boolean
}

/** What the process found. */
export interface CheckedModule extends Examined {
  readonly name: string
  /** The domain that the agent states; undefined if it states none. */
  readonly domain?: number
  /** Its names, as it reports them to a collector. */
  readonly names: readonly string[]
  /** What it wrote to its log. */
  readonly logged: readonly string[]
}

/** Settings of a check. */
export interface CheckOptions {
  /** Receives what the agent prints. */
  readonly print: (text: string) => void
  /** Time for everything, in milliseconds. */
  readonly limitMs: number
  readonly signal: AbortSignal
  /** Path of the program built from agent-check.ts; default: agent-check.cjs beside this program. */
  readonly program?: string
}

/** Largest result, and most output that is passed on. */
const MAX_RESULT = 16 << 20
const MAX_OUTPUT = 1 << 20

/** Examines an agent. Rejects with the reason if it cannot be loaded, crashes, or takes longer than the limit. */
export async function checkAgent(setup: CheckSetup, options: CheckOptions): Promise<CheckedModule> {
  const { print, limitMs, signal, program = programBeside('agent-check.cjs') } = options
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(process.execPath, [program, JSON.stringify(setup)], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  let result = ''
  let printed = 0
  child.stdio[3]!.on('data', (bytes: Buffer) => {
    result += bytes.toString('latin1')
    if (result.length > MAX_RESULT) child.kill('SIGKILL')
  })
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (printed < MAX_OUTPUT) print(text)
      printed += text.length
    })
  const unlink = onAbort(signal, () => child.kill('SIGKILL'))
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', (error) => reject(PcpError.from(error, `Cannot start ${process.execPath}`)))
    child.once('close', (status, name) => resolve(name === null ? `exit status ${status}` : `signal ${name}`))
  })
  try {
    const how = await withTimeout(limitMs, ended)
    signal.throwIfAborted()
    if (how === undefined) {
      child.kill('SIGKILL')
      await ended
      throw new PcpError(
        'PM_ERR_TIMEOUT',
        `${titleOf(setup.place)} does not answer within ${limitMs / 1000} seconds: a loop, or an await, does not end`,
      )
    }
    return parse(result, how, setup.place)
  } finally {
    unlink()
  }
}

function titleOf(place: AgentLocation): string {
  return place.kind === 'module' ? place.path : `agent ${place.name}`
}

function parse(result: string, how: string, place: AgentLocation): CheckedModule {
  if (result === '')
    throw new PcpError(
      'ECHILD',
      `${titleOf(place)} ends its process with ${how} while it is loaded or asked for values`,
    )
  const found = JSON.parse(Buffer.from(result, 'latin1').toString()) as
    | CheckedModule
    | { readonly code: string; readonly message: string }
  if ('message' in found) throw new PcpError('PM_ERR_GENERIC', found.message)
  return found
}
