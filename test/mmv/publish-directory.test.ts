/** The default directory of MMV files, for writers and for `node/register`. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MmvWriter } from '../../src/mmv/index.ts'
import { publishDirectory } from '../../src/mmv/publish-directory.ts'

let dir: string
const { PCP_CONF: before } = process.env
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-publish-'))
})
afterEach(() => {
  if (before === undefined) delete process.env['PCP_CONF']
  else process.env['PCP_CONF'] = before
  chmodSync(dir, 0o755)
  rmSync(dir, { recursive: true })
})

test('a writer uses the directory of the pcp.conf that PCP_CONF names', () => {
  const conf = join(dir, 'pcp.conf')
  writeFileSync(conf, `PCP_TMP_DIR=${dir}/tmp\n`)
  process.env['PCP_CONF'] = conf
  expect(publishDirectory(process.env)).toBe(join(dir, 'tmp', 'mmv'))
  const writer = new MmvWriter('here')
  expect(writer.path).toBe(join(dir, 'tmp', 'mmv', 'here'))
})

test('where a process may not write, the directory of the user is chosen', () => {
  const shared = join(dir, 'mmv')
  mkdirSync(shared)
  const own = (isWritable: boolean): string =>
    publishDirectory({ HOME: join(dir, 'home') }, { directory: shared, isWritable: () => isWritable })
  expect(own(true)).toBe(shared)
  expect(own(false)).toBe(join(dir, 'home', '.local', 'share', 'pcp', 'tmp', 'mmv'))
  // A directory set in the environment is used; publishing then reports what is wrong with it.
  expect(publishDirectory({ PCP_TMP_DIR: '/nowhere' })).toBe('/nowhere/mmv')
})
