/** Requests that a client of a logger's control port can make. */

import { PcpError } from '../../src/model/errors.ts'
import { type ControlAddress, LoggerConnection } from '../../src/tools/pmlc/connection.ts'
import {
  PM_LOG_ADVISORY,
  PM_LOG_ENQUIRE,
  PM_LOG_MANDATORY,
  PM_LOG_OFF,
  PM_LOG_ON,
} from '../../src/wire/log-control.ts'

/** Outcome of each request: `done`, or an error code. */
export type ControlOutcomes = Readonly<Record<string, string>>

/** Tries every request on a logger, including changes of one metric. */
export async function attackControl(place: ControlAddress, pmid: number): Promise<ControlOutcomes> {
  const signal = new AbortController().signal
  let connection: LoggerConnection
  try {
    connection = await LoggerConnection.open(place, 10_000, signal)
  } catch (error) {
    return { connect: PcpError.from(error).code }
  }
  const sets = [{ pmid, status: 0, inst: new Int32Array(), word: new Int32Array() }]
  const change = (control: number, state: number) => (): Promise<unknown> =>
    connection.control({ control, state, deltaMs: 1000, sets })
  const attempts: Record<string, () => Promise<unknown>> = {
    status: () => connection.status(),
    query: change(PM_LOG_ENQUIRE, PM_LOG_OFF),
    'advisory on': change(PM_LOG_ADVISORY, PM_LOG_ON),
    'mandatory on': change(PM_LOG_MANDATORY, PM_LOG_ON),
    'mandatory off': change(PM_LOG_MANDATORY, PM_LOG_OFF),
    'new volume': () => connection.newVolume(),
  }
  const outcomes: Record<string, string> = { connect: 'done' }
  for (const [name, attempt] of Object.entries(attempts))
    outcomes[name] = await attempt().then(
      () => 'done',
      (error: unknown) => PcpError.from(error).code,
    )
  await connection.close()
  return outcomes
}
