/** The machine as seen in a container: its network, file systems and name. docs/formats/root.md */
import { PcpError } from '../../model/errors.ts'
import type { Ask } from '../../model/source.ts'
import type { AgentEnv, AgentTables } from '../../pmda/define.ts'
import type { Container } from '../../sys/containers/container.ts'
import { containerHostname } from '../../sys/containers/container.ts'
import { ContainerLookup } from '../../sys/containers/list.ts'
import { rooted } from '../../sys/proc.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import { type LinuxContext, openContext } from './context.ts'
import { fileSystemMetrics } from './filesys.ts'
import { addressMetrics } from './net-addr.ts'
import { interfaceMetrics } from './net-interface.ts'
import { protocol6Metrics, protocolMetrics } from './net-snmp.ts'
import { connectionMetrics, sockStatMetrics } from './net-sockets.ts'
import { unameMetrics } from './uname.ts'

type Metrics = { readonly [name: string]: OrderedRow }

/** Most containers whose tables are kept; beyond that the least recently used are dropped. */
const MAX_VIEWS = 16

interface View {
  readonly pid: number
  readonly ctx: LinuxContext
  readonly tables: Pick<AgentTables, 'metrics'>
}

/** Tables for clients that look into containers, by the first process of the container. */
export class ContainerViews {
  readonly #env: AgentEnv
  readonly #host: Metrics
  /** In order of their last use. */
  readonly #views = new Map<string, View>()
  readonly #lookup: ContainerLookup

  /** `host` are the metrics of the machine; those that are not specific to containers are shown to all clients. */
  constructor(env: AgentEnv, host: Metrics) {
    this.#env = env
    this.#lookup = new ContainerLookup(
      rooted(env.root, env.env['LINUX_STATSPATH'] || '/'),
      env.env,
      env.clock,
    )
    this.#host = host
  }

  /** Undefined for a client without a container. PM_ERR_NOCONTAINER for an unknown or stopped one. */
  tablesFor({ requester: { container }, batch }: Ask): Pick<AgentTables, 'metrics'> | undefined {
    if (container === undefined || container === '') return undefined
    const found = this.#lookup.find(container)
    if (found?.pid === undefined) {
      const why = found === undefined ? 'Unknown container' : 'No running process in container'
      throw new PcpError('PM_ERR_NOCONTAINER', `${why} "${container}"`)
    }
    const view = this.#viewOf(found, found.pid)
    view.ctx.begin(batch)
    return view.tables
  }

  /** Releases the open files. */
  close(): void {
    for (const { ctx } of this.#views.values()) ctx.close()
    this.#views.clear()
  }

  #viewOf(container: Container, pid: number): View {
    const { id } = container
    let view = this.#views.get(id)
    this.#views.delete(id)
    if (view !== undefined && view.pid !== pid) {
      view.ctx.close() // the container was restarted
      view = undefined
    }
    view ??= this.#open(container, pid)
    this.#views.set(id, view)
    for (const [oldest, { ctx }] of this.#views) {
      if (this.#views.size <= MAX_VIEWS) break
      ctx.close()
      this.#views.delete(oldest)
    }
    return view
  }

  #open(container: Container, pid: number): View {
    const ctx = contextOf(openContext(this.#env), pid)
    const metrics: { [name: string]: OrderedRow } = Object.assign(Object.create(null), this.#host)
    const own: readonly Metrics[] = [
      unameMetrics(ctx, () => nameOf(this.#env.root, container)),
      fileSystemMetrics(ctx),
      addressMetrics(ctx),
      interfaceMetrics(ctx),
      protocolMetrics(ctx),
      protocol6Metrics(ctx),
      connectionMetrics(ctx),
      sockStatMetrics(ctx),
    ]
    for (const subject of own) Object.assign(metrics, subject)
    return { pid, ctx, tables: { metrics } }
  }
}

/** A context with the network of a process, and its root directory for other files. */
function contextOf(host: LinuxContext, pid: number): LinuxContext {
  const inside = `/proc/${pid}/root`
  const there = (path: string): string => {
    if (path.startsWith('/proc/net/')) return `/proc/${pid}${path.slice('/proc'.length)}`
    if (path.startsWith('/proc/self/')) return `/proc/${pid}${path.slice('/proc/self'.length)}`
    return path.startsWith('/proc/') ? path : inside + path
  }
  return {
    ...host,
    root: rooted(host.root, inside),
    env: { ...host.env, root: rooted(host.env.root, inside) },
    file: (path) => host.file(there(path)),
    text: (path) => host.text(there(path)),
    optionalText: (path) => host.optionalText(there(path)),
    attribute: (path) => host.attribute(there(path)),
    number: (path) => host.number(there(path)),
    list: (path) => host.list(there(path)),
  }
}

/** Host name of a container. */
function nameOf(root: string, container: Container): string {
  const name = containerHostname(root, container)
  if (name !== undefined) return name
  throw new PcpError(
    'PM_ERR_APPVERSION',
    `Neither the engine nor /etc/hostname has a host name of container ${container.id}`,
  )
}
