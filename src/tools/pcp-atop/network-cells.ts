/** Lines about networks: NFM, NFC, NFS, NET, IFB, and WWW. pcp-atop(1) */
import { formatF } from '../../base/printf.ts'
import { countCell, levelOf, MEBIBYTE, textCell } from './cpu-cells.ts'
import { compareTraffic, interfaceTraffic, nfsRequests, type Traffic } from './host-activity.ts'
import { blank, CELL_WIDTH, type Cell, type LineSetup, type SystemLine } from './layout.ts'
import type { Step } from './step.ts'
import { bandwidthText, sizeText } from './values.ts'

/** NFM, NFC, NFS, NET, IFB and WWW, each only with activity, or with `-f` if the metrics exist. */
export function networkLines(setup: LineSetup): readonly SystemLine[] {
  return [
    ...mountLines(setup),
    ...clientLine(setup),
    ...serverLine(setup),
    ...transportLine(setup),
    ...layerLine(setup),
    ...interfaceLines(setup),
    ...infinibandLines(setup),
    ...webLine(setup),
  ]
}

function mountLines({ step, settings }: LineSetup): readonly SystemLine[] {
  const group = 'nfsclient'
  const lines: SystemLine[] = []
  for (const [inst, name] of step.instances(`${group}.bytes.read.server`, `${group}.export`)) {
    const of = (item: string): number => step.delta(`${group}.${item}`, inst)
    const read = of('bytes.read.server')
    const written = of('bytes.write.server')
    if (read === 0 && written === 0) continue
    const page = step.value('hinv.pagesize')
    const size = (weight: number, title: string, bytes: number): Cell =>
      textCell(weight, title, sizeText(bytes, 'K'))
    const source = step.now.text(`${group}.export`, inst) ?? name
    const [server = '', path = ''] = source.includes(':') ? source.split(':', 2) : ['', source]
    lines.push({
      label: 'NFM',
      cells: [
        { weight: 10, text: (path || name).slice(-CELL_WIDTH).padStart(CELL_WIDTH) },
        textCell(1, 'srv', server.slice(0, CELL_WIDTH - 4)),
        size(9, 'read', read),
        size(8, 'write', written),
        blank(),
        size(7, 'nread', of('bytes.read.normal')),
        size(6, 'nwrit', of('bytes.write.normal')),
        blank(),
        size(5, 'dread', of('bytes.read.direct')),
        size(4, 'dwrit', of('bytes.write.direct')),
        size(3, 'mread', of('pages.read') * page),
        size(2, 'mwrit', of('pages.write') * page),
      ],
    })
  }
  return lines.slice(0, settings.maxLines.nfsm)
}

/** NFC: the NFS client. */
function clientLine({ step, perSec, settings }: LineSetup): readonly SystemLine[] {
  const calls = step.delta('rpc.client.rpccnt')
  if (calls === 0 && !(settings.fixed && step.has('rpc.client.rpccnt'))) return []
  const count = (weight: number, name: string, value: number): Cell => countCell(weight, name, value, perSec)
  return [
    {
      label: 'NFC',
      cells: [
        count(8, 'rpc', calls),
        count(6, 'read', nfsRequests(step, 'client', 'read')),
        count(7, 'write', nfsRequests(step, 'client', 'write')),
        blank(),
        count(4, 'retxmit', step.delta('rpc.client.rpcretrans')),
        count(5, 'autref', step.delta('rpc.client.rpcauthrefresh')),
        ...Array.from({ length: 6 }, () => blank(0.5)),
      ],
    },
  ]
}

