/** The processes that the recorder of `npm start` keeps of a machine with 500 of them. */
import type { ArchiveImport } from '../../../src/archive/import/archive-import.ts'
import { indom, pmid } from '../../../src/model/ids.ts'

const HOT = indom(3, 39)
/** Processes of the machine, and of a sample. */
const [ALL, LISTED] = [500, 20]
/** Processes that are always listed, as those with most memory are. */
const STEADY = 12

/** A metric, and the value of a process at a time in seconds. */
type Row = readonly [
  name: string,
  cluster: number,
  item: number,
  type: number,
  sem: number,
  units: string,
  value: (pid: number, seconds: number) => number | string,
]

const load = (pid: number): number => ((pid * 37) % 100) / 100
/** Share of a CPU: few processes are busy, and a sample uses one CPU in total. */
const cpuOf = (pid: number): number => 0.001 + 0.4 * load(pid) ** 8

const ROWS: readonly Row[] = [
  [
    'psinfo.psargs',
    52,
    41,
    6,
    3,
    '',
    (pid) => `/usr/bin/prog${pid % 80} --config=/etc/app/${pid}.conf --port ${pid}`,
  ],
  ['psinfo.sname', 52, 2, 6, 3, '', (pid) => (load(pid) > 0.5 ? 'R' : 'S')],
  ['psinfo.ppid', 52, 3, 1, 3, '', (pid) => (pid % 3 === 0 ? 1 : 1000)],
  ['psinfo.start_time', 52, 21, 1, 4, 'sec', (pid) => pid],
  ['psinfo.utime', 52, 13, 1, 1, 'millisec', (pid, t) => Math.round(800 * cpuOf(pid) * t)],
  ['psinfo.stime', 52, 14, 1, 1, 'millisec', (pid, t) => Math.round(200 * cpuOf(pid) * t)],
  ['psinfo.rss', 52, 23, 1, 3, 'Kbyte', (pid, t) => 500 * (pid - 900) + (t % 700)],
  ['psinfo.minflt', 52, 9, 1, 1, 'count', (pid, t) => Math.round(pid * t * 0.01)],
  ['psinfo.maj_flt', 52, 11, 1, 1, 'count', () => 0],
  ['psinfo.cgroups', 54, 0, 6, 3, '', (pid) => `:/system.slice/unit${pid % 60}.service`],
  ['id.uid_nm', 56, 8, 6, 3, '', (pid) => ['root', 'www', 'postgres'][pid % 3]!],
  ['io.read_bytes', 58, 4, 3, 1, 'byte', (pid, t) => Math.round(4000 * load(pid) * t)],
  ['io.write_bytes', 58, 5, 3, 1, 'byte', (pid, t) => Math.round(9000 * load(pid) * t)],
  ['predicate.cpuburn', 61, 7, 4, 3, '', cpuOf],
  ['predicate.iodemand', 61, 4, 4, 3, 'Kbyte / sec', (pid) => 12 * load(pid)],
]

/** Adds the metrics to an archive; the result puts the values of a time in seconds since the start and returns their number. */
export function processDay(made: ArchiveImport): (seconds: number) => number {
  const metrics = ROWS.map(([name, cluster, item, type, sem, units, value]) => ({
    id: made.addMetric(`hotproc.${name}`, { pmid: pmid(3, cluster, item), indom: HOT, type, sem, units }),
    value,
  }))
  for (let pid = 1000; pid < 1000 + ALL; pid++)
    made.addInstance(HOT, `00${pid} /usr/bin/prog${pid % 80}`, pid)
  return (seconds) => {
    const pids = new Set<number>()
    for (let i = 0; i < LISTED; i++) {
      const turn = i < STEADY ? 0 : Math.floor(seconds / (20 + i))
      pids.add(1000 + ((i * 23 + turn * 7) % ALL))
    }
    for (const pid of pids) for (const { id, value } of metrics) made.put(id, value(pid, seconds), pid)
    return pids.size * metrics.length
  }
}
