/** Values of pmcd.agent.status in words. */
import { expect, test } from 'vitest'
import { agentProblem } from '../../src/model/agent-status.ts'

test('the status of an agent is explained', () => {
  expect([0, 1].map(agentProblem)).toEqual([undefined, undefined])
  expect(agentProblem(2 | (3 << 8))).toBe('has ended (exit status 3)')
  expect(agentProblem(2 | (9 << 16))).toBe('has ended (killed by signal 9)')
  expect(agentProblem(4)).toBe('could not be started')
  expect(agentProblem(8)).toBe('broke the protocol')
  expect(agentProblem(64)).toBe('is gone (pmcd.agent.status 64)')
})
