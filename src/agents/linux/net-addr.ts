/** Addresses of network interfaces. /sys/class/net, /proc/net/if_inet6, getifaddrs(3) */
import { networkInterfaces } from 'node:os'
import type { IndomSpec, MetricSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

/** One interface, or one alias of it (eth0:1). */
export interface InterfaceAddress {
  readonly inet?: string
  /** `address/prefixlen` */
  readonly inet6?: string
  /** Global, Link, Site, Compat, Host or Unknown. */
  readonly scope?: string
}

const SCOPES: { readonly [bits: number]: string } = {
  0: 'Global',
  16: 'Host',
  32: 'Link',
  64: 'Site',
  128: 'Compat',
}

/** Address, interface number, prefix length, scope, flags and name: all but the name in hexadecimal. */
const INET6_LINE = /^([0-9a-f]{32})\s+[0-9a-f]+\s+([0-9a-f]{2})\s+([0-9a-f]{2})\s+[0-9a-f]+\s+(\S+)\s*$/i

/** Parses /proc/net/if_inet6. As in the reference the last of several addresses of an interface wins. */
export function parseIfInet6(text: string): ReadonlyMap<string, Required<Omit<InterfaceAddress, 'inet'>>> {
  const found = new Map<string, Required<Omit<InterfaceAddress, 'inet'>>>()
  for (const line of text.split('\n')) {
    const [, address, prefix, scope, name] = INET6_LINE.exec(line) ?? []
    if (name === undefined) continue
    found.set(name, {
      inet6: `${formatInet6(address!)}/${Number.parseInt(prefix!, 16)}`,
      // the low four bits are internal flags of the kernel
      scope: SCOPES[Number.parseInt(scope!, 16) & 0xf0] ?? 'Unknown',
    })
  }
  return found
}

/** Formats 32 hexadecimal digits as inet_ntop(3): the longest run of zeroes omitted, IPv4 tails dotted. */
export function formatInet6(hex: string): string {
  const groups = Array.from({ length: 8 }, (_, i) => Number.parseInt(hex.slice(i * 4, i * 4 + 4), 16))
  let start = -1
  let length = 1 // a single group of zeroes is written out
  for (let i = 0; i < 8; i++) {
    let run = 0
    while (i + run < 8 && groups[i + run] === 0) run++
    if (run > length) {
      start = i
      length = run
    }
    i += run
  }
  const isDotted = start === 0 && (length === 6 || (length === 5 && groups[5] === 0xffff))
  const tail = groups.slice(6)
  const words = groups.slice(0, isDotted ? 6 : 8).map((group) => group.toString(16))
  if (isDotted) words.push(tail.map((group) => `${group >> 8}.${group & 0xff}`).join('.'))
  if (start < 0) return words.join(':')
  const skipped = words.slice(0, start).join(':')
  return `${skipped}::${words.slice(start + length).join(':')}`
}

type Interfaces = ReturnType<typeof networkInterfaces>

/** Returns the metrics of interface addresses (cluster 33). `inet` lists IPv4 addresses, by default those of this process's network. */
export function addressMetrics(
  ctx: LinuxContext,
  inet: () => Interfaces = ctx.root === '/' ? networkInterfaces : () => ({}),
): { [name: string]: OrderedRow } {
  const instances = new InstanceIds()
  const reading = new Reading(() => readAddresses(ctx, inet()))
  const indom: IndomSpec = {
    serial: 17,
    reading,
    instances: () => instances.list(reading.value.keys()),
    help: 'Network interfaces, and aliases with separate addresses',
    text: 'The interfaces of /sys/class/net, and aliases with an address, such as eth0:1.',
    labels: { device_type: 'interface', indom_name: 'per interface' },
  }
  const spec = (
    item: number,
    help: string,
    text: string,
    value: (name: string, address: InterfaceAddress | undefined) => string | undefined,
  ): MetricSpec => ({
    cluster: 33,
    item,
    type: 'string',
    sem: 'discrete',
    units: 'none',
    indom,
    help,
    text,
    reading,
    value: (inst) => {
      const name = instances.nameOf(inst)
      return name === undefined ? undefined : value(name, reading.value.get(name))
    },
  })
  return {
    'network.interface.inet_addr': spec(
      0,
      'First IPv4 address of the interface, in dotted form',
      'From getifaddrs(3). Interfaces that are down or have no link are not listed there and have no value.',
      (_name, address) => address?.inet,
    ),
    'network.interface.ipv6_addr': spec(
      1,
      'IPv6 address of the interface and the length of its network prefix, as in fe80::1/64',
      'From /proc/net/if_inet6: the last line there when an interface has several.',
      (_name, address) => address?.inet6,
    ),
    'network.interface.ipv6_scope': spec(
      2,
      'Scope of the IPv6 address: Global, Site, Link, Host, Compat or Unknown',
      'From the fourth column of /proc/net/if_inet6, for the address in network.interface.ipv6_addr.',
      (_name, address) => address?.scope,
    ),
    'network.interface.hw_addr': spec(
      3,
      'Link-layer (MAC) address of the device: six hexadecimal bytes for Ethernet',
      'From /sys/class/net/INTERFACE/address. No value for links that have none, such as tunnels.',
      (name) => ctx.attribute(`/sys/class/net/${name}/address`) || undefined,
    ),
  }
}

function readAddresses(ctx: LinuxContext, inet: Interfaces): ReadonlyMap<string, InterfaceAddress> {
  const found = new Map<string, InterfaceAddress>()
  for (const name of ctx.list('/sys/class/net')) {
    // bonding_masters is the only file that is not an interface
    if (name !== 'bonding_masters') found.set(name, {})
  }
  for (const [name, addresses] of Object.entries(inet)) {
    const first = addresses?.find((entry) => entry.family === 'IPv4')
    if (first !== undefined) found.set(name, { inet: first.address })
  }
  let text = ''
  try {
    text = ctx.text('/proc/net/if_inet6')
  } catch {
    return found // a kernel without IPv6 has no such file, and no such addresses
  }
  for (const [name, address] of parseIfInet6(text)) found.set(name, { ...found.get(name), ...address })
  return found
}
