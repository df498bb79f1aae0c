/** Host specifications, with their attributes. */
import { formatHostSpec, hostAttr, parseHostSpec, showHostSpec } from '../../../src/net/host-spec.ts'
import { type FuzzEntry, holdSame, textEntry } from '../engine/entry.ts'

const NAME = /^(?!pcps?$|unix$|local$)[\w.-]+$/

/** Entry of src/net/host-spec.ts. */
export const hostSpec: FuzzEntry = textEntry({
  seeds: () => [
    'pcps://app:44321,44322@proxy:44322?user=a%20b&pass=x&compress',
    'unix:/run/pcp/pmcd.socket?container=c',
    'local:',
    '[fe80::1%eth0]:44321',
    'pcp://h1@h2@[::1]:1?method=PLAIN&realm=r&exclusive',
  ],
  maxLength: 512,
  run(text) {
    showHostSpec(text)
    const spec = parseHostSpec(text)
    const short = formatHostSpec(spec)
    // These turn a host into the path of a socket.
    if (['unixsock', 'local'].some((name) => hostAttr(spec, name) !== undefined)) return
    // Odd names are accepted as in PCP, and some of them are parsed differently without their context.
    if (!spec.hosts.every(({ name }) => NAME.test(name))) return
    holdSame(parseHostSpec(short).hosts, spec.hosts, 'a host specification survives formatting')
  },
})
