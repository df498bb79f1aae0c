/** proc.control: choice of the listed processes, for all clients and for each client. */
import { PcpError } from '../../model/errors.ts'
import type { Ask } from '../../model/source.ts'
import type { Value } from '../../model/values.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { ProcContext } from './context.ts'
import type { ListChoices } from './process-list.ts'

interface OwnChoices {
  threads?: boolean
  cgroup?: string
}

/** Default and per-client choices. */
export class Controls {
  #threads: boolean
  readonly #cgroup: string
  readonly #own = new Map<number, OwnChoices>()

  /** Sets the defaults. */
  constructor(threads: boolean, cgroup: string) {
    this.#threads = threads
    this.#cgroup = cgroup
  }

  /** Returns the choices for a requester. */
  choices({ requester }: Ask): ListChoices {
    const own = this.#own.get(requester.client)
    return { threads: own?.threads ?? this.#threads, cgroup: own?.cgroup ?? this.#cgroup }
  }

  /** Default for clients without a choice. */
  get threads(): boolean {
    return this.#threads
  }

  setThreads(isOn: boolean): void {
    this.#threads = isOn
  }

  /** Returns a client's choices, a mutable object. */
  own(client: number): OwnChoices {
    const own = this.#own.get(client) ?? {}
    this.#own.set(client, own)
    return own
  }

  /** Forgets a disconnected client. */
  forget(client: number): void {
    this.#own.delete(client)
  }
}

/** The metrics of cluster 10. */
export function controlMetrics(ctx: ProcContext, controls: Controls): { [name: string]: OrderedRow } {
  const from = { cluster: 10, sem: 'instant', units: 'none' } as const
  return {
    'proc.control.all.threads': {
      ...from,
      item: 1,
      type: 'u32',
      help: 'Whether threads are listed beside processes (1) or not (0) by default',
      text: "Root and the agent's owner may store it. The threads then have separate values.",
      value: () => Number(controls.threads),
      isControl: true,
      store: (value, _inst, ask) => {
        ctx.checkIsKnown(ask)
        controls.setThreads(asSwitch(value))
      },
    },
    'proc.control.perclient.threads': {
      ...from,
      item: 2,
      type: 'u32',
      help: 'Whether threads are listed beside processes for this client',
      text: 'A stored value applies to the client that stored it, until it disconnects; the default is proc.control.all.threads.',
      value: (_inst, ask) => Number(controls.choices(ask).threads),
      store: (value, _inst, ask) => {
        checkIsClient(ctx, ask)
        controls.own(ask.requester.client).threads = asSwitch(value)
      },
    },
    'proc.control.perclient.cgroups': {
      ...from,
      item: 3,
      type: 'string',
      help: 'Control group whose processes are listed for this client; empty for all processes',
      text: 'The directory of the group, such as /sys/fs/cgroup/system.slice. A stored value applies to the client that stored it, until it disconnects.',
      value: (_inst, ask) => controls.choices(ask).cgroup,
      store: (value, _inst, ask) => {
        checkIsClient(ctx, ask)
        if (typeof value !== 'string')
          throw new PcpError('PM_ERR_BADSTORE', 'The value must be the path of a control group')
        controls.own(ask.requester.client).cgroup = directory(value)
      },
    },
  }
}

function checkIsClient(ctx: ProcContext, ask: Ask): void {
  if (!ctx.isKnown(ask))
    throw new PcpError(
      'PM_ERR_NOCONTEXT',
      'Only clients whose user and group are known can choose the listed processes',
    )
}

function asSwitch(value: Value): boolean {
  if (value !== 0 && value !== 1) throw new PcpError('PM_ERR_BADSTORE', `${String(value)} is neither 0 nor 1`)
  return value === 1
}

/** Accepts only absolute paths without "..". */
function directory(path: string): string {
  if (path !== '' && (!path.startsWith('/') || path.split('/').includes('..')))
    throw new PcpError('PM_ERR_BADSTORE', `"${path}" must be the absolute path of a control group`)
  return path.replace(/\/+$/, '')
}
