/** Trees with the files of container engines, of /proc and of control groups, as engines and kernel write them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Numbers of one container, each different so that mixed-up fields show. */
export interface GroupNumbers {
  /** CPU time in microseconds. */
  readonly cpuUs: number
  /** Memory in bytes. */
  readonly memory: number
  readonly pids: number
}

/** A tree in a temporary directory. */
export class ContainerTree {
  readonly root: string = mkdtempSync(join(tmpdir(), 'pcp-ts-containers-'))

  constructor() {
    this.write('proc/1/net/dev', netDev(1))
    this.write('proc/diskstats', '   8       0 sda 1 2 3\n 253       0 dm-0 1 2 3\n')
  }

  /** Writes a file, with directories; an object as JSON. */
  write(path: string, content: string | object, mode = 0o644): void {
    const file = join(this.root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode })
  }

  /** Removes a file or directory. */
  remove(path: string): void {
    rmSync(join(this.root, path), { recursive: true })
  }

  /** Removes the tree. */
  close(): void {
    rmSync(this.root, { recursive: true })
  }

  /** Makes version 2 the only one, in its usual place. */
  useUnified(): void {
    this.write('sys/fs/cgroup/cgroup.controllers', 'cpuset cpu io memory pids\n')
  }

  /** Writes a process of a container with a network of its own. */
  process(pid: number, group: string): void {
    this.write(`proc/${pid}/cgroup`, `0::${group}\n`)
    this.write(`proc/${pid}/net/dev`, netDev(pid))
  }

  /** Writes the files of a group of version 2. */
  unified(group: string, { cpuUs, memory, pids }: GroupNumbers): void {
    const write = (file: string, text: string): void => this.write(`sys/fs/cgroup${group}/${file}`, text)
    write(
      'cpu.stat',
      `usage_usec ${cpuUs}\nuser_usec ${cpuUs - 100}\nsystem_usec 100\nnr_periods 40\nnr_throttled 7\nthrottled_usec 12345\n`,
    )
    write('cpu.max', '150000 100000\n')
    write('memory.current', `${memory}\n`)
    write('memory.max', `${memory * 2}\n`)
    write('memory.swap.current', '8192\n')
    write('memory.swap.max', 'max\n')
    write('memory.stat', `anon ${memory - 5000}\nfile 5000\nkernel 300\ninactive_file 4000\npgmajfault 9\n`)
    write('memory.events', 'low 0\nhigh 0\nmax 11\noom 3\noom_kill 2\n')
    write(
      'io.stat',
      '8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n253:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n',
    )
    for (const [at, resource] of ['cpu', 'memory', 'io'].entries())
      write(
        `${resource}.pressure`,
        `some avg10=0.00 avg60=0.00 avg300=0.00 total=${10 + at}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=${20 + at}\n`,
      )
    write('pids.current', `${pids}\n`)
    write('pids.max', 'max\n')
    write('cgroup.freeze', '0\n')
    write('cgroup.procs', '')
  }

  /** Makes version 1 the only one, each controller mounted by itself. */
  useLegacy(): void {
    const controllers = ['cpu', 'cpuacct', 'memory', 'blkio', 'pids']
    this.write(
      'proc/mounts',
      controllers.map((name) => `cgroup /sys/fs/cgroup/${name} cgroup rw,${name} 0 0\n`).join(''),
    )
  }

  /** Writes the files of a group of version 1. */
  legacy(group: string, { cpuUs, memory, pids }: GroupNumbers): void {
    const write = (controller: string, file: string, text: string): void =>
      this.write(`sys/fs/cgroup/${controller}${group}/${file}`, text)
    write('cpuacct', 'cpuacct.usage', `${cpuUs}999\n`)
    write('cpuacct', 'cpuacct.stat', 'user 30\nsystem 12\n')
    write('cpu', 'cpu.stat', 'nr_periods 40\nnr_throttled 7\nthrottled_time 12345678\n')
    write('cpu', 'cpu.cfs_quota_us', '-1\n')
    write('cpu', 'cpu.cfs_period_us', '100000\n')
    write('memory', 'memory.usage_in_bytes', `${memory}\n`)
    write('memory', 'memory.limit_in_bytes', '9223372036854771712\n')
    write('memory', 'memory.memsw.usage_in_bytes', `${memory + 8192}\n`)
    write('memory', 'memory.memsw.limit_in_bytes', '9223372036854771712\n')
    write('memory', 'memory.kmem.usage_in_bytes', '300\n')
    write('memory', 'memory.failcnt', '11\n')
    write(
      'memory',
      'memory.stat',
      `cache 1\nrss 1\ntotal_cache 5000\ntotal_rss ${memory - 5000}\ntotal_pgmajfault 9\ntotal_inactive_file 4000\n`,
    )
    write('memory', 'memory.oom_control', 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n')
    write('memory', 'cgroup.procs', '')
    write(
      'blkio',
      'blkio.throttle.io_service_bytes',
      '8:0 Read 4096\n8:0 Write 8192\n8:0 Total 12288\nTotal 12288\n',
    )
    write('blkio', 'blkio.throttle.io_serviced', '8:0 Read 1\n8:0 Write 2\n8:0 Total 3\nTotal 3\n')
    write('pids', 'pids.current', `${pids}\n`)
    write('pids', 'pids.max', '100\n')
  }
}

/** /proc/PID/net/dev with numbers that depend on the process. */
function netDev(pid: number): string {
  const columns = (first: number): string =>
    [
      first,
      first + 1,
      first + 2,
      first + 3,
      0,
      0,
      0,
      0,
      first + 10,
      first + 11,
      first + 12,
      first + 13,
      0,
      0,
      0,
      0,
    ].join(' ')
  return `Inter-|   Receive  |  Transmit\n face |bytes    packets|bytes\n    lo: ${columns(1_000_000)}\n  eth0: ${columns(pid)}\n`
}

/** Files of a running docker container. */
export function dockerConfig(name: string, pid: number, more: object = {}): object {
  return {
    Name: `/${name}`,
    State: {
      Running: pid > 0,
      Paused: false,
      Restarting: false,
      Pid: pid,
      StartedAt: '2026-11-23T10:00:00Z',
    },
    Config: { Hostname: name, Image: `registry.example/${name}:1`, Labels: {} },
    ...more,
  }
}

/** An entry of containers.json of podman. */
export function podmanEntry(id: string, name: string): object {
  return { id, names: [name], metadata: JSON.stringify({ 'image-name': `localhost/${name}:2`, name }) }
}
