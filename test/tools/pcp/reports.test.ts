import { afterAll, expect, test } from 'vitest'
import type { MetricDesc } from '../../../src/model/desc.ts'
import { statusOf } from '../../../src/model/errors.ts'
import { emptySet } from '../../../src/model/values.ts'
import { requireProcessAccess } from '../../../src/tools/lib/processes/process-values.ts'
import { Sample } from '../../../src/tools/lib/sampled/metrics.ts'
import { tool as free } from '../../../src/tools/pcp-free/index.ts'
import { tool as iostat } from '../../../src/tools/pcp-iostat/index.ts'
import { tool as mpstat } from '../../../src/tools/pcp-mpstat/index.ts'
import { tool as numastat } from '../../../src/tools/pcp-numastat.ts'
import { tool as pidstat } from '../../../src/tools/pcp-pidstat/index.ts'
import { tool as ps } from '../../../src/tools/pcp-ps/index.ts'
import { tool as ss } from '../../../src/tools/pcp-ss/index.ts'
import { tool as summary } from '../../../src/tools/pcp-summary/index.ts'
import { tool as uptime } from '../../../src/tools/pcp-uptime.ts'
import { hostArchive, runOver } from './host-archive.ts'

const host = hostArchive()
const { path } = host
afterAll(() => host.remove())

const MACHINE = 'Linux  6.1.0  (db1)  01/01/70  x86_64    (2 CPU)\n'

test('free', async () => {
  const { stdout } = await runOver(free, path, ['-t', '-l', '-o'])
  expect(stdout).toMatchInlineSnapshot(`
    "              total        used        free      shared  buff/cache   available
    Mem:          16000        8500        4000         300        3500        7000
    Low:          16000       12000        4000
    High:             0           0           0
    -/+ buffers/cache:         8500        7500
    Swap           8000        2000        6000
    Total         24000       10500       10000
    "
  `)
})

test('free, repeated', async () => {
  const { stdout } = await runOver(free, path, ['-c', '2', '-s', '2', '-b', '-w'])
  expect(stdout).toMatchInlineSnapshot(`
    "              total        used        free      shared     buffers       cache   available
    Mem:       16384000     8704000     4096000      307200     1024000     2560000     7168000
    Swap        8192000     2048000     6144000

                  total        used        free      shared     buffers       cache   available
    Mem:       16384000     8701952     4098048      307200     1024000     2560000     7168000
    Swap        8192000     2048000     6144000

    "
  `)
})

test('uptime', async () => {
  expect((await runOver(uptime, path)).stdout).toMatchInlineSnapshot(`
    " 00:00:00 up 1 day,  1:00,  2 users,  load average: 0.50, 0.25, 0.12
    "
  `)
})

test('uptime of the first record at or after a time', async () => {
  expect((await runOver(uptime, path, [], { PCP_ORIGIN_TIME: '1.5' })).stdout).toMatch(/^ 00:00:02 /)
})

test('numastat', async () => {
  expect((await runOver(numastat, path)).stdout).toMatchInlineSnapshot(`
    "                           node0
    numa_hit                      12
    numa_miss                      1
    numa_foreign                   2
    interleave_hit                 3
    local_node                     4
    other_node                     5
    "
  `)
})

test('summary', async () => {
  const { stdout } = await runOver(summary, path)
  expect(stdout.replace(path, 'ARCHIVE')).toMatchInlineSnapshot(`
    "Performance Co-Pilot configuration on db1:

      archive: ARCHIVE
     platform: Linux db1 6.1.0 x86_64
     hardware: 2 cpus,
     timezone: UTC
     services: pmcd pmproxy
         pmcd: Version 7.2.1-1, 2 agents, 2 clients
         pmda: pmcd linux[1]
    "
  `)
})

test('iostat', async () => {
  const { stdout } = await runOver(iostat, path, [], { PCP_SAMPLES: '1' })
  expect(stdout).toMatchInlineSnapshot(`
    "# Device      rrqm/s  wrqm/s     r/s    w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await   %util
    sda             1.00    2.00   10.00   5.00   400.00   100.00   33.333    0.040    2.67    2.00    4.00    3.00
    "
  `)
})

test('iostat -u shows the last record', async () => {
  const { stdout } = await runOver(iostat, path, ['-u', '-x', 't,h'])
  expect(stdout.split('\n').at(-2)).toMatch(/^Thu Jan {2}1 00:00:09 1970 sda /)
})

test('iostat refuses -t with -u', async () => {
  const { status, stdout } = await runOver(iostat, path, ['-u', '-t', '1'])
  expect([status, stdout]).toEqual([1, 'Error: -t incompatible with -u\n'])
})

test('mpstat averages processors, and shows the machine although it was recorded once', async () => {
  const { stdout } = await runOver(mpstat, path, ['-P', 'ALL'], { PCP_SAMPLES: '3' })
  expect(stdout.startsWith(MACHINE)).toBe(true)
  expect(stdout.slice(MACHINE.length)).toMatchInlineSnapshot(`
    "
    Timestamp 	CPU	%usr 	%nice 	%sys 	%iowait 	%irq 	%soft 	%steal 	%guest 	%nice 	%idle 
    00:00:01  	all	25.0 	0.0   	12.5 	0.0     	0.0  	0.0   	0.0    	0.0    	0.0   	62.5  
    00:00:01  	0  	50.0 	0.0   	25.0 	0.0     	0.0  	0.0   	0.0    	0.0    	0.0   	25.0  
    00:00:01  	1  	0.0  	0.0   	0.0  	0.0     	0.0  	0.0   	0.0    	0.0    	0.0   	100.0 

    Timestamp 	CPU	%usr 	%nice 	%sys 	%iowait 	%irq 	%soft 	%steal 	%guest 	%nice 	%idle 
    00:00:02  	all	25.0 	0.0   	12.5 	0.0     	0.0  	0.0   	0.0    	0.0    	0.0   	62.5  
    00:00:02  	0  	50.0 	0.0   	25.0 	0.0     	0.0  	0.0   	0.0    	0.0    	0.0   	25.0  
    00:00:02  	1  	0.0  	0.0   	0.0  	0.0     	0.0  	0.0   	0.0    	0.0    	0.0   	100.0 
    "
  `)
})

