/** Views with bar grids, a row for each instance. They replace PCP's 3-D scenes of a system and of NFS. */
import { type Chart, derivedName, type Plot, type View } from './view.ts'

type Column = readonly [metric: string, legend: string]

const CPU = 'kernel.percpu.cpu'
const NETWORK = 'network.interface'

function grid(id: string, title: string, columns: readonly Column[], rest: Partial<Chart> = {}): Chart {
  const plots = columns.map(([metric, legend]) => ({ metric, legend, optional: true }))
  return { id, title, style: 'grid', legend: false, plots, ...rest }
}

/** A plot of a share of physical memory. */
function ofMemory(part: string, legend: string): Plot {
  const expr = `(${part}) / mem.physmem`
  return { metric: derivedName(expr), expr, legend }
}

/** Bar grids of one host. */
export const GRIDS: View = {
  name: 'Grids of bars',
  charts: [
    grid(
      'g-cpu',
      'CPU',
      [
        [`${CPU}.user`, 'user'],
        [`${CPU}.sys`, 'system'],
        [`${CPU}.wait.total`, 'I/O wait'],
      ],
      { scale: [0, 1], unit: 'share' },
    ),
    grid('g-load', 'Load average', [['kernel.all.load', 'load']]),
    {
      ...grid('g-memory', 'Memory', [], { scale: [0, 1], unit: 'share' }),
      plots: [
        ofMemory('mem.util.used - mem.util.bufmem - mem.util.cached', 'programs'),
        ofMemory('mem.util.bufmem + mem.util.cached', 'cache'),
        ofMemory('mem.util.free', 'free'),
      ],
    },
    grid('g-disk', 'Disk operations', [
      ['disk.dev.read', 'reads'],
      ['disk.dev.write', 'writes'],
    ]),
    grid('g-bytes', 'Disk throughput', [
      ['disk.dev.read_bytes', 'read'],
      ['disk.dev.write_bytes', 'written'],
    ]),
    grid('g-net', 'Network throughput', [
      [`${NETWORK}.in.bytes`, 'in'],
      [`${NETWORK}.out.bytes`, 'out'],
    ]),
    grid('g-packets', 'Network packets and errors', [
      [`${NETWORK}.in.packets`, 'in'],
      [`${NETWORK}.out.packets`, 'out'],
      [`${NETWORK}.in.errors`, 'errors in'],
      [`${NETWORK}.out.errors`, 'errors out'],
    ]),
    grid('g-files', 'File system usage', [['filesys.full', 'used']], {
      scale: [0, 100],
      unit: 'percent',
      every: 10,
    }),
  ],
}

const VERSIONS = ['nfs', 'nfs3', 'nfs4'] as const

function calls(side: 'client' | 'server'): Column[] {
  return VERSIONS.map((name, i) => [`${name}.${side}.reqs`, `version ${i + 2}`])
}

/** NFS calls: a row for each operation, a column for each protocol version. */
export const NFS_GRIDS: View = {
  name: 'Grids of NFS calls',
  charts: [
    grid('n-client', 'NFS calls made as client', calls('client')),
    grid('n-server', 'NFS calls served', calls('server')),
  ],
}
