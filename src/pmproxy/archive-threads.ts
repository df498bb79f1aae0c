/**
 * Threads that read archives for the page, so that a slow archive delays neither live pages nor other archives.
 * docs/reference/pmproxy.md
 *
 *     request ──► thread of this archive, else an idle one, else a new one, else the shortest queue
 *                 one request at a time; on timeout or out of memory, the thread ends and only this request fails
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { onAbort } from '../base/on-abort.ts'
import { type ErrorCode, PcpError } from '../model/errors.ts'
import type { Variables } from '../sys/config.ts'
import type { Reply } from './http/reply.ts'
import type { WebRequest } from './http/request.ts'
import { UNKNOWN, type WebUser } from './web-user.ts'

/** Settings with which a thread starts. */
export interface ThreadSetup {
  readonly roots: readonly string[]
  readonly variables: Variables
}

/** A request for a thread, or its cancellation. */
export type ToThread =
  | { readonly id: number; readonly path: string; readonly query: string; readonly user: WebUser }
  | { readonly id: number; readonly gone: true }

/** A thread's response. */
export type FromThread =
  | { readonly id: number; readonly reply: Reply }
  | { readonly id: number; readonly code: string; readonly message: string }

/** Limits of the threads. */
export interface ThreadLimits {
  readonly threads: number
  /** Time limit of one request, ms; a little above the reader's own limit. */
  readonly requestMs: number
  /** MiB of JavaScript heap. */
  readonly heapMb: number
  /** How long an idle thread is kept, ms. */
  readonly idleMs: number
}

/** Default limits. */
export const THREAD_LIMITS: ThreadLimits = { threads: 2, requestMs: 25_000, heapMb: 256, idleMs: 30_000 }

interface Job {
  readonly id: number
  readonly request: Pick<WebRequest, 'path' | 'query' | 'signal'>
  readonly user: WebUser
  readonly settle: (outcome: Reply | PcpError) => void
  unwatch: () => void
}

interface Thread {
  readonly worker: Worker
  /** It has indexed the archives of all hosts, which takes long. */
  knowsFleet: boolean
  /** The first one is being processed. */
  readonly jobs: Job[]
  timer: NodeJS.Timeout | undefined
}

/** Answers requests about archives in threads. */
export class ArchiveThreads {
  readonly #program: string
  readonly #setup: ThreadSetup
  readonly #limits: ThreadLimits
  readonly #threads = new Set<Thread>()
  #lastId = 0
  #isClosed = false

  constructor(program: string, setup: ThreadSetup, limits: ThreadLimits = THREAD_LIMITS) {
    this.#program = program
    this.#setup = setup
    this.#limits = limits
  }

  /** Number of threads. */
  get count(): number {
    return this.#threads.size
  }

