/**
 * A very large number of clients, each fetching one metric per second from our collector: latency, failures, resident memory.
 * `npm run bench -- clients [--clients N] [--sec N]`. The reference cannot serve more than about a thousand, because it uses
 * select(2).
 */
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { startOurs } from './lib/collectors.ts'
import { LOAD_ARGUMENT, Load, makeLoad } from './lib/load.ts'
import { cpuMs, residentMb } from './lib/memory.ts'
import { RawClient } from './lib/raw-client.ts'

/** File descriptors of a collector besides its clients. */
const OTHER_FILES = 200

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { clients: { type: 'string', default: '10000' }, sec: { type: 'string', default: '20' } },
  })
  const clients = Number(values.clients)
  // Node raises its soft limit to the hard limit, in the collector and in the load process.
  const files = Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }))
  if (files < clients + OTHER_FILES)
    throw new Error(`${clients} clients need a limit of open files (ulimit -Hn) above ${files}`)
  const collector = await startOurs(process.cwd())
  const load = new Load()
  try {
    const atRest = residentMb(collector.pid)
    const first = await RawClient.open(collector.port)
    const pmids = await first.lookup(['kernel.all.load'])
    first.close()
    const job = { port: collector.port, clients, pmids, ms: Number(values.sec) * 1000, everyMs: 1000 }
    let most = atRest
    const watch = setInterval(() => {
      most = Math.max(most, residentMb(collector.pid))
    }, 1000)
    const cpuBefore = cpuMs(collector.pid)
    const result = await load.run(job)
    const cpu = cpuMs(collector.pid) - cpuBefore
    clearInterval(watch)
    console.log(`${clients} clients, one fetch a second each, for ${values.sec} s`)
    console.log(`fetches  ${result.rate.toFixed(0)}/s`)
    console.log(
      `latency  p50 ${result.p50.toFixed(2)} ms, p99 ${result.p99.toFixed(2)} ms, worst ${result.worst.toFixed(0)} ms`,
    )
    const fetches = (result.rate * job.ms) / 1000
    console.log(
      `processor ${((cpu * 1000) / fetches).toFixed(0)} µs a fetch, connections included, whatever else runs`,
    )
    console.log(`failed   ${result.errors} connections, ${result.refusals} replies`)
    console.log(
      `resident ${atRest.toFixed(0)} MB at rest, at most ${most.toFixed(0)} MB, ${residentMb(collector.pid).toFixed(0)} MB when all have gone`,
    )
  } finally {
    load.stop()
    await collector.stop()
  }
}

if (process.argv[2] === LOAD_ARGUMENT) makeLoad()
else await main()