test('mpstat -I', async () => {
  const { stdout } = await runOver(mpstat, path, ['-I', 'ALL'], { PCP_SAMPLES: '2' })
  expect(stdout.slice(MACHINE.length)).toMatchInlineSnapshot(`
    "
    Timestamp	CPU  	intr/s
    00:00:01  	all  	100.0

    Timestamp	CPU 	9/s	LOC/s	
    00:00:01  	0   	4.0	80.0 	
    00:00:01  	1   	0.0	10.0 	

    Timestamp	CPU 	TIMER/s	RCU/s	
    00:00:01  	0   	5.0    	? 	
    00:00:01  	1   	6.0    	7.0  	
    "
  `)
})

test('mpstat reports missing metrics', async () => {
  const other = hostArchive(['kernel.all.intr'])
  const { status, stderr } = await runOver(mpstat, other.path)
  other.remove()
  expect([status, stderr]).toEqual([
    1,
    "Error: not all required metrics are available\nMissing: ['kernel.all.intr']\n",
  ])
})

const PIDSTAT: readonly (readonly string[])[] = [
  [],
  ['-I', '-U'],
  ['-r', '-l'],
  ['-k'],
  ['-R'],
  ['-B', 'all'],
  ['-B', 'detail'],
]

test.each(PIDSTAT)('pidstat %s %s', async (...args) => {
  const { stdout } = await runOver(pidstat, path, args, { PCP_SAMPLES: '3' })
  expect(stdout).toMatchSnapshot()
})

test('pidstat selects processes', async () => {
  const { stdout } = await runOver(pidstat, path, ['-G', '^work', '-p', '1,42', '-U', 'alice'], {
    PCP_SAMPLES: '2',
  })
  expect(stdout.split('\n').slice(2)).toEqual([
    '00:00:01         alice\t42\t30.0\t20.0\t0.0\t50.0\t1\tworker',
    '',
  ])
})

const PS: readonly (readonly string[])[] = [[], ['-e'], ['-p', '42'], ['-u'], ['-U', 'alice'], ['-o', 'ALL']]

test.each(PS)('ps %s %s', async (...args) => {
  const { stdout } = await runOver(ps, path, args, { PCP_SAMPLES: '2' })
  expect(stdout).toMatchSnapshot()
})

test('ps -o', async () => {
  const { stdout } = await runOver(ps, path, ['-o', 'pid,%cpu,%mem,time,start,rtprio,args', '-O', '%cpu'], {
    PCP_SAMPLES: '2',
  })
  expect(stdout).toMatchInlineSnapshot(`
    "Linux  6.1.0  (db1)  01/01/70  x86_64    (2 CPU)
    Timestamp	PID			%CPU		%MEM		TIME			START			RTPRIO		Command					
    00:00:01	42      		50.0		25.0		02:00:00		00:01:01		50		worker --queue mail
    00:00:01	1       		0.0		6.25		00:00:00		00:00:01		0		/sbin/init
    "
  `)
})

test('processes without permission are an error, not an empty list', () => {
  const desc = { pmid: 1, type: 1, indom: 2, sem: 3, units: 0 } as unknown as MetricDesc
  const sets = [{ ...emptySet(1), status: statusOf('PM_ERR_PERMISSION') }]
  const found = new Map([['proc.psinfo.pid', { id: 1, desc, factor: 1 }]])
  const sample = new Sample({ timestamp: { sec: 0, nsec: 0 }, changes: 0, sets }, found, new Map())
  expect(() => requireProcessAccess(sample)).toThrow(/^No permission .*-h unix:/)
})

test('ss shows the last known values at the end of an archive', async () => {
  const { stdout } = await runOver(ss, path, ['-o'])
  expect(stdout).toMatchInlineSnapshot(`
    "# Time: 1970-01-01 00:00:09.500000 Filter: state connected
    Netid  State  Recv-Q Send-Q        Local Address:Port Peer Address:Port          Process
    tcp   ESTAB         8     0               [::1]:44321 [::1]:50000                timer(keepalive,14sec,0)
    udp   UNCONN        0     0               10.0.0.1:53 0.0.0.0:*                 
    "
  `)
})

test('ss selects sockets', async () => {
  const { stdout } = await runOver(ss, path, ['-u', '-H'], { PCP_START_TIME: '3' })
  expect(stdout.split(/ +/).slice(0, 5)).toEqual(['udp', 'UNCONN', '0', '0', '10.0.0.1:53'])
  expect((await runOver(ss, path, ['-6', '-H'])).stdout).toMatch(/^tcp .*\n$/)
})

test('ss reports missing metrics and options', async () => {
  const other = hostArchive(['network.persocket.state'])
  const { status, stderr } = await runOver(ss, other.path)
  other.remove()
  expect([status, stderr]).toEqual([
    1,
    `Error: metrics for 'network.persocket' not found in archive ${other.path}\n`,
  ])
})
