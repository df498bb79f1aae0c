/** Files of the kernel and of container programs: each parser reads each input. */

import { readFileSync } from 'node:fs'
import { parseJournal } from '../../../src/agents/jbd2/journals.ts'
import { parseCpuinfo, parseTimeInState } from '../../../src/agents/linux/cpu-info.ts'
import { parsePartitions } from '../../../src/agents/linux/disk-table.ts'
import { parseMounts } from '../../../src/agents/linux/filesys.ts'
import { parseIpc } from '../../../src/agents/linux/ipc.ts'
import { parseIrqTable } from '../../../src/agents/linux/irq-table.ts'
import { parseBuddyInfo, parseZoneInfo } from '../../../src/agents/linux/memory-zones.ts'
import { parseIfInet6 } from '../../../src/agents/linux/net-addr.ts'
import { parsePools, parseRpc } from '../../../src/agents/linux/nfs.ts'
import { parseBandwidth, parseNode } from '../../../src/agents/linux/numa.ts'
import { parsePressure } from '../../../src/agents/linux/pressure.ts'
import { parseSerial, parseSlabs } from '../../../src/agents/linux/restricted.ts'
import { parseScsi } from '../../../src/agents/linux/scsi.ts'
import { parseSwaps } from '../../../src/agents/linux/swapdev.ts'
import { parseUnusable } from '../../../src/agents/linux/sysfs.ts'
import { parseUtmp } from '../../../src/agents/linux/users.ts'
import { parseLocks } from '../../../src/agents/linux/vfs.ts'
import { parseBlkio } from '../../../src/agents/proc/cgroup-devices.ts'
import { parseSubsystems } from '../../../src/agents/proc/cgroup-tree.ts'
import { parseStat } from '../../../src/agents/proc/stat.ts'
import { parseDrivers } from '../../../src/agents/proc/ttyname.ts'
import { parseProjects, parseXfsMounts } from '../../../src/agents/xfs/quota.ts'
import { parseXfsStatistics } from '../../../src/agents/xfs/statistics.ts'
import { Scanner } from '../../../src/base/scan.ts'
import { parseContainerd } from '../../../src/sys/containers/containerd.ts'
import { parseDocker } from '../../../src/sys/containers/docker.ts'
import { parseLxcInfo } from '../../../src/sys/containers/lxc.ts'
import { parseStored } from '../../../src/sys/containers/podman.ts'
import { parsePodDirectories, parsePodLogs } from '../../../src/sys/containers/pods.ts'
import { parseDockerConf, parseStorageConf } from '../../../src/sys/containers/users.ts'
import { parseCpuList } from '../../../src/sys/cpu-list.ts'
import { parseIdentity } from '../../../src/sys/process-identity.ts'
import { attemptAll, type FuzzEntry } from '../engine/entry.ts'

const OF_TEXT: readonly ((text: string) => unknown)[] = [
  ...[
    parseSubsystems,
    parseDrivers,
    parseCpuList,
    parseCpuinfo,
    parseTimeInState,
    parsePartitions,
    parseMounts,
  ],
  ...[
    parseIfInet6,
    parsePools,
    parseRpc,
    parseBandwidth,
    parseScsi,
    parseSwaps,
    parseUnusable,
    parseProjects,
  ],
  ...[parseXfsMounts, parseXfsStatistics, parseLxcInfo, parseIdentity],
  (text) => parseBlkio(text, 'file', () => undefined),
  (text) => parseJournal('sda-8', text),
  (text) => parseDocker('id', text),
  ...[parseStored, parseContainerd, parseDockerConf, parseStorageConf],
  ...[parsePodLogs, parsePodDirectories].map((parse) => (text: string) => parse(text.split('\n'))),
  ...(['shm', 'sem', 'msg'] as const).map((kind) => (text: string) => parseIpc(text, kind)),
]
const OF_SCANNERS: readonly ((scan: Scanner) => unknown)[] = [
  ...[parseStat, parseIrqTable, parsePressure, parseSerial, parseLocks],
  ...[(scan: Scanner) => parseBuddyInfo(scan), (scan: Scanner) => parseZoneInfo(scan)],
  ...[(scan: Scanner) => parseNode(scan), (scan: Scanner) => parseSlabs(scan)],
]
const FIXTURE = 'test/fixtures/linux/server/proc'
const FILES = [
  ...['cpuinfo', 'mounts', 'partitions', 'swaps', 'buddyinfo', 'zoneinfo', 'interrupts', 'slabinfo', 'locks'],
  ...[
    'net/if_inet6',
    'net/rpc/nfsd',
    'sysvipc/shm',
    'sysvipc/msg',
    'pressure/cpu',
    'scsi/scsi',
    'fs/xfs/stat',
  ],
]
const TEXTS = [
  '1 (cat (x)) S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 5 6 7 18446744073709551615\n',
  '{"ID":"x","Name":"/n","State":{"Running":true,"Pid":5}}',
  'Name: c\nState: RUNNING\nPID: 5\n',
  '8:0 Read 5\n8:0 Write 6\nTotal 11\n',
  'some avg10=0.00 avg60=0.12 avg300=1.00 total=55\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n',
  '0-3,8,10-11\n',
]

/** Entry of the files that src/agents and src/sys read. */
export const linuxFiles: FuzzEntry = {
  isText: true,
  seeds() {
    const files = FILES.flatMap((file) => {
      try {
        return [new Uint8Array(readFileSync(`${FIXTURE}/${file}`)).slice(0, 2000)]
      } catch {
        return [] // this machine has none
      }
    })
    return [...files, ...TEXTS.map((text) => new TextEncoder().encode(text))]
  },
  run(input) {
    const text = Buffer.from(input).toString('latin1')
    attemptAll(linuxFiles, [
      ...OF_TEXT.map((parse) => () => parse(text)),
      ...OF_SCANNERS.map((parse) => () => parse(new Scanner(input))),
      () => parseUtmp(input),
    ])
  },
}
