/** Reads in a worker thread, for long system calls and heavy parsing. docs/reference/agent-toolkit.md */
import type { Worker } from 'node:worker_threads'
import { onAbort } from '../base/on-abort.ts'
import { type ErrorCode, PcpError, statusOf } from '../model/errors.ts'

/** Options of a worker reader. */
export interface WorkerReaderOptions {
  /** Name of the function exported by the module; default 'read'. */
  readonly exportName?: string
  /** Argument of the function; anything that can be cloned. */
  readonly input?: unknown
  /** Largest heap of the thread, in megabytes; a thread that needs more ends. Default: Node's. */
  readonly maxHeapMb?: number
}

/** Code of the thread, as text because a bundle has no separate file for it. */
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
 * Calls a function of a module in a thread, one call at a time. The thread starts with the first call; after it ended or a
 * call was aborted, the next call starts another. Made for a `BackgroundReading`:
 * `new BackgroundReading((signal) => reader.read(signal), { intervalMs: 10_000 })`.
 */
export class WorkerReader<T> {
  readonly #module: string
  readonly #options: WorkerReaderOptions
  #worker: Worker | undefined
  #isClosed = false

  /** `module` is a JavaScript file, as an absolute path or URL. */
  constructor(module: string | URL, options: WorkerReaderOptions = {}) {
    this.#module = String(module)
    this.#options = options
  }

  /**
   * Resolves to the function's result. Rejects with the code of the exception it throws (else PM_ERR_GENERIC), EINTR if
   * `signal` ends the thread, and PM_ERR_GENERIC if the thread ends for another reason.
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

  /** Ends the thread and the current call. */
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

  /** Forgets a thread and terminates it if it is still running. */
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
    return false // not a PCP error code
  }
}