/** NFS: the NFS server. */
function serverLine({ step, perSec, settings }: LineSetup): readonly SystemLine[] {
  const rpc = (item: string): number => step.delta(`rpc.server.${item}`)
  const calls = rpc('rpccnt')
  if (calls === 0 && !(settings.fixed && step.has('rpc.server.rpccnt'))) return []
  const count = (weight: number, name: string, value: number): Cell => countCell(weight, name, value, perSec)
  const rate = (weight: number, name: string, bytes: number): Cell =>
    textCell(weight, name, formatF(bytes / MEBIBYTE / step.elapsedSec, 1))
  return [
    {
      label: 'NFS',
      cells: [
        count(20, 'rpc', calls),
        count(16, 'cread', nfsRequests(step, 'server', 'read')),
        count(17, 'cwrit', nfsRequests(step, 'server', 'write')),
        blank(0.1),
        rate(18, 'MBcr/s', rpc('io_read')),
        rate(19, 'MBcw/s', rpc('io_write')),
        blank(0.2),
        count(14, 'nettcp', rpc('nettcpcnt')),
        count(15, 'netudp', rpc('netudpcnt')),
        blank(0.3),
        count(10, 'rchits', rpc('rchits')),
        count(9, 'rcmiss', rpc('rcmisses')),
        count(8, 'rcnoca', rpc('rcnocache')),
        blank(0.4),
        count(11, 'badfmt', rpc('rpcbadfmt')),
        count(12, 'badaut', rpc('rpcbadauth')),
        count(13, 'badcln', rpc('rpcbadclnt')),
      ],
    },
  ]
}

/** Returns counts of the TCP/IP layers, IPv4 and IPv6 together. */
export function layerCounts(step: Step): Readonly<Record<string, number>> {
  const of = (...items: readonly string[]): number => step.sum(...items.map((item) => `network.${item}`))
  return {
    tcpi: of('tcp.insegs'),
    tcpo: of('tcp.outsegs'),
    udpi: of('udp.indatagrams', 'udp6.indatagrams'),
    udpo: of('udp.outdatagrams', 'udp6.outdatagrams'),
    tcpao: of('tcp.activeopens'),
    tcppo: of('tcp.passiveopens'),
    tcprs: of('tcp.retranssegs'),
    tcpie: of('tcp.inerrs'),
    tcpor: of('tcp.outrsts'),
    udpnp: of('udp.noports', 'udp6.noports'),
    udpie: of('udp.inerrors', 'udp6.inerrors'),
    ipi: of('ip.inreceives', 'ip6.inreceives'),
    ipo: of('ip.outrequests', 'ip6.outrequests'),
    ipfrw: of('ip.forwdatagrams', 'ip6.outforwdatagrams'),
    deliv: of('ip.indelivers', 'ip6.indelivers'),
    icmpi: of('icmp.inmsgs', 'icmp6.inmsgs'),
    icmpo: of('icmp.outmsgs', 'icmp6.outmsgs'),
  }
}

function transportLine({ step, perSec, settings }: LineSetup): readonly SystemLine[] {
  const counts = layerCounts(step)
  const names = 'tcpi tcpo udpi udpo tcpao tcppo tcprs tcpie tcpor udpnp udpie'.split(' ')
  const isIdle = ['tcpi', 'tcpo', 'udpi', 'udpo'].every((name) => counts[name] === 0)
  if (isIdle && !(settings.fixed && step.has('network.tcp.insegs'))) return []
  const weights = [9, 8, 11, 10, 7, 6, 5, 3, 2, 1, 4]
  return [
    {
      label: 'NET',
      cells: [
        { weight: 12, text: 'transport'.padEnd(CELL_WIDTH) },
        ...names.map((name, i) => countCell(weights[i]!, name, counts[name]!, perSec)),
      ],
    },
  ]
}

function layerLine({ step, perSec, settings }: LineSetup): readonly SystemLine[] {
  const counts = layerCounts(step)
  const isIdle = ['ipi', 'ipo'].every((name) => counts[name] === 0)
  if (isIdle && !(settings.fixed && step.has('network.ip.inreceives'))) return []
  const count = (weight: number, name: string): Cell => countCell(weight, name, counts[name]!, perSec)
  return [
    {
      label: 'NET',
      cells: [
        { weight: 8, text: 'network'.padEnd(CELL_WIDTH) },
        count(5, 'ipi'),
        count(4, 'ipo'),
        count(7, 'ipfrw'),
        count(6, 'deliv'),
        ...Array.from({ length: 4 }, () => blank()),
        count(2, 'icmpi'),
        count(3, 'icmpo'),
      ],
    },
  ]
}

function interfaceLines(setup: LineSetup): readonly SystemLine[] {
  const { step, settings } = setup
  const all = interfaceTraffic(step).filter(
    ({ name, packetsIn, packetsOut }) =>
      (settings.fixed || packetsIn > 0 || packetsOut > 0) && settings.focus.interface?.test(name) !== false,
  )
  const sorted = settings.unsorted ? all : [...all].sort(compareTraffic)
  return sorted
    .slice(0, settings.maxLines.intf)
    .map((traffic) => ({ label: 'NET', cells: interfaceCells(traffic, setup) }))
}

