/** Finds and reads a logger's configuration and its includes. pmlogger(1) -c */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { decodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'
import { preprocess } from '../pmns/cpp.ts'
import type { Variables } from '../sys/config.ts'
import { isReadableFile, pmnsFiles } from '../sys/pmns-files.ts'
import { runShell } from '../sys/run-shell.ts'
import { type LoggerConfig, parseLoggerConfig } from './config.ts'

/** Where to look for configurations. */
export interface ConfigSearch {
  readonly cwd: string
  readonly variables: Variables
  /** Receives the stderr of commands in the configuration. */
  readonly warn: (text: string) => void
}

/** Reads a file from the given path, else from the installation's directory of configurations. Throws PM_ERR_CONV, ENOENT... */
export function readLoggerConfig(name: string, places: ConfigSearch): LoggerConfig {
  const path = [name, join(configDir(places.variables), name)].find((candidate) =>
    isReadableFile(resolve(places.cwd, candidate)),
  )
  try {
    // A path that is not a regular file is opened too, which yields the right error.
    const text = decodeText(readFileSync(resolve(places.cwd, path ?? name)))
    return parseConfigText(text, path ?? name, places)
  } catch (error) {
    const { code, text } = PcpError.from(error)
    if (code.startsWith('PM_ERR_')) throw error
    throw new PcpError(code, `Cannot open config file "${name}": ${text}`, { cause: error })
  }
}

/** Preprocesses and parses a configuration. Throws PM_ERR_CONV, and PM_ERR_PMNS for preprocessor errors. */
export function parseConfigText(text: string, file: string, places: ConfigSearch): LoggerConfig {
  const { cwd, variables, warn } = places
  const files = pmnsFiles(variables, { cwd, includeDirs: [configDir(variables)] })
  const whole = preprocess(text, {
    file,
    isPercent: true,
    isRestricted: true,
    resolve: (name) => files.findInclude(name, file),
    runShell: (command) => runShell(command, { cwd, env: variables, directive: '%shell', warn }),
  })
  return parseLoggerConfig(whole, file)
}

/** Returns the installation's directory of configurations. */
export function configDir(variables: Variables): string {
  return join(variables['PCP_VAR_DIR']!, 'config', 'pmlogger')
}