  /** Answers a request. Rejects as the route does; also PM_ERR_TIMEOUT if reading takes too long, EFBIG if it needs too much memory. */
  answer(request: Pick<WebRequest, 'path' | 'query' | 'signal'>, user: WebUser = UNKNOWN): Promise<Reply> {
    if (this.#isClosed) return Promise.reject(new PcpError('PM_ERR_NOTCONN', 'The server is shutting down'))
    return new Promise((resolve, reject) => {
      const settle = (outcome: Reply | PcpError): void =>
        outcome instanceof PcpError ? reject(outcome) : resolve(outcome)
      const job: Job = { id: ++this.#lastId, request, user, settle, unwatch: () => {} }
      const thread = this.#threadFor(keyOf(request))
      job.unwatch = onAbort(request.signal, () => this.#giveUp(thread, job))
      thread.jobs.push(job)
      thread.knowsFleet ||= keyOf(request) === FLEET
      if (thread.jobs.length === 1) this.#start(thread)
    })
  }

  /** Ends all threads; idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(
      [...this.#threads].map((thread) =>
        this.#end(thread, new PcpError('PM_ERR_NOTCONN', 'The server is shutting down')),
      ),
    )
  }

  /** Returns the thread for an archive. Requests about one archive share a thread, so a broken archive blocks only one. */
  #threadFor(key: string): Thread {
    const all = [...this.#threads]
    const same = all.find(({ jobs }) => jobs.some(({ request }) => keyOf(request) === key))
    const idle = all.filter(({ jobs }) => jobs.length === 0)
    const free = same ?? idle.find(({ knowsFleet }) => knowsFleet === (key === FLEET)) ?? idle[0]
    if (free !== undefined) return free
    if (all.length < this.#limits.threads) return this.#open()
    return all.reduce((a, b) => (b.jobs.length < a.jobs.length ? b : a))
  }

  #open(): Thread {
    const { Worker } = process.getBuiltinModule('node:worker_threads')
    const worker = new Worker(this.#program, {
      workerData: this.#setup,
      argv: [],
      execArgv: [],
      name: 'archives',
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.heapMb },
    })
    worker.unref()
    const thread: Thread = { worker, knowsFleet: false, jobs: [], timer: undefined }
    this.#threads.add(thread)
    worker.on('message', (message: FromThread) => this.#receive(thread, message))
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      const text = `Reading the archive needs more than ${this.#limits.heapMb} MiB of memory`
      void this.#end(thread, isMemory ? new PcpError('EFBIG', text) : PcpError.from(error))
    })
    worker.on('exit', () => void this.#end(thread, new PcpError('PM_ERR_EOF', 'The archive reader exited')))
    return thread
  }

  #start(thread: Thread): void {
    clearTimeout(thread.timer)
    const [job] = thread.jobs
    if (job === undefined) {
      thread.timer = setTimeout(() => void this.#end(thread), this.#limits.idleMs)
      thread.timer.unref()
      return
    }
    const { id, request, user } = job
    thread.timer = setTimeout(() => {
      const text = `Reading the archive takes longer than ${this.#limits.requestMs / 1000} s`
      void this.#end(thread, new PcpError('PM_ERR_TIMEOUT', text))
    }, this.#limits.requestMs)
    thread.worker.postMessage({ id, path: request.path, query: request.query.text, user } satisfies ToThread)
  }

  #receive(thread: Thread, message: FromThread): void {
    const [job] = thread.jobs
    if (job?.id !== message.id) return
    thread.jobs.shift()
    job.unwatch()
    job.settle('reply' in message ? message.reply : new PcpError(message.code as ErrorCode, message.message))
    this.#start(thread)
  }

  /** Cancels the request of a client that has disconnected; the thread stops at its next yield. */
  #giveUp(thread: Thread, job: Job): void {
    const at = thread.jobs.indexOf(job)
    if (at < 0) return
    job.settle(new PcpError('ECANCELED', 'The client has disconnected'))
    if (at === 0) thread.worker.postMessage({ id: job.id, gone: true } satisfies ToThread)
    else thread.jobs.splice(at, 1)
  }

  /** Ends a thread; another thread takes over its queued requests. */
  async #end(thread: Thread, reason?: PcpError): Promise<void> {
    if (!this.#threads.delete(thread)) return
    clearTimeout(thread.timer)
    const [first, ...others] = thread.jobs.splice(0)
    first?.unwatch()
    first?.settle(reason ?? new PcpError('PM_ERR_EOF', 'The archive reader exited'))
    for (const job of others) {
      job.unwatch()
      if (this.#isClosed) job.settle(reason ?? new PcpError('PM_ERR_NOTCONN'))
      else
        this.answer(job.request, job.user).then(job.settle, (error: unknown) =>
          job.settle(PcpError.from(error)),
        )
    }
    await thread.worker.terminate()
  }
}

const FLEET = 'fleet'

/** Returns the key of what a request reads: an archive, those of all hosts, or the list of all. */
function keyOf({ path, query }: Pick<WebRequest, 'path' | 'query'>): string {
  return path.startsWith('/ui/api/fleet') ? FLEET : (query.get('archive') ?? '')
}

/** Returns the path of a thread's program beside the running one; undefined if it was not built. */
export function threadProgram(name = 'archive-thread'): string | undefined {
  const here = import.meta.url // a path if bundled as CommonJS
  const dir = dirname(here.startsWith('file:') ? fileURLToPath(here) : here)
  // Daemons are one directory above the shared parts.
  return [dir, join(dir, 'parts')].map((each) => join(each, `${name}.cjs`)).find((path) => existsSync(path))
}
