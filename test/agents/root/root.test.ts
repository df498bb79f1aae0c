/** The root agent over the files of engines, as a test writes them. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { agent } from '../../../src/agents/root/index.ts'
import { type AgentSource, openAgent } from '../../../src/pmda/open-agent.ts'
import { allAnswers } from '../../lib/agent-answers.ts'
import { assertCatalogue, assertHelp, assertNameOrder, readCatalogue } from '../../lib/agent-catalogue.ts'

const root = mkdtempSync(join(tmpdir(), 'pcp-ts-root-'))
const write = (path: string, text: string, mode = 0o644): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text, { mode })
}
const id = (digit: string): string => digit.repeat(64)
const docker = (digit: string, config: object | string, file = 'config.v2.json'): void =>
  write(
    `var/lib/docker/containers/${id(digit)}/${file}`,
    typeof config === 'string' ? config : JSON.stringify(config),
  )

docker('1', { State: { Running: true, Paused: false, Restarting: false, Pid: 4001 }, Name: '/jolly_one' })
docker('2', { State: { Running: false, Paused: true, Pid: 0 }, Name: '/sleepy_two' }, 'config.json')
docker('3', { State: { Running: false, Pid: 0 } })
docker('4', '{"State":{"Running":tr')
write('var/lib/docker/containers/README', 'no container')
write('proc/4001/cgroup', `0::/system.slice/docker-${id('1')}.scope\n`)
write(
  'var/lib/containers/storage/overlay-containers/containers.json',
  JSON.stringify([{ id: id('a'), names: ['pod'] }, { id: id('b'), names: ['ended'] }, { id: 7 }]),
)
write(`run/containers/storage/overlay-containers/${id('a')}/userdata/pidfile`, '5001\n')
write(`run/containers/storage/overlay-containers/${id('b')}/userdata/pidfile`, '5002\n')
write('proc/5001/cgroup', `12:memory:/machine.slice/libpod-${id('a')}.scope\n1:name=systemd:/\n`)
write('proc/5002/cgroup', '0::/user.slice\n')
write(`sys/fs/cgroup/freezer/machine.slice/libpod-${id('a')}.scope/freezer.state`, 'FROZEN\n')
write('var/lib/lxc/myvm/config', '')
write('lxc-info', '#!/bin/sh\necho "Name: $2"\necho "State: RUNNING"\necho "PID: 17297"\n', 0o755)

const open = (env: Readonly<Record<string, string>>): AgentSource => openAgent(agent, { root, env })
const source = open({ PCP_LXC_INFO: join(root, 'lxc-info') })
afterAll(async () => {
  await source.close()
  rmSync(root, { recursive: true })
})

test('describes and explains every metric as the catalogue of PCP 6.0.3 does, in its order', async () => {
  const catalogue = readCatalogue('root')
  await assertCatalogue(source, catalogue)
  await assertHelp(source)
  assertNameOrder(source, catalogue)
})

test('shows what the engines know of their containers', async () => {
  const names = readCatalogue('root').map(({ name }) => name)
  const [one, two, three, four] = ['1', '2', '3', '4'].map((digit, at) => `${at} ${id(digit)}`) as [
    string,
    string,
    string,
    string,
  ]
  const [pod, ended, vm] = [`4 ${id('a')}`, `5 ${id('b')}`, '6 myvm']
  expect(await allAnswers(source, names)).toEqual({
    'containers.engine': {
      [one]: 'docker',
      [two]: 'docker',
      [three]: 'docker',
      [four]: 'docker',
      [pod]: 'podman',
      [ended]: 'podman',
      [vm]: 'lxc',
    },
    'containers.name': {
      [one]: 'jolly_one',
      [two]: 'sleepy_two',
      [three]: '?',
      [four]: '?',
      [pod]: 'pod',
      [ended]: 'ended',
      [vm]: 'myvm',
    },
    'containers.pid': { [one]: 4001, [pod]: 5001, [vm]: 17297 },
    'containers.cgroup': {
      [one]: `/system.slice/docker-${id('1')}.scope`,
      [pod]: `/machine.slice/libpod-${id('a')}.scope`,
      [vm]: '/lxc/myvm',
    },
    'containers.state.running': { [one]: 1, [two]: 0, [three]: 0, [pod]: 1, [ended]: 0, [vm]: 1 },
    'containers.state.paused': { [one]: 0, [two]: 1, [three]: 0, [pod]: 1, [ended]: 0, [vm]: 0 },
    'containers.state.restarting': { [one]: 0, [two]: 0, [three]: 0, [pod]: 0, [ended]: 0, [vm]: 0 },
  })
})

test('where no process is to be seen, control groups are those of the rules of docker', async () => {
  renameSync(join(root, 'proc/4001'), join(root, 'proc/gone'))
  onTestFinished(() => renameSync(join(root, 'proc/gone'), join(root, 'proc/4001')))
  const group = async (env: Readonly<Record<string, string>>): Promise<unknown> => {
    const other = open({ PCP_LXC_DIR: '/nowhere', PCP_PODMAN_DATADIR: '/nowhere', ...env })
    const { 'containers.cgroup': answer } = await allAnswers(other, ['containers.cgroup'])
    await other.close()
    return (answer as { [name: string]: string })[`0 ${id('1')}`]
  }
  expect(await group({})).toBe(`/system.slice/docker-${id('1')}.scope`)
  mkdirSync(join(root, 'sys/fs/cgroup/memory/docker'), { recursive: true })
  expect(await group({})).toBe(`/docker/${id('1')}`)
  expect(await group({ PCP_SYSTEMD_CGROUP: '/x.slice' })).toBe(`/x.slice/docker-${id('1')}.scope`)
})

test('a machine without containers has none, and no error either', async () => {
  const none = openAgent(agent, { root: join(root, 'nowhere') })
  const answers = await allAnswers(
    none,
    [...none.names()].map(([name]) => name),
  )
  expect(Object.values(answers).every((answer) => answer === null)).toBe(true)
  await none.close()
})
