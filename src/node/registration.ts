/** Measuring this process, or this thread of it, from one call on. docs/guide/node.md */

import type { Cluster } from 'node:cluster'
import { readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { isMainThread, threadId } from 'node:worker_threads'
import { every } from '../base/every.ts'
import { type MmvLabels, MmvWriter } from '../mmv/index.ts'
import { publishDirectory } from '../mmv/publish-directory.ts'
import { PcpError } from '../model/errors.ts'
import { openChannels } from './channels.ts'
import { NodeContext, type OpenPart, type Part } from './context.ts'
import { openEventLoop } from './event-loop.ts'
import { instanceNumber, type Self } from './family.ts'
import { openGc } from './gc.ts'
import { openHttpClient } from './http-client.ts'
import { openHttpServer } from './http-server.ts'
import { openMemory } from './memory.ts'
import type { PartName, RegisterOptions } from './options.ts'
import { fileName, NODE_CLUSTER, removeStale } from './place.ts'
import { openProcess } from './process.ts'
import { openResources } from './resources.ts'
import { openWorkers } from './workers.ts'

const PARTS: { readonly [name in PartName]: OpenPart } = {
  eventloop: openEventLoop,
  memory: openMemory,
  gc: openGc,
  process: openProcess,
  resources: openResources,
  'http.server': openHttpServer,
  'http.client': openHttpClient,
  workers: openWorkers,
}

/** Intervals after which a file that could not be written is tried again. */
const AGAIN = 60

/** Measuring that goes on until the process ends or `close` is called. */
export class Registration {
  readonly #writer: MmvWriter
  readonly #parts: readonly Part[]
  readonly #told = new Set<string>()
  readonly #timer: NodeJS.Timeout
  #isPublished = false
  #isClosed = false
  #wait = 0

  /** `register` makes these. */
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

  /** The file that agents read. */
  get path(): string {
    return this.#writer.path
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Stops measuring, and the metrics of this process go. Idempotent. */
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

  /** An application must not suffer from being measured: what goes wrong is a warning, and each only once. */
  #report(error: unknown): void {
    const { message } = PcpError.from(error)
    if (this.#told.has(message)) return
    this.#told.add(message)
    process.emitWarning(`Metrics of this process: ${message}`, 'PcpWarning')
  }
}

/** Who is measured: threads have numbers of their own beside those of processes where the system tells them. */
function selfOf({ name = nameOfScript() }: RegisterOptions): Self {
  if (isMainThread) return { tid: process.pid, instance: `${process.pid} ${name}` }
  const tid = threadNumber() ?? process.pid + threadId
  return { tid, instance: `${tid} ${name} thread ${threadId} of ${process.pid}` }
}

function nameOfScript(): string {
  const script = process.argv[1]
  return script === undefined || script === '' ? 'node' : basename(script)
}

/** The system's number of this thread; undefined where there is no /proc. */
function threadNumber(): number | undefined {
  try {
    const tid = Number(basename(readlinkSync('/proc/thread-self')))
    return Number.isInteger(tid) ? tid : undefined
  } catch {
    return undefined
  }
}

/** Workers of a cluster have numbers. Whatever was forked has a channel: only then is the module worth loading. */
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
