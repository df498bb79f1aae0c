/**
 * Sends the archives of a fleet to a receiver that only acknowledges: how many values a second, in how many bytes each, and how much memory?
 * `npm run bench -- remote-write [--hosts N] [--samples N] [--metrics N] [--protocol 1|2] [--batch N] [--shards N]`.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createArchive } from '../../src/archive.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_TYPE_U64 } from '../../src/model/types.ts'
import { ArchiveTree } from '../../src/remote-write/archive-tree.ts'
import { PostClient } from '../../src/remote-write/http.ts'
import { volatilePositions } from '../../src/remote-write/positions.ts'
import { Sender } from '../../src/remote-write/sender.ts'
import { Shipper } from '../../src/remote-write/shipper.ts'
import { waitFor } from '../../src/remote-write/wait.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { residentMb } from './lib/memory.ts'

const START = 1_700_000_000
const INSTANCES = 2

async function main(): Promise<void> {
  const preset = (value: number): { readonly type: 'string'; readonly default: string } => ({
    type: 'string',
    default: String(value),
  })
  const options = {
    hosts: preset(100),
    samples: preset(60),
    metrics: preset(100),
    protocol: preset(2),
    batch: preset(10_000),
    shards: preset(4),
  }
  const { values } = parseArgs({ options })
  const [hosts, samples, metrics] = [values.hosts, values.samples, values.metrics].map(Number) as [
    number,
    number,
    number,
  ]
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-remote-write-'))
  const server = createServer((request, response) => {
    request
      .resume()
      .on('end', () => response.writeHead(204, { 'X-Prometheus-Remote-Write-Samples-Written': '9e9' }).end())
  })
  try {
    for (let h = 0; h < hosts; h++) write(join(dir, `host${h}`), h, samples, metrics)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const client = new PostClient(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
    const sender = new Sender(client, {
      protocol: values.protocol === '1' ? 1 : 2,
      headers: () => ({}),
      timeoutMs: 30_000,
      delaysMs: [1000],
      wait: waitFor,
      now: Date.now,
      report: console.error,
    })
    const unsent = { unreadable: 0, late: 0 }
    const queue = {
      files: archiveFiles(),
      isWanted: () => true,
      labels: new Map(),
      unsent,
      report: console.error,
    }
    const positions = volatilePositions()
    const begun = performance.now()
    await new Shipper({
      tree: new ArchiveTree({ archives: [], directories: [dir] }, queue, positions),
      positions,
      sender,
      limits: { samples: Number(values.batch), bytes: 8 << 20 },
      shards: Number(values.shards),
      pollMs: undefined,
      scanMs: 30_000,
      mostSeries: 1_000_000,
      wait: waitFor,
    }).run(new AbortController().signal)
    const seconds = (performance.now() - begun) / 1000
    client.close()
    const { samples: sent, bytes, requests } = sender.counts
    console.log(
      `Remote Write ${sender.version}.0, ${hosts} hosts: ${sent} values in ${seconds.toFixed(1)} s: ` +
        `${Math.round(sent / seconds)} a second, ${(bytes / sent).toFixed(1)} bytes each, ${requests} requests, ` +
        `resident ${residentMb(process.pid).toFixed(0)} MB`,
    )
  } finally {
    server.closeAllConnections()
    server.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Writes counters that grow at different rates. */
function write(base: string, host: number, samples: number, metrics: number): void {
  const made = createArchive(base, { hostname: `host${host}` })
  made.addLabels({
    hostname: `host${host}`,
    machineid: `${host}`.padStart(32, '0'),
    domainname: 'example.com',
  })
  const about = { type: PM_TYPE_U64, sem: PM_SEM_COUNTER, units: 'count', indom: indom(77, 1) }
  const all = Array.from({ length: metrics }, (_, m) =>
    made.addMetric(`demo.m${m}`, { pmid: pmid(77, 0, m), ...about }),
  )
  for (let s = 0; s < samples; s++) {
    for (const [m, metric] of all.entries())
      for (let i = 0; i < INSTANCES; i++) made.put(metric, BigInt(s * (m + host) * 37 + i), `inst${i}`)
    made.write({ sec: START + 10 * s, nsec: 0 })
  }
  made.close()
}

await main()
