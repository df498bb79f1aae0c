/** Runs the web side of `npm start` as a separate process. docs/start/npm-start.md */
import { type PartIo, type RunningPart, runPart } from './part-main.ts'
import type { ChartsReport, PartSetup } from './parts.ts'
import { startWeb } from './web.ts'

async function begin(setup: PartSetup, { say }: PartIo): Promise<RunningPart> {
  const { collector, ...rest } = setup
  const proxy = await startWeb({ ...rest, collector: collector!, say })
  const report: ChartsReport = { port: proxy.port }
  return { report, close: () => proxy.close() }
}

runPart(begin)
