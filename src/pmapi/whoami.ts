/** Who a client is, for the collector's table of clients: `pmcd.client.whoami`. docs/pmcd.md */
import { hostname, networkInterfaces } from 'node:os'
import { isError } from '../model/errors.ts'
import { PM_IN_NULL } from '../model/ids.ts'
import { PM_TYPE_STRING } from '../model/types.ts'
import { makeSet } from '../model/value-writer.ts'
import type { CallOptions, Context } from './context.ts'

const WHOAMI = 'pmcd.client.whoami'

/**
 * Stores the command and its host at the collector: `HOST (ADDRESS) COMMAND`. It is shown in the collector's table of clients and
 * nowhere else, so failures are ignored: a collector may not know the metric, or refuse stores.
 */
export async function sendWhoami(
  context: Context,
  command: readonly string[],
  options?: CallOptions,
): Promise<void> {
  // Archives and agents in this process have no other end.
  if (context.counters === undefined) return
  try {
    const [id] = await context.lookupNames([WHOAMI], options)
    if (id === undefined || isError(id)) return
    const text = `${hostname()} (${ownAddress()}) ${command.join(' ')}`
    await context.store([makeSet(id, PM_TYPE_STRING, [PM_IN_NULL], [text])], options)
  } catch {
    // A broken connection fails the calls that matter.
  }
}

/** An address of this host, one that others can reach if there is any. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return (all.find(({ internal }) => !internal) ?? all[0])?.address ?? '127.0.0.1'
}
