/** `pcp-ts service status`. */
import { originOf } from '../../../service/seal.ts'
import { readUnit, unitDirectory, unitPath } from '../../../service/unit-file.ts'
import type { ServiceCall } from './call.ts'

/** Statuses of init scripts, which systemctl returns too. */
const NOT_RUNNING = 3
const NOT_INSTALLED = 4

/** Prints the state of the unit. */
export async function status({ given, systemd, io, say }: ServiceCall): Promise<number> {
  const path = unitPath(unitDirectory(given.scope, io.env))
  const text = readUnit(path)
  if (text === undefined) {
    say(`not installed: ${path} does not exist`)
    return NOT_INSTALLED
  }
  const origin = originOf(text)
  say(`unit       ${path}${origin === 'ours' ? '' : ` (${ORIGINS[origin]})`}`)
  if (!systemd.isRunning) {
    say('state      unknown: systemd does not run')
    return NOT_RUNNING
  }
  const state = await systemd.state()
  const restarts = state.restarts === 0 ? '' : `, ${state.restarts} restarts`
  const result = state.result === 'success' ? '' : `, last result ${state.result}`
  say(`state      ${state.active} (${state.sub}), ${state.enabled}${restarts}${result}`)
  if (state.dropIns.length > 0) say(`drop-ins   ${state.dropIns.join(' ')}`)
  if (state.active !== 'active') return NOT_RUNNING
  say(`process    ${state.pid}, since ${state.since}`)
  say(`reports    ${state.status}`)
  return 0
}

const ORIGINS = { edited: 'edited by hand', foreign: 'not written by pcp-ts service' }
