/** The search thread: an endless loop or an exhausted heap stops only this thread. */
import { parentPort, workerData } from 'node:worker_threads'
import { generator } from '../../lib/generator.ts'
import { ENTRIES } from '../entries.ts'
import { Coverage } from './coverage.ts'
import { Fuzzer } from './fuzzer.ts'
import {
  EXECUTIONS,
  INPUT_AT,
  LENGTH,
  MAX_SHARED_INPUT,
  type SearchOrder,
  type SearchReport,
} from './protocol.ts'

const order = workerData as SearchOrder
const words = new Int32Array(order.shared, 0, 2)
const bytes = new Uint8Array(order.shared, INPUT_AT)
const report = (message: SearchReport): void => parentPort!.postMessage(message)

const began = performance.now()
const entry = await ENTRIES[order.name]!()
const coverage = new Coverage(order.directory)
const fuzzer = new Fuzzer(entry, {
  coverage,
  pick: generator(order.seed),
  until: order.until,
  runs: order.runs,
  most: order.most,
  onStart(input) {
    Atomics.add(words, EXECUTIONS, 1)
    words[LENGTH] = Math.min(input.length, MAX_SHARED_INPUT)
    bytes.set(input.subarray(0, MAX_SHARED_INPUT))
  },
  onKeep: (input) => report({ kind: 'kept', input }),
  onFind: (find) => report({ kind: 'find', find }),
})
const isComplete = await fuzzer.begin([...entry.seeds(), ...order.inputs])
while (!fuzzer.isOver) await fuzzer.batch()
report({
  kind: 'end',
  figures: {
    executions: fuzzer.executions,
    seconds: (performance.now() - began) / 1000,
    blocks: coverage.reached(),
    slowestMs: fuzzer.slowestMs,
    isComplete,
  },
  cover: fuzzer.cover(),
})
