/** pcp-ts agent new: writes the folder of a new agent. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { RESERVED } from '../../lib/agent-install/own-line.ts'
import { invalidName, isAgentName, writeAgent } from '../../lib/new-agent/write.ts'
import { shown } from './request.ts'
import type { Verb } from './verbs.ts'

export const create: Verb = async ({ operands, domain, isTypeScript }, io) => {
  const [name, folder = name, ...others] = operands
  if (name === undefined || folder === undefined || others.length > 0)
    throw new PcpError(
      'PM_ERR_ARG',
      'a name is required, and a folder may follow: pcp-ts agent new NAME [DIR]',
    )
  if (!isAgentName(name)) throw new PcpError('PM_ERR_ARG', invalidName(name))
  if (RESERVED.some((each) => each.name === name))
    throw new PcpError('EEXIST', `pcp-ts has an agent "${name}": choose another name`)
  const dir = resolve(io.cwd, folder)
  if (existsSync(dir))
    throw new PcpError(
      'EEXIST',
      `${dir} exists: remove it, or choose another folder: pcp-ts agent new ${name} DIR`,
    )
  writeAgent(dir, { name, domain, host: 'pcp-ts', isTypeScript })
  const file = `${shown(dir, io)}/agent.${isTypeScript ? 'ts' : 'mjs'}`
  io.stdout.write(`Wrote the agent ${name} to ${dir}: its README.md has the next steps\n`)
  io.stdout.write(
    `  (cd ${shown(dir, io)} && node --test)\n  pcp-ts agent check ${file}\n  pcp-ts agent add ${file}\n`,
  )
  return 0
}
