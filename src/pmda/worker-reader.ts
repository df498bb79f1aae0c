/** Reading in a thread of its own what would hold up everybody: long system calls, heavy parsing. docs/agents.md */
import type { Worker } from 'node:worker_threads'
import { onAbort } from '../base/on-abort.ts'
import { type ErrorCode, PcpError, statusOf } from '../model/errors.ts'

/** How a thread reads. */
export interface WorkerReaderOptions {
  /** Name of the function that the module exports; default 'read'. */
  readonly exportName?: string
  /** What the function is given; anything that can be cloned. */
  readonly input?: unknown
  /** Most memory of the thread's own heap, in megabytes; a thread that needs more ends. Default: Node's. */
  readonly maxHeapMb?: number
}

/** Runs in the thread: text, because a bundle has no file of its own for it. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads')
const loaded = import(workerData.module).then((module) => module[workerData.exportName])
loaded.catch(() => {})
parentPort.on('message', async () => {
  try {
    parentPort.postMessage({ value: await (await loaded)(workerData.input) })
  } catch (error) {
    parentPort.postMessage({ code: error?.code, message: String(error?.message ?? error) })
  }
})
`

type Reply = { readonly value: unknown } | { readonly code: unknown; readonly message: string }

/**
 * Calls a function of a module in a thread, one call at a time. The thread begins with the first call; one that ended, or
 * whose call was aborted, is replaced by the next. Made for a `BackgroundReading`:
 * `new BackgroundReading((signal) => reader.read(signal), { intervalMs: 10_000 })`.
 */
export class WorkerReader<T> {
  readonly #module: string
  readonly #options: WorkerReaderOptions
  #worker: Worker | undefined
  #isClosed = false

  /** `module` is a file of JavaScript, as an absolute path or URL. */
  constructor(module: string | URL, options: WorkerReaderOptions = {}) {
    this.#module = String(module)
    this.#options = options
  }

  /**
   * What the function returns, or what its promise resolves to. Rejects with the code that what it throws has (else
   * PM_ERR_GENERIC), EINTR when `signal` ends the thread, and PM_ERR_GENERIC when the thread ended otherwise.
   */
  read(signal?: AbortSignal): Promise<T> {
    if (this.#isClosed) return Promise.reject(new PcpError('EINTR', 'The reader is closed'))
    this.#worker ??= this.#start()
    const worker = this.#worker
    return new Promise<T>((resolve, reject) => {
      const settle = (finish: () => void): void => {
        stop()
        worker.off('message', onMessage)
        worker.off('error', onError)
        worker.off('exit', onExit)
        finish()
      }
      const fail = (error: PcpError): void => settle(() => reject(error))
      const onMessage = (reply: Reply): void =>
        'value' in reply ? settle(() => resolve(reply.value as T)) : fail(errorOf(reply))
      const onError = (error: Error): void => {
        this.#drop(worker)
        fail(new PcpError('PM_ERR_GENERIC', `${this.#module}: ${error.message}`, { cause: error }))
      }
      const onExit = (): void => {
        this.#drop(worker)
        fail(new PcpError('PM_ERR_GENERIC', `${this.#module}: the thread ended`))
      }
      const stop = onAbort(signal, () => {
        this.#drop(worker)
        fail(new PcpError('EINTR', `${this.#module}: the call was given up`))
      })
      worker.on('message', onMessage)
      worker.on('error', onError)
      worker.on('exit', onExit)
      worker.postMessage(undefined)
    })
  }

  /** Ends the thread, and the call it was at. */
  async close(): Promise<void> {
    this.#isClosed = true
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  #start(): Worker {
    const { exportName = 'read', input, maxHeapMb } = this.#options
    const { pathToFileURL } = process.getBuiltinModule('node:url')
    const { Worker } = process.getBuiltinModule('node:worker_threads')
    const isUrl = /^(?:file|data|node):/.test(this.#module)
    const worker = new Worker(THREAD, {
      eval: true,
      stdout: true, // an agent's standard output belongs to the protocol
      workerData: { module: isUrl ? this.#module : pathToFileURL(this.#module).href, exportName, input },
      ...(maxHeapMb === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } }),
    })
    worker.stdout.on('data', (chunk: Uint8Array) => process.stderr.write(chunk))
    worker.unref()
    return worker
  }

  /** Forgets a thread, and ends it when it is still there. */
  #drop(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined
    void worker.terminate()
  }
}

function errorOf({ code, message }: { readonly code: unknown; readonly message: string }): PcpError {
  return new PcpError(isCode(code) ? code : 'PM_ERR_GENERIC', message)
}

function isCode(code: unknown): code is ErrorCode {
  if (typeof code !== 'string') return false
  try {
    return statusOf(code as ErrorCode) < 0
  } catch {
    return false // a code of somebody else's
  }
}
