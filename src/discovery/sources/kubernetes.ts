/**
 * Pods of Kubernetes that run a collector, listed and watched at the cluster's API.
 *
 *     list ──resourceVersion──► watch ──events──► watch again from the last event...
 *       ▲                         │
 *       └── back-off ◄── failure ─┴─ 410 Gone: the version is too old
 */
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import { PcpError } from '../../model/errors.ts'
import type { DiscoveredHost } from '../host.ts'
import { GoneError, getJson, watchLines } from '../kubernetes/api.ts'
import { type Cluster, openCluster } from '../kubernetes/cluster.ts'
import { hostOfPod, type PodChoice, podId } from '../kubernetes/pods.ts'
import type { HostSink, HostSource, SourceIo, SourceKind } from '../source.ts'

/** Pods of one page of a list. */
const PAGE = 500
/** Most pods that are remembered; more are an error, because the hosts would be an arbitrary part. */
const MOST_PODS = 100_000
/** Time in milliseconds by which an answer may be later than the server's own limit of a watch. */
const LATE_MS = 30_000
const FIRST_RETRY_MS = 1_000
const LAST_RETRY_MS = 60_000

export const kubernetes: SourceKind = {
  name: 'kubernetes',
  argument: 'NAMESPACE, * for all, or nothing for the own one',
  refreshMs: 300_000,
  graceMs: 0,
  options: ['selector', 'field', 'annotation', 'kubeconfig'],
  open(argument, { refreshMs, port, options }, io) {
    if (!/^(?:\*|[a-z0-9-]{0,63})$/.test(argument))
      throw new PcpError('EINVAL', `invalid namespace "${argument}": use ${kubernetes.argument}`)
    const { selector, field, annotation, kubeconfig } = options
    const [name, value] = annotation?.split(/=(.*)/s) ?? []
    const choice: PodChoice = {
      port,
      ...(name === undefined ? {} : { annotation: { name, ...(value === undefined ? {} : { value }) } }),
    }
    const query = new URLSearchParams()
    if (selector !== undefined) query.set('labelSelector', selector)
    if (field !== undefined) query.set('fieldSelector', field)
    return new PodSource({ namespace: argument, query, choice, refreshMs, kubeconfig }, io)
  },
}

interface PodQuery {
  readonly namespace: string
  readonly query: URLSearchParams
  readonly choice: PodChoice
  readonly kubeconfig: string | undefined
  /** Duration of one watch. */
  readonly refreshMs: number
}

class PodSource implements HostSource {
  readonly #query: PodQuery
  readonly #io: SourceIo
  readonly #hosts = new Map<string, DiscoveredHost>()
  #version = ''

  constructor(query: PodQuery, io: SourceIo) {
    this.#query = query
    this.#io = io
  }

  async watch(sink: HostSink, signal: AbortSignal): Promise<void> {
    const { clock } = this.#io
    const backoff = new Backoff({ delaysMs: doublingDelays(FIRST_RETRY_MS, LAST_RETRY_MS) })
    while (!signal.aborted) {
      try {
        const cluster = await openCluster(this.#query.kubeconfig, this.#io)
        const path = this.#path(cluster)
        if (this.#version === '') {
          await this.#list(cluster, path, signal)
          sink.update([...this.#hosts.values()])
        }
        backoff.succeeded(clock.now())
        await this.#follow(cluster, path, sink, signal)
      } catch (error) {
        if (signal.aborted) return
        // Anything may have changed while nothing was watched.
        this.#version = ''
        if (!(error instanceof GoneError)) sink.failed(PcpError.from(error))
        backoff.failed(clock.now())
        await clock.sleep(backoff.remainingMs(clock.now()), signal).catch(() => undefined)
      }
    }
  }

  #path({ namespace }: Cluster): string {
    const { namespace: wanted } = this.#query
    return wanted === '*' ? '/api/v1/pods' : `/api/v1/namespaces/${wanted === '' ? namespace : wanted}/pods`
  }

  async #list(cluster: Cluster, path: string, signal: AbortSignal): Promise<void> {
    const found = new Map<string, DiscoveredHost>()
    let version = ''
    let next = ''
    let count = 0
    do {
      const query = new URLSearchParams(this.#query.query)
      query.set('limit', String(PAGE))
      if (next !== '') query.set('continue', next)
      const page = (await getJson(cluster, `${path}?${query}`, signal)) as {
        readonly metadata?: { readonly resourceVersion?: unknown; readonly continue?: unknown }
        readonly items?: unknown
      }
      if (!Array.isArray(page.items))
        throw new PcpError('PM_ERR_CONV', `${cluster.server}: not a list of pods`)
      count += page.items.length
      if (count > MOST_PODS)
        throw new PcpError(
          'E2BIG',
          `${cluster.server}: more than ${MOST_PODS} pods: use selector=LABEL=VALUE`,
        )
      for (const pod of page.items as unknown[]) {
        const host = hostOfPod(pod, this.#query.choice, this.#io.say)
        if (host !== undefined) found.set(podId(pod).id, host)
      }
      version = String(page.metadata?.resourceVersion ?? '')
      next = String(page.metadata?.continue ?? '')
    } while (next !== '')
    this.#hosts.clear()
    for (const [id, host] of found) this.#hosts.set(id, host)
    this.#version = version
  }

  /** Applies events until the server ends the watch, which it does after a while. Throws for failures, GoneError for a version too old. */
  async #follow(cluster: Cluster, path: string, sink: HostSink, signal: AbortSignal): Promise<void> {
    const { query, refreshMs } = this.#query
    const watch = new URLSearchParams(query)
    watch.set('watch', '1')
    watch.set('allowWatchBookmarks', 'true')
    watch.set('resourceVersion', this.#version)
    watch.set('timeoutSeconds', String(Math.ceil(refreshMs / 1000)))
    let events = 0
    for await (const event of watchLines(cluster, `${path}?${watch}`, refreshMs + LATE_MS, signal)) {
      events++
      const { type, object } = (event ?? {}) as { readonly type?: unknown; readonly object?: unknown }
      if (type === 'ERROR') throw errorOf(object, cluster)
      const { id, version } = podId(object)
      if (version !== '') this.#version = version
      if (type === 'BOOKMARK') continue
      const host = type === 'DELETED' ? undefined : hostOfPod(object, this.#query.choice, this.#io.say)
      if (host === undefined) {
        if (!this.#hosts.delete(id)) continue
      } else this.#hosts.set(id, host)
      if (this.#hosts.size > MOST_PODS)
        throw new PcpError(
          'E2BIG',
          `${cluster.server}: more than ${MOST_PODS} pods: use selector=LABEL=VALUE`,
        )
      sink.update([...this.#hosts.values()])
    }
    // A server that ends each watch immediately must not be watched in a tight loop.
    if (events === 0) await this.#io.clock.sleep(FIRST_RETRY_MS, signal).catch(() => undefined)
    sink.update([...this.#hosts.values()])
  }
}

function errorOf(status: unknown, { server }: Cluster): Error {
  const { code, message } = (status ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  if (code === 410) return new GoneError(String(message))
  return new PcpError('EHOSTUNREACH', `${server}: ${String(code)} ${String(message)}`)
}
