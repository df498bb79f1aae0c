/** Entry point of a thread that reads archives for the page; archive-threads.ts starts it. docs/reference/pmproxy.md */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { ByteBudget } from '../base/byte-budget.ts'
import { PcpError } from '../model/errors.ts'
import { clientMemory } from '../sys/client-memory.ts'
import type { FromThread, ThreadSetup, ToThread } from './archive-threads.ts'
import { ArchiveRoots } from './archives.ts'
import { WebContexts } from './contexts.ts'
import { Fleet } from './fleet/fleet.ts'
import { HostRules } from './host-rules.ts'
import { HostConnections } from './hosts.ts'
import { Query } from './http/query.ts'
import type { Reply } from './http/reply.ts'
import { NameSearch } from './name-search.ts'
import { Redaction } from './redaction.ts'
import { answerOfArchives } from './routes/page-api.ts'
import { answerSeriesPath, openArchiveSeries } from './routes/series-archives.ts'

function serve(port: MessagePort, { roots, variables }: ThreadSetup): void {
  const archives = new ArchiveRoots(roots, variables)
  // The thread connects to no host. The main thread limits each request, `resourceLimits` the heap.
  const contexts = new WebContexts(
    new HostConnections(variables, new HostRules(variables, { hosts: [], offeredHosts: [] })),
    archives,
    variables,
    new ByteBudget(clientMemory(), () => {}),
  )
  const series = openArchiveSeries(roots)
  const redaction = new Redaction({ archiveDirs: roots, prometheus: undefined }, () => {})
  const fleet = new Fleet(roots, () => archives.files())
  const services = { archives, contexts, fleet, search: new NameSearch() }
  const pending = new Map<number, AbortController>()
  port.on('message', (message: ToThread) => {
    const { id } = message
    if ('gone' in message) {
      pending.get(id)?.abort()
      return
    }
    const controller = new AbortController()
    pending.set(id, controller)
    const { signal } = controller
    const request = { path: message.path, query: new Query(message.query), signal }
    const answered = /^\/(?:series|search)\//.test(request.path)
      ? answerSeriesPath(request.path, request.query, series, redaction)
      : answerOfArchives(request, services, message.user)
    answered
      .then(
        (reply) => port.postMessage({ id, reply } satisfies FromThread, transferable(reply)),
        (error: unknown) => {
          const { code, message: text } = PcpError.from(error)
          port.postMessage({ id, code, message: text } satisfies FromThread)
        },
      )
      .finally(() => pending.delete(id))
  })
}

/** Returns buffers to transfer instead of copy; small answers may share their buffer with others. */
function transferable({ body }: Reply): ArrayBuffer[] {
  if (typeof body === 'string' || body.byteLength !== body.buffer.byteLength) return []
  return [body.buffer as ArrayBuffer]
}

serve(parentPort!, workerData as ThreadSetup)
