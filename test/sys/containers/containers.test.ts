import { expect, test } from 'vitest'
import { type Container, groupOfProcess } from '../../../src/sys/containers/container.ts'
import { parseDocker } from '../../../src/sys/containers/docker.ts'
import { findContainer } from '../../../src/sys/containers/list.ts'
import { parseLxcInfo } from '../../../src/sys/containers/lxc.ts'
import { parseStored } from '../../../src/sys/containers/podman.ts'

test('finds the control group of a process in either version', () => {
  expect(groupOfProcess('0::/a/b\n')).toBe('/a/b')
  expect(groupOfProcess('9:name=systemd:/s\n3:cpu,memory:/m\n')).toBe('/m')
  expect(groupOfProcess('9:name=systemd:/s\n3:cpu:/m\n')).toBe('/s')
  expect(groupOfProcess('0::/\n')).toBeUndefined()
  expect(groupOfProcess('')).toBeUndefined()
})

test('parses the engines’ files, and leaves other fields undefined', () => {
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
    isHelper: false,
  })
  expect(parseDocker('x', '[]').isRunning).toBeUndefined()
  expect(parseDocker('x', '7').isRunning).toBeUndefined()
  expect(parseLxcInfo('State:  Frozen\nPID:  12\n')).toEqual({ state: 'FROZEN', pid: 12 })
  expect(parseLxcInfo('')).toEqual({ state: undefined, pid: undefined })
  expect(parseStored('{}')).toBeUndefined()
  expect(parseStored('nonsense')).toBeUndefined()
  const [one, two] = ['1'.repeat(64), '2'.repeat(64)]
  expect(parseStored(`[null, {"id":"../x"}, {"id":"${one}"}, {"id":"${two}","names":["c","d"]}]`)).toEqual([
    { id: one, name: undefined, image: undefined, isHelper: true },
    { id: two, name: 'c', image: undefined, isHelper: true },
  ])
})

test('finds a container by name or id', () => {
  const container = (id: string, name?: string): Container => ({ ...parseDocker(id, '{}'), name })
  const list = [container('aab', 'one'), container('aac', 'two'), container('b', 'aac')]
  expect(findContainer(list, 'one')?.id).toBe('aab')
  expect(findContainer(list, 'aac')?.id).toBe('aac')
  expect(findContainer(list, 'aa')).toBeUndefined()
  expect(findContainer(list, 'aab')?.id).toBe('aab')
  expect(findContainer(list, 'c')).toBeUndefined()
  expect(findContainer(list, '')).toBeUndefined()
})
