/** The linux agent over a fixture tree of test/fixtures/linux. */
import { fileURLToPath } from 'node:url'
import { agent } from '../../src/agents/linux/index.ts'
import { type AgentSource, openAgent } from '../../src/pmda/open-agent.ts'

export { type Answer, allAnswers, answer } from './agent-answers.ts'

/** Opens the agent over the fixture tree with this name, or over an absolute path; `env` is its entire environment. */
export function openFixture(name: string, env: Readonly<Record<string, string>> = {}): AgentSource {
  const root = name.startsWith('/')
    ? name
    : fileURLToPath(new URL(`../fixtures/linux/${name}`, import.meta.url))
  return openAgent(agent, { root, env })
}
