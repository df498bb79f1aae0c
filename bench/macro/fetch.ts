/**
 * Fetches a second of one client, ours beside the reference in turn: one metric of simple, and five linux metrics.
 * `npm run bench -- fetch [--rounds N] [--ms N]`
 */
import { parseArgs } from 'node:util'
import { type Candidate, hasReference, startOurs, startReference } from './lib/collectors.ts'
import { RawClient } from './lib/raw-client.ts'
import { median, table } from './lib/report.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, ms: { type: 'string', default: '2000' } },
})

const WORK: Record<string, readonly string[]> = {
  'one metric of simple': ['simple.numfetch'],
  'five linux metrics': [
    'kernel.all.load',
    'mem.util.free',
    'disk.dev.read',
    'network.interface.in.bytes',
    'kernel.percpu.cpu.user',
  ],
}

const candidates: Candidate[] = [await startOurs(process.cwd())]
if (hasReference()) candidates.push(await startReference())
else console.log('The reference is not installed: ours alone')
try {
  const rows: string[][] = [['work', ...candidates.map(({ name }) => `${name}/s`), 'ratio', 'rounds']]
  for (const [title, names] of Object.entries(WORK)) {
    const rates = candidates.map((): number[] => [])
    for (let round = 0; round <= Number(values.rounds); round++) {
      for (const [i, { port }] of candidates.entries()) {
        const client = await RawClient.open(port)
        const pmids = await client.lookup(names)
        const reply = await client.fetchOnce(pmids)
        if (reply.readInt32BE(4) !== 0x7015) throw new Error(`fetch of ${title} failed`)
        // The first round warms up and is not counted.
        const rate = await client.fetchFor(pmids, round === 0 ? 1000 : Number(values.ms))
        if (round > 0) rates[i]!.push(rate)
        client.close()
      }
    }
    const medians = rates.map(median)
    const ratio = medians.length > 1 ? (medians[0]! / medians[1]!).toFixed(2) : '-'
    rows.push([title, ...medians.map((rate) => rate.toFixed(0)), ratio, String(values.rounds)])
  }
  console.log(table(rows))
} finally {
  for (const candidate of candidates) await candidate.stop()
}
