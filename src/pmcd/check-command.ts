/** Starts a program as an agent, and examines it by its PDUs. docs/how-to/add-an-agent.md */

import { setLongTimeout } from '../base/after.ts'
import { onAbort } from '../base/on-abort.ts'
import { withTimeout } from '../base/within.ts'
import { isError, PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { ANONYMOUS, type MetricSource } from '../model/source.ts'
import { openAgentLink } from '../net/agent-link.ts'
import { PduConnection } from '../net/connection.ts'
import { REPLY_LIMITS } from '../wire/reply-limits.ts'
import type { CheckOptions } from './check-agent.ts'
import { type Examined, examineAgent } from './examine-agent.ts'

/** A program that serves an agent's PDUs by its standard input and output. */
export interface AgentCommand {
  readonly name: string
  readonly argv: readonly string[]
}

/** What was found. */
export interface ExaminedCommand extends Examined {
  readonly names: readonly string[]
  readonly ids: readonly Pmid[]
  readonly logged: readonly string[]
}

const HANDSHAKE_MS = 5000
const REPLY_MS = 5000
const EXIT_MS = 2000

/** Examines an agent. Rejects with the reason if it cannot be started, or sends no greeting. */
export async function examineCommandAgent(
  { name, argv }: AgentCommand,
  { print, limitMs, signal }: CheckOptions,
): Promise<ExaminedCommand> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const [program, ...args] = argv
  const child = spawn(program!, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const title = `agent "${name}"`
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.on('error', (error) => reject(PcpError.from(error, `Cannot start ${program}`)))
  })
  child.stderr.setEncoding('utf8').on('data', print)
  const exited = new Promise<true>((resolve) => child.once('exit', () => resolve(true)))
  const kill = (): void => void child.kill('SIGKILL')
  const cancel = setLongTimeout(limitMs, kill)
  const unlink = onAbort(signal, kill)
  const connection = new PduConnection(
    { readable: child.stdout, writable: child.stdin },
    { name: title, limit: REPLY_LIMITS.pduBytes },
  )
  try {
    const link = await openAgentLink(connection, {
      name: title,
      timeoutMs: REPLY_MS,
      handshakeMs: HANDSHAKE_MS,
    })
    try {
      const names = await namesOf(link)
      const examined = await examineAgent(link, names)
      return { ...examined, names: names.map(([each]) => each), ids: names.map(([, id]) => id), logged: [] }
    } finally {
      await link.close()
    }
  } finally {
    cancel()
    unlink()
    if ((await withTimeout(EXIT_MS, exited)) === undefined) kill()
  }
}

/** Returns the names that the agent reports; none for an agent that leaves them to a name space file. */
async function namesOf(source: MetricSource): Promise<readonly (readonly [string, Pmid])[]> {
  const ask = { requester: ANONYMOUS }
  try {
    const names = await source.traverse('', ask)
    const ids = await source.lookupNames(names, ask)
    return names.flatMap((name, i) => {
      const id = ids[i]!
      return isError(id) ? [] : [[name, id] as const]
    })
  } catch {
    return []
  }
}
