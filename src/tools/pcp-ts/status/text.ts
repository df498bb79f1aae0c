/** The text of `pcp-ts status`. */
import { loggableMessage } from '../../../base/printable.ts'
import type { InstanceKind, InstanceStatus, ProcessStatus, RecordingStatus } from '../../../start/status.ts'

const TITLES: Readonly<Record<InstanceKind, string>> = {
  user: 'pcp-ts of this user',
  service: 'pcp-ts service of this machine',
  pcp: 'Performance Co-Pilot of this machine',
}

/** Returns a report of all instances, for people. */
export function statusText(instances: readonly InstanceStatus[], now: number): string {
  if (instances.length === 0) return 'Nothing runs. Start with: pcp-ts start\n'
  return instances.map((instance) => instanceText(instance, now)).join('\n')
}

function instanceText(instance: InstanceStatus, now: number): string {
  const { kind, version, pid, uptimeSeconds, addresses, web, agents, recording, clients, problems } = instance
  const title = [TITLES[kind], version === undefined ? '' : ` ${version}`]
  if (pid !== undefined) title.push(`, process ${pid}`)
  if (uptimeSeconds !== undefined) title.push(`, up ${durationText(uptimeSeconds)}`)
  const rows: [string, string][] = [['listening', addresses.join(' and ')]]
  if (web !== undefined) rows.push(['charts', web])
  if (recording !== undefined) rows.push(...recordingRows(recording, now))
  const failing = agents.filter(({ isRunning }) => !isRunning).length
  if (agents.length > 0)
    rows.push([
      'agents',
      `${agents.map(({ name }) => name).join(', ')}${failing === 0 ? '' : ` (${failing} of ${agents.length} failing)`}`,
    ])
  // One is this command.
  if (clients !== undefined) rows.push(['clients', `${Math.max(0, clients - 1)}`])
  if (instance.processes.length > 0) rows.push(['processes', instance.processes.map(processText).join(', ')])
  if (instance.log !== undefined) rows.push(['log', instance.log])
  if (instance.settings !== undefined) rows.push(['settings', instance.settings])
  for (const problem of problems) rows.push(['FAILS', problem])
  const lines = rows.map(([name, value]) => `  ${name.padEnd(10)} ${loggableMessage(value)}\n`)
  return `${loggableMessage(title.join(''))}\n${lines.join('')}`
}

function recordingRows(recording: RecordingStatus, now: number): [string, string][] {
  const { dir, archive, bytes, lastMs, bytesPerDay, keepDays, keepBytes, freeBytes, totalBytes } = recording
  const about = [archive === undefined ? dir : `${dir}/${archive}`]
  if (lastMs !== undefined)
    about.push(`last value ${durationText(Math.max(0, Math.round((now - lastMs) / 1000)))} ago`)
  const sizes = [`${sizeText(bytes)} used`]
  if (bytesPerDay !== undefined) sizes.push(`${sizeText(bytesPerDay)} a day`)
  if (keepDays !== undefined)
    sizes.push(`kept ${keepDays} days${keepBytes === undefined ? '' : `, at most ${sizeText(keepBytes)}`}`)
  if (freeBytes !== undefined && totalBytes !== undefined)
    sizes.push(`${sizeText(freeBytes)} of ${sizeText(totalBytes)} free`)
  return [
    ['recording', about.join(', ')],
    ['disk', sizes.join(', ')],
  ]
}

function processText({ name, pid, bytes, cpuSeconds }: ProcessStatus): string {
  const use = [
    ...(bytes === undefined ? [] : [sizeText(bytes)]),
    ...(cpuSeconds === undefined ? [] : [`${cpuSeconds.toFixed(1)} s CPU`]),
  ]
  return `${name} ${pid}${use.length === 0 ? '' : ` (${use.join(', ')})`}`
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Formats a size with the largest binary unit: `1.5 MiB`. */
export function sizeText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}

/** Formats a duration with its two largest units: `3 h 5 min`. */
export function durationText(seconds: number): string {
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([n]) => n > 0)
  if (first < 0) return '0 s'
  const shown = parts.slice(first, first + 2).filter(([n]) => n > 0)
  return shown.map(([n, unit]) => `${n} ${unit}`).join(' ')
}
