/** What containers use, by name, over trees as the engines and the kernel write them. */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agent } from '../../../src/agents/root/index.ts'
import { isError } from '../../../src/model/errors.ts'
import { LABEL_INSTANCES } from '../../../src/model/labels.ts'
import { type AgentSource, openAgent } from '../../../src/pmda/open-agent.ts'
import { allAnswers } from '../../lib/agent-answers.ts'
import { ASK } from '../../lib/agent-catalogue.ts'
import { ContainerTree, dockerConfig, podmanEntry } from '../../lib/container-tree.ts'

const id = (digit: string): string => digit.repeat(64)
const POD_UID = '0a1b2c3d-1111-2222-3333-444455556666'

let tree: ContainerTree
let source: AgentSource
let logged: string[]
let now: number

beforeEach(() => {
  tree = new ContainerTree()
  logged = []
  now = Date.now()
  source = openAgent(agent, {
    root: tree.root,
    env: { PCP_LXC_DIR: '/nowhere' },
    clock: () => now,
    log: (_level: string, text: string) => logged.push(text),
  })
})
afterEach(async () => {
  await source.close()
  tree.close()
})

/** Values of metrics below containers by container name. */
async function values(...names: readonly string[]): Promise<{ [metric: string]: unknown }> {
  const answers = await allAnswers(
    source,
    names.map((name) => `containers.${name}`),
  )
  return Object.fromEntries(
    Object.entries(answers).map(([metric, answer]) => [
      metric.replace('containers.', ''),
      answer &&
        Object.fromEntries(
          Object.entries(answer).map(([instance, value]) => [instance.replace(/^\d+ /, ''), value]),
        ),
    ]),
  )
}

/** Values of all metrics by name of the container web. */
async function everythingOfWeb(): Promise<{ [metric: string]: unknown }> {
  const found = Object.entries(await values(...byName()))
  return Object.fromEntries(found.map(([name, of]) => [name, of && (of as { web: unknown }).web]))
}

const byName = (): string[] =>
  [...source.names()].map(([name]) => name.replace('containers.', '')).filter((name) => !isOfPcp(name))
const isOfPcp = (name: string): boolean => /^(?:engine|name|pid|cgroup|state\..*)$/.test(name)

function docker(digit: string, config: object): void {
  tree.write(`var/lib/docker/containers/${id(digit)}/config.v2.json`, config)
}

test('every metric of a docker container in version 2', async () => {
  tree.useUnified()
  const group = `/system.slice/docker-${id('1')}.scope`
  docker('1', dockerConfig('web', 4001))
  tree.process(4001, group)
  tree.unified(group, { cpuUs: 5000, memory: 1_000_000, pids: 6 })
  expect(await everythingOfWeb()).toEqual({
    'info.id': id('1'),
    'info.engine': 'docker',
    'info.image': 'registry.example/web:1',
    'info.status': 'running',
    'info.pod': null,
    'info.namespace': null,
    'info.cgroup': group,
    'cpu.usage': 5000,
    'cpu.user': 4900,
    'cpu.system': 100,
    'cpu.periods': 40,
    'cpu.throttled.periods': 7,
    'cpu.throttled.time': 12345,
    'cpu.limit': 1.5,
    'memory.current': 1_000_000,
    'memory.limit': 2_000_000,
    'memory.working_set': 996_000,
    'memory.anon': 995_000,
    'memory.file': 5000,
    'memory.kernel': 300,
    'memory.swap': 8192,
    'memory.swap_limit': null,
    'memory.limit_hits': 11,
    'memory.oom_kills': 2,
    'memory.majfault': 9,
    'io.rbytes': 4096,
    'io.wbytes': 8192,
    'io.rios': 1,
    'io.wios': 2,
    'pressure.cpu.some': 10,
    'pressure.cpu.full': 20,
    'pressure.memory.some': 11,
    'pressure.memory.full': 21,
    'pressure.io.some': 12,
    'pressure.io.full': 22,
    'pids.current': 6,
    'pids.limit': null,
    'network.in.bytes': 4001,
    'network.in.packets': 4002,
    'network.in.errors': 4003,
    'network.in.drops': 4004,
    'network.out.bytes': 4011,
    'network.out.packets': 4012,
    'network.out.errors': 4013,
    'network.out.drops': 4014,
  })
})

