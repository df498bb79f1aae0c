import { expect, test } from 'vitest'
import { API_FEATURES, apiConfig } from '../../src/sys/api-config.ts'

test('exactly the listed features have values', () => {
  expect(API_FEATURES).toContain('v3_archives')
  for (const feature of API_FEATURES) expect(typeof apiConfig(feature)).toBe('string')
  expect(apiConfig('nosuch')).toBeUndefined()
})

test('versions are those of this program', () => {
  expect(apiConfig('openssl_version')).toBe(process.versions.openssl)
  expect(apiConfig('pcp_version')).toMatch(/^\d+\.\d+\.\d+$/)
})
