/** Hosts of a subnet that accept connections at the collector's port, as found by pmfind. */

import { type DiscoveredHost, hostOf, specOf } from '../host.ts'
import { parseMechanism } from '../mechanism.ts'
import { polled } from '../polled.ts'
import { probe as probeAll } from '../probe.ts'
import type { SourceKind } from '../source.ts'

export const probe: SourceKind = {
  name: 'probe',
  argument: 'ADDRESS/BITS',
  refreshMs: 300_000,
  // A busy host may miss a probe.
  graceMs: 900_000,
  options: [],
  open(argument, { refreshMs, port }, { clock, variables, say }) {
    const mechanisms = parseMechanism(`probe=${argument}`, variables, say)
    const find = async (signal: AbortSignal) => {
      const hosts: DiscoveredHost[] = []
      for (const mechanism of mechanisms)
        await probeAll(mechanism, [port], ({ address }) => hosts.push(hostOf(specOf(address, port))), signal)
      return { hosts }
    }
    return polled(find, refreshMs, clock)
  },
}
