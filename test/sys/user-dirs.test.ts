import { userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { homeDir, userDirs } from '../../src/sys/user-dirs.ts'

test('directories are those of the environment, else below the home', () => {
  expect(userDirs({ HOME: '/h' })).toEqual({
    config: '/h/.config',
    data: '/h/.local/share',
    state: '/h/.local/state',
    run: '/h/.local/state/pcp/run',
  })
  const named = { XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d', XDG_STATE_HOME: '/s', XDG_RUNTIME_DIR: '/r' }
  expect(userDirs({ HOME: '/h', ...named })).toEqual({ config: '/c', data: '/d', state: '/s', run: '/r/pcp' })
})

test('relative and empty names do not count', () => {
  const relative = { XDG_CONFIG_HOME: 'c', XDG_DATA_HOME: '', XDG_STATE_HOME: './s', XDG_RUNTIME_DIR: 'r' }
  expect(userDirs({ HOME: '/h', ...relative })).toEqual(userDirs({ HOME: '/h' }))
})

test('without HOME the home is that of the account, never a shared directory', () => {
  for (const env of [{}, { HOME: '' }, { HOME: 'h' }]) expect(homeDir(env)).toBe(userInfo().homedir)
})
