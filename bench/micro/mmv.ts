/** Cost of publishing for an application: one change of a value, mapped and copied, and a new version of the file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bench, do_not_optimize, group, run } from 'mitata'
import { MmvWriter } from '../../src/mmv/index.ts'
import { loadNative } from '../../src/sys/native/calls.ts'

const directory = mkdtempSync(join(tmpdir(), 'pcp-ts-bench-'))
const writers: MmvWriter[] = []

for (const [way, load] of [
  ['mapped', loadNative],
  ['copied', () => undefined],
] as const) {
  const writer = new MmvWriter(way, { directory, load })
  writers.push(writer)
  const counter = writer.counter('counter')
  const small = writer.counter('small', { type: 'u32' })
  const level = writer.gauge('level')
  const text = writer.text('text')
  const timer = writer.timer('timer')
  const histogram = writer.histogram('histogram', { bounds: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] })
  const queues = writer.instances({ names: Array.from({ length: 100 }, (_, i) => `queue${i}`) })
  const depth = queues.gauge('depth')
  writer.publish()
  let i = 0
  group(`one change, ${way}`, () => {
    bench('counter.inc', () => counter.inc())
    bench('counter.inc, u32', () => small.inc())
    bench('gauge.set, double', () => level.set(i++))
    bench('of(name).set', () => depth.of('queue42').set(i++))
    bench('histogram.record', () => histogram.record(i++ & 1023))
    bench('timer.start and end', () => timer.start()())
    bench('text.set', () => text.set('running'))
  })
  group(`a new version of 107 metrics and values, ${way}`, () => {
    bench('publish', () => {
      queues.add('new')
      queues.remove('new')
      return do_not_optimize(writer.publish())
    })
  })
}
await run()
for (const writer of writers) writer.close()
rmSync(directory, { recursive: true })
