/** disk.md.status: whether software RAIDs are complete, as mdadm(8) sees it. */
import { PcpError } from '../../model/errors.ts'
import type { MetricSpec, Sample } from '../../pmda/define.ts'
import type { BlockDevices } from './block-devices.ts'
import type { LinuxContext } from './context.ts'

const TIMEOUT_MS = 2000

/** Runs mdadm for each software RAID that is asked about. */
export function mdStatusMetric(ctx: LinuxContext, md: BlockDevices): { [name: string]: MetricSpec } {
  const program = ctx.env.env['LINUX_MDADM'] || '/sbin/mdadm'
  return {
    'disk.md.status': {
      cluster: 60,
      item: 0,
      type: '32',
      sem: 'instant',
      units: 'none',
      indom: md.indom,
      help: 'Whether each software RAID works: 0 complete, 1 a disk is missing, 2 data is lost, 4 not to be had',
      text: 'The exit status of mdadm --detail --test, which is run for each value: ask seldom. The variable LINUX_MDADM names another program. An error when it cannot be run.',
      reading: md.reading,
      value: (inst) => {
        const device = md.deviceOf(inst)
        return device === undefined ? undefined : testArray(program, `/dev/${device}`)
      },
    },
  }
}

function testArray(program: string, device: string): Sample {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const run = spawnSync(program, ['--detail', '--test', device], { stdio: 'ignore', timeout: TIMEOUT_MS })
  if (run.error !== undefined) return PcpError.from(run.error, program)
  return run.status ?? new PcpError('PM_ERR_TIMEOUT', `${program} did not answer for ${device}`)
}
