/** disk.md.status: whether software RAIDs are complete, as mdadm(8) sees it. */
import { accessSync, constants } from 'node:fs'
import { PcpError } from '../../model/errors.ts'
import type { Sample } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { PlacedRow } from '../lib/name-order.ts'
import type { BlockDevices } from './block-devices.ts'
import type { LinuxContext } from './context.ts'

/** How long all arrays of one request together may keep everybody else waiting. */
const PATIENCE_MS = 2000

/** Runs mdadm for each software RAID that is asked about, once a moment. */
export function mdStatusMetric(ctx: LinuxContext, md: BlockDevices): { [name: string]: PlacedRow } {
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
      help: 'Whether each software RAID works: 0 complete, 1 a disk is missing, 2 data is lost, 4 not to be had',
      text: 'The exit status of mdadm --detail --test, which is run for each value: ask seldom. The variable LINUX_MDADM names another program. An error when it cannot be run, or takes more than two seconds for all arrays together.',
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
    accessSync(program, constants.X_OK) // costs microseconds, where a process that cannot start costs milliseconds
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
