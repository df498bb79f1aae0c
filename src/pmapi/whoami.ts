/** Identifies a client in the collector's client table: `pmcd.client.whoami`. docs/reference/pmcd.md */
import { hostname, networkInterfaces } from 'node:os'
import { isError } from '../model/errors.ts'
import { PM_IN_NULL } from '../model/ids.ts'
import { PM_TYPE_STRING } from '../model/types.ts'
import { makeSet } from '../model/value-writer.ts'
import type { CallOptions, Context } from './context.ts'

const WHOAMI = 'pmcd.client.whoami'

/**
 * Stores the command and its host at the collector: `HOST (ADDRESS) COMMAND`. It is only displayed, so failures are
 * ignored: a collector may not have the metric, or refuse stores.
 */
export async function sendWhoami(
  context: Context,
  command: readonly string[],
  options?: CallOptions,
): Promise<void> {
  // Archives and local agents have no client table.
  if (context.counters === undefined) return
  try {
    const [id] = await context.lookupNames([WHOAMI], options)
    if (id === undefined || isError(id)) return
    const text = `${hostname()} (${ownAddress()}) ${command.join(' ')}`
    await context.store([makeSet(id, PM_TYPE_STRING, [PM_IN_NULL], [text])], options)
  } catch {
    // A broken connection is reported by the calls that matter.
  }
}

/** Returns an address of this host, preferably one that other hosts can reach. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return (all.find(({ internal }) => !internal) ?? all[0])?.address ?? '127.0.0.1'
}
