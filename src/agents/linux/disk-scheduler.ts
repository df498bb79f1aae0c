/** disk.dev.scheduler: I/O scheduler of a disk. /sys/block/DEVICE/queue */
import type { OrderedRow } from '../lib/name-order.ts'
import type { BlockDevices } from './block-devices.ts'
import type { LinuxContext } from './context.ts'

/** Settings specific to one scheduler. */
const SETTINGS: readonly (readonly [file: string, scheduler: string])[] = [
  ['quantum', 'cfq'],
  ['fifo_batch', 'deadline'],
  ['antic_expire', 'anticipatory'],
]

/** Returns the active scheduler, the word in brackets of queue/scheduler, `mq-deadline [none]`; undefined without brackets. */
function activeScheduler(text: string): string | undefined {
  return /\[([^\]]+)\]/.exec(text)?.[1]
}

/** Returns the scheduler of a device, on old kernels derived from its settings; 'unknown' if neither is available. */
export function schedulerOf(ctx: LinuxContext, device: string): string {
  const queue = `${sysBlock(device)}/queue`
  const named = activeScheduler(ctx.attribute(`${queue}/scheduler`) ?? '')
  if (named !== undefined) return named
  if (!ctx.list(queue).includes('iosched')) return 'unknown'
  const settings = ctx.list(`${queue}/iosched`)
  return SETTINGS.find(([file]) => settings.includes(file))?.[1] ?? 'noop'
}

/** The directory of a device in sysfs, where a slash in its name is an exclamation mark. */
export function sysBlock(device: string): string {
  return `/sys/block/${device.replaceAll('/', '!')}`
}

/** The scheduler of each disk. */
export function schedulerMetric(ctx: LinuxContext, disks: BlockDevices): { [name: string]: OrderedRow } {
  return {
    'disk.dev.scheduler': {
      after: 'aveq',
      item: 59,
      type: 'string',
      sem: 'discrete',
      units: 'none',
      indom: disks.indom,
      help: 'Policy by which the kernel orders the requests of each disk',
      text: 'The word in brackets in /sys/block/DEVICE/queue/scheduler: none, mq-deadline, bfq, kyber...; derived from the settings in queue/iosched on older kernels, else unknown.',
      reading: disks.reading,
      value: (inst) => {
        const device = disks.deviceOf(inst)
        return device === undefined ? undefined : schedulerOf(ctx, device)
      },
    },
  }
}
