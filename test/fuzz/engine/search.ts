/** Runs searches on a thread, and restarts the thread when an input hangs it or exhausts its heap. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Find } from './fuzzer.ts'
import {
  EXECUTIONS,
  INPUT_AT,
  LENGTH,
  MAX_SHARED_INPUT,
  type SearchFigures,
  type SearchOrder,
  type SearchReport,
} from './protocol.ts'

const POLL_MS = 500
/** Heap of the thread, megabytes. */
const HEAP_MB = 512
/** Hangs and exhausted heaps after which the search of an entry stops. */
const MAX_RESTARTS = 5

/** What to search, and for how long. */
export interface SearchRequest {
  readonly name: string
  readonly seed: number
  readonly inputs: readonly Uint8Array[]
  readonly ms: number
  readonly runs: number
  /** Distinct finds after which it ends. */
  readonly most: number
  /** Time after which an input counts as hanging; generous, as the machine may be busy. */
  readonly hangMs: number
  /** URL of the directory with the bundled files, and of the thread's file there. */
  readonly directory: string
  readonly thread: URL
  readonly onFind: (find: Find) => void
}

/** Result of a search. */
export interface SearchResult extends SearchFigures {
  readonly cover: readonly Uint8Array[]
}

/** Searches one entry until its time is over. */
export async function search(request: SearchRequest): Promise<SearchResult> {
  const { name, directory, ms, runs, most, hangMs, onFind } = request
  const until = Date.now() + ms
  const kept = [...request.inputs]
  for (let restart = 0; ; restart++) {
    const shared = new SharedArrayBuffer(INPUT_AT + MAX_SHARED_INPUT)
    const order = { name, seed: request.seed + restart, inputs: kept, until, runs, most, directory, shared }
    const result = await oneThread(request.thread, order, hangMs, (report) => {
      if (report.kind === 'kept') kept.push(report.input)
      else if (report.kind === 'find') onFind(report.find)
    })
    if (typeof result !== 'string') return result
    const words = new Int32Array(shared, 0, 2)
    if (words[EXECUTIONS] === 0) throw new Error(`${name} cannot run: ${result}`)
    const input = new Uint8Array(shared.slice(INPUT_AT, INPUT_AT + words[LENGTH]!))
    onFind({ title: result.split('\n', 1)[0]!, detail: result, input })
    if (restart >= MAX_RESTARTS || most === 1 || Date.now() >= until)
      return {
        executions: words[EXECUTIONS]!,
        seconds: ms / 1000,
        blocks: 0,
        slowestMs: hangMs,
        isComplete: false,
        cover: kept,
      }
  }
}

/** Resolves to the result of a thread, or to the reason why it was stopped. */
async function oneThread(
  url: URL,
  order: SearchOrder,
  hangMs: number,
  onReport: (report: SearchReport) => void,
): Promise<SearchResult | string> {
  const worker = new Worker(url, {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  })
  let result: SearchResult | string = 'the thread ended early'
  worker.on('message', (report: SearchReport) => {
    if (report.kind !== 'end') return onReport(report)
    result = { ...report.figures, cover: report.cover }
    // Servers that an entry has started would keep it alive.
    void worker.terminate()
  })
  worker.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') result = 'exhausts the heap'
    else result = `uncaught ${error.stack ?? error.message}`
  })
  const words = new Int32Array(order.shared, 0, 2)
  let [last, since] = [0, performance.now()]
  const timer = setInterval(() => {
    const executions = words[EXECUTIONS]!
    if (executions !== last || executions === 0) [last, since] = [executions, performance.now()]
    else if (performance.now() - since > hangMs) {
      result = 'hangs'
      void worker.terminate()
    }
  }, POLL_MS)
  try {
    await once(worker, 'exit')
  } catch {
    // The 'error' event came first; its handler has set the reason.
  } finally {
    clearInterval(timer)
  }
  return result
}