test('the same metrics in version 1, with its units', async () => {
  tree.useLegacy()
  docker('1', dockerConfig('web', 0, { State: { Running: true, Pid: 4001 } }))
  tree.legacy(`/docker/${id('1')}`, { cpuUs: 5000, memory: 1_000_000, pids: 6 })
  expect(await everythingOfWeb()).toMatchObject({
    'info.cgroup': `/docker/${id('1')}`,
    'cpu.usage': 5000,
    'cpu.user': 300_000,
    'cpu.system': 120_000,
    'cpu.periods': 40,
    'cpu.throttled.periods': 7,
    'cpu.throttled.time': 12_345,
    'cpu.limit': null,
    'memory.current': 1_000_000,
    'memory.limit': null,
    'memory.working_set': 996_000,
    'memory.anon': 995_000,
    'memory.file': 5000,
    'memory.kernel': 300,
    'memory.swap': 8192,
    'memory.swap_limit': null,
    'memory.limit_hits': 11,
    'memory.oom_kills': 2,
    'memory.majfault': 9,
    'io.rbytes': 4096,
    'io.wbytes': 8192,
    'io.rios': 1,
    'io.wios': 2,
    'pressure.cpu.some': null,
    'pids.current': 6,
    'pids.limit': 100,
  })
})

