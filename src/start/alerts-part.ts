/** Evaluates the alert rules of `npm start` as a separate process. docs/reference/alerts.md */
import { type PartIo, type RunningPart, runPart } from './part-main.ts'
import type { AlertsReport, PartSetup } from './parts.ts'
import { startAlerts } from './start-alerts.ts'

async function begin(setup: PartSetup, { say }: PartIo): Promise<RunningPart> {
  const { collector, options, place, variables } = setup
  const alerts = await startAlerts({ collector: collector!, options, place, variables, say })
  const report: AlertsReport = { rules: alerts.rules }
  return { report, close: () => alerts.close() }
}

runPart(begin)
