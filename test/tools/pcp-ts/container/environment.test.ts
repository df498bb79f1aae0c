import { expect, test } from 'vitest'
import { PcpError } from '../../../../src/model/errors.ts'
import { readEnvironment } from '../../../../src/tools/pcp-ts/container/environment.ts'

const facts = {
  knownAgents: ['linux', 'proc', 'kvm', 'root'],
  defaultAgents: ['linux', 'proc'],
  isDirectory: (path: string) => ['/host/proc', '/host/sys', '/half/proc'].includes(path),
}
const read = (env: Record<string, string>) => readEnvironment(env, facts)
const problem = (env: Record<string, string>): string => {
  try {
    read(env)
  } catch (error) {
    expect(error).toBeInstanceOf(PcpError)
    expect((error as PcpError).code).toBe('PM_ERR_ARG')
    return (error as PcpError).message
  }
  throw new Error(`${JSON.stringify(env)} was accepted`)
}

test('without variables: all services of this container, on all interfaces', () => {
  expect(read({})).toEqual({
    services: new Set(['pmcd', 'pmie', 'pmlogger', 'pmproxy']),
    agents: ['linux', 'proc'],
    dir: '/var/lib/pcp-ts',
    hostMount: undefined,
    port: 44321,
    webPort: 44322,
    listen: ['all'],
    hosts: [],
    nodes: undefined,
    names: [],
    keepDays: 14,
    keepBytes: 2 ** 30,
    variables: {},
    labels: {},
    remarks: [],
  })
})

test('services are separated by commas or blanks, each once', () => {
  expect([...read({ PCP_SERVICES: 'pmcd,pmproxy pmcd,' }).services]).toEqual(['pmcd', 'pmproxy'])
  expect(problem({ PCP_SERVICES: 'pmcd,redis' })).toBe(
    'PCP_SERVICES: unknown service "redis"; use pmcd, pmie, pmlogger, pmproxy',
  )
})

test('agents are added to the usual ones; names that PCP has and we lack do not stop the container', () => {
  const { agents, remarks } = read({ PCP_DOMAIN_AGENTS: 'kvm,bpf,linux' })
  expect(agents).toEqual(['linux', 'proc', 'kvm'])
  expect(remarks).toEqual(['PCP_DOMAIN_AGENTS: no agent bpf, ignored; there are linux, proc, kvm, root'])
})

test('HOST_MOUNT sets the roots of the agents; variables given explicitly win', () => {
  const { hostMount, variables } = read({ HOST_MOUNT: '/host/', PROC_STATSPATH: '/other', EMPTY: '' })
  expect(hostMount).toBe('/host')
  expect(variables).toEqual({
    HOST_MOUNT: '/host/',
    LINUX_STATSPATH: '/host',
    PROC_STATSPATH: '/other',
    XFS_STATSPATH: '/host',
    ROOT_STATSPATH: '/host',
  })
})

test.each([{}, { HOST_MOUNT: '' }, { HOST_MOUNT: '/' }])('%o measures the container itself', (env) => {
  expect(read(env).hostMount).toBeUndefined()
  expect(read(env).variables['LINUX_STATSPATH']).toBeUndefined()
})

test('a HOST_MOUNT without the host is an error: the metrics would be missing silently', () => {
  expect(problem({ HOST_MOUNT: '/half' })).toBe(
    "HOST_MOUNT=/half: there is no /half/sys; mount the host's root there: --volume /:/half:ro,rslave",
  )
  expect(problem({ HOST_MOUNT: 'host' })).toBe('HOST_MOUNT=host: must be an absolute path')
})

test('key servers are those of pmproxy; a mistake stops the container', () => {
  const { remarks, variables } = read({ KEY_SERVERS: 'valkey:6379, [::1]:7000' })
  expect(remarks).toEqual(['key servers: valkey:6379, [::1]:7000'])
  expect(variables['KEY_SERVERS']).toBe('valkey:6379, [::1]:7000')
  expect(read({ KEY_SERVERS: 'k', PCP_SERVICES: 'pmcd' }).remarks).toEqual([
    'KEY_SERVERS=k: not used without pmproxy',
  ])
  expect(problem({ KEY_SERVERS: 'k:x' })).toBe('KEY_SERVERS: invalid key server k:x; use HOST:PORT')
})

test('a container without a collector needs other collectors, and one with a collector has no others', () => {
  const hosts = read({ PCP_SERVICES: 'pmlogger,pmproxy', PCP_TS_HOSTS: 'db1, db2:44322' })
  expect(hosts.hosts).toEqual(['db1', 'db2:44322'])
  expect(read({ PCP_SERVICES: 'pmlogger', PCP_TS_NODES: 'nodes:44321' }).nodes).toBe('nodes:44321')
  expect(problem({ PCP_SERVICES: 'pmlogger' })).toContain('PCP_TS_HOSTS')
  expect(problem({ PCP_TS_HOSTS: 'db1' })).toContain('set PCP_SERVICES without pmcd')
  expect(problem({ PCP_TS_NODES: 'nodes' })).toMatch(/^PCP_TS_NODES: /)
})

test('hosts are checked and bounded', () => {
  const env = { PCP_SERVICES: 'pmlogger' }
  expect(problem({ ...env, PCP_TS_HOSTS: 'db1:port' })).toMatch(/^PCP_TS_HOSTS: db1:port: /)
  const many = Array.from({ length: 1025 }, (_, i) => `h${i}`).join()
  expect(problem({ ...env, PCP_TS_HOSTS: many })).toBe(
    'PCP_TS_HOSTS: 1025 hosts, but at most 1024 are recorded',
  )
})

test.each([
  ['PCP_TS_PORT', '0', 'PCP_TS_PORT=0: must be a port, from 1 to 65535'],
  ['PCP_TS_WEB_PORT', 'web', 'PCP_TS_WEB_PORT=web: must be a port, from 1 to 65535'],
  ['PCP_TS_KEEP_DAYS', '0', 'PCP_TS_KEEP_DAYS=0: must be at least 1'],
  ['PCP_TS_KEEP_SIZE', '5', 'PCP_TS_KEEP_SIZE=5: must be a number with its unit, e.g. 500Mb or 2Gb'],
  ['PCP_TS_DIR', 'state', 'PCP_TS_DIR=state: must be an absolute path'],
])('%s=%s is refused', (name, value, message) => {
  expect(problem({ [name]: value })).toBe(message)
})

test('the downward API of Kubernetes becomes labels', () => {
  expect(read({ NODE_NAME: 'n1', POD_NAME: 'pcp-ts-abc', POD_NAMESPACE: '' }).labels).toEqual({
    'k8s.node': 'n1',
    'k8s.pod': 'pcp-ts-abc',
  })
})