test('names of every engine, and which container has which numbers', async () => {
  tree.useUnified()
  const numbers = (cpuUs: number): { cpuUs: number; memory: number; pids: number } => ({
    cpuUs,
    memory: 9000,
    pids: 1,
  })
  // docker with another data root
  tree.write('etc/docker/daemon.json', { 'data-root': '/srv/docker' })
  tree.write(
    `srv/docker/containers/${id('1')}/config.v2.json`,
    dockerConfig('db', 0, { State: { Running: true, Pid: 7 } }),
  )
  tree.unified(`/system.slice/docker-${id('1')}.scope`, numbers(1001))
  // podman of root, whose processes are one level below
  tree.write('var/lib/containers/storage/overlay-containers/containers.json', [
    podmanEntry(id('2'), 'db'),
    podmanEntry(id('3'), 'ended'),
    { id: id('4'), names: ['working-container'] },
  ])
  tree.write('var/lib/containers/storage/overlay-containers/volatile-containers.json', [
    podmanEntry(id('5'), 'brief'),
  ])
  tree.unified(`/machine.slice/libpod-${id('2')}.scope`, numbers(1002))
  tree.unified(`/machine.slice/libpod-${id('2')}.scope/container`, numbers(7777))
  tree.unified(`/machine.slice/libpod-conmon-${id('2')}.scope`, numbers(7777))
  tree.unified(`/machine.slice/libpod-${id('5')}.scope`, numbers(1005))
  // podman of a user
  tree.write('etc/passwd', 'root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n')
  tree.write('run/user/1000/bus', '')
  tree.write('home/ann/.local/share/containers/storage/vfs-containers/containers.json', [
    podmanEntry(id('6'), 'blog'),
    podmanEntry(id('2'), 'stolen'),
    podmanEntry(id('7'), 'foreign'),
  ])
  const user = '/user.slice/user-1000.slice/user@1000.service/user.slice'
  tree.unified(`${user}/libpod-${id('6')}.scope/container`, numbers(1006))
  tree.unified(`${user}/libpod-${id('6')}.scope`, numbers(1006))
  tree.unified(`/machine.slice/libpod-${id('7')}.scope`, numbers(7777))
  // Kubernetes on containerd: a sandbox and a container
  const pod = `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${POD_UID.replaceAll('-', '_')}.slice`
  const tasks = 'run/containerd/io.containerd.runtime.v2.task/k8s.io'
  const notes = { 'io.kubernetes.cri.sandbox-name': 'shop-1', 'io.kubernetes.cri.sandbox-namespace': 'prod' }
  tree.write(`${tasks}/${id('8')}/config.json`, {
    annotations: { ...notes, 'io.kubernetes.cri.container-type': 'sandbox' },
    linux: { cgroupsPath: `x.slice:cri-containerd:${id('8')}` },
  })
  tree.write(`${tasks}/${id('9')}/config.json`, {
    annotations: {
      ...notes,
      'io.kubernetes.cri.container-type': 'container',
      'io.kubernetes.cri.container-name': 'cart',
      'io.kubernetes.cri.image-name': 'registry.example/cart:3',
    },
  })
  tree.write(`${tasks}/${id('9')}/init.pid`, '4009')
  tree.process(4009, `${pod}/cri-containerd-${id('9')}.scope`)
  tree.unified(`${pod}/cri-containerd-${id('8')}.scope`, numbers(7777))
  tree.unified(`${pod}/cri-containerd-${id('9')}.scope`, numbers(1009))
  // CRI-O, whose containers podman's storage has; an ended attempt before the running one
  tree.write('var/lib/containers/storage/btrfs-containers/containers.json', [
    podmanEntry(id('a'), `k8s_pay_shop-2_prod_${POD_UID}_0`),
    podmanEntry(id('b'), `k8s_pay_shop-2_prod_${POD_UID}_1`),
    podmanEntry(id('c'), `k8s_POD_shop-2_prod_${POD_UID}_0`),
  ])
  tree.unified(`${pod}/crio-${id('b')}.scope`, numbers(1011))
  tree.unified(`${pod}/crio-conmon-${id('b')}.scope`, numbers(7777))
  tree.unified(`${pod}/crio-${id('c')}.scope`, numbers(7777))
  // a container of which only the log is known, by cgroupfs
  tree.write(`var/log/containers/shop-3_prod_mail-${id('d')}.log`, '')
  tree.unified(`/kubepods/besteffort/pod${POD_UID}/${id('d')}`, numbers(1013))
  // lxc, and one without any name
  tree.unified('/lxc.payload.vm1', numbers(1014))
  tree.unified(`/docker/${id('e')}`, numbers(1015))

  expect(await values('cpu.usage', 'info.engine', 'info.status', 'info.image')).toEqual({
    'cpu.usage': {
      db: 1001,
      'db@podman': 1002,
      brief: 1005,
      blog: 1006,
      'prod/shop-1/cart': 1009,
      'prod/shop-2/pay': 1011,
      'prod/shop-3/mail': 1013,
      vm1: 1014,
      777777777777: 7777,
      eeeeeeeeeeee: 1015,
    },
    'info.engine': {
      db: 'docker',
      'db@podman': 'podman',
      ended: 'podman',
      brief: 'podman',
      blog: 'podman',
      'prod/shop-1/cart': 'containerd',
      'prod/shop-2/pay': 'cri-o',
      'prod/shop-3/mail': 'kubelet',
      vm1: 'lxc',
      777777777777: 'podman',
      eeeeeeeeeeee: 'docker',
    },
    'info.status': {
      db: 'running',
      'db@podman': 'running',
      ended: 'exited',
      brief: 'running',
      blog: 'running',
      'prod/shop-1/cart': 'running',
      'prod/shop-2/pay': 'running',
      'prod/shop-3/mail': 'running',
      vm1: 'running',
      777777777777: 'running',
      eeeeeeeeeeee: 'running',
    },
    'info.image': {
      db: 'registry.example/db:1',
      'db@podman': 'localhost/db:2',
      ended: 'localhost/ended:2',
      brief: 'localhost/brief:2',
      blog: 'localhost/blog:2',
      'prod/shop-1/cart': 'registry.example/cart:3',
      'prod/shop-2/pay': `localhost/k8s_pay_shop-2_prod_${POD_UID}_1:2`,
    },
  })
  expect(logged).toEqual([])
})

test('labels of instances name the container, its image and its pod', async () => {
  tree.useUnified()
  docker('1', dockerConfig(`k8s_cart_shop-1_prod_${POD_UID}_0`, 0, { State: { Running: true, Pid: 7 } }))
  const [, pmid] = [...source.names()].find(([name]) => name === 'containers.cpu.usage')!
  const [desc] = await source.descs([pmid], ASK)
  if (desc === undefined || isError(desc)) throw new Error('no descriptor')
  const sets = await source.labels({ level: LABEL_INSTANCES, id: desc.indom }, ASK)
  expect(sets.map(({ json }) => JSON.parse(json))).toEqual([
    {
      container: 'cart',
      container_id: id('1'),
      engine: 'docker',
      image: `registry.example/k8s_cart_shop-1_prod_${POD_UID}_0:1`,
      namespace: 'prod',
      pod: 'shop-1',
    },
  ])
})

