/** What a thread runs that holds one agent; open-worker.ts starts it. docs/decisions/worker-agents.md */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { clearDebug, setDebug } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { serveAgent } from '../net/agent-server.ts'
import { PduConnection } from '../net/connection.ts'
import { portStream } from '../net/port-stream.ts'
import { openAgent } from '../pmda/open-agent.ts'
import type { Variables } from '../sys/config.ts'
import type { LogLevel } from '../sys/log.ts'
import { PDU_FLAG_AUTH, PDU_FLAG_CONTAINER } from '../wire/creds.ts'
import { type AgentPlace, loadAgent } from './agent-module.ts'

/** What the thread is started with. */
export interface WorkerSetup {
  /** PDUs. */
  readonly port: MessagePort
  readonly place: AgentPlace
  readonly domain: number
  readonly variables: Variables
  /** Diagnostics that are on: the list that `setDebug` takes. The collector posts another one when they are switched. */
  readonly debug: string
  /** User who may store to controls besides root. */
  readonly owner: number | undefined
}

/** What the thread tells besides PDUs: a line for the log. */
export interface WorkerNotice {
  readonly level: LogLevel
  readonly text: string
}

/** A failure before the end of the conversation ends the thread, and the collector hears it as the thread's error. */
async function run({ port, place, domain, variables, owner, debug }: WorkerSetup): Promise<void> {
  setDebug(debug)
  parentPort?.on('message', (list: string) => {
    clearDebug('all')
    setDebug(list)
  })
  parentPort?.unref()
  const definition = await loadAgent(place)
  const log = (level: LogLevel, text: string): void => {
    const notice: WorkerNotice = { level, text }
    parentPort?.postMessage(notice)
  }
  const source = openAgent(definition, {
    domain,
    env: variables,
    log,
    ...(owner === undefined ? {} : { owner }),
  })
  try {
    const connection = new PduConnection(portStream(port), { name: 'pmcd' })
    await serveAgent(source, connection, { flags: PDU_FLAG_AUTH | PDU_FLAG_CONTAINER })
  } catch (error) {
    if (!(error instanceof PcpError) || error.code !== 'PM_ERR_EOF') throw error
  } finally {
    await source.close()
  }
}

// Timers and sockets of the agent would keep the thread. An exception leaves it by itself, with its stack.
void run(workerData as WorkerSetup).then(() => process.exit(0))
