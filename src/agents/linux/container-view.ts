/** The machine as a container sees it: its network, its file systems and its name. docs/formats/root.md */
import { PcpError } from '../../model/errors.ts'
import type { Ask } from '../../model/source.ts'
import type { AgentEnv, AgentTables } from '../../pmda/define.ts'
import type { Container } from '../../sys/containers/container.ts'
import { containerHostname } from '../../sys/containers/container.ts'
import { ContainerLookup } from '../../sys/containers/list.ts'
import { rooted } from '../../sys/proc.ts'
import type { PlacedRow } from '../lib/name-order.ts'
import { type LinuxContext, openContext } from './context.ts'
import { fileSystemMetrics } from './filesys.ts'
import { addressMetrics } from './net-addr.ts'
import { interfaceMetrics } from './net-interface.ts'
import { protocol6Metrics, protocolMetrics } from './net-snmp.ts'
import { connectionMetrics, sockStatMetrics } from './net-sockets.ts'
import { unameMetrics } from './uname.ts'

type Metrics = { readonly [name: string]: PlacedRow }

/** Containers whose tables are kept; of more, the one that was asked about longest ago is let go. */
const MAX_VIEWS = 16

interface View {
  readonly pid: number
  readonly ctx: LinuxContext
  readonly tables: Pick<AgentTables, 'metrics'>
}

/** Tables for clients of containers, by the first process of the container they look into. */
export class ContainerViews {
  readonly #env: AgentEnv
  readonly #host: Metrics
  /** The most recently asked about last. */
  readonly #views = new Map<string, View>()
  readonly #lookup: ContainerLookup

  /** `host` are the metrics of the machine; those that no container has of its own are shown to all clients. */
  constructor(env: AgentEnv, host: Metrics) {
    this.#env = env
    this.#lookup = new ContainerLookup(env.root, env.env, env.clock)
    this.#host = host
  }

  /** undefined for a client that looks into none. PM_ERR_NOCONTAINER when it does not run or is not there. */
  tablesFor({ requester: { container }, moment }: Ask): Pick<AgentTables, 'metrics'> | undefined {
    if (container === undefined || container === '') return undefined
    const found = this.#lookup.find(container)
    if (found?.pid === undefined) {
      const why = found === undefined ? 'There is no container' : 'There runs no process in the container'
      throw new PcpError('PM_ERR_NOCONTAINER', `${why} "${container}"`)
    }
    const view = this.#viewOf(found, found.pid)
    view.ctx.begin(moment)
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
      view.ctx.close() // it was started again
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
    const metrics: { [name: string]: PlacedRow } = Object.assign(Object.create(null), this.#host)
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

/** A context whose network is that of the process, and whose other files are below the process's root directory. */
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

/** What the container calls itself. */
function nameOf(root: string, container: Container): string {
  const name = containerHostname(root, container)
  if (name !== undefined) return name
  throw new PcpError(
    'PM_ERR_APPVERSION',
    `Neither the engine nor /etc/hostname says what container ${container.id} calls itself`,
  )
}
