import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CgroupFiles } from '../../../src/agents/proc/cgroup-tree.ts'
import { ProcessFiles } from '../../../src/agents/proc/process-files.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cgroup-listings-'))
})
afterEach(() => rmSync(root, { recursive: true }))

test('listings of groups that were removed are forgotten, with those below them', () => {
  let now = 0
  const files = new CgroupFiles(root, new ProcessFiles('/'), () => now)
  const look = (directory: string): void => {
    const { listing } = files.listing(directory, 1)!
    for (const name of listing.directories) look(`${directory}/${name}`)
  }
  mkdirSync(join(root, 'cgroup', 'stays'), { recursive: true })
  for (let i = 0; i < 100; i++) {
    const pod = join(root, 'cgroup', `pod${i}`)
    mkdirSync(join(pod, 'container'), { recursive: true })
    look('/cgroup')
    expect(files.size).toBe(4)
    rmdirSync(join(pod, 'container'))
    rmdirSync(pod)
    now += 3_600_000 // listings do not hold for ever
  }
  look('/cgroup')
  expect(files.size).toBe(2)
  files.close()
})
