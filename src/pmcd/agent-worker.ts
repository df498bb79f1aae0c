/** Program of a thread that runs one agent, started by open-worker.ts. docs/decisions/worker-agents.md */
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
import { type AgentLocation, loadAgent } from './agent-module.ts'

/** Data that the thread is started with. */
export interface WorkerSetup {
  /** Carries PDUs. */
  readonly port: MessagePort
  readonly place: AgentLocation
  readonly domain: number
  readonly variables: Variables
  /** Enabled diagnostics, as `setDebug` takes them. The collector posts a new list when they change. */
  readonly debug: string
  /** User who may store to controls, besides root. */
  readonly owner: number | undefined
}

/** A log line from the thread. */
export interface WorkerNotice {
  readonly level: LogLevel
  readonly text: string
}

/** An early failure ends the thread; the collector receives it as the thread's error. */
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

// The agent's timers and sockets would keep the thread alive. An exception ends it with its stack.
void run(workerData as WorkerSetup).then(() => process.exit(0))
