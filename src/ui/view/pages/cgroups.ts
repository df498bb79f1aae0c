/** The page about control groups and containers. Hosts without containers, or with cgroups of version 1, lack some of it. */
import { chart, optional, plot } from '../plots.ts'
import type { View } from '../view.ts'

const one = (metric: string, legend: string) => optional(plot(metric, { legend }))

/** What groups of processes use, and where their limits slow them down. */
export const CGROUPS_PAGE: View = {
  name: 'Cgroups',
  charts: [
    chart('cg-cpu', 'CPU by cgroup (100 % = 1 CPU)', [one('cgroup.cpu.stat.usage', '%I')], {
      unit: 'share',
      hint: 'This host has no control groups of version 2',
    }),
    chart('cg-memory', 'Memory by cgroup', [one('cgroup.memory.current', '%I')]),
    chart('cg-io', 'Disk throughput by cgroup', [
      one('cgroup.io.stat.rbytes', '%I read'),
      one('cgroup.io.stat.wbytes', '%I written'),
    ]),
    chart('cg-pressure', 'CPU pressure by cgroup', [one('cgroup.pressure.cpu.some.avg10sec', '%I')], {
      unit: 'percent',
    }),
    chart(
      'cg-memory-pressure',
      'Memory pressure by cgroup',
      [one('cgroup.pressure.memory.some.avg10sec', '%I')],
      { unit: 'percent' },
    ),
    chart('cg-throttled', 'Time throttled by a CPU limit', [one('cgroup.cpusched.throttled_time', '%I')], {
      unit: 'share',
    }),
    chart('ct-cpu', 'Container CPU (100 % = 1 CPU)', [one('containers.cpu.usage', '%I')], {
      unit: 'share',
      hint: 'No running containers of Docker, Podman, containerd or CRI-O were found',
    }),
    chart('ct-throttled', 'Containers throttled', [one('containers.cpu.throttled.time', '%I')], {
      unit: 'share',
    }),
    chart('ct-memory', 'Memory by container', [one('containers.memory.working_set', '%I')]),
    chart('ct-io', 'Disk throughput by container', [
      one('containers.io.rbytes', '%I read'),
      one('containers.io.wbytes', '%I written'),
    ]),
    chart('ct-network', 'Network by container', [
      one('containers.network.in.bytes', '%I in'),
      one('containers.network.out.bytes', '%I out'),
    ]),
    chart('ct-oom', 'Containers out of memory', [
      one('containers.memory.oom_kills', '%I processes killed'),
      one('containers.memory.limit_hits', '%I limit reached'),
    ]),
  ],
}
