/** The settings of this system, as libpcp has them: the environment, and what it leaves out from pcp.conf. pcp.conf(5) */
import { PcpError } from '../model/errors.ts'
import { loadConfig, type Variables } from '../sys/config.ts'

/** Returns all variables. ENOENT when PCP_CONF or PCP_DIR names a file that is not there, EACCES when another user controls it. */
export function settingsOf(env: Variables = process.env): Variables {
  try {
    return loadConfig(env).variables
  } catch (error) {
    throw PcpError.from(error)
  }
}
