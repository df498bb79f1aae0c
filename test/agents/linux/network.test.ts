/** Interfaces, protocols and sockets of the linux agent: fixture trees and texts, hand-checked. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type NetworkInterfaceInfo, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { InstanceIds } from '../../../src/agents/lib/instance-ids.ts'
import { openContext } from '../../../src/agents/linux/context.ts'
import { addressMetrics, formatInet6, parseIfInet6 } from '../../../src/agents/linux/net-addr.ts'
import {
  devCounter,
  IN_BYTES,
  newNetDev,
  OUT_COMPRESSED,
  parseNetDev,
  sumCounters,
} from '../../../src/agents/linux/net-dev.ts'
import { excludedInterfaces } from '../../../src/agents/linux/net-interface.ts'
import {
  type ProtocolHeading,
  type ProtocolTable,
  parseProtocols,
} from '../../../src/agents/linux/net-snmp.ts'
import { countStates, countUnix, parseSockStat } from '../../../src/agents/linux/net-sockets.ts'
import { parseSoftNet } from '../../../src/agents/linux/net-softnet.ts'
import { Scanner } from '../../../src/base/scan.ts'
import { encodeText } from '../../../src/base/text.ts'
import { indom } from '../../../src/model/ids.ts'
import { LABEL_INDOM, LABEL_INSTANCES } from '../../../src/model/labels.ts'
import { defineAgent, openAgent } from '../../../src/pmda/index.ts'
import { ASK } from '../../lib/agent-catalogue.ts'
import { allAnswers, answer, openFixture } from '../../lib/linux-agent.ts'

const scan = (text: string): Scanner => new Scanner(encodeText(text))
const agent = openFixture('busy-network')
afterAll(() => agent.close())

describe('/proc/net/dev', () => {
  const heading = 'Inter-|   Receive\n face |bytes\n'
  const row = (name: string, first: number): string =>
    `${name}:${Array.from({ length: 16 }, (_, i) => first + i).join(' ')}\n`

  test('keeps the number of an interface that goes and comes back', () => {
    const ids = new InstanceIds()
    const dev = newNetDev()
    parseNetDev(scan(heading + row('  lo', 0) + row('eth0', 100) + row('eth1', 200)), dev, ids)
    expect([dev.ids, dev.names]).toEqual([
      [0, 1, 2],
      ['lo', 'eth0', 'eth1'],
    ])
    parseNetDev(scan(heading + row('  lo', 1) + row('eth1', 201)), dev, ids)
    expect([dev.ids, dev.names]).toEqual([
      [0, 2],
      ['lo', 'eth1'],
    ])
    expect(devCounter(dev, 2, IN_BYTES)).toBe(201)
    parseNetDev(scan(heading + row('eth1', 202) + row('eth0', 102)), dev, ids)
    expect([dev.ids, dev.names]).toEqual([
      [2, 1],
      ['eth1', 'eth0'],
    ])
    expect(devCounter(dev, 1, OUT_COMPRESSED)).toBe(117)
  })

  test('has no value for columns that an old kernel leaves out', () => {
    const dev = parseNetDev(scan(`${heading}eth0: 1 2 3 4\n`), newNetDev(), new InstanceIds())
    expect(devCounter(dev, 0, IN_BYTES)).toBe(1)
    expect(devCounter(dev, 0, OUT_COMPRESSED)).toBeUndefined()
  })

  test('keeps every bit of 64-bit counters, and wraps their sums', () => {
    const text = `${heading}eth0: 18446744073709551615 ${'0 '.repeat(15)}\n`
    const dev = parseNetDev(scan(text), newNetDev(), new InstanceIds())
    const bytes = devCounter(dev, 0, IN_BYTES)
    expect(bytes).toBe(18446744073709551615n)
    expect(sumCounters(bytes, 6)).toBe(5)
    expect(sumCounters(2 ** 53 - 1, 2)).toBe(9007199254740993n)
    expect(sumCounters(1, undefined)).toBeUndefined()
  })

  test('takes names apart whatever follows the colon, and ignores lines without one', () => {
    const text = `${heading}\ngarbage\nveth12ab34c:5 0 0\nwg-ü: 7 0 0`
    const dev = parseNetDev(scan(text), newNetDev(), new InstanceIds())
    expect(dev.names).toEqual(['veth12ab34c', 'wg-ü'])
    expect(devCounter(dev, 1, IN_BYTES)).toBe(7)
  })
})

describe('attributes of interfaces', () => {
  test('come from sysfs, and are missing without a file', async () => {
    const found = await allAnswers(agent, [
      'network.interface.mtu',
      'network.interface.speed',
      'network.interface.baudrate',
      'network.interface.duplex',
      'network.interface.up',
      'network.interface.running',
    ])
    expect(found['network.interface.mtu']).toMatchObject({ '0 lo': 65536, '2 eth1': 9000, '10 tun0': 1400 })
    // enp3s0f1 has a speed of -1, lo none at all
    expect(Object.keys(found['network.interface.speed']!)).toEqual(
      [
        '1 eth0',
        '2 eth1',
        '4 bond0',
        '6 veth12ab34c',
        '7 br-4f5e6d7c8b9a',
        '8 docker0',
        '9 team0',
        '10 tun0',
      ].sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
    )
    expect(found['network.interface.speed']).toMatchObject({
      '1 eth0': Math.fround(1192.092895507812),
      '2 eth1': Math.fround(11.920928955078125),
    })
    expect(found['network.interface.baudrate']).toMatchObject({
      '1 eth0': 1_250_000_000,
      '2 eth1': 12_500_000,
    })
    expect(found['network.interface.duplex']).toMatchObject({ '1 eth0': 2, '2 eth1': 1 })
    expect(found['network.interface.duplex']).not.toHaveProperty('3 enp3s0f1')
    expect(found['network.interface.up']).toMatchObject({
      '0 lo': 1,
      '1 eth0': 1,
      '3 enp3s0f1': 0,
      '5 wlan0': 1,
    })
    expect(found['network.interface.running']).toMatchObject({
      '0 lo': 1,
      '1 eth0': 1,
      '3 enp3s0f1': 0,
      '5 wlan0': 0,
    })
  })

  test('label interfaces with their names', async () => {
    const serial = indom(60, 3)
    await agent.instances(serial, undefined, ASK)
    const [set] = await agent.labels({ level: LABEL_INDOM, id: serial }, ASK)
    expect(JSON.parse(set!.json)).toEqual({ device_type: 'interface', indom_name: 'per interface' })
    const sets = await agent.labels({ level: LABEL_INSTANCES, id: serial }, ASK)
    expect(JSON.parse(sets.find(({ inst }) => inst === 1)!.json)).toEqual({ interface: 'eth0' })
  })
})

describe('network.all', () => {
  test('leaves out interfaces of the configuration, on one or several lines', () => {
    const pattern = excludedInterfaces('# comment\n^( lo |\n  bond[0-9]+ # more\n )$\n')
    expect(['lo', 'bond0', 'eth0', 'lo1'].filter((name) => pattern.test(name))).toEqual(['lo', 'bond0'])
  })

  test.each([undefined, '', '# nothing\n', '^(lo|\n'])('has a default in place of %j', (text) => {
    const pattern = excludedInterfaces(text)
    const names = ['lo', 'bond3', 'team1', 'face', 'eth0', 'tun0', 'surface']
    expect(names.filter((name) => pattern.test(name))).toEqual(['lo', 'bond3', 'team1', 'face'])
  })
})

describe('addresses', () => {
  test.each([
    ['00000000000000000000000000000001', '::1'],
    ['00000000000000000000000000000000', '::'],
    ['fe8000000000000000fc00fffe000001', 'fe80::fc:ff:fe00:1'],
    ['20010db8000000010000000000000000', '2001:db8:0:1::'],
    ['20010db8000000010002000000000003', '2001:db8:0:1:2::3'],
    ['20010db8000100000001000000010001', '2001:db8:1:0:1:0:1:1'],
    ['0000000000000000000000000a000001', '::10.0.0.1'],
    ['00000000000000000000ffffc0000201', '::ffff:192.0.2.1'],
    ['20010db8000000000001000000000001', '2001:db8::1:0:0:1'],
  ])('prints %s as inet_ntop does', (hex, text) => {
    expect(formatInet6(hex)).toBe(text)
  })

  test('of IPv4 are the first of each interface or alias', async () => {
    const entry = (address: string, family: 'IPv4' | 'IPv6'): NetworkInterfaceInfo =>
      ({
        address,
        family,
        netmask: '',
        mac: '',
        internal: false,
        cidr: null,
        scopeid: 0,
      }) as NetworkInterfaceInfo
    const inet = () => ({
      eth0: [entry('fe80::1', 'IPv6'), entry('192.0.2.1', 'IPv4'), entry('192.0.2.9', 'IPv4')],
      'eth0:1': [entry('192.0.2.3', 'IPv4')],
      eth1: [entry('fe80::2', 'IPv6')],
    })
    const root = tree({
      'sys/class/net/eth0/address': '02:00:00:00:00:01\n',
      'sys/class/net/bonding_masters': '',
    })
    const definition = defineAgent({
      name: 'linux',
      domain: 60,
      open: (env) => ({ metrics: addressMetrics(openContext(env), inet) }),
    })
    const source = openAgent(definition, { root, env: {} })
    expect(await answer(source, 'network.interface.inet_addr')).toEqual({
      '0 eth0': '192.0.2.1',
      '1 eth0:1': '192.0.2.3',
    })
    expect(await answer(source, 'network.interface.hw_addr')).toEqual({ '0 eth0': '02:00:00:00:00:01' })
    expect(await answer(source, 'network.interface.ipv6_addr')).toBeNull()
    await source.close()
  })

  test('of IPv6 have a scope; invalid lines are ignored', () => {
    const text =
      'fe800000000000000000000000000002 02 0a 20 80     eth0\nnonsense\n\n00000000000000000000000000000002 03 40 f0 80 x\n'
    expect([...parseIfInet6(text)]).toEqual([
      ['eth0', { inet6: 'fe80::2/10', scope: 'Link' }],
      ['x', { inet6: '::2/64', scope: 'Unknown' }],
    ])
  })
})

describe('protocol tables', () => {
  test('follow the headings in any order, and read -1 as an unsigned number', () => {
    const table = parseProtocols(scan('Tcp: InSegs MaxConn New\nTcp: 5 -1 18446744073709551615\n'), new Map())
    expect([...table.get('Tcp')!]).toEqual([
      ['InSegs', 5],
      ['MaxConn', 18446744073709551615n],
      ['New', 18446744073709551615n],
    ])
  })

  test('forget what a later reading no longer has', () => {
    const table = parseProtocols(scan('IcmpMsg: InType3 InType8\nIcmpMsg: 1 2\n'), new Map())
    parseProtocols(scan('IcmpMsg: InType8\nIcmpMsg: 3\n'), table)
    expect([...table.get('IcmpMsg')!]).toEqual([['InType8', 3]])
  })

  test('that follow one another give the same results as separate ones', () => {
    const table: ProtocolTable = new Map()
    const headings: ProtocolHeading[] = []
    for (const text of [
      'Ip: A B\nIp: 1 2\nTcp: C\nTcp: 3\n',
      'Ip: A B\nIp: 4\nTcp: C\nTcp: 5\n',
      'Ip: A B\nIp: 6 7\nIcmpMsg: T\nIcmpMsg: 8\nTcp: C\nTcp: 9\n',
      'Ip: B A\nIp: 6 7\n',
    ])
      expect([...parseProtocols(scan(text), table, headings)]).toEqual([
        ...parseProtocols(scan(text), new Map()),
      ])
  })

  test('survive headings without values and values without headings', () => {
    const table = parseProtocols(
      scan('Icmp: InMsgs\nIcmpMsg: InType3\nIcmpMsg: 7\nUdp: NoPorts InErrors\nUdp: 4\nodd'),
      new Map(),
    )
    expect(table.get('IcmpMsg')?.get('InType3')).toBe(7)
    expect([...table.get('Udp')!]).toEqual([['NoPorts', 4]])
  })

  test('leave fields this kernel lacks without value', async () => {
    const root = tree({ 'proc/net/snmp': 'Ip: Forwarding\nIp: 1\n', 'proc/net/snmp6': 'Ip6InReceives \t5\n' })
    const source = openFixture(root)
    expect(await answer(source, 'network.ip.forwarding')).toBe(1)
    expect(await answer(source, 'network.ip.fragoks')).toBeNull()
    expect(await answer(source, 'network.ip6.inreceives')).toBe(5)
    expect(await answer(source, 'network.ip6.indelivers')).toBeNull()
    expect(await answer(source, 'network.tcp.listendrops')).toEqual({ error: 'No such file or directory' })
    await source.close()
  })
})

describe('sockets', () => {
  test('are counted by row and field', () => {
    const table = parseSockStat(scan('sockets: used 9\nTCP: inuse 1 orphan 2\nRAW:\n'), new Map())
    expect([...table]).toEqual([
      ['sockets used', 9],
      ['TCP inuse', 1],
      ['TCP orphan', 2],
    ])
  })

  test('are counted by state', () => {
    const row = (state: string): string => `   0: 00000000:07E8 00000000:0000 ${state} 00000000:00000000\n`
    const counts = countStates(scan(`  sl  local\n${row('0A')}${row('01')}${row('01')}${row('FF')}short\n`))
    expect([counts[0], counts[1], counts[10], counts[2]]).toEqual([4, 2, 1, 0])
  })

  test('of the Unix domain are counted by type and state', () => {
    const row = (type: string, state: string): string =>
      `0000: 00000002 00000000 00000000 ${type} ${state} 1\n`
    const text = `Num\n${row('0002', '01')}${row('0001', '01')}${row('0001', '03')}${row('0001', '02')}${row('0005', '01')}`
    expect(countUnix(scan(text))).toEqual({ datagram: 1, stream: 3, listen: 1, established: 1 })
  })
})

describe('softnet', () => {
  test('puts each row to the CPU it names', async () => {
    const found = await allAnswers(agent, [
      'network.softnet.percpu.processed',
      'network.softnet.processed',
      'network.softnet.percpu.received_rps',
      'network.softnet.flow_limit_count',
    ])
    expect(found['network.softnet.percpu.processed']).toEqual({
      '0 cpu0': 4000000000,
      '1 cpu1': 500,
      '3 cpu3': 900,
    })
    expect(found['network.softnet.processed']).toBe(4000001400)
    expect(found['network.softnet.percpu.received_rps']).toEqual({ '0 cpu0': 6, '1 cpu1': 1, '3 cpu3': 0 })
    expect(found['network.softnet.flow_limit_count']).toBe(11)
  })

  test('takes the CPUs that are online where rows have no name', () => {
    const text = '0000000a 00000001 00000002 0 0 0 0 0 00000003\n0000000b 0 0 0 0 0 0 0 0 00000007\n'
    expect([...parseSoftNet(scan(text), () => [0, 2])]).toEqual([
      [0, [10, 1, 2, 3, undefined, undefined]],
      [2, [11, 0, 0, 0, 7, undefined]],
    ])
  })
})

/** A temporary root with these files; removed when the tests are over. */
function tree(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'linux-network-'))
  afterAllRoots.push(root)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

const afterAllRoots: string[] = []
afterAll(() => {
  for (const root of afterAllRoots) rmSync(root, { recursive: true })
})
