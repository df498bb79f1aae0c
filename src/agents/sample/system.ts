/** Metrics of the agent itself and of its host. */
import { statSync } from 'node:fs'
import { PcpError } from '../../model/errors.ts'
import { Reading } from '../../pmda/reading.ts'
import type { LiveMemory } from '../../sys/live-memory.ts'
import { readSmallFile, rooted } from '../../sys/proc.ts'
import { descOf, type Rows, type SampleContext } from './context.ts'

/** Domain of the twin, which PCP runs inside its collector: clients must not be able to end it. */
const TWIN = 30

/** Rows about the agent as a process. */
export function systemRows(context: SampleContext, memory: LiveMemory): Rows {
  const { env, started } = context
  const system = new Reading(() => systemBlock(env.root))
  let control = 0
  return {
    control: {
      item: 0,
      ...descOf('32'),
      help: 'Debug flags of PCP’s agent, unused here; -1 ends the agent',
      value: () => control,
      store: (value) => {
        control = Number(value)
        if (control === -1 && env.domain !== TWIN)
          env.announce({ type: 'lost', error: new PcpError('PM_ERR_EOF', 'sample.control was set to -1') })
      },
    },
    daemon_pid: {
      item: 1,
      ...descOf('u32'),
      help: 'Process identifier of the agent',
      value: () => process.pid,
    },
    seconds: {
      item: 2,
      ...descOf('u32', 'counter', 'sec'),
      help: 'Time since the agent was started, in whole units',
      value: () => Math.floor((env.clock() - started) / 1000),
    },
    milliseconds: {
      item: 3,
      ...descOf('double', 'counter', 'millisec'),
      help: 'Time since the agent was started, with its fractions',
      value: () => env.clock() - started,
    },
    load: { item: 4, ...descOf('32'), help: 'A load that is always 42', value: () => 42 },
    sysinfo: {
      item: 39,
      ...descOf('aggregate'),
      help: 'Result of the system call sysinfo(2) on 64-bit Linux',
      text: 'Up time, loads, memory and swap as one block of 112 bytes, derived from files in /proc.',
      reading: system,
      value: () => system.value,
    },
    datasize: {
      item: 91,
      ...descOf('u32', 'instant', 'Kbyte'),
      help: 'Growth of the memory of the process since the agent was started',
      text: 'JavaScript heap and external buffers after the last full garbage collection; 0 before the first one.',
      value: () => Math.floor(memory.growthBytes / 1024),
    },
  }
}

/** struct sysinfo of sysinfo(2) in little-endian order, that of all Linux hosts of Node. */
function systemBlock(root: string): Uint8Array {
  if (!statSync(rooted(root, '/proc/meminfo'), { throwIfNoEntry: false })?.isFile())
    throw new PcpError('PM_ERR_APPVERSION')
  const memory = new Map<string, number>()
  for (const [, name, kilobytes] of readSmallFile(root, '/proc/meminfo').matchAll(/^(\w+): +(\d+) kB$/gm))
    memory.set(name!, Number(kilobytes))
  const [upTime] = readSmallFile(root, '/proc/uptime').split(' ')
  const [one, five, fifteen, tasks] = readSmallFile(root, '/proc/loadavg').split(' ')
  const view = new DataView(new ArrayBuffer(112))
  const words: readonly number[] = [
    Math.floor(Number(upTime)),
    ...[one, five, fifteen].map((load) => Math.round(Number(load) * 65536)),
    ...['MemTotal', 'MemFree', 'Shmem', 'Buffers', 'SwapTotal', 'SwapFree'].map(
      (name) => (memory.get(name) ?? 0) * 1024,
    ),
  ]
  for (const [i, word] of words.entries()) view.setBigUint64(8 * i, BigInt(word), true)
  view.setUint16(80, Number(tasks?.split('/')[1]) & 0xffff, true)
  // No high memory on 64-bit systems; sizes are in bytes.
  view.setUint32(104, 1, true)
  return new Uint8Array(view.buffer)
}
