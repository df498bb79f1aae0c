/** Loads archives into a key server in a thread, so that neither delays requests. docs/reference/pmproxy.md */
import type { Worker } from 'node:worker_threads'
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import { PcpError } from '../../model/errors.ts'
import { Discovery } from '../../series/discover/discovery.ts'
import { type DiscoveryStatistics, newDiscoveryStatistics } from '../../series/discover/statistics.ts'
import type { Log } from '../../sys/log.ts'
import { connectLoader } from './connect.ts'
import type { ServedKeySettings } from './settings.ts'

/** Settings with which the thread starts. */
export interface DiscoverySetup {
  readonly settings: ServedKeySettings
  readonly directories: readonly string[]
}

/** What the thread sends. */
export type FromDiscovery =
  | { readonly statistics: DiscoveryStatistics }
  | { readonly level: 'info' | 'warning'; readonly text: string }

/** A running discovery. */
export interface RunningDiscovery {
  readonly statistics: DiscoveryStatistics
  close(): Promise<void>
}

const RESTART_MS = doublingDelays(1000, 60_000)
/** PCP's default of stream.expire. */
export const EXPIRE_SECONDS = 86_400
/** MiB of JavaScript heap of the thread. */
const HEAP_MB = 1024

/** Starts loading: in a thread, or in this thread without its program. */
export function startDiscovery(
  setup: DiscoverySetup,
  program: string | undefined,
  log: Log,
): RunningDiscovery {
  return program === undefined ? discoverHere(setup, log) : new DiscoveryThread(setup, program, log)
}

function discoverHere({ settings, directories }: DiscoverySetup, log: Log): RunningDiscovery {
  const stop = new AbortController()
  const discovery = new Discovery({
    directories,
    connect: () => connectLoader(settings),
    keptSeconds: settings.loader.expireSeconds ?? EXPIRE_SECONDS,
    onNotice: (level, text) => log.notice(level, text),
  })
  const ended = discovery.run(stop.signal)
  return {
    statistics: discovery.statistics,
    close() {
      stop.abort()
      return ended
    },
  }
}

/** Restarts its thread when that ends. */
class DiscoveryThread implements RunningDiscovery {
  statistics = newDiscoveryStatistics()
  readonly #setup: DiscoverySetup
  readonly #program: string
  readonly #log: Log
  readonly #backoff = new Backoff({ delaysMs: RESTART_MS })
  #worker: Worker | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(setup: DiscoverySetup, program: string, log: Log) {
    this.#setup = setup
    this.#program = program
    this.#log = log
    this.#start()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#worker?.terminate()
  }

  #start(): void {
    const { Worker } = process.getBuiltinModule('node:worker_threads')
    const worker = new Worker(this.#program, {
      workerData: this.#setup,
      argv: [],
      execArgv: [],
      name: 'discovery',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    })
    this.#worker = worker
    worker.unref()
    worker.on('message', (message: FromDiscovery) => {
      if ('statistics' in message) this.statistics = message.statistics
      else this.#log.notice(message.level, message.text)
    })
    worker.on('error', (error) =>
      this.#log.notice(
        'error',
        `Archives are not loaded into the key server: ${PcpError.from(error).message}`,
      ),
    )
    worker.once('exit', () => {
      this.#worker = undefined
      if (this.#isClosed) return
      this.#timer = setTimeout(() => this.#start(), this.#backoff.failed(performance.now()))
      this.#timer.unref()
    })
    this.#backoff.succeeded(performance.now())
  }
}
