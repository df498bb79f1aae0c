/** Effects of incidents, added to the second half of a real recording: `npm run bench -- what-changed --archive BASE`. */
import { changeInput } from '../../../src/analysis/open-archive.ts'
import { whatChanged } from '../../../src/analysis/what-changed.ts'
import { Archive } from '../../../src/archive/archive.ts'
import { ArchiveImport } from '../../../src/archive/import/archive-import.ts'
import type { ImportMetric } from '../../../src/archive/import/import-metric.ts'
import { scan } from '../../../src/archive/scan.ts'
import { memoryOutput } from '../../../src/archive/write/memory-output.ts'
import { bytesSource } from '../../../src/base/byte-source.ts'
import { toSeconds } from '../../../src/base/timestamp.ts'
import { isError } from '../../../src/model/errors.ts'
import { PM_INDOM_NULL } from '../../../src/model/ids.ts'
import { PM_TYPE_DOUBLE } from '../../../src/model/types.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { fromSeconds } from '../../../src/time/stamp.ts'
import { table } from './report.ts'

/** Seconds from the start of the span to that of an effect. */
const DELAY = 90

/** Returns the addition to a recorded value some seconds after the start. */
type Added = (seconds: number, value: number) => number
type Effects = readonly (readonly [series: RegExp, added: Added])[]

/** Adds so much a second: to the rate of a counter, to the slope of a gauge. */
const each =
  (amount: number): Added =>
  (seconds) =>
    amount * seconds
/** Reaches the whole amount after ten minutes. */
const filled = (seconds: number): number => Math.min(1, seconds / 600)

const EFFECTS: Readonly<Record<string, Effects>> = {
  steal: [
    [/^kernel\.all\.cpu\.steal/, each(600)],
    [/^kernel\.percpu\.cpu\.steal/, each(300)],
  ],
  'packet errors': [[/^network\.interface\.in\.errors\[eth0/, each(5)]],
  swapping: [
    [/^swap\.pages(in|out)/, each(700)],
    [/^mem\.vmstat\.pgmajfault/, each(300)],
    [/^kernel\.all\.pressure\.memory\..*total/, each(200_000)],
  ],
  'memory leak': [
    [/^mem\.util\.(used|anonpages|committed_AS)/, each(8000)],
    [/^mem\.(util\.(free|available)|freemem)/, each(-8000)],
  ],
  'disk full': [
    [/^filesys\.used\[/, (seconds) => 6e6 * filled(seconds)],
    [/^filesys\.full\[/, (seconds) => 40 * filled(seconds)],
    [/^filesys\.avail\[/, (seconds, value) => -0.95 * value * filled(seconds)],
  ],
  'listen drops': [[/^network\.tcp\.listen(drops|overflows)/, each(20)]],
  retransmits: [
    [/^network\.tcp\.retranssegs/, each(20)],
    [/^network\.tcp\.timeouts/, each(3)],
  ],
  'context switches': [[/^kernel\.all\.pswitch/, each(60_000)]],
  interrupts: [[/^kernel\.all\.intr/, each(30_000)]],
  'zombie processes': [[/^kernel\.all\.nprocs/, each(0.5)]],
  'file descriptors': [
    [/^vfs\.files\.count/, each(5)],
    [/^network\.tcpconn\.close_wait/, each(1.5)],
  ],
  inodes: [
    [/^filesys\.usedfiles/, each(2000)],
    [/^filesys\.freefiles/, each(-2000)],
  ],
  'blocked processes': [
    [/^kernel\.all\.blocked/, () => 20],
    [/^kernel\.all\.load\[1 /, (seconds) => 20 * (1 - Math.exp(-seconds / 60))],
  ],
  'disk writes': [
    [/^disk\.(dev|all|partitions)\.write_bytes/, each(60_000)],
    [/^disk\.(dev|all)\.write($|\[)/, each(500)],
  ],
  nothing: [],
}

/** Copies the numbers of an archive into memory, with the effects after `begin`. */
function planted(archive: Archive, effects: Effects, begin: number): Archive {
  const { metrics } = changeInput(archive)
  const numeric = metrics.filter(({ desc }) => desc.type <= PM_TYPE_DOUBLE)
  const byId = new Map(numeric.map((metric) => [metric.desc.pmid, metric]))
  const output = memoryOutput('copy')
  const made = new ArchiveImport(output, { hostname: 'copy', timezone: 'UTC', pid: 1 })
  const records = new Map<number, [ImportMetric, number, string | undefined][]>()
  for (const { pmid, inst, times, values } of scan(archive, [...byId.keys()]).columns) {
    const { name, desc } = byId.get(pmid)!
    const isSingular = desc.indom === PM_INDOM_NULL
    const instance = isSingular ? undefined : nameOf(archive, desc.indom, inst)
    const indom = isSingular ? {} : { indom: `copy.${desc.indom}` }
    const metric =
      made.metric(name) ??
      made.addMetric(name, { type: PM_TYPE_DOUBLE, sem: desc.sem, units: desc.units, ...indom })
    const text = instance === undefined ? name : `${name}[${instance}]`
    const added = effects.find(([series]) => series.test(text))?.[1]
    for (const [i, time] of times.entries()) {
      const value = values[i]! + (time > begin ? (added?.(time - begin, values[i]!) ?? 0) : 0)
      const record = records.get(time) ?? []
      records.set(time, record)
      record.push([metric, value, instance])
    }
  }
  for (const time of [...records.keys()].sort((a, b) => a - b)) {
    for (const [metric, value, instance] of records.get(time)!) made.put(metric, value, instance)
    made.write(fromSeconds(time))
  }
  made.close()
  const contents = new Map([...output.contents()].map(([part, bytes]) => [`copy.${part}`, bytes]))
  return Archive.open('copy', {
    isDirectory: () => false,
    list: () => [...contents.keys()],
    open: (path) => bytesSource(contents.get(path.replace('./', ''))!),
  })
}

function nameOf({ metadata }: Archive, indom: number, inst: number): string {
  const { ids, names } = metadata.instances(indom, undefined, undefined)
  return names[Array.from(ids).indexOf(inst)] ?? String(inst)
}

/** Returns a table of the places at which the list names each effect; the span is the second half of the archive. */
export async function effectsTable(base: string): Promise<string> {
  const archive = Archive.open(base, archiveFiles())
  const last = archive.end()
  if (isError(last)) throw last
  const finish = toSeconds(last)
  const start = (toSeconds(archive.start) + finish) / 2
  const rows = [['effect', 'place', 'score', 'first of the list']]
  for (const [name, effects] of Object.entries(EFFECTS)) {
    const { archive: input, metrics } = changeInput(planted(archive, effects, start + DELAY))
    const { changes } = await whatChanged(input, metrics, { span: { start, finish } })
    const texts = changes.map(({ metric, instance }) => (instance === '' ? metric : `${metric}[${instance}]`))
    const [first] = changes
    const at = texts.findIndex((text) => effects.some(([series]) => series.test(text)))
    rows.push([
      name,
      at < 0 ? '-' : String(at + 1),
      changes[at]?.score.toFixed(2) ?? '-',
      first === undefined ? '-' : `${first.score.toFixed(2)} ${texts[0]}`,
    ])
  }
  return table(rows)
}
