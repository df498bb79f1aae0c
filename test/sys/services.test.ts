/** Ports by name. */
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { servicePort } from '../../src/sys/services.ts'

test('a service has the port of the table, others have none', () => {
  expect(servicePort('no-such-service')).toBeUndefined()
  if (existsSync('/etc/services')) expect(servicePort('http') ?? 80).toBe(80)
})
