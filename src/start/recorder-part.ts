/** Runs the recorder of `npm start` as a separate process. docs/start/npm-start.md */
import { type PartIo, type RunningPart, runPart } from './part-main.ts'
import type { PartSetup, RecorderReport } from './parts.ts'
import { startRecording } from './start-recording.ts'

async function begin(setup: PartSetup, { say }: PartIo): Promise<RunningPart> {
  const { options, place, variables, binDir, collector } = setup
  const recording = await startRecording({
    collector: collector!,
    place,
    options,
    variables,
    binDir,
    say,
  })
  const { dir, archive } = recording
  const report: RecorderReport = { dir, ...(archive === undefined ? {} : { archive }) }
  return { report, close: () => recording.close() }
}

runPart(begin)
