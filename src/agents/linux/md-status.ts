/** disk.md.status: state of software RAIDs, from mdadm(8). */
import { accessSync, constants } from 'node:fs'
import { PcpError } from '../../model/errors.ts'
import type { Sample } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { BlockDevices } from './block-devices.ts'
import type { LinuxContext } from './context.ts'

/** Time limit for all arrays of one request together, as other requests wait. */
const PATIENCE_MS = 2000

/** Runs mdadm for each requested software RAID, once per batch. */
export function mdStatusMetric(ctx: LinuxContext, md: BlockDevices): { [name: string]: OrderedRow } {
  const program = ctx.env.env['LINUX_MDADM'] || '/sbin/mdadm'
  const states = new Reading(() => ({
    deadline: performance.now() + PATIENCE_MS,
    byDevice: new Map<string, Sample>(),
  }))
  return {
    'disk.md.status': {
      after: 'total_rawactive',
      cluster: 60,
      item: 0,
      type: '32',
      sem: 'instant',
      units: 'none',
      indom: md.indom,
      help: 'State of each software RAID: 0 complete, 1 a disk is missing, 2 data is lost, 4 not available',
      text: 'The exit status of mdadm --detail --test, which is run for each value, so fetch it rarely. The variable LINUX_MDADM sets another program. An error if it cannot be run or takes more than two seconds for all arrays together.',
      reading: states,
      value: (inst) => {
        const device = md.deviceOf(inst)
        if (device === undefined) return undefined
        const { deadline, byDevice } = states.value
        const state = byDevice.get(device) ?? testArray(program, `/dev/${device}`, deadline)
        byDevice.set(device, state)
        return state
      },
    },
  }
}

function testArray(program: string, device: string, deadline: number): NonNullable<Sample> {
  const late = new PcpError('PM_ERR_TIMEOUT', `${program} did not answer in time for ${device}`)
  const timeout = Math.floor(deadline - performance.now())
  if (timeout <= 0) return late
  try {
    accessSync(program, constants.X_OK) // takes microseconds; a failing start of a process takes milliseconds
  } catch (error) {
    return PcpError.from(error, program)
  }
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const run = spawnSync(program, ['--detail', '--test', device], {
    stdio: 'ignore',
    timeout,
    killSignal: 'SIGKILL',
  })
  if (run.error !== undefined) return PcpError.from(run.error, program)
  return run.status ?? late
}
