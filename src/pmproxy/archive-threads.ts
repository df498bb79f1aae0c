/**
 * Threads that read archives for the page: an archive that keeps its reader busy delays neither live pages nor other archives.
 * docs/pmproxy.md
 *
 *     request ──► thread of this archive, else an idle one, else a new one, else the shortest queue
 *                 one request at a time; too late or out of memory: the thread ends, and with it this request alone
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

/** What a thread is started with. */
export interface ThreadSetup {
  readonly roots: readonly string[]
  readonly variables: Variables
}

/** A request for the thread, or the end of one. */
export type ToThread =
  | { readonly id: number; readonly path: string; readonly query: string; readonly user: WebUser }
  | { readonly id: number; readonly gone: true }

/** The answer. */
export type FromThread =
  | { readonly id: number; readonly reply: Reply }
  | { readonly id: number; readonly code: string; readonly message: string }

/** Limits of the threads. */
export interface ThreadLimits {
  readonly threads: number
  /** How long one request may take, ms: a little longer than the reader itself allows. */
  readonly requestMs: number
  /** MiB of JavaScript heap. */
  readonly heapMb: number
  /** How long a thread without requests stays, ms. */
  readonly idleMs: number
}

/** Limits unless a test has others. */
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
  /** The first one is under way. */
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

  /** How many threads there are. */
  get count(): number {
    return this.#threads.size
  }

  /** Answers a request. Rejects as the route does; PM_ERR_TIMEOUT for an archive that takes too long, EFBIG for too much memory. */
  answer(request: Pick<WebRequest, 'path' | 'query' | 'signal'>, user: WebUser = UNKNOWN): Promise<Reply> {
    if (this.#isClosed) return Promise.reject(new PcpError('PM_ERR_NOTCONN', 'The server is going away'))
    return new Promise((resolve, reject) => {
      const settle = (outcome: Reply | PcpError): void =>
        outcome instanceof PcpError ? reject(outcome) : resolve(outcome)
      const job: Job = { id: ++this.#lastId, request, user, settle, unwatch: () => {} }
      const thread = this.#threadFor(keyOf(request))
      job.unwatch = onAbort(request.signal, () => this.#giveUp(thread, job))
      thread.jobs.push(job)
      if (thread.jobs.length === 1) this.#start(thread)
    })
  }

  /** Ends all threads; idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(
      [...this.#threads].map((thread) =>
        this.#end(thread, new PcpError('PM_ERR_NOTCONN', 'The server is going away')),
      ),
    )
  }

  /** Requests about one archive share a thread: one that cannot be read blocks one thread only. */
  #threadFor(key: string): Thread {
    const all = [...this.#threads]
    const same = all.find(({ jobs }) => jobs.some(({ request }) => keyOf(request) === key))
    const free = same ?? all.find(({ jobs }) => jobs.length === 0)
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
    const thread: Thread = { worker, jobs: [], timer: undefined }
    this.#threads.add(thread)
    worker.on('message', (message: FromThread) => this.#receive(thread, message))
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      const text = `The archive needs more than ${this.#limits.heapMb} MiB of memory to be read`
      void this.#end(thread, isMemory ? new PcpError('EFBIG', text) : PcpError.from(error))
    })
    worker.on(
      'exit',
      () => void this.#end(thread, new PcpError('PM_ERR_EOF', 'The reader of archives ended')),
    )
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

  /** A client that is gone needs no answer: the thread stops at its next turn. */
  #giveUp(thread: Thread, job: Job): void {
    const at = thread.jobs.indexOf(job)
    if (at < 0) return
    job.settle(new PcpError('ECANCELED', 'The client is gone'))
    if (at === 0) thread.worker.postMessage({ id: job.id, gone: true } satisfies ToThread)
    else thread.jobs.splice(at, 1)
  }

  /** Ends a thread; requests that it has not begun are answered by another one. */
  async #end(thread: Thread, reason?: PcpError): Promise<void> {
    if (!this.#threads.delete(thread)) return
    clearTimeout(thread.timer)
    const [first, ...others] = thread.jobs.splice(0)
    first?.unwatch()
    first?.settle(reason ?? new PcpError('PM_ERR_EOF', 'The reader of archives ended'))
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

/** What a request reads: an archive, or the list of all. */
function keyOf({ query }: Pick<WebRequest, 'query'>): string {
  return query.get('archive') ?? ''
}

/** Path of the threads' program, beside the program that this is part of; undefined where it was not built. */
export function threadProgram(): string | undefined {
  const here = import.meta.url // a path where this is bundled as CommonJS
  const dir = dirname(here.startsWith('file:') ? fileURLToPath(here) : here)
  // Daemons are one directory above what commands share.
  return [dir, join(dir, 'parts')]
    .map((each) => join(each, 'archive-thread.cjs'))
    .find((path) => existsSync(path))
}