test('containers come, go and come back under the same identifier; a group replaced by another is noticed', async () => {
  tree.useUnified()
  const group = (digit: string): string => `/system.slice/docker-${id(digit)}.scope`
  docker('1', dockerConfig('web', 0, { State: { Running: true, Pid: 7 } }))
  tree.unified(group('1'), { cpuUs: 500, memory: 9000, pids: 1 })
  const usage = async (): Promise<unknown> =>
    (await allAnswers(source, ['containers.cpu.usage']))['containers.cpu.usage']
  expect(await usage()).toEqual({ '0 web': 500 })
  docker('2', dockerConfig('db', 0, { State: { Running: true, Pid: 8 } }))
  tree.remove(`sys/fs/cgroup${group('1')}`)
  tree.unified(group('2'), { cpuUs: 600, memory: 9000, pids: 1 })
  expect(await usage()).toEqual({ '1 db': 600 })
  tree.remove(`var/lib/docker/containers/${id('1')}`)
  docker('3', dockerConfig('web', 0, { State: { Running: true, Pid: 9 } }))
  tree.unified(group('3'), { cpuUs: 700, memory: 9000, pids: 1 })
  expect(await usage()).toEqual({ '0 web': 700, '1 db': 600 })
})

test('a group without processes, which a killed engine leaves, is no running container', async () => {
  tree.useUnified()
  tree.write('var/lib/containers/storage/overlay-containers/containers.json', [podmanEntry(id('2'), 'db')])
  for (const digit of ['1', '2', '3']) {
    const group = `/libpod_parent/libpod-${id(digit)}`
    tree.unified(group, { cpuUs: 500, memory: 9000, pids: 0 })
    tree.write(`sys/fs/cgroup${group}/cgroup.events`, `populated ${digit === '3' ? 1 : 0}\nfrozen 0\n`)
  }
  expect(await values('info.status', 'cpu.usage')).toEqual({
    'info.status': { db: 'exited', 333333333333: 'running' },
    'cpu.usage': { 333333333333: 500 },
  })
})

test('a container with the network of the host has no network of its own; a paused one is said to be', async () => {
  tree.useUnified()
  const group = `/system.slice/docker-${id('1')}.scope`
  docker('1', dockerConfig('web', 4001))
  tree.unified(group, { cpuUs: 5000, memory: 9000, pids: 6 })
  tree.write('proc/4001/cgroup', `0::${group}\n`)
  symlinkSync('../1/net', join(tree.root, 'proc/4001/net'))
  tree.write(`sys/fs/cgroup${group}/cgroup.freeze`, '1\n')
  expect(await values('network.in.bytes', 'info.status')).toEqual({
    'network.in.bytes': null,
    'info.status': { web: 'paused' },
  })
})

test('all files are below HOST_MOUNT', async () => {
  tree.write(`host/var/lib/docker/containers/${id('1')}/config.v2.json`, dockerConfig('web', 0))
  for (const env of [{ HOST_MOUNT: '/host' }, { ROOT_STATSPATH: '/host' }]) {
    const mounted = openAgent(agent, { root: tree.root, env: { PCP_LXC_DIR: '/nowhere', ...env } })
    const answers = await allAnswers(mounted, ['containers.info.status', 'containers.name'])
    await mounted.close()
    expect(answers).toEqual({
      'containers.info.status': { '0 web': 'exited' },
      'containers.name': { [`0 ${id('1')}`]: 'web' },
    })
  }
})

test('without containers there are no instances, no errors and no messages', async () => {
  tree.useUnified()
  tree.write('sys/fs/cgroup/system.slice/cron.service/cpu.stat', 'usage_usec 1\n')
  expect(new Set(Object.values(await values(...byName())))).toEqual(new Set([null]))
  expect(logged).toEqual([])
})
