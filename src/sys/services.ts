/** TCP ports by service name. services(5) */
import { readFileSync } from 'node:fs'

/** Returns the TCP port of a service, by name or alias in /etc/services; undefined for an unknown service. */
export function servicePort(service: string): number | undefined {
  let text: string
  try {
    text = readFileSync('/etc/services', 'utf8')
  } catch {
    return undefined // without the file no name is known
  }
  for (const line of text.split('\n')) {
    const [name, port, ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/)
    const [number, protocol] = (port ?? '').split('/')
    if (protocol === 'tcp' && (name === service || aliases.includes(service))) return Number(number)
  }
  return undefined
}
