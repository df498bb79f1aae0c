/** A fake collector for the pmcd agent. */
import type { CollectorStatistics } from '../../src/agents/pmcd/statistics.ts'

/** Returns a collector that records the calls made to it. */
export function fakeCollector(): { statistics: CollectorStatistics; told: string[] } {
  const told: string[] = []
  const counts = new Float64Array(64)
  counts[0x03] = 7
  counts[0x10] = 2
  counts[0x15] = 2 ** 32 + 1
  const statistics: CollectorStatistics = {
    version: '0.1.0',
    build: '1',
    hostname: 'vm',
    uid: 1000,
    pdusIn: counts,
    pdusOut: new Float64Array(64),
    clients: () => [{ seq: 9, slot: 1, address: '::1', whoami: 'me', container: '', startMs: 0 }],
    agents: () => [
      { domain: 2, name: 'pmcd', kind: 'dso', isConnected: true, status: 0, isFenced: false, failure: '' },
      {
        domain: 29,
        name: 'sample',
        kind: 'pipe',
        isConnected: false,
        status: 776,
        isFenced: true,
        failure: 'terminated, exit(3)',
      },
    ],
    features: () => ({
      secure: false,
      ipv6: true,
      authentication: false,
      credsRequired: false,
      unixSockets: true,
      serviceDiscovery: false,
      containers: true,
      local: false,
      certRequired: false,
    }),
    fileLabels: () => '{"a":1}',
    sighups: () => 3,
    seqnum: () => 11,
    controls: { timeoutSec: 5, credsTimeoutSec: 3 },
    debug: { bits: 0 },
    trace: {
      recordsConnections: true,
      recordsPdus: false,
      isUnbuffered: false,
      size: 20,
      dump: () => told.push('trace'),
    },
    limits: { pduBytes: 65536, contexts: 64, metrics: 32768 },
    reconfigure: () => told.push('reconfigure'),
    advanceSeqnum: () => told.push('advance'),
    dumpConnections: () => told.push('connections'),
    fence: (domain, on) => told.push(`fence ${domain} ${on}`),
    setWhoami: (slot, seq, text) => told.push(`whoami ${slot} ${seq} ${text}`),
    setContainer: (slot, seq, name) => told.push(`container ${slot} ${seq} ${name}`),
  }
  return { statistics, told }
}