function interfaceCells(
  traffic: Traffic,
  { step, perSec, settings: { limits } }: LineSetup,
): readonly Cell[] {
  const { name, inst, busy, speed } = traffic
  const level = levelOf(busy ?? 0, limits.net, limits.almost)
  const count = (weight: number, title: string, value: number): Cell =>
    countCell(weight, title, value, perSec)
  const of = (item: string): number => step.delta(`network.interface.${item}`, inst)
  const bits = (weight: number, title: string, bytes: number): Cell => ({
    ...textCell(weight, title, bandwidthText((bytes * 8) / 1000 / step.elapsedSec)),
    level,
  })
  const share = busy === undefined ? '----' : `${String(Math.min(999, Math.round(busy))).padStart(3)}%`
  const fast =
    speed < 10_000
      ? `${String(Math.trunc(speed)).padStart(4)} Mbps`
      : `${String(Math.trunc(speed / 1000)).padStart(4)} Gbps`
  return [
    { weight: 11, text: `${name.slice(0, CELL_WIDTH - 5).padEnd(CELL_WIDTH - 5)} ${share}`, level },
    count(10, 'pcki', traffic.packetsIn),
    count(9, 'pcko', traffic.packetsOut),
    textCell(6, 'sp', fast),
    bits(8, 'si', traffic.bytesIn),
    bits(7, 'so', traffic.bytesOut),
    blank(),
    count(0.1, 'coll', of('collisions')),
    count(1, 'mlti', of('in.mcasts')),
    count(4, 'erri', of('in.errors')),
    count(5, 'erro', of('out.errors')),
    count(2, 'drpi', of('in.drops')),
    count(3, 'drpo', of('out.drops')),
  ]
}

function infinibandLines({ step, perSec, settings }: LineSetup): readonly SystemLine[] {
  const group = 'infiniband.port'
  const lines: SystemLine[] = []
  for (const [inst, name] of step.instances(`${group}.in.bytes`)) {
    const lanes = Math.max(1, step.value(`${group}.linkwidth`, inst))
    const of = (item: string): number => step.delta(`${group}.${item}`, inst)
    const received = of('in.bytes') * lanes
    const sent = of('out.bytes') * lanes
    if (received === 0 && sent === 0 && !settings.fixed) continue
    const rate = step.value(`${group}.rate`, inst)
    const kbits = (bytes: number): number => (bytes * 8) / 1000 / step.elapsedSec
    const busy =
      rate > 0
        ? `${String(Math.round(Math.max(kbits(received), kbits(sent)) / rate / 10)).padStart(3)}%`
        : '----'
    lines.push({
      label: 'IFB',
      cells: [
        { weight: 7, text: `${name.slice(0, CELL_WIDTH - 5).padEnd(CELL_WIDTH - 5)} ${busy}` },
        countCell(6, 'pcki', of('in.packets'), perSec),
        countCell(5, 'pcko', of('out.packets'), perSec),
        textCell(2, 'sp', bandwidthText(rate * 1000)),
        textCell(4, 'si', bandwidthText(kbits(received))),
        textCell(3, 'so', bandwidthText(kbits(sent))),
        countCell(1, 'lanes', lanes),
      ],
    })
  }
  return lines
}

/** WWW: activity of an Apache server, in five cells independent of the width. */
function webLine({ step, perSec, settings }: LineSetup): readonly SystemLine[] {
  const requests = step.delta('apache.total_accesses')
  // The agent itself causes one request.
  if (requests <= 1 && !(settings.fixed && step.has('apache.total_accesses'))) return []
  const kbytes = step.delta('apache.total_kbytes')
  return [
    {
      label: 'WWW',
      cells: [
        countCell(5, 'reqs', requests, perSec),
        countCell(4, 'totKB', kbytes, perSec),
        countCell(3, 'byt/rq', requests > 0 ? (kbytes * 1024) / requests : 0),
        countCell(2, 'iwork', step.value('apache.idle_servers')),
        countCell(1, 'bwork', step.value('apache.busy_servers')),
      ],
    },
  ]
}
