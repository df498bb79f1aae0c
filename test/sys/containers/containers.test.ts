import { expect, test } from 'vitest'
import { type Container, groupOfProcess } from '../../../src/sys/containers/container.ts'
import { parseDocker } from '../../../src/sys/containers/docker.ts'
import { findContainer } from '../../../src/sys/containers/list.ts'
import { parseLxcInfo } from '../../../src/sys/containers/lxc.ts'
import { parsePodman } from '../../../src/sys/containers/podman.ts'

test('finds the control group of a process in either version', () => {
  expect(groupOfProcess('0::/a/b\n')).toBe('/a/b')
  expect(groupOfProcess('9:name=systemd:/s\n3:cpu,memory:/m\n')).toBe('/m')
  expect(groupOfProcess('9:name=systemd:/s\n3:cpu:/m\n')).toBe('/s')
  expect(groupOfProcess('0::/\n')).toBeUndefined()
  expect(groupOfProcess('')).toBeUndefined()
})

test('takes what engines write apart, and nothing of what they did not', () => {
  expect(
    parseDocker('x', '{"State":{"Pid":3,"Running":true},"Name":"/n","Config":{"Hostname":"h"}}'),
  ).toEqual({
    engine: 'docker',
    id: 'x',
    name: 'n',
    pid: 3,
    cgroup: undefined,
    isRunning: true,
    isPaused: false,
    isRestarting: false,
    hostname: 'h',
  })
  expect(parseDocker('x', '[]').isRunning).toBeUndefined()
  expect(parseDocker('x', '7').isRunning).toBeUndefined()
  expect(parseLxcInfo('State:  Frozen\nPID:  12\n')).toEqual({ state: 'FROZEN', pid: 12 })
  expect(parseLxcInfo('')).toEqual({ state: undefined, pid: undefined })
  expect(parsePodman('{}')).toEqual([])
  expect(parsePodman('nonsense')).toEqual([])
  expect(parsePodman('[null, {"id":"a"}, {"id":"b","names":["c","d"]}]')).toEqual([
    { id: 'a', name: undefined },
    { id: 'b', name: 'c' },
  ])
})

test('finds the container that is meant', () => {
  const container = (id: string, name?: string): Container => ({ ...parseDocker(id, '{}'), name })
  const list = [container('aab', 'one'), container('aac', 'two'), container('b', 'aac')]
  expect(findContainer(list, 'one')?.id).toBe('aab')
  expect(findContainer(list, 'aac')?.id).toBe('aac')
  expect(findContainer(list, 'aa')).toBeUndefined()
  expect(findContainer(list, 'aab')?.id).toBe('aab')
  expect(findContainer(list, 'c')).toBeUndefined()
  expect(findContainer(list, '')).toBeUndefined()
})
