/** Measures this process or thread. docs/how-to/instrument-node.md */

import type { Cluster } from 'node:cluster'
import { readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { isMainThread, threadId } from 'node:worker_threads'
import { every } from '../base/every.ts'
import { type MmvLabels, MmvWriter } from '../mmv/index.ts'
import { publishDirectory } from '../mmv/publish-directory.ts'
import { PcpError } from '../model/errors.ts'
import { openChannels } from './channels.ts'
import { type Measurement, NodeContext, type OpenMeasurement } from './context.ts'
import { openEventLoop } from './event-loop.ts'
import { instanceNumber, type MeasuredThread } from './family.ts'
import { fileName, NODE_CLUSTER, removeStale } from './files.ts'
import { openGc } from './gc.ts'
import { openHttpClient } from './http-client.ts'
import { openHttpServer } from './http-server.ts'
import { openMemory } from './memory.ts'
import type { PartName, RegisterOptions } from './options.ts'
import { openProcess } from './process.ts'
import { openResources } from './resources.ts'
import { openWorkers } from './workers.ts'

const PARTS: { readonly [name in PartName]: OpenMeasurement } = {
  eventloop: openEventLoop,
  memory: openMemory,
  gc: openGc,
  process: openProcess,
  resources: openResources,
  'http.server': openHttpServer,
  'http.client': openHttpClient,
  workers: openWorkers,
}

/** Intervals until an unsuccessful write of the file is retried. */
const AGAIN = 60

/** Active measurement of this process, until it ends or `close` is called. */
export class Registration {
  readonly #writer: MmvWriter
  readonly #parts: readonly Measurement[]
  readonly #told = new Set<string>()
  readonly #timer: NodeJS.Timeout
  #isPublished = false
  #isClosed = false
  #wait = 0

  /** For `register` only. */
  constructor(options: RegisterOptions) {
    const directory = options.directory ?? publishDirectory(process.env)
    removeStale(directory)
    this.#writer = new MmvWriter(fileName(process.pid, threadId), {
      directory,
      cluster: NODE_CLUSTER,
      prefix: false,
      flushMs: options.intervalMs ?? 1000,
      onError: (error) => this.#report(error),
    })
    const self = selfOf(options)
    const processes = this.#writer.instances({ serial: 1, help: 'Processes of Node.js, and threads of them' })
    processes.add(self.instance, { id: instanceNumber(self), labels: labelsOf(options) })
    const report = (error: unknown): void => this.#report(error)
    const context = new NodeContext({ writer: this.#writer, processes, self, options, report })
    const names = (Object.keys(PARTS) as PartName[]).filter(
      (name) => options.without?.includes(name) !== true,
    )
    const open = [
      ...names.map((name) => PARTS[name]),
      ...(options.channels === undefined ? [] : [openChannels]),
    ]
    this.#parts = open.map((openPart) => openPart(context))
    this.#timer = every(options.intervalMs ?? 1000, () => this.#sample(), report).unref()
    this.#sample()
  }

  /** Path of the file that agents read. */
  get path(): string {
    return this.#writer.path
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Stops measuring and removes the metrics of this process. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const part of this.#parts) part.close?.()
    this.#writer.close()
  }

  #sample(): void {
    try {
      for (const part of this.#parts) part.sample?.()
    } catch (error) {
      this.#report(error)
    }
    if (!this.#isPublished && this.#wait-- > 0) return
    try {
      if (this.#isPublished) this.#writer.flush()
      else this.#writer.publish()
      this.#isPublished = true
    } catch (error) {
      this.#report(error)
      this.#wait = AGAIN
    }
  }

  /** Emits each error once as a warning: measuring must not disturb the application. */
  #report(error: unknown): void {
    const { message } = PcpError.from(error)
    if (this.#told.has(message)) return
    this.#told.add(message)
    process.emitWarning(`Metrics of this process: ${message}`, 'PcpWarning')
  }
}

/** Identifies the measured process or thread. Threads have the system's thread IDs where /proc provides them. */
function selfOf({ name = nameOfScript() }: RegisterOptions): MeasuredThread {
  if (isMainThread) return { tid: process.pid, instance: `${process.pid} ${name}` }
  const tid = threadNumber() ?? process.pid + threadId
  return { tid, instance: `${tid} ${name} thread ${threadId} of ${process.pid}` }
}

function nameOfScript(): string {
  const script = process.argv[1]
  return script === undefined || script === '' ? 'node' : basename(script)
}

/** The system's ID of this thread; undefined without /proc. */
function threadNumber(): number | undefined {
  try {
    const tid = Number(basename(readlinkSync('/proc/thread-self')))
    return Number.isInteger(tid) ? tid : undefined
  } catch {
    return undefined
  }
}

/** Labels include the number of a cluster worker. Only forked processes, which have a channel, can be workers; only for them is the module loaded. */
function labelsOf({ labels }: RegisterOptions): MmvLabels {
  const worker =
    process.channel === undefined || !isMainThread
      ? undefined
      : (process.getBuiltinModule('cluster') as unknown as Cluster).worker
  return {
    pid: process.pid,
    ...(isMainThread ? {} : { thread: threadId }),
    ...(worker === undefined ? {} : { cluster_worker: worker.id }),
    ...labels,
  }
}
