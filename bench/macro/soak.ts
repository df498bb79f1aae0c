/**
 * Resident memory of our collector under long load: clients that connect, fetch for a while and disconnect, and clients that stay.
 * `npm run bench -- soak [--minutes N] [--clients N]`. Prints a line per minute (or twenty in all) and the slope.
 */
import { parseArgs } from 'node:util'
import { startOurs } from './lib/collectors.ts'
import { LOAD_ARGUMENT, Load, makeLoad } from './lib/load.ts'
import { residentMb, slope } from './lib/memory.ts'
import { RawClient } from './lib/raw-client.ts'

const METRICS = [
  'kernel.all.load',
  'mem.util.free',
  'disk.dev.read',
  'network.interface.in.bytes',
  'simple.now',
]
/** Share of the time for warming up, in which heaps and caches reach their size. */
const WARM_UP = 0.2

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { minutes: { type: 'string', default: '30' }, clients: { type: 'string', default: '100' } },
  })
  const ms = Number(values.minutes) * 60_000
  const clients = Number(values.clients)
  const collector = await startOurs(process.cwd())
  const load = new Load()
  try {
    const first = await RawClient.open(collector.port)
    const pmids = await first.lookup(METRICS)
    first.close()
    const start = performance.now()
    const elapsed = (): number => performance.now() - start
    const samples: [minutes: number, mb: number][] = []
    let fetches = 0
    let failed = 0
    let told = 0
    while (elapsed() < ms) {
      // Half of the time at full speed, half of it ten times a second; collectors see both.
      for (const everyMs of [undefined, 100]) {
        const job = { port: collector.port, clients, pmids, ms: 5000 }
        const result = await load.run(everyMs === undefined ? job : { ...job, everyMs })
        fetches += result.rate * 5
        failed += result.errors + result.refusals
        samples.push([elapsed() / 60_000, residentMb(collector.pid)])
      }
      if (elapsed() < told) continue
      told += Math.max(60_000, ms / 20)
      const [minutes, mb] = samples.at(-1)!
      console.log(
        `${minutes.toFixed(1)} min  ${mb.toFixed(0)} MB  ${fetches.toFixed(0)} fetches  ${failed} failed`,
      )
    }
    const warm = samples.filter(([minutes]) => minutes * 60_000 > ms * WARM_UP)
    const figures = warm.map(([, mb]) => mb)
    console.log(
      `${fetches.toFixed(0)} fetches by clients that come and go, ${failed} failed; resident ${Math.min(...figures).toFixed(0)} to ${Math.max(...figures).toFixed(0)} MB after the first ${WARM_UP * 100} %, slope ${(slope(warm) * 60).toFixed(2)} MB an hour`,
    )
  } finally {
    load.stop()
    await collector.stop()
  }
}

if (process.argv[2] === LOAD_ARGUMENT) makeLoad()
else await main()
