/** What clients see that look into a container. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { agent } from '../../../src/agents/linux/index.ts'
import { isError } from '../../../src/model/errors.ts'
import type { Ask } from '../../../src/model/source.ts'
import { openAgent } from '../../../src/pmda/open-agent.ts'
import { allAnswers, answer } from '../../lib/agent-answers.ts'
import { ASK } from '../../lib/agent-catalogue.ts'

const root = mkdtempSync(join(tmpdir(), 'pcp-ts-inside-'))
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
const id = (digit: string): string => digit.repeat(64)
const netDev = (...interfaces: readonly (readonly [string, number])[]): string =>
  `Inter-| Receive\n face |bytes\n${interfaces.map(([name, bytes]) => `${name}: ${bytes}${' 0'.repeat(15)}\n`).join('')}`
const docker = (digit: string, config: object): void =>
  write(`var/lib/docker/containers/${id(digit)}/config.v2.json`, JSON.stringify(config))

docker('1', { State: { Running: true, Pid: 41 }, Name: '/web', Config: { Hostname: 'web-1' } })
docker('2', { State: { Running: true, Pid: 42 }, Name: '/db' })
docker('3', { State: { Running: false, Pid: 0 }, Name: '/off' })
write('proc/net/dev', netDev(['lo', 1], ['eth7', 7]))
write('proc/self/mounts', '/dev/sda1 / ext4 rw 0 0\n')
write('proc/stat', 'cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n')
write('proc/41/net/dev', netDev(['lo', 11], ['eth0', 22]))
write('proc/41/mounts', 'overlay / overlay rw 0 0\n')
write('proc/41/root/sys/class/net/eth0/mtu', '1400\n')
write('proc/41/root/etc/fedora-release', 'Fedora release 99\n')
write('proc/42/net/dev', netDev(['lo', 111]))
mkdirSync(join(root, 'proc/42/root/etc'), { recursive: true })

let now = 1000
const source = openAgent(agent, { root, env: { LINUX_HERTZ: '100' }, clock: () => now })
afterAll(async () => {
  await source.close()
  rmSync(root, { recursive: true })
})
const inside = (container: string): Ask => ({ requester: { ...ASK.requester, container } })

test('each sees its own network, file systems and name, and the processors of the machine', async () => {
  const names = [
    'network.interface.in.bytes',
    'network.interface.mtu',
    'hinv.ninterface',
    'hinv.nfilesys',
    'filesys.mountdir',
    'kernel.uname.distro',
    'kernel.all.cpu.user',
  ]
  const host = await allAnswers(source, names)
  expect(host).toMatchObject({
    'network.interface.in.bytes': { '0 lo': 1, '1 eth7': 7 },
    'filesys.mountdir': { '0 /dev/sda1': '/' },
    'kernel.uname.distro': '?',
  })
  const web = await allAnswers(source, names, inside('web'))
  expect(web).toEqual({
    'network.interface.in.bytes': { '0 lo': 11, '1 eth0': 22 },
    'network.interface.mtu': { '1 eth0': 1400 },
    'hinv.ninterface': 2,
    'hinv.nfilesys': 1,
    'filesys.mountdir': { '0 overlay': '/' },
    'kernel.uname.distro': 'Fedora release 99',
    'kernel.all.cpu.user': host['kernel.all.cpu.user'],
  })
  expect(await answer(source, 'kernel.uname.nodename', inside(id('1')))).toBe('web-1')
  expect(await answer(source, 'network.interface.in.bytes', inside('222'))).toEqual({ '0 lo': 111 })
  // neither the engine nor /etc/hostname has a name of this one
  expect(await answer(source, 'kernel.uname.nodename', inside('db'))).toEqual({
    error: 'Metric not supported by this version of monitored application',
  })
  expect(await allAnswers(source, names)).toEqual(host)
})

test('labels of instances are those of the container', async () => {
  const [metric] = await source.lookupNames(['network.interface.in.bytes'], ASK)
  if (metric === undefined || isError(metric)) throw new Error('no such metric')
  const [desc] = await source.descs([metric], ASK)
  if (desc === undefined || isError(desc)) throw new Error('no descriptor')
  expect((await source.instances(desc.indom, undefined, inside('web'))).names).toEqual(['lo', 'eth0'])
  expect((await source.instances(desc.indom, undefined, ASK)).names).toEqual(['lo', 'eth7'])
})

test('an unknown or stopped container is an error', async () => {
  await expect(answer(source, 'hinv.ncpu', inside('nosuch'))).rejects.toMatchObject({
    code: 'PM_ERR_NOCONTAINER',
    message: 'Unknown container "nosuch"',
  })
  await expect(answer(source, 'hinv.ncpu', inside('off'))).rejects.toMatchObject({
    code: 'PM_ERR_NOCONTAINER',
    message: 'No running process in container "off"',
  })
})

test('a container that was started again is looked at anew', async () => {
  expect(await answer(source, 'hinv.ninterface', inside('db'))).toBe(1)
  docker('2', { State: { Running: true, Pid: 41 }, Name: '/db' })
  onTestFinished(() => {
    docker('2', { State: { Running: true, Pid: 42 }, Name: '/db' })
    now += 2000
  })
  now += 2000
  expect(await answer(source, 'hinv.ninterface', inside('db'))).toBe(2)
})
