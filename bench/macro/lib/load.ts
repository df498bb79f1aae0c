/**
 * Load from a separate process, so that client and collector do not share a thread: the benchmark forks its own file with
 * `LOAD_ARGUMENT`, and sends it jobs.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { RawClient } from './raw-client.ts'
import { quantile } from './report.ts'

/** A load: the metrics, clients, duration. */
export interface Job {
  readonly port: number
  readonly clients: number
  readonly pmids: readonly number[]
  readonly ms: number
  /** Milliseconds between the requests of a client; default: immediately after each reply. */
  readonly everyMs?: number
}

/** Result of a job. */
export interface Measured {
  /** Fetches per second over all clients. */
  readonly rate: number
  /** Milliseconds from request to reply. */
  readonly p50: number
  readonly p99: number
  readonly worst: number
  /** Clients that could not connect or lost their connection. */
  readonly errors: number
  /** Replies that were not a RESULT. */
  readonly refusals: number
}

/** Argument that makes a process a load process. */
export const LOAD_ARGUMENT = '--make-load'

/** Sends a job to a load process; resolves to its result. */
export function runJob<R>(child: ChildProcess, job: object): Promise<R> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`The load process exited: ${code}`))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.removeListener('exit', onExit)
      resolve(message as R)
    })
    child.send(job)
  })
}

/** A load process. */
export class Load {
  readonly #child: ChildProcess

  constructor() {
    this.#child = fork(process.argv[1]!, [LOAD_ARGUMENT], { execArgv: [] })
  }

  /** Connects the job's clients, runs the job and disconnects them. */
  run(job: Job): Promise<Measured> {
    return runJob(this.#child, job)
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}

/** Runs jobs for the parent process. */
export function makeLoad(): void {
  process.on('message', async (job: Job) => {
    process.send!(await measure(job))
  })
}

/** Connections opened concurrently; the reference's listen queue holds five. */
const OPENING = 4

/** Runs a job. */
export async function measure(job: Job): Promise<Measured> {
  const clients: RawClient[] = []
  let errors = 0
  let left = job.clients
  const opening = Array.from({ length: OPENING }, async () => {
    while (left-- > 0) {
      try {
        clients.push(await RawClient.open(job.port))
      } catch {
        errors++
      }
    }
  })
  await Promise.all(opening)
  const latencies: number[] = []
  const start = performance.now()
  const ended = await Promise.all(clients.map((client, i) => drive(client, job, i, latencies)))
  const seconds = (performance.now() - start) / 1000
  for (const client of clients) client.close()
  latencies.sort((a, b) => a - b)
  return {
    rate: latencies.length / seconds,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    worst: latencies.at(-1) ?? Number.NaN,
    errors: errors + ended.filter((isWell) => !isWell).length,
    refusals: clients.reduce((sum, client) => sum + client.refusals, 0),
  }
}

/** Runs one client until the time is up. Returns whether its connection lasted. */
function drive(client: RawClient, job: Job, place: number, latencies: number[]): Promise<boolean> {
  const { everyMs } = job
  if (everyMs === undefined) return client.fetchFor(job.pmids, job.ms, latencies)
  // Spread over the period, like clients that started at random times.
  return client.fetchEvery(job.pmids, job.ms, everyMs, (place * everyMs) / job.clients, latencies)
}
